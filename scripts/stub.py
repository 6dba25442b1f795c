"""The stub of the extension as it is committed, of what maturin read off the extension: with what PyO3 does not know, which
is NumPy's arrays, and exceptions that a macro makes."""

import pathlib
import re
import sys

MADE = re.compile(r'create_exception!\(\s*\w+,\s*(\w+),\s*Py(\w+),\s*"([^"]*)"')
NAME = re.compile(r"^(?:class |def )?(\w+)[:(]", re.MULTILINE)

(found,) = pathlib.Path(sys.argv[1]).rglob("*.pyi")
text = re.sub(r'"([^"\n]*\bnumpy\.typing\.[^"\n]*)"', r"\1", found.read_text(encoding="utf-8"))
text = text.replace("\nfrom os import", "\nimport numpy\nimport numpy.typing\nfrom os import", 1)
error = pathlib.Path(__file__).resolve().parents[1] / "python" / "src" / "error.rs"
made = MADE.findall(error.read_text(encoding="utf-8"))
exceptions = [f'class {name}({base}):\n    """\n    {words}\n    """\n\n' for name, base, words in made]
head, rest = text.split("\n\n", 2)[:2], text.split("\n\n", 2)[2]
rest = "".join(exceptions) + rest.replace("def __getattr__(name: str) -> Incomplete: ...\n", "").rstrip() + "\n"
names = sorted(NAME.findall(rest))
listed = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
sys.stdout.write("# Read off the extension by `make stub`; not to be edited.\n" + "\n\n".join([*head, listed, rest]))
