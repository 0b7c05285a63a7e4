"""Many runs: sweeps, comparisons, searches for good values, campaigns of faults."""

import operator
import os
from collections.abc import Mapping

from . import _tailback, _toml
from ._load import load
from ._progress import progress_for
from ._result import Report
from ._scenario import Scenario
from ._table import Rows, Table


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

    def to_arrow(self):
        """Returns the table as a `pyarrow.Table`."""
        return self.table.to_arrow()

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
    given = _toml.axes({} if axes is None else axes, "axes")
    with progress_for(progress, scenario.name) as see:
        table, directory = _tailback.sweep(scenario._inner, given, threads, out, see)
    return Sweep(table, directory)


class Comparison(Rows):
    """A comparison: one row per value and workload."""

    _name, _meaning = "comparison", "one value and workload"

    def __init__(self, document, directory):
        self.key, self.rows, self.directory = document["key"], document["rows"], directory

    def __repr__(self):
        return f"<tailback.Comparison of {self.key}: {len(self.rows)} rows in {self.directory}>"

    def _rows(self):
        return self.rows

    def report(self):
        """Makes the report: the runs side by side."""
        return Report(_tailback.report_html(self.directory))


def compare(source, key="protocol.name", values=(), protocols=None, set=None, threads=None, out=None,
            overwrite=False, why=False, progress=None):
    """Runs a scenario several ways and puts the results side by side.

    `compare(scenario, protocols=["none", "dcqcn"])` compares controls, `compare(scenario,
    "switches[0].buffers[0].xoff", ["40KB", "80KB"])` values of any key. The runs are recorded in `out` (by default
    `results/NAME-compared`). With `why`, they record causes, and the rows have victims and the worst root. Ctrl-C raises
    KeyboardInterrupt; finished runs are kept there.
    """
    scenario = _scenario(source, set)
    if protocols is not None:
        key, values = "protocol.name", protocols
    values = _toml.values(values, "protocols" if protocols is not None else "the values to compare")
    with progress_for(progress, scenario.name) as see:
        document, directory = _tailback.compare(
            scenario._inner, key, values, threads, None if out is None else os.fspath(out), overwrite, why, see
        )
    return Comparison(document, directory)


def _names(of, what):
    """A name, or several."""
    names = [of] if isinstance(of, str) else list(of)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} are names, not {name!r}")
    return names


class Tuned(Rows):
    """A search for good values: one row per candidate, in the order in which they were tried."""

    _name, _meaning = "tune", "one candidate"

    def __init__(self, document, directory):
        self.document, self.directory = document["search"], directory
        self.best_scenario, self.sonic, self.notes = document["best"], document["sonic"], document["notes"]
        self.no_sonic = document["no_sonic"]

    @property
    def best(self):
        """Values of the best candidate by key, for `scenario.set`; None if no candidate meets all conditions."""
        place = self.document["best"]
        return None if place is None else dict(self.document["candidates"][place]["values"])

    @property
    def front(self):
        """Values of the candidates that no other one surpasses in every goal."""
        return [dict(self.document["candidates"][place]["values"]) for place in self.document["front"]]

    def __repr__(self):
        return f"<tailback.Tuned of {len(self)} candidates in {self.directory}: best {self.best}>"

    def _rows(self):
        document = self.document
        front = frozenset(document["front"])

        def row(place, candidate):
            goals = {}
            for goal in document["goals"]:
                measured = candidate["goals"].get(goal["name"]) or {}
                goals[goal["name"]] = measured.get("mean")
                goals[f"{goal['name']}, half width"] = measured.get("half_width_95")
            return {
                "candidate": place,
                **candidate["values"],
                **goals,
                "sound": candidate["sound"],
                "given": candidate["is_given"],
                "front": place in front,
                "best": place == document["best"],
            }

        return [row(place, candidate) for place, candidate in enumerate(document["candidates"])]

    def report(self):
        """Makes the report: the candidates and the front."""
        return Report(_tailback.report_html(self.directory))


def _ranges(vary):
    if not isinstance(vary, Mapping):
        raise TypeError('vary is a dictionary such as {"switches[*].buffers[0].xoff": ("50KB", "200KB")}')

    def of(path, ends):
        if not isinstance(path, str) or "=" in path:
            raise ValueError(f"{path!r} is no key of a scenario")
        if isinstance(ends, str):
            return f"{path}={ends}"
        if not isinstance(ends, (list, tuple)) or len(ends) != 2:
            raise ValueError(f"{path}: give the smallest and the largest value, such as (\"50KB\", \"200KB\")")
        return f"{path}={_toml.override(ends[0])}..{_toml.override(ends[1])}"

    return [of(path, ends) for path, ends in vary.items()]


def tune(source, vary, minimise=(), maximise=(), subject_to=(), candidates=60, replications=None, set=None, threads=None,
         out=None, progress=None):
    """Searches for values of keys that make a measured value small or large, over several seeds, while conditions hold.

    `tune(scenario, {"switches[*].buffers[0].xoff": ("50KB", "200KB")}, minimise="pause frames",
    subject_to="dropped frames = 0")`. Two goals give a front. Finished runs are kept in `out` (by default
    `results/NAME-tune`): the same call continues a search. Ctrl-C raises KeyboardInterrupt.
    """
    scenario = _scenario(source, set)
    given = (_ranges(vary), _names(minimise, "minimise"), _names(maximise, "maximise"), _names(subject_to, "subject_to"))
    with progress_for(progress, scenario.name) as see:
        document, directory = _tailback.tune(
            scenario._inner, *given, candidates, replications, threads, None if out is None else os.fspath(out), see
        )
    return Tuned(document, directory)


class Faults(Rows):
    """A campaign of single faults: one row per fault, the worst first; the network without a fault is the last."""

    _name, _meaning = "faults", "one fault"

    def __init__(self, document, directory):
        self.document, self.at, self.directory = document["campaign"], document["at"], directory

    def __repr__(self):
        return f"<tailback.Faults: {len(self.document['faults'])} faults in {self.directory}>"

    def _rows(self):
        def row(name, kind, effect):
            outcomes = ", ".join(f"{outcome} {count}" for outcome, count in effect["outcomes"].items())
            measured = ("delivered", "completion", "p99_completion", "victim_seconds", "dropped_frames")
            return {"fault": name, "kind": kind, "outcome": outcomes, **{key: effect.get(key) for key in measured}}

        rows = [row(fault["name"], fault["kind"], fault) for fault in self.document["faults"]]
        return [*rows, row("no fault", None, self.document["without"])]

    def _columns(self):
        times = "a multiple of that without a fault, of the workload with the largest"
        return {
            "delivered": ("", "bytes delivered, as a part of those without a fault"),
            "completion": ("", f"mean completion time, {times}"),
            "p99_completion": ("", f"99th percentile of completion times, {times}"),
            "victim_seconds": ("s", "time that flows lost to roots of blocking that they do not use, summed"),
            "dropped_frames": ("frames", "frames dropped because a buffer was full"),
        }

    def report(self):
        """Makes the report of the campaign."""
        return Report(_tailback.report_html(self.directory))


def faults(source, kinds=(), among=(), at=None, until=None, flap=None, bit_error_rate=None, slow=None, replications=None,
           set=None, threads=None, out=None, progress=None):
    """Runs a scenario with every single fault and ranks the faults by their effect.

    `kinds` are some of "link-fails", "link-flaps", "bit-errors", "switch-fails", "slow-receiver" and "pause-storm" (by
    default all), `among` names of nodes with wildcards, `at`, `until` and `flap` times such as "2ms". Finished runs are kept
    in `out` (by default `results/NAME-faults`). Ctrl-C raises KeyboardInterrupt.
    """
    scenario = _scenario(source, set)
    given = (_names(kinds, "kinds"), _names(among, "among"))
    with progress_for(progress, scenario.name) as see:
        document, directory = _tailback.faults(
            scenario._inner, *given, at, until, flap, bit_error_rate, slow, replications, threads,
            None if out is None else os.fspath(out), see,
        )
    return Faults(document, directory)


def what_if(source, at, changes, set=None, threads=None, progress=None):
    """Runs a scenario until a time, and from there several futures: one as it is, and one for every combination of values.

    `what_if(scenario, "2ms", {"switches[0].buffers[0].xoff": ["40KB", "80KB"]})`. `Simulation.what_if` does this for a
    simulation that was stopped. Ctrl-C raises KeyboardInterrupt.
    """
    simulation = _scenario(source, set).start(threads=threads)
    if simulation._step(at, progress) == "interrupted":
        raise KeyboardInterrupt
    return simulation.what_if(changes, threads=threads, progress=progress)
