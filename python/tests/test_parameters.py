"""Public signatures are those of `signatures.txt`, and help says of every parameter what it is."""

import inspect
from pathlib import Path

import pytest

import privet
from privet._parameters import _entries, parameter, parameters

SIGNATURES = Path(__file__).with_name("signatures.txt")
PUBLIC = {name: getattr(privet, name) for name in privet._PLACES}
ESTIMATORS = [name for name, found in PUBLIC.items() if isinstance(found, type) and hasattr(found, "get_params")]


def written(label, found):
    """A signature without what is said of types."""
    signature = inspect.signature(found)
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return f"{label}{signature.replace(parameters=bare, return_annotation=signature.empty)}"


def signatures():
    for name, found in sorted(PUBLIC.items()):
        yield written(name, found)
        own = [member for member in sorted(dir(found)) if isinstance(found, type) and not member.startswith("_")]
        for member in own:
            method = getattr(found, member, None)
            if inspect.isfunction(inspect.unwrap(method)) and method.__module__.startswith("privet"):
                yield written(f"{name}.{member}", method)


def test_signatures_are_the_published_ones():
    """What is published stays; to add to it: write `"\\n".join(signatures())` into the file."""
    assert list(signatures()) == SIGNATURES.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_help_says_what_every_parameter_is_in_order(name):
    told = [parameter for parameter, _ in _entries(PUBLIC[name].__doc__)]
    assert told == list(inspect.signature(PUBLIC[name]).parameters)


def test_a_parameter_stands_where_its_class_says():
    @parameters
    class Base:
        """Base.

        Parameters
        ----------
        one : int
            The first.
        three, four : int
            Others.
        """

        one: int = parameter(default=1, kw_only=False)
        three: int = 3
        four: int = 4

    @parameters
    class Derived(Base):
        """Derived.

        Parameters
        ----------
        two : int
            The second.

        Examples
        --------
        >>> 1
        1
        """

        two: int = parameter(default=2, after="one")
        four: int = 44

    assert str(inspect.signature(Derived)) == "(one: int = 1, *, two: int = 2, three: int = 3, four: int = 44) -> None"
    assert vars(Derived(5)) == {"one": 5, "two": 2, "three": 3, "four": 44}
    told = inspect.getdoc(Derived).split("\n")[2:8]
    assert told == ["Parameters", "-" * 10, "one : int", "    The first.", "two : int", "    The second."]
    with pytest.raises(TypeError, match="Derived.__init__.*'five'"):
        Derived(five=5)
