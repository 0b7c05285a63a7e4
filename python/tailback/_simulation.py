"""Runs in steps: stopped, looked at, changed, copied, saved."""

import os
import warnings

from . import _tailback, _toml
from ._progress import progress_for
from ._result import Result
from ._table import Rows, Table


class Simulation:
    """A simulation that stops where you want. Made by `Scenario.start` or `tailback.resume`.

    Steps change nothing: at the end, the fingerprint is that of an uninterrupted run.
    """

    def __init__(self, inner, name):
        self._inner, self._name = inner, name

    @property
    def now(self):
        """The simulated time in picoseconds."""
        return self._inner.now

    @property
    def fingerprint(self):
        """The fingerprint of what has happened so far."""
        return self._inner.fingerprint

    def run_until(self, time, progress=None):
        """Runs until a time of the simulation, such as "2ms", which may lie beyond the `run.duration` of the scenario.

        A time that has passed changes nothing. Returns how the step ended: "finished" if it got there. Ctrl-C ends the step,
        which is then "interrupted", with a warning; run the simulation on before it is changed or saved.
        """
        outcome = self._step(time, progress)
        if outcome == "interrupted":
            text = f"{self._name}: interrupted; run_until goes on, and the simulation is neither changed nor saved before"
            warnings.warn(text, stacklevel=2)
        return outcome

    def _step(self, time, progress):
        if not isinstance(time, str):
            raise TypeError(f'give a time as text with its unit, such as "2ms", not {time!r}')
        with progress_for(progress, self._name) as see:
            return self._inner._run_until(time, see)

    def counters(self):
        """Returns the sums so far as a dictionary: frames and bytes made, delivered, dropped, PAUSE frames and so on."""
        return self._inner.counters()

    def flows(self):
        """Returns what has become of each flow so far, as a table."""
        return Table(self._inner.flows())

    def set(self, key, value=None):
        """Changes a value from this instant on: `simulation.set("switches[0].buffers[0].xoff", "80KB")`, or several with a
        dictionary.

        Thresholds of buffers, parameters of protocols, rates of paced workloads and failures of links that are to come can
        change. Everything else is refused with the reason, and then nothing has changed.
        """
        changes = {key: value} if isinstance(key, str) else key
        if changes is None or isinstance(key, str) == (value is None):
            raise TypeError('set takes a key and a value, or a dictionary such as {"switches[0].buffers[0].xoff": "80KB"}')
        self._inner._set(_toml.overrides(changes))

    def fork(self):
        """Returns a copy that goes on by itself from this instant."""
        return Simulation(self._inner.fork(), self._name)

    def save(self, path):
        """Writes the simulation to a file, from which `tailback.resume` or `tailback resume` goes on."""
        self._inner.save(os.fspath(path))

    def finish(self, threads=None, out=None, overwrite=False, progress=None):
        """Runs a copy to the end of the scenario and returns its `Result`, which is that of a run without stops.

        It has tables if the simulation was started with `record=True`. The simulation itself stays where it is.
        """
        with progress_for(progress, self._name) as see:
            result = Result(self._inner._finish(threads, None if out is None else os.fspath(out), overwrite, see))
        if result.outcome == "interrupted":
            warnings.warn(f"{self._name}: interrupted; the result is that of a part of the run", stacklevel=2)
        return result

    def what_if(self, changes, threads=None, progress=None):
        """Compares futures of this instant: one as it is, and one with every combination of values.

        `changes` is a dictionary such as `{"switches[0].buffers[0].xoff": ["40KB", "80KB"]}`. The simulation itself stays
        where it is.
        """
        axes = _toml.axes(changes, "changes")
        with progress_for(progress, self._name) as see:
            return WhatIf(self._inner._what_if(axes, threads, see))

    def __reduce__(self):
        return _from_bytes, (self._inner._bytes(),)

    def __repr__(self):
        return f"<tailback.Simulation {self._name} at {self.now / 1e6:g} us>"


class WhatIf(Rows):
    """Several futures of one past. The first one is unchanged."""

    _name, _meaning = "what-if", "one future"

    def __init__(self, document):
        self.at, self.futures = document["at"], document["futures"]

    def __len__(self):
        return len(self.futures)

    def __repr__(self):
        return f"<tailback.WhatIf of {len(self.futures)} futures from {self.at / 1e6:g} us on>"

    def rows(self):
        """Returns a dictionary for each future: its changes, its outcome, and all counters since the change."""
        def row(future):
            run = future["run"]
            return {**future["changes"], "outcome": run["outcome"], **future["since"], "fingerprint": run["fingerprint"]}

        return [row(future) for future in self.futures]

    def _rows(self):
        keys = dict.fromkeys(key for future in self.futures for key in future["changes"])
        return [{**keys, **row} for row in self.rows()]


def _from_bytes(saved):
    inner = _tailback.resume_bytes(saved)
    return Simulation(inner, inner.name)


def resume(path, threads=None):
    """Goes on with a simulation that was saved to a file, on any number of threads.

    Raises `TailbackError` if the file is damaged, is no saved simulation, or is of another version.
    """
    inner = _tailback.resume(os.fspath(path), threads)
    return Simulation(inner, inner.name)
