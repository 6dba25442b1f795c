"""The package's command line: the same program, without the catalog of public data sets."""

import subprocess
import sys

import pytest


def privet(*arguments, **options):
    """Run ``python -m privet``."""
    return subprocess.run([sys.executable, "-m", "privet", *arguments], capture_output=True, text=True, **options)


def test_the_demonstration_comes_with_it(tmp_path):
    done = privet("demo", "--out", "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert privet("verify", "demo/model.json", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("words", [["data"], ["data", "list", "--json"]])
def test_the_catalog_does_not_and_says_where_it_is(words, tmp_path):
    refused = privet(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"error: privet {words[0]}: not in this build")
    assert "cargo install --path crates/privet-cli" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_its_help_says_so_too():
    helped = privet("data", "--help")
    assert helped.returncode == 0
    assert "cargo install" in helped.stdout
