"""Scenarios."""

import operator
import warnings

from . import _tailback, _toml
from ._progress import progress_for
from ._result import Result
from ._simulation import Simulation


class Scenario:
    """A scenario without mistakes. Made by `tailback.load`; it does not change."""

    def __init__(self, inner):
        self._inner = inner

    @property
    def name(self):
        """Name of the scenario."""
        return self._inner.name

    @property
    def description(self):
        """Description of the scenario."""
        return self._inner.description

    def __repr__(self):
        return repr(self._inner)

    def set(self, changes):
        """Returns the scenario with changed keys: `scenario.set({"run.duration": "2ms"})`."""
        return Scenario(self._inner.changed(_toml.overrides(changes)))

    def explain(self):
        """Returns every value and its source as text."""
        return self._inner.explain()

    def check(self):
        """Returns the findings of the static checks as dictionaries, the most severe first."""
        return self._inner.check()

    def routes(self):
        """Returns what `tailback routes` says of the paths, as a dictionary."""
        return self._inner.routes()

    def stability(self):
        """Returns the analysis of the control loop as a fluid model, as a dictionary."""
        return self._inner.stability()

    def start(self, threads=None, record=False, reaction=None):
        """Returns a `Simulation` at time zero, which is run in steps.

        With `record=True` it records tables, which `Simulation.finish` gives. `reaction` is called with a dictionary for each
        flow and returns its reaction point, in the place of the scenario's protocol: see docs/python.md. Such a simulation runs
        on one thread, and is neither changed nor saved.
        """
        return Simulation(self._inner.start(threads, record, reaction), self.name)

    def __reduce__(self):
        return _from_texts, self._inner._texts()

    def run(self, threads=None, seed=None, out=None, overwrite=False, record=True, progress=None,
            why=False):
        """Runs the scenario and returns a `Result`.

        The result does not depend on the number of threads. Without `out`, tables are in a temporary directory that goes
        with the result. `record=False` records no tables, which is faster. `why=True` records the causes that `Result.why`
        and the report read. `progress` is True, False, a function that is
        called with the simulated and the total picoseconds, or None: a bar is shown if the run takes long.

        Ctrl-C ends the run: the result has what was recorded until then, its outcome is "interrupted", and a warning says so.
        Only a run of the main thread can be ended like this.
        """
        if why and not record:
            raise ValueError("why=True reads what is recorded: leave record=True")
        inner = self._inner if seed is None else self._inner.changed([f"run.seed={operator.index(seed)}"])
        with progress_for(progress, inner.name) as see:
            result = Result(inner._run(threads, out, overwrite, record, bool(why), see))
        if result.outcome == "interrupted":
            warnings.warn(f"{inner.name}: interrupted; the result is that of a part of the run", stacklevel=2)
        return result


def _from_texts(texts, overrides):
    return Scenario(_tailback.from_texts(texts, overrides))
