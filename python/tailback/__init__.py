"""Tailback: a laboratory for congestion in lossless networks.

    import tailback

    scenario = tailback.load("scenarios/victim.toml")
    result = scenario.run()
    result.tables["flows"].to_pandas()

A scenario is loaded from a file, a text or a dictionary. Runs release the interpreter's lock, show their progress, and
end on Ctrl-C with what was recorded. Tables follow the Arrow PyCapsule interface.
"""

from ._load import load
from ._paper import Reproduction, papers, reproduce
from ._result import Picture, Report, Result, Tables, open
from ._scenario import Scenario
from ._simulation import Simulation, WhatIf, resume
from ._study import Comparison, Faults, Sweep, Tuned, compare, faults, sweep, tune, what_if
from ._tailback import (
    ResultsError,
    ScenarioError,
    TailbackError,
    __version__,
    pictures,
)
from ._table import Table

__all__ = [
    "Comparison",
    "Faults",
    "Picture",
    "Report",
    "Reproduction",
    "Result",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Sweep",
    "Table",
    "Tables",
    "TailbackError",
    "Tuned",
    "WhatIf",
    "__version__",
    "compare",
    "faults",
    "load",
    "open",
    "papers",
    "pictures",
    "reproduce",
    "resume",
    "sweep",
    "tune",
    "what_if",
]
