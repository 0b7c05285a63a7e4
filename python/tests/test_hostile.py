"""Bad input never ends the interpreter: mutated scenarios and arguments of any kind give exceptions."""

import pathlib
import random

import pytest

import tailback
from tailback import _tailback

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = [path.read_text() for path in sorted((ROOT / "scenarios").glob("*.toml"))]
WORDS = ["[[", "]", "=", "-1", "1e400", '"', "\x00", "é", "18446744073709551616", "null", "{", "}", "nan", "h0", "\n"]
OBJECTS = [None, -1, 2**70, 1e308, float("nan"), "", "\ud800", "x" * 10_000, b"x", [], {}, [[]], object(), print]


def mutated(stream):
    text = stream.choice(TEXTS)
    for _ in range(stream.randint(1, 4)):
        place = stream.randrange(len(text))
        kind = stream.randrange(3)
        if kind == 0:
            text = text[:place] + stream.choice(WORDS) + text[place:]
        elif kind == 1:
            text = text[:place] + text[place + stream.randint(1, 30):]
        else:
            other = stream.choice(TEXTS)
            start = stream.randrange(len(other))
            text = text[:place] + other[start:start + 60] + text[place:]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_mutated_scenarios_are_refused_or_sound(seed):
    stream = random.Random(seed)
    for _ in range(60):
        try:
            tailback.load(mutated(stream) + "\n")
        except tailback.ScenarioError as error:
            assert error.problems
        except tailback.TailbackError:
            pass


def test_arguments_of_any_kind():
    calls = [
        lambda it: _tailback.Scenario(file=it),
        lambda it: _tailback.Scenario(text=it),
        lambda it: _tailback.Scenario(text="a = 1", overrides=it),
        lambda it: _tailback.Scenario(text="", overrides=[it]),
        lambda it: _tailback.open_result(it),
        lambda it: _tailback.report_html(it),
        lambda it: _tailback.sweep(it, it),
        lambda it: _tailback.compare(it, it, it),
        lambda it: tailback.load(it),
        lambda it: tailback.load("a = 1\n", set=it),
        lambda it: tailback.load("a = 1\n", set={"a": it}),
        lambda it: tailback.open(it),
    ]
    for call in calls:
        for it in OBJECTS:
            with pytest.raises(Exception) as caught:
                call(it)
            assert not isinstance(caught.value, (SystemError, MemoryError)), (call, it)


def test_arguments_of_a_run():
    scenario = tailback.load(ROOT / "scenarios" / "incast.toml", set={"run.duration": "10us"})
    for threads in (-1, 2**70, "two", 1.5):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            scenario.run(threads=threads)
    assert scenario.run(threads=10_000, record=False).outcome == "finished"
    result = scenario.run()
    for scale in (0, -1, float("nan"), 1e9):
        with pytest.raises(ValueError):
            result.plot(scale=scale)
    with pytest.raises(tailback.TailbackError):
        scenario.run(out="/dev/null/x")
