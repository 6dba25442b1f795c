"""Noise with exact laws, from the operating system's randomness.

>>> from privet import noise
>>> noise.discrete_gaussian(5.0, size=4).shape
(4,)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet import _privet
from privet._seeds import seed_of


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    shape = (size,) if np.isscalar(size) else tuple(size)
    if any(int(length) != length or length < 0 for length in shape):
        raise ValueError(f"size is {size!r}; accepted are whole numbers from 0")
    return tuple(int(length) for length in shape)


def _formed(drawn: np.ndarray, shape: tuple[int, ...]) -> Any:
    return drawn.reshape(shape) if shape else drawn[0].item()


def discrete_laplace(noise_scale: float, size: Any = None, *, random_state: Any = None) -> Any:
    """Whole numbers k with probability ∝ exp(−|k|/noise_scale), exactly.

    >>> int(abs(discrete_laplace(1.0, size=100)).max()) < 60
    True
    """
    shape, seed = _shape(size), seed_of(random_state)
    return _formed(_privet.noise_discrete_laplace(float(noise_scale), int(np.prod(shape)), seed), shape)


def discrete_gaussian(sigma: float, size: Any = None, *, random_state: Any = None) -> Any:
    """Whole numbers k with probability ∝ exp(−k²/(2·sigma²)), exactly.

    >>> discrete_gaussian(3.0, size=(2, 3)).dtype
    dtype('int64')
    """
    shape, seed = _shape(size), seed_of(random_state)
    return _formed(_privet.noise_discrete_gaussian(float(sigma), int(np.prod(shape)), seed), shape)


def gaussian(noise_scale: float, size: Any = None, *, random_state: Any = None) -> Any:
    """A Gaussian on a grid far finer than its scale, drawn exactly; see :func:`grid_step`.

    The value that it is added to must be a multiple of the step as well, or its last bits show through.

    >>> isinstance(gaussian(1.0), float)
    True
    """
    shape, seed = _shape(size), seed_of(random_state)
    drawn, _ = _privet.noise_gaussian(float(noise_scale), int(np.prod(shape)), seed)
    return _formed(drawn, shape)


def grid_step(noise_scale: float) -> float:
    """The distance of neighbouring values of :func:`gaussian`, a power of two.

    >>> grid_step(1.0) < 1e-6
    True
    """
    return _privet.noise_gaussian(float(noise_scale), 0, 0)[1]


def l2_laplace(noise_scale: float, dimension: int, *, random_state: Any = None) -> np.ndarray:
    """One vector of density ∝ exp(−‖b‖/noise_scale), in real arithmetic.

    >>> l2_laplace(1.0, 5).shape
    (5,)
    """
    (dimension,) = _shape(dimension)
    return _privet.noise_l2_laplace(float(noise_scale), dimension, seed_of(random_state))


def exponential_choice(scores: Any, rate: float, *, random_state: Any = None) -> int:
    """A place among whole-number scores with probability ∝ exp(rate·score), exactly.

    >>> exponential_choice([0, 1000, 0], rate=1.0)
    1
    """
    whole = np.asarray(scores)
    if whole.ndim != 1 or whole.dtype.kind not in "iu":
        raise ValueError("scores are not a list of whole numbers, which is what is accepted")
    if whole.size and whole.max() > np.iinfo(np.int64).max:
        raise ValueError("scores have a number of 2**63 or more; smaller whole numbers are accepted")
    return _privet.noise_exponential_choice(whole.astype(np.int64), float(rate), seed_of(random_state))
