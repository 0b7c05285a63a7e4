"""The blocks of docs/python.md run, from top to bottom, in one interpreter."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"


def test_the_page_runs(tmp_path):
    for needed in ("pandas", "polars", "pyarrow", "duckdb"):
        pytest.importorskip(needed)
    text = PAGE.read_text(encoding="utf-8")
    blocks = [(text[:found.start()].count("\n") + 2, found[1]) for found in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S)]
    assert len(blocks) > 15
    # Paths of the page are those of a clone; what it writes is not written there.
    for folder in ("scenarios", "papers"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    # Each block stands at its line, so that an error names it.
    program = "\n".join(f"exec(compile({chr(10) * (line - 1) + code!r}, {str(PAGE)!r}, 'exec'))" for line, code in blocks)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "network.hots" in done.stdout and "did you mean `hosts`" in done.stdout
