"""What several fits cost together.

Cross-validation, searches and repeated calls fit clones of one estimator again and again, mostly on the
same records, and what the models reveal adds up. Clones share a count; when it reaches two, four, eight …
fits, a warning says what they cost by simple addition. ``privet.account.total`` gives a tighter number.

The count lives in the process. Workers of ``n_jobs`` count on their own and cannot be added up.
"""

from __future__ import annotations

import warnings

from privet._certificate import Certificate
from privet._warnings import RepeatedFitWarning


class Spending:
    """The budgets of the fits of an estimator and its clones."""

    def __init__(self) -> None:
        self.fits = 0
        self.epsilon = 0.0
        self.delta = 0.0

    def add(self, certificate: Certificate) -> None:
        """One more release."""
        if not certificate.private:
            return
        self.fits += 1
        self.epsilon += certificate.epsilon or 0.0
        self.delta += certificate.delta or 0.0
        if self.fits >= 2 and self.fits & (self.fits - 1) == 0:
            warnings.warn(
                f"{self.fits} models were fitted by this estimator and its clones. If they saw the same "
                f"records (cross-validation, a search, another try), together they cost "
                f"epsilon = {self.epsilon:.4g}, delta = {self.delta:.3g}; each certificate speaks of its own "
                "model only. Choose settings on public data, or count every fit.",
                RepeatedFitWarning,
                stacklevel=4,
            )

    def __deepcopy__(self, memo: object) -> Spending:
        return self
