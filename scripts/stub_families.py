"""The stub of `privet.families`, whose classes are made when it is imported, of the package that is installed."""

import inspect
import textwrap

from privet import families

print("# Made of what families declare by `make stub`; not to be edited.")
print("from typing import Any\n\nfrom privet.releasing import Releaser\n")
print(f"__all__ = {families.__all__!r}".replace("'", '"'))
for name in families.__all__:
    made = getattr(families, name)
    print(f'\nclass {name}(Releaser):\n    """' + textwrap.indent(made.__doc__.rstrip(), "    ").strip() + '\n    """\n')
    for own in made._own_parameters:
        print(f"    {own}: Any")
    words: list[str] = []
    for parameter in inspect.signature(made.__init__).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        words.append(parameter.name if parameter.name == "self" else f"{parameter.name}: Any{default}")
    print(f"    def __init__({', '.join(words)}) -> None: ...")
