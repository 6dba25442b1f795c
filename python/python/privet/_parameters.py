"""Parameters of estimators, each declared and described once, in the class that all who have it inherit from.

A parameter is an annotated field, as of a dataclass, and ``__init__`` is made of the fields. A field stands behind the one
above it; one that is inherited keeps its place, and ``parameter(after=...)`` or ``before=...`` names another. What the
docstrings of the bases say of a parameter, the class's own says too, unless it says something else.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**facts):
        return lambda made: made


Kind = TypeVar("Kind", bound=type)
HEADING = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def parameter(
    *,
    default: Any = dataclasses.MISSING,
    kw_only: bool = True,
    after: str | None = None,
    before: str | None = None,
) -> Any:
    """A field that stands elsewhere than behind the one above it, or may be given by position."""
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"after": after, "before": before})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def parameters(made: Kind) -> Kind:
    """Give the class its ``__init__``, and its docstring all parameters."""
    declared = {name: kind for name, kind in inspect.get_annotations(made).items() if not str(kind).startswith("ClassVar")}
    made._own_parameters = {name: (kind, _field(made, name)) for name, kind in declared.items()}
    made._own_texts = dict(_entries(made.__doc__ or ""))
    placed: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for base in reversed(made.__mro__):
        placed = _placed(placed, vars(base).get("_own_parameters", {}))
        texts |= vars(base).get("_own_texts", {})
    fields = [(name, kind, _copy(field)) for name, (kind, field) in placed.items()]
    twin = dataclasses.make_dataclass(made.__name__, fields, eq=False, repr=False)
    made.__init__ = twin.__init__
    made.__init__.__qualname__, made.__init__.__module__ = f"{made.__qualname__}.__init__", made.__module__
    made.__doc__ = _documented(made.__doc__ or "", list(dict.fromkeys(texts[name] for name in placed if name in texts)))
    return made


def _field(made: type, name: str) -> Any:
    """The declared field, of which its default stays in the class."""
    found = vars(made).get(name, dataclasses.MISSING)
    if not isinstance(found, dataclasses.Field):
        return parameter(default=found)
    if found.default is dataclasses.MISSING:
        delattr(made, name)
    else:
        setattr(made, name, found.default)
    return found


def _placed(before: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    names, above = list(before), None
    for name, (_, field) in own.items():
        after, ahead_of = field.metadata["after"] or above, field.metadata["before"]
        if name not in names or field.metadata["after"] or ahead_of:
            names = [other for other in names if other != name]
            place = len(names)
            if ahead_of in names:
                place = names.index(ahead_of)
            elif after in names:
                place = names.index(after) + 1
            names.insert(place, name)
        above = name
    both = before | own
    return {name: both[name] for name in names}


def _copy(field: Any) -> Any:
    """A field as good as new: a dataclass keeps those that it is given."""
    return dataclasses.field(default=field.default, kw_only=field.kw_only, metadata=field.metadata)


def _entries(doc: str) -> list[tuple[str, str]]:
    """What a docstring says of each parameter."""
    parts = HEADING.split(inspect.cleandoc(doc))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    entries = [entry.rstrip() for entry in ENTRY.split(sections.get("Parameters", "")) if entry.strip()]
    return [(name.strip(), entry) for entry in entries for name in entry.split("\n")[0].partition(" : ")[0].split(",")]


def _documented(doc: str, entries: list[str]) -> str:
    parts = HEADING.split(inspect.cleandoc(doc))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    sections = {"Parameters": "\n".join(entries)} | {name: text for name, text in sections.items() if name != "Parameters"}
    texts = [f"{name}\n{'-' * len(name)}\n{text.strip()}" for name, text in sections.items() if text.strip()]
    return "\n\n".join([parts[0].strip(), *texts]) + "\n"
