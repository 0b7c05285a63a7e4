"""Tables."""

from . import _tailback


class Table:
    """A table with units.

    It follows the Arrow PyCapsule interface, so that `pyarrow.table(table)` and `polars.DataFrame(table)` take it as it
    is. The metadata of every column has its unit and its meaning.
    """

    def __init__(self, inner):
        self._inner = inner

    @property
    def name(self):
        """Name of the table."""
        return self._inner.name

    @property
    def meaning(self):
        """What a row is."""
        return self._inner.meaning

    @property
    def columns(self):
        """Names of the columns."""
        return [name for name, _, _ in self._inner.columns]

    @property
    def units(self):
        """Unit of each column; empty for names and numbers of entities."""
        return {name: unit for name, unit, _ in self._inner.columns}

    @property
    def meanings(self):
        """What each column says."""
        return {name: meaning for name, _, meaning in self._inner.columns}

    def __len__(self):
        return len(self._inner)

    def __repr__(self):
        return repr(self._inner)

    def __getitem__(self, column):
        """Returns the values of a column as a list; `None` for empty cells."""
        if not isinstance(column, str):
            raise TypeError(f"table {self.name} has columns with names, not {column!r}: see table.columns")
        return self._inner.column(column)

    def __contains__(self, column):
        return column in self.columns

    def __copy__(self):
        return self  # It does not change.

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(f"table {self.name} cannot be pickled: pickle table.to_arrow(), which has the same columns and units")

    def __arrow_c_schema__(self):
        return self._inner.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._inner.__arrow_c_stream__(requested_schema)

    def to_arrow(self):
        """Returns a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self):
        """Returns a `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """Returns a `pandas.DataFrame`, with the units in `frame.attrs["units"]`. Takes longer without pyarrow."""
        import pandas

        try:
            frame = self.to_arrow().to_pandas()
        except ImportError:
            frame = pandas.DataFrame({column: self[column] for column in self.columns})
        frame.attrs["units"] = self.units
        return frame


class Rows:
    """Rows as dictionaries, for readers of the Arrow PyCapsule interface and of lists alike."""

    _name, _meaning = "rows", "one row"

    def _rows(self):
        raise NotImplementedError

    def _columns(self):
        """Unit and meaning of columns that have one."""
        return {}

    @property
    def table(self):
        """The rows as a `Table`."""
        rows, known = self._rows(), self._columns()
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = [(name, *known.get(name, ("", "")), [row.get(name) for row in rows]) for name in names]
        return Table(_tailback.table_of(self._name, self._meaning, columns))

    def __len__(self):
        return len(self._rows())

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)

    def to_arrow(self):
        """Returns the rows as a `pyarrow.Table`."""
        return self.table.to_arrow()

    def to_polars(self):
        """Returns the rows as a `polars.DataFrame`."""
        return self.table.to_polars()

    def to_pandas(self):
        """Returns the rows as a `pandas.DataFrame`."""
        return self.table.to_pandas()
