"""Reaction points written in Python."""

import importlib.util
import pathlib

import pytest

import tailback

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCAST = ROOT / "scenarios" / "roce-incast.toml"


def example():
    spec = importlib.util.spec_from_file_location("own_reaction", ROOT / "python" / "examples" / "own_reaction.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Constant:
    def __init__(self, adapter):
        assert adapter["link"] == 25_000_000_000 and adapter["round_trip"] > 0

    def allowance(self):
        return 1e9, None


def test_the_example_controls_an_incast_like_dcqcn():
    rows = example().compare()
    own, dcqcn = rows["halving"], rows["dcqcn"]
    assert own["completed"] == dcqcn["completed"] > 15
    # The same order of magnitude; both are bound by the link of the receiver.
    assert 0.3 < own["mean_completion_us"] / dcqcn["mean_completion_us"] < 3
    assert own["marked_frames"] > 0


def test_a_rate_is_kept_and_runs_are_deterministic():
    scenario = tailback.load(INCAST, set={"run.duration": "500us"})
    prints = set()
    for _ in range(2):
        simulation = scenario.start(reaction=Constant)
        simulation.run_until("500us")
        # 1 Gb/s for half a millisecond.
        assert all(bytes <= 64_000 for bytes in simulation.flows()["bytes"])
        prints.add(simulation.fingerprint)
    assert len(prints) == 1


def test_a_fork_has_objects_of_its_own():
    scenario = tailback.load(INCAST, set={"run.duration": "1ms"})
    simulation = scenario.start(reaction=example().Halving)
    simulation.run_until("300us")
    fork = simulation.fork()
    for one in (simulation, fork):
        one.run_until("1ms")
    assert simulation.fingerprint == fork.fingerprint


class Failing(Constant):
    def on_feedback(self, now, feedback):
        raise KeyError("an idea that fails")


@pytest.mark.parametrize("rate", ["fast", -1.0, float("nan"), (1, 2), None])
def test_wrong_allowances_raise(rate):
    class Wrong(Constant):
        def allowance(self):
            return rate if rate is None else (rate, None)

    with pytest.raises((TypeError, ValueError)):
        tailback.load(INCAST).start(reaction=Wrong)


def test_an_exception_ends_the_run_and_comes_out():
    simulation = tailback.load(INCAST).start(reaction=Failing)
    with pytest.raises(KeyError, match="an idea that fails"):
        simulation.run_until("5ms")
    with pytest.raises(KeyError):
        simulation.run_until("6ms")
    for wrong in (3, "x", object()):
        with pytest.raises(TypeError):
            tailback.load(INCAST).start(reaction=wrong)


def test_it_is_neither_saved_nor_changed(tmp_path):
    simulation = tailback.load(INCAST).start(reaction=Constant)
    simulation.run_until("100us")
    with pytest.raises(tailback.TailbackError, match="a reaction point that is not built in"):
        simulation.save(tmp_path / "a.saved")
    with pytest.raises(tailback.TailbackError, match="protocol"):
        simulation.set("congestion_point.kmin", "50KB")
