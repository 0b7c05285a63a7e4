"""Runs in steps."""

from ._progress import progress_for
from ._table import Table


class Simulation:
    """A simulation that stops where you want. Made by `Scenario.start`.

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

        A time that has passed changes nothing. Returns how the step ended: "finished" if it got there.
        """
        with progress_for(progress, self._name) as see:
            return self._inner._run_until(time, see)

    def counters(self):
        """Returns the sums so far as a dictionary: frames and bytes made, delivered, dropped, PAUSE frames and so on."""
        return self._inner.counters()

    def flows(self):
        """Returns what has become of each flow so far, as a table."""
        return Table(self._inner.flows())

    def fork(self):
        """Returns a copy that goes on by itself from this instant."""
        return Simulation(self._inner.fork(), self._name)

    def __repr__(self):
        return f"<tailback.Simulation {self._name} at {self.now / 1e6:g} us>"
