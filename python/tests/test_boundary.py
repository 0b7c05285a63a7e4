"""The boundary between Python and the library, attacked in processes of their own for a bounded time: whatever is given,
the interpreter goes on, with an exception or a result."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PRELUDE = f"""
import faulthandler, os, random, sys, threading, time
faulthandler.enable()
import tailback
from tailback import _tailback
ROOT = {str(ROOT)!r}
SMALL = {{
    "schema_version": 1,
    "name": "small",
    "network": {{"topology": "single-switch", "hosts": 4, "link": {{"rate": "10Gb/s", "latency": "500ns"}}}},
    "switches": [{{"flow_control": "pfc", "buffers": {{"capacity": "100KB"}}}}],
    "workloads": [{{"name": "incast", "kind": "greedy", "from": ["h1", "h2", "h3"], "to": "h0", "size": "20KB"}}],
    "run": {{"duration": "200us"}},
}}
"""


def attack(program, cwd, seconds=60):
    """Runs a program that attacks, and returns what it says; a panic of the library is a fault, too."""
    text = PRELUDE + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text], cwd=cwd, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "panicked" not in done.stderr, done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("seed", range(4))
def test_calls_with_anything_end_with_an_exception_or_a_value(seed, tmp_path):
    said = attack(f"""
        stream = random.Random({seed})

        class Evil:
            def __getattr__(self, name):
                raise RuntimeError(name)
            def __str__(self):
                raise RuntimeError("str")
            __repr__ = __fspath__ = __iter__ = __index__ = __float__ = __len__ = __hash__ = __bool__ = __str__

        class Liar(dict):
            def items(self):
                yield "a", self
                raise ValueError("liar")

        class Self:
            def item(self):
                return self

        ring = {{}}
        ring["a"] = ring
        ringed = []
        ringed.append(ringed)
        deep = deepest = {{}}
        for _ in range(900):
            deepest["a"] = deepest = {{}}
        closed = open("closed", "w+b")
        closed.close()
        scenario = tailback.load(SMALL)
        small = scenario.start()
        result = scenario.run()
        ended = scenario.start(record=True)
        ended.run_until("200us")
        table = result.tables["flows"]

        def pool():
            return [
                None, True, -1, 0, 1, 2**31, 2**64, 2**70, 10**400, 1e308, -1e-308, float("nan"), float("inf"), 1j, "", "a",
                "h0", "10us", "1e999s", "-1us", "a=b", "a.b[0]=", "[", "workloads[0].size", "\\ud800", "\\x00", "é" * 300,
                "x" * 10_000, "a\\nb", b"x", bytearray(b"x"), memoryview(b"x"), [], (), {{}}, [[]], {{"a": None}}, {{1: 2}},
                {{"run.duration": "1us"}}, {{"run.seed": [1, 2]}}, ["flows"], ring, ringed, deep, iter([1]), range(10**12),
                lambda *a: 1 / 0, print, object(), Evil(), Liar(a=1), Self(), type, Ellipsis, closed, scenario, small, result,
                table, sys, stream, NotImplemented, frozenset([1]),
            ]

        calls = [
            tailback.load, tailback.open, tailback.resume, tailback.sweep, tailback.compare, tailback.tune,
            lambda *a: tailback.faults(*a, among="h0", kinds="link-fails"),
            tailback.what_if, tailback.reproduce, tailback.papers, _tailback.Scenario, _tailback.from_texts,
            _tailback.resume_bytes, _tailback.table_of, _tailback.report_html, _tailback.open_result, scenario.set,
            scenario.start, result.plot, result.why, result.diff, result.tables.__getitem__, table.__getitem__,
            table.__arrow_c_stream__, small.set, small.run_until, small.what_if, ended.set, ended.what_if, result.save,
            tailback._toml.document, tailback._toml.overrides, tailback._toml.values,
            lambda *a: scenario.run(record=False, threads=a[0], seed=a[-1]),
            lambda *a: scenario.run(record=False, progress=a[0]),
            lambda *a: scenario.start(reaction=a[0]),
            lambda *a: tailback.load(SMALL, set=a[0]),
            lambda *a: tailback.load({{**SMALL, "network": a[0]}}),
            lambda *a: tailback.load({{**SMALL, "workloads": [a[0], a[-1]]}}),
            lambda *a: scenario.set({{"workloads[0].size": a[0]}}),
            lambda *a: small.set("switches[0].buffers[0].xoff", a[0]),
        ]
        raised = tried = 0
        end = time.monotonic() + 8
        while time.monotonic() < end:
            call, values = stream.choice(calls), pool()
            given = [stream.choice(values) for _ in range(stream.choice([1, 1, 2, 2, 3, 4]))]
            tried += 1
            try:
                call(*given)
            except Exception as error:
                raised += 1
                assert not isinstance(error, (SystemError, MemoryError)), (call, error)
                assert type(error).__name__ != "PanicException"
                try:
                    str(error)
                except Exception:
                    pass
        assert scenario.run(record=False).fingerprint == result.fingerprint
        print(tried, raised)
    """, tmp_path, 120)
    tried, raised = map(int, said.split()[-2:])
    assert raised > 100 and tried > raised / 2


def test_objects_are_used_by_several_threads(tmp_path):
    said = attack("""
        scenario = tailback.load(SMALL, set={"workloads[0].size": "1MB", "run.duration": "2ms"})
        whole = scenario.run(record=False).fingerprint
        simulation = scenario.start()
        stop, faults, done = threading.Event(), [], [0]

        def use(number):
            stream = random.Random(number)
            calls = [
                lambda: simulation.counters(), lambda: simulation.flows()["bytes"], lambda: simulation.fork().now,
                lambda: simulation.run_until(f"{stream.randrange(2000)}us"), lambda: simulation.save(f"{number}.saved"),
                lambda: simulation.set("switches[0].buffers[0].xoff", "60KB"), lambda: simulation.fingerprint,
                lambda: scenario.run(record=False, threads=2), lambda: scenario.check(), lambda: simulation.finish(),
                lambda: simulation.what_if({"switches[0].buffers[0].xoff": ["50KB"]}),
            ]
            while not stop.is_set():
                try:
                    stream.choice(calls)()
                    done[0] += 1
                except tailback.TailbackError:
                    pass
                except BaseException as error:
                    faults.append(repr(error))
                    return

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(6)
        stop.set()
        for thread in threads:
            thread.join(30)
        assert not faults and not any(thread.is_alive() for thread in threads), faults
        assert scenario.run(record=False).fingerprint == whole
        print(done[0])
    """, tmp_path, 120)
    assert int(said) > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of POSIX")
def test_a_forked_process_goes_on(tmp_path):
    said = attack("""
        import signal, warnings
        warnings.simplefilter("ignore")
        scenario = tailback.load(SMALL)
        whole = scenario.run(record=False, threads=2).fingerprint
        simulation = scenario.start()
        simulation.run_until("100us")

        def child(work):
            process = os.fork()
            if process == 0:
                signal.alarm(20)
                code = 1
                try:
                    work()
                    code = 0
                except BaseException as error:
                    print(repr(error), file=sys.stderr, flush=True)
                finally:
                    os._exit(code)
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) if sys.version_info >= (3, 9) else 0

        def goes_on():
            simulation.run_until("200us")
            assert simulation.fingerprint == whole
            assert scenario.run(threads=2).fingerprint == whole

        assert child(goes_on) == 0
        goes_on()

        # One that is forked while another thread runs the simulation is refused, and does not wait for ever.
        long = tailback.load(SMALL, set={"workloads[0].size": "1GB", "run.duration": "10s"}).start()
        begun = threading.Event()

        def told(done, total):
            begun.set()
            if stop.is_set():
                raise RuntimeError("enough")

        stop = threading.Event()
        def run():
            try:
                long.run_until("10s", progress=told)
            except RuntimeError:
                pass
        thread = threading.Thread(target=run)
        thread.start()
        begun.wait()

        def refused():
            try:
                long.counters()
            except tailback.TailbackError as error:
                assert "forked" in str(error), error
                return
            raise AssertionError("used a simulation that another process runs")

        assert child(refused) == 0
        stop.set()
        thread.join()
        assert long.now > 0
        print("sound")
    """, tmp_path)
    assert said == "sound\n"


def test_functions_of_the_caller_may_raise_anything(tmp_path):
    said = attack("""
        long = {**SMALL, "run": {"duration": "100s"}, "workloads": [{**SMALL["workloads"][0], "size": "100GB"}]}
        scenario = tailback.load(long)
        for error in (KeyboardInterrupt, SystemExit, GeneratorExit, RecursionError, Exception, OSError, StopIteration):
            def told(done, total):
                raise error("no")
            simulation = scenario.start()
            for call in (
                lambda: scenario.run(progress=told),
                lambda: simulation.run_until("100s", progress=told),
                lambda: simulation.what_if({"switches[0].buffers[0].xoff": ["50KB"]}, progress=told),
                lambda: tailback.sweep(long, {"run.seed": [1, 2]}, out=f"sweep-{error.__name__}", progress=told),
                lambda: tailback.compare(long, "run.seed", [1, 2], out=f"compare-{error.__name__}", progress=told),
                lambda: tailback.faults(long, kinds="link-fails", at="1us", flap="1us", out=f"f-{error.__name__}", progress=told),
            ):
                try:
                    call()
                except error:
                    pass
                except tailback.TailbackError:
                    assert error is KeyboardInterrupt
            # The simulation that was interrupted is used further.
            simulation.counters()

        # One that uses the simulation it is told of waits, and does not hang.
        simulation = tailback.load(SMALL).start()
        assert simulation.run_until("200us", progress=lambda *_: simulation.counters()) == "finished"
        print("sound")
    """, tmp_path, 180)
    assert said == "sound\n"


@pytest.mark.parametrize("seed", range(2))
def test_reaction_points_may_return_nonsense(seed, tmp_path):
    said = attack(f"""
        stream = random.Random({seed})
        scenario = tailback.load(ROOT + "/scenarios/roce-incast.toml", set={{"run.duration": "60us"}})
        NONSENSE = [
            None, 0, -1, 1, 1e9, 1e300, 2**63, 2**64 - 1, 2**70, -2**63, float("nan"), float("inf"), 0.0, "x", b"", (), (1,), (1, 2),
            (1, 2, 3), (None, None), (1e9, None), (None, 1), (None, 0), (0, 0), (0.0, None), (1e300, 2**64 - 1), (None, -1),
            (float("nan"), 1), [1e9, 1000], {{}}, object(), print, lambda: 1,
        ]
        uses = [0]

        def method(simulation, often):
            def called(self, *_):
                if often and stream.random() < 0.9:
                    return (1e9, None)
                kind = stream.randrange(10)
                if kind == 0:
                    raise stream.choice([ValueError, KeyboardInterrupt, SystemExit, RecursionError])("nonsense")
                if kind == 1 and simulation:
                    uses[0] += 1
                    return simulation[0].counters()
                if kind == 2:
                    return called(self)
                return stream.choice(NONSENSE)
            return called

        made = ended = 0
        end = time.monotonic() + 8
        while time.monotonic() < end:
            names = ["on_sent", "on_feedback", "on_loss", "on_deadline", "deadline", "allowance", "__deepcopy__", "__init__"]
            simulation = []
            chosen = stream.sample(names[:7], stream.randint(1, 3)) + (["__init__"] if stream.random() < 0.1 else [])
            body = {{"allowance": lambda self: (1e9, None)}}
            body.update({{name: method(simulation, name == "allowance") for name in chosen}})
            if "deadline" in chosen and stream.random() < 0.8:
                # Most times are numbers: past, present, future.
                body["deadline"] = lambda self: stream.choice([0, 1, 10**6, 10**7, 5 * 10**7, 2**62, 2**64 - 1, None])
            made += 1
            try:
                simulation.append(scenario.start(reaction=type("Point", (), body)))
                simulation[0].run_until("30us")
                simulation[0].fork().run_until("60us")
                ended += 1
            except (Exception, KeyboardInterrupt, SystemExit) as error:
                assert type(error).__name__ not in ("PanicException", "SystemError"), error
        assert scenario.run(record=False).outcome == "finished"
        print(made, ended, uses[0])
    """, tmp_path, 120)
    made, _, _ = map(int, said.split()[-3:])
    assert made > 20


def test_damaged_pickles_are_refused(tmp_path):
    attack("""
        scenario = tailback.load(SMALL)
        simulation = scenario.start()
        simulation.run_until("50us")
        saved, (texts, overrides) = simulation.__reduce__()[1][0], scenario.__reduce__()[1]
        stream = random.Random(7)
        end = time.monotonic() + 5
        refused = tried = 0
        while time.monotonic() < end:
            damaged = bytearray(saved)
            for _ in range(stream.randint(1, 4)):
                kind = stream.randrange(3)
                place = stream.randrange(len(damaged))
                if kind == 0:
                    damaged[place] ^= 1 << stream.randrange(8)
                elif kind == 1:
                    del damaged[place:place + stream.randint(1, 100)]
                else:
                    damaged[place:place] = stream.randbytes(stream.randint(1, 100)) if hasattr(stream, "randbytes") else b"abc"
                if not damaged:
                    break
            text = texts[0][1]
            place = stream.randrange(len(text))
            for call in (
                lambda: _tailback.resume_bytes(bytes(damaged)),
                lambda: _tailback.from_texts([("<dictionary>", text[:place] + text[place + 3:])], overrides),
                lambda: _tailback.from_texts([], overrides),
            ):
                tried += 1
                try:
                    call()
                except tailback.TailbackError:
                    refused += 1
        assert refused > tried / 3, (refused, tried)
    """, tmp_path)
