"""Stop, look, change, branch: simulations that are saved, resumed, changed and compared."""

import os
import pathlib
import pickle
import random
import subprocess
import sys

import pytest

import tailback

ROOT = pathlib.Path(__file__).resolve().parents[2]
VICTIM = ROOT / "scenarios" / "victim.toml"
XOFF = "switches[0].buffers[0].xoff"
INCAST = {
    "schema_version": 1,
    "name": "incast",
    "network": {"topology": "single-switch", "hosts": 5, "link": {"rate": "10Gb/s", "latency": "500ns"}},
    "switches": [{"flow_control": "pfc", "buffers": {"capacity": "200KB", "xoff": "60KB", "xon": "20KB"}}],
    "workloads": [
        {"name": "incast", "kind": "greedy", "from": ["h1", "h2", "h3"], "to": "h0"},
        {"name": "paced", "kind": "paced", "from": "h4", "to": "h1", "rate": "1Gb/s"},
    ],
    "run": {"duration": "1ms"},
}


def stopped(record=False, at="300us"):
    simulation = tailback.load(INCAST).start(record=record)
    assert simulation.run_until(at) == "finished"
    return simulation


def test_another_process_resumes_a_saved_simulation(tmp_path):
    whole = tailback.load(INCAST).run()
    stopped(record=True).save(tmp_path / "a.saved")
    program = f"""
import tailback
simulation = tailback.resume({str(tmp_path / "a.saved")!r}, threads=2)
assert simulation.now == 300_000_000
result = simulation.finish(out={str(tmp_path / "resumed")!r})
print(result.fingerprint)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == whole.fingerprint
    resumed = tailback.open(tmp_path / "resumed")
    for name in whole.tables:
        table, other = whole.tables[name], resumed.tables[name]
        assert [list(table[column]) for column in table.columns] == [list(other[column]) for column in other.columns], name


def test_finish_leaves_the_simulation_where_it_is():
    simulation = stopped()
    result = simulation.finish()
    assert result.fingerprint == tailback.load(INCAST).run(record=False).fingerprint
    assert simulation.now == 300_000_000
    with pytest.raises(tailback.TailbackError, match="without recording"):
        simulation.finish(out="never")
    assert not os.path.exists("never")


def test_changes_hold_from_now_on():
    plain, changed = stopped(), stopped()
    changed.set(XOFF, "100KB")
    assert changed.counters() == plain.counters()
    changed.set({"workloads[1].rate": "4Gb/s"})
    before = changed.flows()["made_frames"][3]
    changed.run_until("600us")
    assert 3.8 < (changed.flows()["made_frames"][3] - before) / before < 4.2
    changed.set("faults", [{"between": ["h1", "sw0"], "down": "700us", "up": "750us"}])
    changed.run_until("1ms")
    assert changed.counters()["lost_frames"] > 0


@pytest.mark.parametrize("key, value, reason", [
    ("network.hosts", 6, "nodes or links"),
    ("network.link.rate", "20Gb/s", "nodes or links"),
    ("switches[0].buffers[0].capacity", "300KB", "beyond thresholds"),
    ("workloads[0].to", "h4", "flows"),
    ("run.seed", 9, "the seed"),
    ("protocol.name", "hpcc", "mechanism"),
])
def test_other_changes_are_refused_with_the_reason(key, value, reason):
    simulation = stopped()
    with pytest.raises(tailback.TailbackError, match=reason):
        simulation.set(key, value)
    simulation.run_until("1ms")
    assert simulation.fingerprint == tailback.load(INCAST).run(record=False).fingerprint


def test_mistakes_in_a_change_are_those_of_a_scenario():
    with pytest.raises(tailback.ScenarioError) as caught:
        stopped().set("switches[0].buffers[0].xof", "1KB")
    assert "xoff" in str(caught.value) and caught.value.problems


def test_futures_are_compared():
    simulation = stopped()
    futures = simulation.what_if({XOFF: ["30KB", "120KB"]})
    assert len(futures) == 3 and futures.at == 300_000_000
    plain, low, high = futures.rows()
    assert low[XOFF] == "30KB" and XOFF not in plain
    assert low["pause_frames"] > plain["pause_frames"] > high["pause_frames"]
    assert plain["fingerprint"] == tailback.load(INCAST).run(record=False).fingerprint
    frame = futures.to_pandas()
    assert list(frame["pause_frames"]) == [row["pause_frames"] for row in futures.rows()]
    # What distinguishes the futures is the first column, although the first future does not have it.
    assert futures.table.columns[0] == XOFF and list(frame[XOFF])[1:] == ["30KB", "120KB"]


def interrupt(done, total):
    raise KeyboardInterrupt


def test_an_interrupted_step_says_so_and_goes_on():
    simulation = tailback.load(INCAST, set={"run.duration": "50ms"}).start()
    with pytest.warns(UserWarning, match="interrupted"):
        assert simulation.run_until("50ms", progress=interrupt) == "interrupted"
    with pytest.raises(tailback.TailbackError, match="run it on to an instant"):
        simulation.set({XOFF: "30KB"})
    assert simulation.run_until("50ms") == "finished"
    with pytest.raises(KeyboardInterrupt):
        tailback.what_if({**INCAST, "run": {"duration": "50ms"}}, "50ms", {XOFF: ["30KB"]}, progress=interrupt)


def test_wrong_arguments_are_named():
    simulation = stopped()
    with pytest.raises(TypeError, match="2ms"):
        simulation.run_until(2e-3)
    with pytest.raises(TypeError, match="dictionary"):
        simulation.what_if([(XOFF, ["30KB"])])
    with pytest.raises(TypeError, match="dictionary"):
        tailback.sweep(INCAST, [("run.seed", [1])], out="never")
    with pytest.raises(TypeError, match="dictionary"):
        simulation.set({XOFF: "30KB"}, "40KB")


def test_pickles():
    scenario = pickle.loads(pickle.dumps(tailback.load(VICTIM, set={"run.duration": "2ms"})))
    assert scenario.run(record=False).fingerprint == tailback.load(VICTIM, set={"run.duration": "2ms"}).run(record=False).fingerprint
    assert scenario.set({"run.seed": 3}).name == "victim"
    simulation = stopped()
    again = pickle.loads(pickle.dumps(simulation))
    for one in (simulation, again):
        one.run_until("1ms")
    assert again.fingerprint == simulation.fingerprint


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "a.saved"
    stopped(record=True).save(path)
    whole = path.read_bytes()
    stream = random.Random(1)
    for _ in range(200):
        damaged = bytearray(whole)
        kind = stream.randrange(3)
        if kind == 0:
            damaged[stream.randrange(len(damaged))] ^= 1 << stream.randrange(8)
        elif kind == 1:
            del damaged[stream.randrange(len(damaged)):]
        else:
            damaged.insert(stream.randrange(len(damaged)), stream.randrange(256))
        path.write_bytes(damaged)
        with pytest.raises(tailback.TailbackError):
            tailback.resume(path)
    with pytest.raises(tailback.TailbackError, match="not a saved simulation"):
        tailback.resume(VICTIM)
    with pytest.raises(tailback.TailbackError):
        tailback.resume(tmp_path / "missing")
    with pytest.raises(tailback.TailbackError):
        stopped().save(tmp_path / "no" / "such" / "folder")


def test_arguments_of_any_kind():
    objects = [None, -1, 2**70, 1e308, float("nan"), "", "\ud800", "x" * 10_000, b"x", [], {"a": object()}, [[]], object()]
    simulation = stopped()
    calls = [
        lambda it: simulation.set(it),
        lambda it: simulation.set(XOFF, it),
        lambda it: simulation.set({"a": it}),
        lambda it: simulation.run_until(it),
        lambda it: simulation.what_if({XOFF: it}),
        lambda it: simulation.what_if({"a": [it]}),
        lambda it: simulation.finish(threads=it or "none"),
        lambda it: simulation.save(it),
        lambda it: tailback.resume(it),
        lambda it: tailback._tailback.resume_bytes(it),
        lambda it: tailback._tailback.from_texts(it, it),
    ]
    for call in calls:
        for it in objects:
            with pytest.raises(Exception) as caught:
                call(it)
            assert not isinstance(caught.value, (SystemError, MemoryError)), (call, it)
    assert simulation.now == 300_000_000


def test_messages_speak_of_arguments(tmp_path):
    scenario = tailback.load(INCAST)
    scenario.run(out=tmp_path / "a")
    with pytest.raises(tailback.TailbackError) as caught:
        scenario.run(out=tmp_path / "a")
    assert "--" not in str(caught.value) and "overwrite=True" in str(caught.value)
