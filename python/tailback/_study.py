"""Many runs: sweeps and comparisons."""

import operator
import os

from . import _tailback, _toml
from ._load import load
from ._progress import progress_for
from ._result import Report
from ._scenario import Scenario
from ._table import Table


def _scenario(source, set):
    scenario = source if isinstance(source, Scenario) else load(source)
    return scenario.set(set) if set else scenario


class Sweep:
    """A sweep: one row per cell of the grid and metric."""

    def __init__(self, table, directory):
        self.table, self.directory = Table(table), directory

    def __len__(self):
        return len(self.table)

    def __repr__(self):
        return f"<tailback.Sweep of {len(self.table)} rows in {self.directory}>"

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pandas(self):
        """Returns the table as a `pandas.DataFrame`. Axes whose values are all numbers become numbers."""
        import pandas

        frame = self.table.to_pandas()
        for axis in self.table.columns[: self.table.columns.index("outcome")]:
            try:
                frame[axis] = pandas.to_numeric(frame[axis])
            except (TypeError, ValueError):
                pass  # Values with units, or names.
        return frame

    def to_polars(self):
        """Returns the table as a `polars.DataFrame`."""
        return self.table.to_polars()

    def report(self):
        """Makes the report."""
        return Report(_tailback.report_html(self.directory))


def sweep(source, axes=None, set=None, replications=None, threads=None, out=None, progress=None):
    """Runs a scenario over a grid of values, with several seeds in each cell.

    `axes` is a dictionary such as `{"workloads[0].load": [0.2, 0.4, 0.6]}`; without it, the `[sweep]` of the scenario
    counts. Finished runs are kept in `out` (by default `results/NAME-sweep`): the same call continues a sweep that was
    interrupted. Ctrl-C raises KeyboardInterrupt.
    """
    scenario = _scenario(source, set)
    if replications is not None:
        scenario = scenario.set({"run.replications": operator.index(replications)})
    given = [(path, _toml.values(values, f"the values of {path}")) for path, values in (axes or {}).items()]
    with progress_for(progress, scenario.name) as see:
        table, directory = _tailback.sweep(scenario._inner, given, threads, out, see)
    return Sweep(table, directory)


class Comparison:
    """A comparison: one row per value and workload."""

    def __init__(self, document, directory):
        self.key, self.rows, self.directory = document["key"], document["rows"], directory

    def __repr__(self):
        return f"<tailback.Comparison of {self.key}: {len(self.rows)} rows in {self.directory}>"

    def to_pandas(self):
        """Returns the rows as a `pandas.DataFrame`."""
        import pandas

        return pandas.DataFrame(self.rows)

    def report(self):
        """Makes the report: the runs side by side."""
        return Report(_tailback.report_html(self.directory))


def compare(source, key="protocol.name", values=(), protocols=None, set=None, threads=None, out=None,
            overwrite=False, progress=None):
    """Runs a scenario several ways and puts the results side by side.

    `compare(scenario, protocols=["none", "dcqcn"])` compares controls, `compare(scenario,
    "switches[0].buffers[0].xoff", ["40KB", "80KB"])` values of any key. The runs are recorded in `out` (by default
    `results/NAME-compared`). Ctrl-C raises KeyboardInterrupt; finished runs are kept there.
    """
    scenario = _scenario(source, set)
    if protocols is not None:
        key, values = "protocol.name", protocols
    values = _toml.values(values, "protocols" if protocols is not None else "the values to compare")
    with progress_for(progress, scenario.name) as see:
        document, directory = _tailback.compare(
            scenario._inner, key, values, threads, None if out is None else os.fspath(out), overwrite, see
        )
    return Comparison(document, directory)
