"""Papers, searches, campaigns, causes, differences: what the command gives, from Python."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

import tailback

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = ROOT / "papers"
PROGRAM = os.environ.get("TAILBACK")

SMALL = {
    "schema_version": 1,
    "name": "small",
    "network": {"topology": "single-switch", "hosts": 4, "link": {"rate": "10Gb/s", "latency": "500ns"}},
    "switches": [{"flow_control": "pfc", "buffers": {"capacity": "300KB", "xoff": "60KB", "xon": "20KB"}}],
    "workloads": [
        {"name": "incast", "kind": "greedy", "from": ["h1", "h2", "h3"], "to": "h0", "size": "100KB"},
        {"name": "other", "kind": "greedy", "from": "h1", "to": "h2", "size": "20KB"},
    ],
    "run": {"duration": "1ms"},
}


def test_papers_are_listed():
    listed = tailback.papers(PAPERS)
    assert {"figure", "title", "numbers", "trends"} == set(listed[0])
    assert "guilty/victim" in [figure["figure"] for figure in listed]
    with pytest.raises(tailback.ResultsError, match="papers="):
        tailback.papers("no/such/folder")


def test_a_figure_is_reproduced_like_by_the_command(tmp_path):
    seen = []
    made = tailback.reproduce("bcn-stability-2006/fig2", papers=PAPERS, quick=True, out=tmp_path / "python",
                              progress=lambda done, total: seen.append((done, total)))
    assert list(made.figures) == ["fig2"] and made.paper == "bcn-stability-2006"
    table = made.verdicts
    assert {"figure", "quantity", "expected", "measured", "verdict", "source"} <= set(table.columns)
    assert len(made) == len(table) > 0 and all(
        any(word in verdict for word in ("agree", "undetermined")) for verdict in table["verdict"]
    )
    assert list(made.to_pandas()["verdict"]) == table["verdict"]
    pictures = made.pictures()
    assert pictures and all(picture.svg.startswith("<svg") and picture.png.startswith(b"\x89PNG") for picture in pictures.values())
    for result in made.results().values():
        assert result.tables
    assert made.report().html.startswith("<!")
    assert not seen or seen[-1][1] > 0
    if PROGRAM is None:
        pytest.skip("TAILBACK names no program to compare with")
    command = subprocess.run(
        [PROGRAM, "reproduce", "bcn-stability-2006/fig2", "--papers", PAPERS, "--quick", "--json", "--out", tmp_path / "command"],
        capture_output=True, text=True,
    )
    # 6: the short form disagrees with a statement.
    assert command.returncode in (0, 6), command.stderr
    assert json.loads(command.stdout)[0] == made.figures["fig2"]
    # The same directory, but for the names of finished runs, which depend on the program.
    files = [
        {path.relative_to(tmp_path / who) for path in (tmp_path / who).rglob("*") if path.parent.name != "points"}
        for who in ("python", "command")
    ]
    assert files[0] == files[1]


def test_a_whole_paper_is_counted(tmp_path):
    made = tailback.reproduce("guilty", papers=PAPERS, quick=True, choices=False, out=tmp_path)
    assert made.count["short_form"] and set(made.figures) == {"victim"}
    assert (tmp_path / "guilty" / "paper.json").exists()
    with pytest.raises(KeyError, match="victim"):
        made.pictures("fig99")


def test_papers_that_do_not_exist_are_named(tmp_path):
    for what, word in (("gulity", "did you mean guilty"), ("guilty/victm", "did you mean guilty/victim"), ("", "there is no")):
        with pytest.raises(tailback.TailbackError, match=word):
            tailback.reproduce(what, papers=PAPERS, out=tmp_path)
    assert not list(tmp_path.iterdir())
    # A mistake in the scenario of a figure is one of a scenario.
    copied = tmp_path / "papers"
    shutil.copytree(PAPERS / "guilty", copied / "guilty")
    with pytest.raises(tailback.ScenarioError) as caught:
        tailback.reproduce("guilty/victim", papers=copied, out=tmp_path / "out", set={"network.no_such_key": 1})
    assert caught.value.problems[0]["file"] == "set"


def test_a_reproduction_is_interrupted_and_continued(tmp_path):
    class Enough(Exception):
        pass

    def told(done, total):
        raise Enough

    call = dict(papers=PAPERS, quick=True, out=tmp_path)
    with pytest.raises(Enough):
        tailback.reproduce("guilty/victim", progress=told, **call)
    assert tailback.reproduce("guilty/victim", **call).figures


def test_values_are_tuned(tmp_path):
    call = dict(vary={"switches[*].buffers[0].xoff": ("30KB", "90KB")}, minimise="pause frames", candidates=4, replications=2)
    tuned = tailback.tune(SMALL, subject_to="dropped frames = 0", out=tmp_path / "tune", **call)
    assert len(tuned) == 4 and set(tuned.best) == {"switches[*].buffers[0].xoff"}
    frame = tuned.to_pandas()
    assert frame["best"].sum() == 1 and frame["sound"].all() and frame["given"].sum() == 1
    best = frame[frame["best"]].iloc[0]
    assert best["pause frames"] == frame["pause frames"].min()
    # The best is a scenario, which stays when the call is over.
    assert tailback.load(tuned.best_scenario).run(record=False).outcome == "finished"
    assert tailback.load(SMALL, set=tuned.best).run(record=False).outcome == "finished"
    again = tailback.tune(SMALL, subject_to="dropped frames = 0", out=tmp_path / "tune", **call)
    assert again.document == tuned.document
    with pytest.raises(tailback.TailbackError, match="another scenario"):
        tailback.tune({**SMALL, "name": "other"}, out=tmp_path / "tune", **call)
    for wrong in ({"xoff": ("1KB", "2KB")}, {"switches[*].buffers[0].xoff": ("9KB", "1KB")}):
        with pytest.raises(tailback.TailbackError):
            tailback.tune(SMALL, vary=wrong, minimise="pause frames", out=tmp_path / "wrong")
    with pytest.raises(tailback.TailbackError) as caught:
        tailback.tune(SMALL, vary={}, out=tmp_path / "wrong")
    assert "--" not in str(caught.value) and "minimise" in str(caught.value)


def test_faults_are_ranked(tmp_path):
    ranked = tailback.faults(SMALL, kinds=["link-fails", "slow-receiver"], among="h0", out=tmp_path / "faults")
    rows = ranked.to_pandas()
    assert list(rows["fault"])[-1] == "no fault" and len(rows) == 3
    # Nothing arrives over the link that fails: worse than a receiver that is slow.
    assert rows.iloc[0]["kind"] == "link-fails" and rows.iloc[0]["delivered"] < 1
    assert tailback.load(tmp_path / "faults" / "faults.toml").name
    assert ranked.report().html
    with pytest.raises(tailback.TailbackError) as caught:
        tailback.faults(SMALL, at="2ms", flap="1us", out=tmp_path / "late")
    assert "give an earlier at" in str(caught.value)
    with pytest.raises(tailback.TailbackError, match="link-fails"):
        tailback.faults(SMALL, kinds="storm", out=tmp_path / "unknown")


def test_futures_of_a_scenario(tmp_path):
    futures = tailback.what_if(SMALL, "50us", {"switches[0].buffers[0].xoff": ["30KB", "90KB"]})
    assert len(futures) == 3 and futures.at == 50_000_000
    assert futures.table["fingerprint"] == [row["fingerprint"] for row in futures.rows()]
    assert futures.table["switches[0].buffers[0].xoff"] == [None, "30KB", "90KB"]
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(futures)["pause_frames"].dtype == polars.Int64


def test_causes_are_told():
    result = tailback.load(SMALL).run(why=True)
    worst = result.why(worst=2)
    assert len(worst) == 2 and worst[0]["sentence"] and worst[0]["causes"]
    assert result.why(flow="other*")[0]["flow"].startswith("other")
    assert result.why(link="sw0->h0")
    with pytest.raises(tailback.TailbackError):
        result.why(flow="no such flow")
    with pytest.raises(ValueError, match="not both"):
        result.why(flow="a", link="b")
    with pytest.raises(tailback.TailbackError) as caught:
        tailback.load(SMALL).run().why()
    assert "--" not in str(caught.value) and "why=True" in str(caught.value)
    with pytest.raises(ValueError, match="record"):
        tailback.load(SMALL).run(record=False, why=True)


def test_differences_are_named():
    one, same = (tailback.load(SMALL).run() for _ in range(2))
    other = tailback.load(SMALL, set={"workloads[0].size": "101KB"}).run()
    assert one.diff(same) is None
    assert "flows" in one.diff(other)
    with pytest.raises(TypeError):
        one.diff("result")


def test_rows_become_typed_columns():
    table = tailback._table.Table(tailback._tailback.table_of("t", "m", [
        ("flag", "", "", [True, None]), ("whole", "B", "size", [1, None]), ("real", "", "", [1, 2.5]), ("text", "", "", ["a", 1]),
        ("empty", "", "", [None, None]), ("large", "", "", [2**70, 1]),
    ]))
    arrow = pytest.importorskip("pyarrow").table(table)
    assert [str(kind) for kind in arrow.schema.types] == ["bool", "int64", "double", "string", "string", "double"]
    assert table.units["whole"] == "B" and table.meanings["whole"] == "size" and table["text"] == ["a", "1"]
