//! Samplers: exact distributions, in bulk.

use crate::error::{Failure, Outcome};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use privet_dp::noise::{
    DiscreteGaussian, DiscreteLaplace, FixedSeed, GridGaussian, L2Laplace, Source, SystemRandom,
    choose_by_weight,
};
use pyo3::prelude::*;

/// The system's randomness, or reproducible noise from a seed.
pub fn source(seed: Option<u64>) -> Outcome<Box<dyn Source>> {
    Ok(match seed {
        Some(seed) => Box::new(FixedSeed::new(seed)),
        None => Box::new(SystemRandom::new()?),
    })
}

/// An array of zeros to be overwritten, unless there is no memory for it.
fn zeros<T: Default + Clone>(count: usize) -> Outcome<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(count).map_err(|_| Failure::memory(count))?;
    zeros.resize(count, T::default());
    Ok(zeros)
}

/// Draws from the discrete Laplace distribution, P(k) ∝ e^(−|k|/scale).
#[pyfunction]
#[pyo3(signature = (scale, count, seed) -> "numpy.typing.NDArray[numpy.int64]")]
pub fn noise_discrete_laplace<'py>(
    py: Python<'py>,
    scale: f64,
    count: usize,
    seed: Option<u64>,
) -> Outcome<Bound<'py, PyArray1<i64>>> {
    let (law, mut source, mut drawn) = (DiscreteLaplace::new(scale)?, source(seed)?, zeros(count)?);
    py.detach(|| law.fill(&mut drawn, source.as_mut()));
    Ok(drawn.into_pyarray(py))
}

/// Draws from the discrete Gaussian distribution, P(k) ∝ e^(−k²/2σ²).
#[pyfunction]
#[pyo3(signature = (sigma, count, seed) -> "numpy.typing.NDArray[numpy.int64]")]
pub fn noise_discrete_gaussian<'py>(
    py: Python<'py>,
    sigma: f64,
    count: usize,
    seed: Option<u64>,
) -> Outcome<Bound<'py, PyArray1<i64>>> {
    let (law, mut source, mut drawn) =
        (DiscreteGaussian::new(sigma)?, source(seed)?, zeros(count)?);
    py.detach(|| law.fill(&mut drawn, source.as_mut()));
    Ok(drawn.into_pyarray(py))
}

/// Draws from a discrete Gaussian on a fine grid; also returns the grid's step.
#[pyfunction]
#[pyo3(signature = (scale, count, seed) -> "tuple[numpy.typing.NDArray[numpy.float64], float]")]
pub fn noise_gaussian<'py>(
    py: Python<'py>,
    scale: f64,
    count: usize,
    seed: Option<u64>,
) -> Outcome<(Bound<'py, PyArray1<f64>>, f64)> {
    let (law, mut source, mut drawn) = (GridGaussian::new(scale)?, source(seed)?, zeros(count)?);
    py.detach(|| law.fill(&mut drawn, source.as_mut()));
    Ok((drawn.into_pyarray(py), law.step()))
}

/// Draws one vector with density ∝ e^(−‖b‖/scale).
#[pyfunction]
#[pyo3(signature = (scale, dimension, seed) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn noise_l2_laplace<'py>(
    py: Python<'py>,
    scale: f64,
    dimension: usize,
    seed: Option<u64>,
) -> Outcome<Bound<'py, PyArray1<f64>>> {
    let (law, mut source, mut drawn) = (L2Laplace::new(scale)?, source(seed)?, zeros(dimension)?);
    py.detach(|| law.fill(&mut drawn, source.as_mut()));
    Ok(drawn.into_pyarray(py))
}

/// Draws an index of integer scores with probability ∝ e^(rate·score), exactly.
#[pyfunction]
#[pyo3(signature = (scores: "numpy.typing.NDArray[numpy.int64]", rate, seed))]
pub fn noise_exponential_choice(
    scores: PyReadonlyArray1<'_, i64>,
    rate: f64,
    seed: Option<u64>,
) -> Outcome<usize> {
    let scores = scores.as_array().to_vec();
    Ok(choose_by_weight(&scores, rate, source(seed)?.as_mut())?)
}
