"""A line of progress on standard error, for work that takes long."""

import sys
import time
from contextlib import contextmanager

_FIRST = 1.0  # Seconds before anything is shown.
_EVERY = 0.2
_WIDTH = 30


def _notebook():
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class _Bar:
    def __init__(self, name, first):
        self._name, self._first = name, first
        self._start = self._last = time.monotonic()
        self._shown = False

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self._start < self._first or now - self._last < _EVERY or not total:
            return
        self._last, self._shown = now, True
        part = min(done / total, 1.0)
        spent = now - self._start
        left = f"{spent / part - spent:.0f} s left" if part > 0 else "starting"
        bar = "#" * round(part * _WIDTH)
        sys.stderr.write(f"\r{self._name}: {part:4.0%} |{bar:<{_WIDTH}}| {spent:.0f} s, {left}   ")
        sys.stderr.flush()

    def end(self):
        if self._shown:
            sys.stderr.write("\r" + " " * (len(self._name) + _WIDTH + 40) + "\r")
            sys.stderr.flush()


@contextmanager
def progress_for(wish, name):
    """Gives the function that is told of the progress, or None."""
    if wish is None:
        wish = sys.stderr.isatty() or _notebook()
        bar = _Bar(name, _FIRST) if wish else None
    elif wish is True:
        bar = _Bar(name, 0.0)
    elif callable(wish):
        yield wish
        return
    elif wish is False:
        bar = None
    else:
        raise TypeError("progress is True, False, None or a function")
    try:
        yield bar
    finally:
        if bar is not None:
            bar.end()
