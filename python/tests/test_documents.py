"""What the pages show runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/python.md", "docs/diffprivlib.md", "python/README.md"]


def blocks():
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for place, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
            yield pytest.param(block, id=f"{page}-{place}")


@pytest.mark.parametrize("block", list(blocks()))
def test_code_on_a_page_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "page", "exec"), {"__name__": "page"})


def test_the_readme_shows_five_lines():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(block.strip().splitlines()) == 5


def test_the_example_runs(tmp_path):
    script = ROOT / "python" / "examples" / "accuracy_against_epsilon.py"
    done = subprocess.run(
        [sys.executable, script, "--runs", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"MPLCONFIGDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "epsilon  accuracy" in done.stdout
