"""Papers: their figures run again, with a verdict on every number and trend that they state."""

import os
import pathlib

from . import _tailback, _toml
from ._progress import progress_for
from ._result import Picture, Report, Result
from ._table import Rows


class Reproduction(Rows):
    """The reproduction of a paper, or of one of its figures: one row per statement."""

    _name, _meaning = "verdicts", "one number or trend that the paper states"

    def __init__(self, document, directory):
        self.paper, self.directory = document["paper"], directory
        self.figures = {figure["figure"]: figure for figure in document["figures"]}
        self.folders = dict(zip(self.figures, document["folders"]))
        self.summary, self.summary_text = document["summary"], document["summary_text"]
        self.count, self.missing = document["count"], document["missing"]

    def __repr__(self):
        counts = self.count["paper"]["statements"]
        words = ", ".join(f"{number} {word}" for word, number in counts.items())
        return f"<tailback.Reproduction of {self.paper}, {len(self.figures)} figures: {words}>"

    @property
    def verdicts(self):
        """The rows as a `Table`: figure, quantity, conditions, what is expected and measured, the verdict and its source."""
        return self.table

    def _rows(self):
        rows = []
        for name, figure in self.figures.items():
            for number in figure["numbers"]:
                measured = number["measured"] or {}
                rows.append({
                    "figure": name,
                    "kind": "number",
                    "quantity": number["name"],
                    "conditions": _cell(number["cell"]),
                    "expected": " ".join(part for part in (number["comparison"], number["expected"]) if part),
                    "expected_value": number["expected_value"],
                    "measured": measured.get("median"),
                    "outcomes": ", ".join(dict.fromkeys(number["outcomes"])),
                    **_ruling(number, number["source"]),
                })
            for trend in figure["trends"]:
                along = f" along {trend['along']}" if trend["along"] else ""
                value = f" {trend['value']}" if trend["value"] else ""
                rows.append({
                    "figure": name,
                    "kind": "trend",
                    "quantity": trend["name"],
                    "conditions": _cell({axis: ", ".join(values) for axis, values in trend["where"].items()}),
                    "expected": f"{trend['shape']}{value}{along}",
                    "outcomes": f"holds in {trend['kept']} of {trend['runs']} seeds",
                    **_ruling(trend, trend["source"]),
                })
        for sentence in (self.summary or {}).get("sentences", []):
            rows.append({
                "figure": ", ".join(sentence["figures"]),
                "kind": "sentence",
                "quantity": f"{sentence['of']}: {sentence['says']}",
                "conditions": sentence["measure"],
                "expected": sentence["expected_text"],
                "outcomes": sentence["measured_text"],
                "verdict": sentence["verdict"],
                "reason": sentence["reason"],
                "statement": sentence["statement"],
                "ours": False,
                "source": sentence["source"],
            })
        return rows

    def _columns(self):
        return {
            "figure": ("", "figure of the paper"),
            "quantity": ("", "name of the number or trend"),
            "conditions": ("", "values of the axes"),
            "expected": ("", "what the paper states"),
            "expected_value": ("base unit", "the stated number in bits per second, bytes or seconds"),
            "measured": ("base unit", "median over the seeds, in the unit of expected_value"),
            "outcomes": ("", "how the runs ended, or in how many seeds the trend holds"),
            "verdict": ("", "agrees, disagrees or undetermined, under all readings of the paper"),
            "reason": ("", "why the verdict is undetermined"),
            "statement": ("", "the statement that this is evidence for"),
            "ours": ("", "whether the statement is ours and not the paper's"),
            "source": ("", "place in the paper"),
        }

    def _folder(self, figure):
        if figure is None and len(self.folders) == 1:
            (folder,) = self.folders.values()
        elif figure in self.folders:
            folder = self.folders[figure]
        else:
            raise KeyError(f"no figure {figure!r}; there are {', '.join(self.folders)}")
        return pathlib.Path(folder)

    def pictures(self, figure=None):
        """Returns the pictures of a figure by name; of a paper, say which figure."""
        plots = self._folder(figure) / "plots"
        found = {}
        for svg in sorted(plots.rglob("*.svg")):
            name, png = svg.relative_to(plots).with_suffix("").as_posix(), svg.with_suffix(".png")
            found[name] = Picture(name, svg.read_text(encoding="utf-8"), png.read_bytes() if png.exists() else b"")
        return found

    def results(self, figure=None):
        """Returns the recorded runs of a figure by variant: `Result`s with all tables."""
        folder = self._folder(figure)
        name = figure if figure is not None else next(iter(self.figures))
        return {run["variant"]: Result(_tailback.open_result(folder / run["folder"])) for run in self.figures[name]["runs"]}

    def report(self):
        """Makes the report: figures beside what the paper states."""
        return Report(_tailback.report_html(self.directory))


def _cell(cell):
    return ", ".join(f"{axis.rsplit('.', 1)[-1]} {value}" if axis != "variant" else value for axis, value in cell.items())


def _ruling(finding, source):
    keys = ("verdict", "reason", "statement", "ours")
    return {**{key: finding.get(key) for key in keys}, "source": source}


def papers(papers="papers"):
    """Returns the figures of all papers in a folder, as dictionaries: name, title, how many numbers and trends are stated."""
    return _tailback.papers(os.fspath(papers))


def reproduce(what, papers="papers", quick=False, choices=True, replications=None, set=None, threads=None, out="results",
              progress=None):
    """Reproduces a paper, `reproduce("dcqcn-2015")`, or one of its figures, `reproduce("dcqcn-2015/clos")`.

    `papers` is the folder of papers of a clone. `quick=True` runs the short form: one seed, one reading, a part of the time.
    `choices=False` runs no other readings of what the paper leaves open. Results, pictures and verdicts are written to
    `out/PAPER`, as by the command; the same call continues a reproduction. Ctrl-C raises KeyboardInterrupt.
    """
    with progress_for(progress, str(what)) as see:
        document, directory = _tailback.reproduce(
            what, os.fspath(papers), os.fspath(out), _toml.overrides(set), bool(quick), bool(choices), replications, threads, see
        )
    return Reproduction(document, directory)
