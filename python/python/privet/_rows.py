"""How many rows there are, where that is private."""

from __future__ import annotations


def rows_missing(neighbours: str) -> ValueError:
    """The refusal of a table whose number of rows is private and was not declared."""
    why = (
        'under neighbours="add-remove"'
        if neighbours == "add-remove"
        else "where the privacy unit is a group of rows"
    )
    return ValueError(
        f"n_rows is missing: {why} the number of rows is private; declare about how many there are, from public "
        "knowledge"
    )
