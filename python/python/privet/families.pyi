# Made of what families declare by `make stub`; not to be edited.
from typing import Any

from privet.releasing import Releaser

__all__ = ["PrivateDescribe", "PrivateSelect"]

class PrivateDescribe(Releaser):
    """Describe a table privately: counts, means, quantiles, histograms, correlations, in one release.

    Describes the columns that the schema declares: how many records are in each category, and of
    each number its mean, spread, quantiles and histogram within the declared bounds, how often it
    is missing, and how numbers are correlated. All of it is one release with one certificate:
    every sum that it is made of gets the same noise, and every number is shown with what the
    noise alone may have done to it. Bounds and categories come from the schema, never from the
    records; values beyond the bounds count as the nearest bound.

    What is left out costs nothing: with fewer --columns, or without correlations, the same budget
    buys less noise. Stand-ins that the schema declares for missing cells are not used here: those
    cells are counted.

    Everything spent on the same records adds up: a description of ε = 0.2 and a model of ε = 1
    reveal as much as ε = 1.2. `privet verify` and `privet inspect` take the file as they take a
    model's.

    Parameters
    ----------
    epsilon : float
        The privacy budget. Smaller is more private; privet picks none for you.
    columns : list of str, optional
        Only these columns, the target among them if it is named
    bins : int, optional
        Bins of each histogram, evenly over the bounds; 32 unless given (a whole number from 2 to 1024)
    correlations : bool, optional
        Whether numbers are correlated with each other: yes or no [default: yes for 2 to 24 numbers]
    delta : float, optional
        What probabilities may differ by beyond the factor exp(epsilon); 0 asks for pure epsilon. 1/n_rows² unless given.
    schema : Schema, path or mapping
        Public facts about the table.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    """

    columns: Any
    bins: Any
    correlations: Any
    def __init__(self, epsilon: Any = None, *, columns: Any = None, bins: Any = None, correlations: Any = None, delta: Any = None, schema: Any = None, neighbours: Any = "replace-one", n_rows: Any = None, random_state: Any = None) -> None: ...

class PrivateSelect(Releaser):
    """Choose columns by how much they say of the target, privately, and write them with their certificate.

    Chooses so many columns of a table, those that say most of the target, and writes them with a
    certificate into one file. Columns are those of the encoded table: a number is one, a category is
    one for each of its values.

      correlation   the most associated columns, one after the other (the default)
      exponential   a set of columns by how well it fits, among up to 50,000,000 sets
      distance      what most chunks of the records choose, if so many agree that no one matters
      subsample     the same over many random parts of the records; needs many rows
      lasso-stability
                    what the LASSO keeps, if a proof says that no one's records matter; needs very
                    many rows, and says how many

    distance, subsample and lasso-stability may choose nothing: then no answer was stable enough. That is said plainly,
    is a release like any other, and spends the budget as well. `privet methods --select` lists the
    settings of each.

    Everything spent on the same records adds up: columns chosen at ε = 1 and a model of them at ε = 1
    reveal as much as ε = 2.

    Parameters
    ----------
    epsilon : float
        The privacy budget. Smaller is more private; privet picks none for you.
    size : int
        How many columns to choose (a whole number from 1 to 100000)
    delta : float, optional
        What probabilities may differ by beyond the factor exp(epsilon); 0 asks for pure epsilon. 1/n_rows² unless given.
    method : {"correlation", "exponential", "distance", "subsample", "lasso-stability"}
        How; correlation unless given.
    settings : mapping, optional
        Settings of the method by name.
    schema : Schema, path or mapping
        Public facts about the table.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    """

    size: Any
    method: Any
    settings: Any
    def __init__(self, epsilon: Any = None, *, size: Any = None, delta: Any = None, method: Any = "correlation", settings: Any = None, schema: Any = None, neighbours: Any = "replace-one", n_rows: Any = None, random_state: Any = None) -> None: ...
