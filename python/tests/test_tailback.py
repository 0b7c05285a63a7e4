"""What the documentation says of the package, tried with real readers of tables."""

import copy
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tailback

ROOT = pathlib.Path(__file__).resolve().parents[2]
VICTIM = ROOT / "scenarios" / "victim.toml"

SMALL = {
    "schema_version": 1,
    "name": "small",
    "network": {"topology": "single-switch", "hosts": 4, "link": {"rate": "10Gb/s", "latency": "500ns"}},
    "switches": [{"flow_control": "pfc", "buffers": {"capacity": "100KB"}}],
    "workloads": [
        {"name": "incast", "kind": "greedy", "from": ["h1", "h2", "h3"], "to": "h0", "size": "200KB"},
    ],
    "run": {"duration": "2ms"},
}


@pytest.fixture(scope="module")
def victim():
    return tailback.load(VICTIM).run(threads=1)


def test_a_dictionary_a_text_and_a_file_are_the_same_scenario(tmp_path):
    text = tailback._toml.document(SMALL)
    path = tmp_path / "small.toml"
    path.write_text(text)
    prints = {tailback.load(source).run(record=False).fingerprint for source in (SMALL, text, path, str(path))}
    assert len(prints) == 1


def test_threads_do_not_change_a_result():
    scenario = tailback.load(SMALL, set={"network.hosts": 6})
    assert scenario.run(threads=1).fingerprint == scenario.run(threads=2).fingerprint
    assert scenario.run(seed=2).summary["seed"] == 2


def test_it_is_the_result_of_the_command(victim, tmp_path):
    program = os.environ.get("TAILBACK")
    if program is None:
        pytest.skip("TAILBACK names no program to compare with")
    out = tmp_path / "command"
    subprocess.run([program, "run", VICTIM, "--out", out, "--quiet"], check=True)
    command = tailback.open(out)
    assert command.fingerprint == victim.fingerprint
    assert set(command.tables) == set(victim.tables)
    for name in command.tables:
        one, other = command.tables[name], victim.tables[name]
        assert all(one[column] == other[column] for column in one.columns), name


def test_mistakes_are_exceptions_with_places():
    with pytest.raises(tailback.ScenarioError) as caught:
        tailback.load(tailback._toml.document(SMALL).replace("hosts", "hots"))
    (problem,) = [problem for problem in caught.value.problems if "hots" in problem["message"]]
    assert problem["line"] == 3 and problem["key"] is None and "hosts" in problem["help"]
    assert "did you mean" in str(caught.value)
    with pytest.raises(tailback.ScenarioError):
        tailback.load("no/such/file.toml")
    for source in (3, None, [1]):
        with pytest.raises(TypeError):
            tailback.load(source)


@pytest.mark.parametrize("path, value, key, word", [
    (("network", "hots"), 3, "network.hots", "hosts"),
    (("network", "link", "rate"), "fast", "network.link.rate", "10Gb/s"),
    (("switches", 0, "buffers", "xof"), "9KB", "switches[0].buffers.xof", "xoff"),
    (("workloads", 0, "load"), 2, "workloads[0].load", ""),
    (("workloads", 0, "from", 1), 7, "workloads[0].from[1]", ""),
    (("a key", "x y"), 1, "a key", ""),
])
def test_mistakes_in_a_dictionary_have_the_path_of_their_key(path, value, key, word, tmp_path):
    wrong = copy.deepcopy(SMALL)
    inner = wrong
    for step in path[:-1]:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    inner[path[-1]] = value

    def of(call):
        with pytest.raises(tailback.ScenarioError) as caught:
            call()
        # The same message and the same remedy as for a text, and no line of a text that nobody wrote.
        text = str(caught.value)
        assert f"--> {key}" in text and "TOML" not in text and "toml" not in text and " | " not in text, text
        problem = next(problem for problem in caught.value.problems if problem["key"] == key)
        assert problem["file"] == "<dictionary>" and problem["line"] is None and problem["column"] is None
        assert word in problem["help"]
        return problem["message"], problem["help"]

    with pytest.raises(tailback.ScenarioError) as caught:
        tailback.load(tailback._toml.document(wrong))
    told = of(lambda: tailback.load(wrong))
    assert told in [(problem["message"], problem["help"]) for problem in caught.value.problems]


def test_mistakes_that_a_change_makes_are_those_of_the_dictionary(tmp_path):
    scenario = tailback.load(SMALL)
    few = {"network.hosts": 2}
    for call in (
        lambda: scenario.set(few),
        lambda: pickle.loads(pickle.dumps(scenario)).set(few),
        lambda: tailback.sweep(SMALL, {"network.hosts": [4, 2]}, out=tmp_path / "sweep"),
        lambda: tailback.compare(SMALL, "network.hosts", [4, 2], out=tmp_path / "compared"),
    ):
        with pytest.raises(tailback.ScenarioError) as caught:
            call()
        assert all(problem["key"].startswith("workloads[0].from") for problem in caught.value.problems)
        assert str(tmp_path) not in str(caught.value) and "scenario.toml" not in str(caught.value)


def test_mistakes_in_changes_name_the_argument():
    for call in (
        lambda: tailback.load(SMALL, set={"network.hosts": "many"}),
        lambda: tailback.load(SMALL).set({"network.hosts": "many"}),
    ):
        with pytest.raises(tailback.ScenarioError) as caught:
            call()
        (problem,) = caught.value.problems
        assert problem["file"] == "set" and problem["key"] == "network.hosts" and "--> set" in str(caught.value)


def test_check_explain_routes_and_stability():
    scenario = tailback.load(VICTIM)
    assert all({"severity", "message"} <= set(finding) for finding in scenario.check())
    assert "network.topology" in scenario.explain() or "topology" in scenario.explain()
    assert isinstance(scenario.routes(), dict)
    fluid = tailback.load(ROOT / "scenarios" / "bcn-stability.toml")
    assert fluid.stability()["verdict"]
    with pytest.raises(tailback.TailbackError):
        scenario.stability()


def test_tables_are_read_by_others(victim):
    flows = victim.tables["flows"]
    assert flows.units["size"] == "B" and flows.meanings["size"]
    arrow = pytest.importorskip("pyarrow").table(flows)
    assert arrow.num_rows == len(flows)
    assert arrow.schema.field("size").metadata[b"unit"] == b"B"
    assert arrow.schema.metadata[b"name"] == b"flows"
    frame = pytest.importorskip("polars").DataFrame(flows)
    assert frame["flow"].to_list() == flows["flow"]
    pandas = pytest.importorskip("pandas")
    assert list(flows.to_pandas()["flow"]) == flows["flow"]
    assert isinstance(flows.to_pandas(), pandas.DataFrame) and flows.to_pandas().attrs["units"]["size"] == "B"
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select count(*) from arrow").fetchall() == [(len(flows),)]
    for name, table in victim.tables.items():
        whole = pytest.importorskip("pyarrow").table(table)
        assert whole.num_rows == len(table), name
        for column in table.columns:
            assert whole.column(column).to_pylist() == table[column], (name, column)


def test_flows_are_read_from_the_parquet_files_of_others(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = {
        "source": ["h1", "h2", "h3"],
        "destination": ["h0", "h0", "h1"],
        "bytes": [200_000, 100_000, 3_000],
        "start": ["0s", None, "1.5us"],
    }
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "flows.csv", index=False)
    frame.to_parquet(tmp_path / "pandas.parquet")
    pytest.importorskip("polars").DataFrame(rows).write_parquet(tmp_path / "polars.parquet", compression="snappy")
    listed = {**SMALL, "workloads": [{"kind": "flows", "file": "flows.csv"}]}
    (tmp_path / "listed.toml").write_text(tailback._toml.document(listed))
    files = ["flows.csv", "pandas.parquet", "polars.parquet"]
    runs = [tailback.load(tmp_path / "listed.toml", set={"workloads[0].file": str(tmp_path / name)}) for name in files]
    assert len({scenario.run(record=False).fingerprint for scenario in runs}) == 1


def test_a_table_outlives_its_result():
    table = tailback.load(SMALL).run().tables["flows"]
    assert pytest.importorskip("pyarrow").table(table).num_rows == 3


def test_wrong_names_are_named(victim):
    with pytest.raises(KeyError, match="flows"):
        victim.tables["flow"]
    with pytest.raises(KeyError, match="size"):
        victim.tables["flows"]["sizes"]
    with pytest.raises(ValueError, match="throughput"):
        victim.plot("thruput")
    assert "flows" in victim.tables and "flow" not in victim.tables


def test_pictures_and_reports(victim, tmp_path):
    assert "throughput" in tailback.pictures()
    picture = victim.plot("throughput")
    assert picture._repr_svg_().startswith("<svg")
    picture.save(tmp_path / "throughput.png")
    picture.save(tmp_path / "throughput.svg")
    assert (tmp_path / "throughput.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError):
        picture.save(tmp_path / "throughput.gif")
    report = victim.report()
    assert report.html.startswith("<!") and "<iframe" in report._repr_html_()
    report.save(tmp_path / "report.html")


def test_a_result_is_saved_once(victim, tmp_path):
    out = tmp_path / "saved"
    victim.save(f"{out}/")
    assert tailback.open(out).fingerprint == victim.fingerprint
    with pytest.raises(tailback.ResultsError, match="exists"):
        victim.save(out)
    with pytest.raises(tailback.ResultsError):
        tailback.open(tmp_path)
    with pytest.raises(tailback.ResultsError, match="record"):
        tailback.load(SMALL).run(record=False).tables["flows"]


def test_a_sweep_is_one_tidy_table(tmp_path):
    axes = {"network.link.rate": ["10Gb/s", "40Gb/s"]}
    sweep = tailback.sweep(SMALL, axes, replications=2, out=tmp_path / "sweep", threads=2)
    rows = sweep.to_pandas()
    assert {"network.link.rate", "metric", "unit", "mean", "low", "high", "runs"} <= set(rows.columns)
    assert set(rows["network.link.rate"]) == {"10Gb/s", "40Gb/s"} and set(rows["runs"]) == {2}
    numbers = tailback.sweep(SMALL, {"network.hosts": [4, 10]}, out=tmp_path / "numbers").to_pandas()
    assert set(numbers["network.hosts"]) == {4, 10}
    times = rows[rows["metric"] == "incast: completion time (s)"]["mean"]
    assert len(times) == 2 and times.iloc[0] > times.iloc[1]
    again = tailback.sweep(SMALL, axes, replications=2, out=tmp_path / "sweep")
    assert again.table["mean"] == sweep.table["mean"]
    assert sweep.report().html


def test_a_comparison_has_a_row_per_value(tmp_path):
    compared = tailback.compare(SMALL, "network.link.rate", ["10Gb/s", "40Gb/s"], out=tmp_path / "compared")
    assert [row["value"] for row in compared.rows] == ["10Gb/s", "40Gb/s"]
    assert compared.report().html
    with pytest.raises(ValueError):
        tailback.compare(SMALL)


def test_a_bare_text_is_no_list_of_values():
    for wrong, kind in (("12", TypeError), ([], ValueError), ([1, 1], ValueError), (3, TypeError)):
        with pytest.raises(kind):
            tailback.sweep(SMALL, {"run.seed": wrong})
        with pytest.raises(kind):
            tailback.compare(SMALL, protocols=wrong)
    for call in (lambda: tailback.load(SMALL).run(seed=1.9), lambda: tailback.load(SMALL).run(progress="yes")):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="no key"):
        tailback.load(SMALL, set={"name=foo": "x"})


def test_a_result_whose_directory_was_replaced_says_so(tmp_path):
    scenario = tailback.load(SMALL)
    first = scenario.run(out=tmp_path / "here")
    scenario.set({"network.link.rate": "5Gb/s"}).run(out=tmp_path / "here", overwrite=True)
    for read in (lambda: first.tables["flows"], first.plot, first.report, lambda: first.save(tmp_path / "there")):
        with pytest.raises(tailback.ResultsError, match="another run"):
            read()


def test_progress_is_told_and_may_end_a_run():
    seen = []
    long = tailback.load(SMALL, set={"workloads[0].size": "1GB", "run.duration": "1s"})

    def told(done, total):
        seen.append((done, total))
        if len(seen) > 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        long.run(progress=told)
    assert all(total == 10**12 for _, total in seen) and seen == sorted(seen)


def test_other_threads_go_on_while_a_run_does():
    long = tailback.load(SMALL, set={"workloads[0].size": "100MB", "run.duration": "100ms"})
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    long.run(record=False)
    stop.set()
    thread.join()
    assert counted[0] > 10


def test_scalars_and_arrays_of_numpy_are_values():
    numpy = pytest.importorskip("numpy")
    scenario = tailback.load(SMALL)
    assert tailback._toml.value(numpy.float64(0.25)) == "0.25" and tailback._toml.value(numpy.bool_(True)) == "true"
    assert tailback._toml.value(numpy.array(["h1", "h2"])) == '["h1", "h2"]'
    assert tailback._toml.values(numpy.linspace(0.25, 0.75, 3), "loads") == ["0.25", "0.5", "0.75"]
    assert scenario.set({"run.seed": numpy.uint8(7)}).run(record=False).outcome == "finished"


def test_what_cannot_be_pickled_says_what_to_do():
    result = tailback.load(SMALL).run()
    with pytest.raises(TypeError, match="result.summary"):
        pickle.dumps(result)
    with pytest.raises(TypeError, match="to_arrow"):
        pickle.dumps(result.tables["flows"])
    assert copy.deepcopy(result).fingerprint == copy.copy(result).fingerprint == result.fingerprint
    assert "name" in result.tables["flows"] and "nme" not in result.tables["flows"]
    with pytest.raises(TypeError, match="columns"):
        list(result.tables["flows"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_run_keeps_what_was_recorded():
    program = textwrap.dedent(
        """
        import tailback
        scenario = tailback.load(%r, set={"workloads[0].size": "100GB", "run.duration": "100s"})
        print("ready", flush=True)
        result = scenario.run()
        print(result.outcome, len(result.tables["flows"]), flush=True)
        """
        % (SMALL,)
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted 3\n"
    assert child.returncode == 0


def test_steps_and_forks_end_like_a_run():
    scenario = tailback.load(VICTIM)
    whole = scenario.run(record=False)
    simulation = scenario.start()
    assert simulation.now == 0 and simulation.counters()["made_frames"] == 0
    assert simulation.run_until("2ms") == "finished" and simulation.now == 2_000_000_000
    counted = simulation.counters()
    flows = simulation.flows()
    assert sum(flows["bytes"]) == counted["delivered_bytes"] > 0 and flows.units["bytes"] == "B"
    fork = simulation.fork()
    simulation.run_until("5ms")
    assert simulation.fingerprint == whole.fingerprint
    assert fork.counters() == counted and fork.now == 2_000_000_000
    fork.run_until("5ms")
    assert fork.fingerprint == whole.fingerprint
    with pytest.raises(ValueError, match="unit"):
        fork.run_until("5")


def test_values_become_toml():
    toml = tailback._toml
    value = {"a": [1, 2.5, True, "x\n\"y\"\\", {"b c": "µ"}]}
    if sys.version_info >= (3, 11):
        import tomllib

        assert tomllib.loads(toml.document(value)) == value
    assert toml.overrides({"a.b": "5Gb/s", "c": [1, "d"]}) == ["a.b=5Gb/s", 'c=[1, "d"]']
    for wrong in (float("nan"), object(), {1: 2}, None):
        with pytest.raises((TypeError, ValueError)):
            toml.value(wrong)
