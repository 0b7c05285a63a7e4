"""A reaction point written in Python, compared with DCQCN on an incast.

    python python/examples/own_reaction.py

It halves its rate for a congestion notification packet, at most once per round trip, and adds a step per round trip
otherwise: additive increase, multiplicative decrease.
"""

import pathlib
import time

import tailback

END = "20ms"
SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "scenarios" / "roce-incast.toml"


class Halving:
    """One per flow. Times are picoseconds, rates bits per second."""

    def __init__(self, adapter):
        self.link = self.rate = float(adapter["link"])
        self.step = self.link / 100
        self.period = max(adapter["round_trip"], 1)
        self.halved = -self.period
        self.next = None

    def on_feedback(self, now, feedback):
        congested = feedback["kind"] == "congestion-notification" or feedback.get("marked")
        if congested and now - self.halved >= self.period:
            self.rate = max(self.rate / 2, self.link / 1000)
            self.halved, self.next = now, now + self.period

    def deadline(self):
        return self.next

    def on_deadline(self, now):
        self.rate = min(self.rate + self.step, self.link)
        self.next = now + self.period if self.rate < self.link else None

    def allowance(self):
        return self.rate, None


def compare(set=None):
    """Returns a row for each control: flows completed and their mean time, PAUSE and marked frames, wall time."""
    scenario = tailback.load(SCENARIO, set=set)
    rows = {}
    for name, reaction in (("dcqcn", None), ("halving", Halving)):
        start = time.perf_counter()
        simulation = scenario.start(threads=1, reaction=reaction)
        simulation.run_until(END)
        counters, took = simulation.counters(), time.perf_counter() - start
        done = [flow for flow in zip(simulation.flows()["started"], simulation.flows()["completed"]) if flow[1] is not None]
        rows[name] = {
            "completed": len(done),
            "mean_completion_us": sum(end - begin for begin, end in done) / len(done) / 1e6,
            "pause_frames": counters["pause_frames"],
            "marked_frames": counters["marked_frames"],
            "hops": counters["hops"],
            "seconds": took,
        }
    return rows


if __name__ == "__main__":
    for name, row in compare().items():
        print(name, row)
