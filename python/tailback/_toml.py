"""Values as TOML, for scenarios and overrides that are Python objects."""

import itertools
import json
import math
from collections.abc import Mapping

# Values of a list that is varied: each is run.
_MOST = 10_000


def value(of):
    """Returns a Python value as an inline TOML value."""
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, int):
        return int.__repr__(of)
    if isinstance(of, float):
        if not math.isfinite(of):
            raise ValueError(f"{of} is no value of a scenario")
        return float.__repr__(of)  # Scalars of NumPy are floats with a text of their own.
    if isinstance(of, str):
        # A JSON string is a TOML string, but for characters outside of the basic plane, which stay as they are.
        return json.dumps(of, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(of, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {value(item)}" for name, item in of.items()) + " }"
    if isinstance(of, (list, tuple)):
        return "[" + ", ".join(value(item) for item in of) + "]"
    if hasattr(of, "tolist"):  # An array of NumPy.
        return value(of.tolist())
    if hasattr(of, "item"):  # A scalar of other libraries.
        return value(of.item())
    raise TypeError(f"a {type(of).__name__} is no value of a scenario: give text, a number, a list or a dictionary")


def key(name):
    """Returns the name of a key, quoted where it must be."""
    if not isinstance(name, str):
        raise TypeError(f"the key {name!r} is no text")
    bare = name and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def document(of):
    """Returns a dictionary as a TOML document, one line per key."""
    return "".join(f"{key(name)} = {value(item)}\n" for name, item in of.items())


def override(of):
    """Returns a value as `--set` takes it: text as it is, anything else as TOML."""
    return str.__str__(of) if isinstance(of, str) else value(of)


def overrides(of):
    """Returns a dictionary of keys and values as a list of `key=value`."""
    if of is None:
        return []
    if not isinstance(of, Mapping):
        raise TypeError('set is a dictionary such as {"network.hosts": 8}')
    for path in of:
        if not isinstance(path, str) or "=" in path:
            raise ValueError(f"{path!r} is no key of a scenario")
    return [f"{path}={override(item)}" for path, item in of.items()]


def axes(of, what):
    """Returns a dictionary of keys, each with several values, as pairs."""
    if not isinstance(of, Mapping):
        raise TypeError(what + ' are a dictionary such as {"switches[0].buffers[0].xoff": ["40KB", "80KB"]}')
    for path in of:
        if not isinstance(path, str) or "=" in path:
            raise ValueError(f"{path!r} is no key of a scenario")
    return [(path, values(items, f"the values of {path}")) for path, items in of.items()]


def values(of, what):
    """Returns several values as `--set` takes them."""
    if isinstance(of, (str, bytes)) or not hasattr(of, "__iter__"):
        raise TypeError(f"{what} are a list of values, not {of!r}")
    found = [override(item) for item in itertools.islice(of, _MOST + 1)]
    if len(found) > _MOST:
        raise ValueError(f"{what}: give at most {_MOST} values")
    if not found:
        raise ValueError(f"{what}: give at least one value")
    known = set()
    for item in found:
        if item in known:
            raise ValueError(f"{what}: {item} is given twice")
        known.add(item)
    return found
