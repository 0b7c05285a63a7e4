"""Loading of scenarios."""

import os
from collections.abc import Mapping

from . import _tailback, _toml
from ._scenario import Scenario


def load(source, set=None):
    """Loads a scenario from a path, a TOML text or a dictionary.

    A text is told from a path by its line breaks. `set` changes keys, as `--set` of the command does:
    `set={"network.hosts": 8, "workloads[0].rate": "5Gb/s"}`.

    Raises `ScenarioError` with all mistakes, their lines and remedies; mistakes in a dictionary have the path of their key
    instead of a line.
    """
    overrides = _toml.overrides(set)
    if isinstance(source, Mapping):
        return Scenario(_tailback.Scenario(dictionary=_toml.document(source), overrides=overrides))
    if isinstance(source, str) and "\n" in source:
        return Scenario(_tailback.Scenario(text=source, overrides=overrides))
    if isinstance(source, (str, os.PathLike)):
        return Scenario(_tailback.Scenario(file=os.fspath(source), overrides=overrides))
    raise TypeError(f"load takes a path, a text or a dictionary, not a {type(source).__name__}")
