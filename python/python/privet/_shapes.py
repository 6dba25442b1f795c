"""What a fitted model says of each column: shape functions, and their pictures."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What one column, or a pair of columns, adds to the score.

    Attributes
    ----------
    name : str
        The column's name, or ``"a × b"``.
    kind : {"number", "category", "binary", "pair"}
        What it is a function of.
    axes : tuple
        For each column its points: numbers rising from bound to bound, categories as texts, and where they have a
        place of their own ``"(missing)"``, ``"(other)"`` and ``"(not listed)"``.
    contribution : array
        What is added at each point: a dimension for each axis, and one more for the classes where there are more than
        two. 0 on average, evenly over bounds and listed categories.
    band : array or None
        How far the noise of privacy may have moved each point: two standard deviations, by a bound from public
        numbers; ``None`` where no bound is known.
    beyond : float
        How far the contribution goes beyond its band at most.
    """

    name: str
    kind: str
    axes: tuple[tuple[float | str, ...], ...]
    contribution: np.ndarray
    band: np.ndarray | None
    beyond: float

    @property
    def grid(self) -> np.ndarray:
        """The numbers of a single number's axis; ``contribution[: len(grid)]`` belongs to them."""
        if self.kind != "number":
            raise AttributeError(f"{self.name!r} is a {self.kind}: it has levels or axes, and no grid")
        return np.array([point for point in self.axes[0] if not isinstance(point, str)])

    @property
    def levels(self) -> tuple[str, ...]:
        """The points of a single column that are texts."""
        return tuple(point for point in self.axes[0] if isinstance(point, str))


class ShapePage(str):
    """A page of HTML that needs nothing else: notebooks show it, and ``save`` writes it."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" style="width:100%;height:45rem;border:0"></iframe>'

    def save(self, path: Any) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self)


class Shapes:
    """For estimators: what the model says of each column.

    Made of the released weights and public facts alone: it costs no budget.
    """

    def _in_order(self, effects: np.ndarray) -> np.ndarray:
        """Columns for the classes as ``decision_function`` has them."""
        return effects

    def _shapes(self) -> dict[str, Any]:
        check_is_fitted(self)
        found = self.__dict__.get("_found_shapes")
        if found is None or found[0] is not self.model_:
            found = self._found_shapes = (self.model_, json.loads(self.model_.shapes()))
        return found[1]

    def _effects(self, effects: list[list[float]], shape: tuple[int, ...]) -> np.ndarray:
        columns = self._in_order(np.array(effects, dtype=np.float64).T)
        problems = columns.shape[1]
        return columns.reshape(shape if problems == 1 else (*shape, problems))

    @property
    def shape_functions_(self) -> list[ShapeFunction]:
        """What each column and pair of columns adds to the score, those that say most beyond their noise first.

        A classifier's ``decision_function``, and a regressor's ``predict`` before it is kept within the target's
        bounds (of a Poisson regressor its logarithm, up to a constant), is ``shape_intercept_`` plus what each of
        them adds: for every row where ``shapes_exact_``, else for rows that no bound on a row's norm touches. Of more
        than two classes that are fitted jointly (``gd``, ``sgd``) what all have in common, which changes no prediction
        and no probability, is left out: they add up to 0.
        """
        functions = []
        for one in self._shapes()["shapes"]:
            shape = tuple(len(axis) for axis in one["axes"])
            band = None if one["band"] is None else np.array(one["band"]).reshape(shape)
            functions.append(
                ShapeFunction(
                    name=" × ".join(one["columns"]),
                    kind=one["kind"],
                    axes=tuple(tuple(axis) for axis in one["axes"]),
                    contribution=self._effects(one["effects"], shape),
                    band=band,
                    beyond=one["beyond"],
                )
            )
        return sorted(functions, key=lambda function: -function.beyond)

    @property
    def shape_intercept_(self) -> float | np.ndarray:
        """What is said of a row before its columns are looked at; an array for more than two classes."""
        found = self._effects([[value] for value in self._shapes()["intercept"]], (1,))[0]
        return float(found) if np.ndim(found) == 0 else found

    @property
    def shapes_exact_(self) -> bool:
        """Whether the sum of the shape functions is the model for every row."""
        return bool(self._shapes()["exact"])

    def shapes_page(self) -> ShapePage:
        """The guarantee in words and all shape functions as pictures, on a page of HTML: that of ``privet inspect
        --html``."""
        check_is_fitted(self)
        return ShapePage(self.model_.page())

    def plot_shapes(self, max_shapes: int = 12) -> Any:
        """Draw the shape functions that say most: a matplotlib figure, or without matplotlib the page of
        :meth:`shapes_page`."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return self.shapes_page()
        functions = self.shape_functions_[:max_shapes]
        across = min(3, max(1, len(functions)))
        down = max(1, math.ceil(len(functions) / across))
        figure = Figure(figsize=(4.5 * across, 3.2 * down), layout="constrained")
        names = [str(label) for label in getattr(self, "classes_", ())]
        for place, function in enumerate(functions):
            axes = figure.add_subplot(down, across, place + 1)
            axes.set_title(function.name, fontsize="medium")
            _draw(axes, function, names)
        return figure


def _draw(axes: Any, function: ShapeFunction, names: list[str]) -> None:
    """One function, with its band."""
    contribution = np.asarray(function.contribution)
    if function.kind == "pair":
        # Of several classes the one that is told apart most.
        if contribution.ndim == 3:
            best = int(np.abs(contribution).max(axis=(0, 1)).argmax())
            axes.set_title(f"{function.name}: {names[best]}", fontsize="medium")
            contribution = contribution[:, :, best]
        largest = float(np.abs(contribution).max()) or 1.0
        image = axes.imshow(contribution, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
        axes.figure.colorbar(image, ax=axes)
        for axis, points in ((axes.yaxis, function.axes[0]), (axes.xaxis, function.axes[1])):
            axis.set_ticks(range(len(points)), [_words(point) for point in points], fontsize="x-small")
        return
    columns = contribution.reshape(contribution.shape[0], -1)
    axes.axhline(0, color="0.6", linewidth=0.8)
    if function.kind == "number":
        grid = function.grid
        for place, values in enumerate(columns[: len(grid)].T):
            line = axes.plot(grid, values, label=names[place] if columns.shape[1] > 1 else None)[0]
            if function.band is not None:
                half = function.band[: len(grid)]
                axes.fill_between(grid, values - half, values + half, color=line.get_color(), alpha=0.2, linewidth=0)
        if columns.shape[1] > 1:
            axes.legend(fontsize="x-small")
        return
    points = np.arange(len(columns))
    width = 0.8 / columns.shape[1]
    for place, values in enumerate(columns.T):
        label = names[place] if columns.shape[1] > 1 else None
        axes.bar(points + (place - (columns.shape[1] - 1) / 2) * width, values, width, yerr=function.band, label=label)
    axes.set_xticks(points, [_words(point) for point in function.axes[0]], rotation=60, ha="right", fontsize="x-small")
    if columns.shape[1] > 1:
        axes.legend(fontsize="x-small")


def _words(point: float | str) -> str:
    return point if isinstance(point, str) else f"{point:.3g}"
