//! An outside optimiser, here `argmin`'s L-BFGS, plugged into privet: it finds a point, privet proves
//! it, polishing first where the proof fails.
//!
//! `cargo run -p privet-optim --example argmin`

use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_optim::solver::{Objective, OutsideOptimizer, minimise_with};
use privet_optim::{InMemory, Loss, Problem, SolverOptions};

/// `argmin`'s L-BFGS as an [`OutsideOptimizer`].
pub struct ArgminLbfgs {
    /// The largest number of its iterations.
    pub iterations: u64,
}

struct Seen<'a>(&'a dyn Objective);

impl CostFunction for Seen<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, theta: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.0.value_and_gradient(theta)?.0)
    }
}

impl Gradient for Seen<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, theta: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.0.value_and_gradient(theta)?.1)
    }
}

impl OutsideOptimizer for ArgminLbfgs {
    fn minimise(&mut self, objective: &dyn Objective, start: Vec<f64>) -> Vec<f64> {
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 8);
        let run = Executor::new(Seen(objective), solver)
            .configure(|state| state.param(start.clone()).max_iters(self.iterations))
            .run();
        // If anything fails inside, privet starts from `start` instead.
        run.ok().and_then(|mut result| result.state.take_best_param()).unwrap_or(start)
    }
}

/// Forty rows on a line, the label being their side, with some of them wrong.
#[allow(dead_code)]
fn main() {
    let values = (0..40).flat_map(|i| [(i as f32 - 20.0) / 32.0, 0.5]).collect();
    let features = Matrix::Dense(DenseMatrix::new(values, 40, 2));
    let labels: Vec<f64> =
        (0..40).map(|i| if (i >= 20) ^ (i % 7 == 0) { 1.0 } else { -1.0 }).collect();
    let records = InMemory::new(&features, &labels).expect("forty labels for forty rows");
    let problem = Problem::new(&records, Loss::Logistic, 1.0);
    for iterations in [3, 50] {
        let mut optimizer = ArgminLbfgs { iterations };
        let minimiser =
            minimise_with(&problem, 1.0 / 40.0, &SolverOptions::default(), &mut optimizer)
                .expect("the problem is strongly convex");
        println!(
            "argmin with {iterations} iterations, then {} of our own passes: θ = {:?}, proved within {:.2e} of the minimiser",
            minimiser.evaluations(),
            minimiser.theta(),
            minimiser.distance_bound(),
        );
    }
}
