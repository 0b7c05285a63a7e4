"""Reads a results directory with pandas, polars and DuckDB and compares each table with its CSV export.

usage: read_results.py RESULTS CSV

Checks for every table: the types of the columns, unit and meaning in the metadata, the number of rows, and every value.
"""

import csv
import json
import pathlib
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet

ARROW = {"integer": "int64", "real": "double", "text": "string", "flag": "bool"}
POLARS = {"integer": polars.Int64, "real": polars.Float64, "text": polars.String, "flag": polars.Boolean}
DUCKDB = {"integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "flag": "BOOLEAN"}
PANDAS = {"integer": "int64", "real": "float64", "flag": "bool"}
PARSE = {"integer": int, "real": float, "text": str, "flag": lambda text: {"true": True, "false": False}[text]}


def columns_of(directory):
    """For each table its columns as the export describes them."""
    tables = {}
    with open(directory / "columns.csv", newline="") as file:
        for row in csv.DictReader(file):
            row["nullable"] = row["may_be_empty"] == "true"
            tables.setdefault(row["table"], []).append(row)
    return tables


def rows_of(path, columns):
    """The rows of an exported table, as values."""
    with open(path, newline="") as file:
        reader = csv.reader(file)
        assert next(reader) == [column["column"] for column in columns], path
        for row in reader:
            yield tuple(
                None if cell == "" and column["nullable"] else PARSE[column["type"]](cell)
                for cell, column in zip(row, columns, strict=True)
            )


def plain(value):
    """A value as Python has it: no NaN for an empty cell, no NumPy scalar."""
    if value is None or value is pandas.NA or (isinstance(value, float) and value != value):
        return None
    return value.item() if hasattr(value, "item") else value


def check_metadata(path, columns):
    schema = pyarrow.parquet.read_schema(path)
    assert schema.names == [column["column"] for column in columns], path
    assert schema.metadata[b"table"].decode() == path.stem and schema.metadata[b"meaning"]
    for column in columns:
        field = schema.field(column["column"])
        where = f"{path.name}: {field.name}"
        assert str(field.type) == ARROW[column["type"]], f"{where} is {field.type}"
        assert field.nullable == column["nullable"], where
        assert field.metadata[b"unit"].decode() == column["unit"], f"{where}: {field.metadata}"
        assert field.metadata[b"meaning"].decode() == column["meaning"], where
    notes = pyarrow.parquet.ParquetFile(path).metadata.metadata
    for column in columns:
        assert notes[f"tailback:{column['column']}:unit".encode()].decode() == column["unit"]


def check_pandas(path, columns, expected):
    frame = pandas.read_parquet(path)
    for column in columns:
        if not column["nullable"] and column["type"] in PANDAS:
            assert str(frame[column["column"]].dtype) == PANDAS[column["type"]], f"{path.name}: {frame.dtypes}"
    # Arrow's types keep integers with empty cells exact.
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    assert [tuple(map(plain, row)) for row in frame.itertuples(index=False, name=None)] == expected, path


def check_polars(path, columns, expected):
    frame = polars.read_parquet(path)
    assert dict(frame.schema) == {column["column"]: POLARS[column["type"]] for column in columns}, frame.schema
    assert frame.rows() == expected, path


def check_duckdb(path, columns, expected):
    relation = duckdb.read_parquet(str(path))
    assert [str(kind) for kind in relation.types] == [DUCKDB[column["type"]] for column in columns], relation.types
    assert relation.fetchall() == expected, path


def main():
    results, exported = (pathlib.Path(argument) for argument in sys.argv[1:])
    manifest = json.loads((results / "manifest.json").read_text())
    described = columns_of(exported)
    assert [table["name"] for table in manifest["tables"]] == list(described), "the tables of the manifest"
    for table in manifest["tables"]:
        name = table["name"]
        path, columns = results / f"{name}.parquet", described[name]
        expected = list(rows_of(exported / f"{name}.csv", columns))
        assert len(expected) == table["rows"], name
        assert path.stat().st_size == table["bytes"], name
        check_metadata(path, columns)
        check_pandas(path, columns, expected)
        check_polars(path, columns, expected)
        check_duckdb(path, columns, expected)
        print(f"{name}: {len(expected)} rows")
    print("all tables agree")


if __name__ == "__main__":
    main()
