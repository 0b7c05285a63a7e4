"""Tailback: a laboratory for congestion in lossless networks.

    import tailback

    scenario = tailback.load("scenarios/victim.toml")
    result = scenario.run()
    result.tables["flows"].to_pandas()

A scenario is loaded from a file, a text or a dictionary. Runs release the interpreter's lock, show their progress, and
end on Ctrl-C with what was recorded. Tables follow the Arrow PyCapsule interface.
"""

from ._load import load
from ._result import Picture, Report, Result, Tables, open
from ._scenario import Scenario
from ._simulation import Simulation, WhatIf, resume
from ._study import Comparison, Sweep, compare, sweep
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
    "Picture",
    "Report",
    "Result",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Sweep",
    "Table",
    "Tables",
    "TailbackError",
    "WhatIf",
    "__version__",
    "compare",
    "load",
    "open",
    "pictures",
    "resume",
    "sweep",
]
