"""What several fits cost together.

Cross-validation, searches and repeated calls fit clones of one estimator again and again, mostly on the
same records, and what the models reveal adds up. Clones share a count; when it reaches two, four, eight …
fits, a warning says what they cost by simple addition. ``privet.account.total`` gives a tighter number.

Copies share the count as clones do. It lives in the process: workers of ``n_jobs`` count on their own and
cannot be added up.
"""

from __future__ import annotations

import warnings

from privet._certificate import Certificate
from privet._warnings import RepeatedFitWarning


class Spending:
    """The budgets of the fits of an estimator and its clones."""

    def __init__(self) -> None:
        self.fits = 0
        # Sums by what is promised: numbers about other neighbours cannot be added.
        self.budgets: dict[tuple[str, int, str | None], tuple[float, float]] = {}

    def add(self, certificate: Certificate) -> None:
        """One more release."""
        if not certificate.private:
            return
        self.fits += 1
        about = (certificate.neighbours, certificate.max_records, certificate.whose.get("column"))
        epsilon, delta = self.budgets.get(about, (0.0, 0.0))
        self.budgets[about] = (epsilon + (certificate.epsilon or 0.0), delta + (certificate.delta or 0.0))
        if self.fits >= 2 and self.fits & (self.fits - 1) == 0:
            warnings.warn(
                f"So far {self.fits} models were fitted by this estimator and its clones. If they saw the same "
                f"records (cross-validation, a search, another try), together they cost {self._sums()}; each "
                f"further fit adds its own, the last one epsilon = {certificate.epsilon:.4g}. Each certificate "
                "speaks of its own model only. Choose settings on public data, or count every fit.",
                RepeatedFitWarning,
                stacklevel=3,
            )

    def _sums(self) -> str:
        if len(self.budgets) == 1:
            ((epsilon, delta),) = self.budgets.values()
            return f"epsilon = {epsilon:.4g}, delta = {delta:.3g}"
        parts = [
            f"epsilon = {epsilon:.4g}, delta = {delta:.3g} for {neighbours} and {_unit(records, column)}"
            for (neighbours, records, column), (epsilon, delta) in self.budgets.items()
        ]
        return "; ".join(parts) + " (which differ in what they promise and have no sum)"

    def __deepcopy__(self, memo: object) -> Spending:
        return self


def _unit(records: int, column: str | None) -> str:
    group = "a group" if column is None else f"one {column!r}"
    return "a row" if records == 1 and column is None else f"up to {records} rows of {group}"
