"""Results of runs."""

import os
import shutil
from collections.abc import Mapping
from html import escape

from . import _tailback
from ._table import Table


class Tables(Mapping):
    """The tables of a result by name. Each is read when it is used."""

    def __init__(self, inner):
        self._inner = inner

    def __getitem__(self, name):
        return Table(self._inner._table(name))

    def __iter__(self):
        return iter(self._inner._table_names())

    def __len__(self):
        return len(self._inner._table_names())

    def __contains__(self, name):
        return name in self._inner._table_names()

    def __repr__(self):
        return f"<tailback.Tables {', '.join(self)}>"


class Picture:
    """A picture. A notebook shows it; `save` writes it."""

    def __init__(self, kind, svg, png):
        self.kind, self.svg, self.png = kind, svg, png

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<tailback.Picture {self.kind}>"

    def save(self, path):
        """Writes the picture; the ending of the path says how: .svg or .png."""
        path = os.fspath(path)
        if path.endswith(".svg"):
            with open_file(path, "w", encoding="utf-8") as file:
                file.write(self.svg)
        elif path.endswith(".png"):
            with open_file(path, "wb") as file:
                file.write(self.png)
        else:
            raise ValueError(f"{path}: a picture ends in .svg or .png")


class Report:
    """A report: one page that needs nothing else. A notebook shows it; `save` writes it."""

    def __init__(self, html):
        self.html = html

    def _repr_html_(self):
        page = escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 800px; border: 0"></iframe>'

    def __repr__(self):
        return f"<tailback.Report of {len(self.html)} characters>"

    def save(self, path):
        """Writes the page as a file."""
        with open_file(path, "w", encoding="utf-8") as file:
            file.write(self.html)


class Result:
    """The result of a run."""

    def __init__(self, inner):
        self._inner = inner
        self._summary = None

    @property
    def outcome(self):
        """How the run ended, in one word: "finished", "deadlock", "stalled", "livelock", "loss", "limit" or "interrupted"."""
        return self._inner.outcome

    @property
    def fingerprint(self):
        """Equal for equal runs, on any number of threads."""
        return self._inner.fingerprint

    @property
    def summary(self):
        """What `tailback run --json` prints, as a dictionary; of a result that `tailback.open` read, its name, its outcome, its
        fingerprint and its manifest only."""
        if self._summary is None:
            self._summary = self._inner.summary
        return self._summary

    @property
    def directory(self):
        """Where the tables are; None if the run was not recorded."""
        return self._inner.directory

    @property
    def tables(self):
        """The tables by name, such as `result.tables["flows"]`."""
        return Tables(self._there())

    def _there(self):
        """The result, if its directory still has it."""
        if self.directory is not None and _tailback.open_result(self.directory).fingerprint != self.fingerprint:
            raise _tailback.ResultsError(f"{self.directory} has the result of another run by now")
        return self._inner

    def __repr__(self):
        return repr(self._inner)

    def __reduce__(self):
        raise TypeError(
            "a Result cannot be pickled, since its tables are files: pickle result.summary, or record with run(out=...) and "
            "tailback.open() the directory in the other process"
        )

    def __copy__(self):
        return self  # It does not change.

    def __deepcopy__(self, memo):
        return self

    def plot(self, kind="throughput", most=10, scale=2.0):
        """Draws a picture, such as "throughput", "queues" or "pauses"; `tailback.pictures()` lists them.

        Returns None if the result has nothing to draw.
        """
        drawn = self._there()._plot(kind, most, scale)
        return None if drawn is None else Picture(kind, *drawn)

    def why(self, flow=None, link=None, worst=10):
        """Returns why flows took their time, as dictionaries with a sentence and the causes: the flows whose names match
        `flow`, those that lost time to a link such as "sw0->h1", or the worst.

        The run must have recorded the causes: `scenario.run(why=True)`.
        """
        return self._there()._why(flow, link, worst)

    def diff(self, other):
        """Returns the differences from another result as text: the first row of each table that differs; None if all are
        equal."""
        if not isinstance(other, Result):
            raise TypeError(f"diff takes a Result, not a {type(other).__name__}")
        return self._there()._diff(other._there())

    def report(self):
        """Makes the report."""
        return Report(self._there()._report())

    def save(self, path):
        """Copies the result to a directory, which must not exist: the same as `tailback run --out` writes."""
        if self.directory is None:
            raise _tailback.ResultsError("this run was not recorded: run the scenario with record=True")
        if not os.fspath(path):
            raise ValueError("give a path")
        self._there()
        path = os.path.abspath(path)
        if os.path.lexists(path):
            raise _tailback.ResultsError(f"{path} exists: give another path")
        part = f"{path}.partial-{os.getpid()}"
        try:
            shutil.copytree(self.directory, part)
            os.rename(part, path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return path


open_file = open


def open(directory):  # noqa: A001: tailback.open reads well.
    """Opens the recorded result of a run."""
    return Result(_tailback.open_result(os.fspath(directory)))
