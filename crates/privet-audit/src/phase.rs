//! The phase of b on its grid: information leaked by a minimiser released bit for bit.
//!
//! Least squares in one column: θ = (T − b)/Λ with T = Σxy, Λ = Σx² + λ (`objective`, `linear`) or
//! max(Σx², Δ) (`linear-rotated`), b on a grid of step h. An attacker with the two tables computes
//! (T − θΛ)/h for each: an integer for the table that was used, any number for the other, as soon as the
//! two Λ differ. Rounding errors of θ are below 10⁻³ of a step.
//!
//! - *Bare* is the release of 0.1.0's `linear-rotated`, kept as a fixture: θ without noise on it. It is
//!   refuted in a few hundred runs.
//! - *As planned* is the method itself. Noise on the result hides the phase: it is hundreds of steps
//!   wide at least.
//!
//! Tested by `tests/audit/phase.rs`.

use crate::attack::{self, AttackOptions, Finding};
use crate::learner::{Learner, certificate};
use crate::pairs::{self, Pair};
use crate::runs::{AttackWatch, Neighbour, Target};
use crate::{AuditError, bits};
use privet_core::{Budget, Neighbours};
use privet_data::{self as data, Dataset};
use privet_dp::noise::{GridGaussian, Source};
use privet_learn::{Calibration, Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;

/// The number of rows of the tables: Σx² is far above the lower limit of `linear-rotated`.
const ROWS: u64 = 256;

/// Form of the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// θ, bit for bit, with the plan's law of b.
    Bare,
    /// The method's own release.
    AsPlanned,
}

/// The sums T and Λ.
#[derive(Debug, Clone, Copy)]
struct Sums {
    pull: f64,
    curvature: f64,
}

impl Sums {
    fn of(table: &Dataset, ridge: f64, raises: bool) -> Result<Self, AuditError> {
        let data::Target::Number(labels) = &table.target else {
            return Err(AuditError::Table("the phase needs a number as target".into()));
        };
        let rows = (0..table.rows()).map(|row| f64::from(table.features.dense_row(row)[0]));
        let (mut pull, mut square) = (0.0, 0.0);
        for (x, y) in rows.zip(labels) {
            pull += x * y;
            square += x * x;
        }
        let curvature = if raises { square.max(ridge) } else { square + ridge };
        Ok(Self { pull, curvature })
    }

    /// Distance of (T − θΛ)/h from the nearest integer: 0 to ½.
    fn phase(self, theta: f64, step: f64) -> f64 {
        let steps = libm::fma(-theta, self.curvature, self.pull) / step;
        (steps - libm::rint(steps)).abs()
    }
}

/// A method on two neighbouring tables of one column.
struct Phases<'a> {
    learner: Learner<'a>,
    sums: [Sums; 2],
    noise: GridGaussian,
    released: Released,
}

impl Target for Phases<'_> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        if self.released == Released::AsPlanned {
            return self.learner.release(neighbour, source);
        }
        let Sums { pull, curvature } = self.sums[usize::from(neighbour == Neighbour::Second)];
        let mut noise = [0.0];
        self.noise.fill(&mut noise, source);
        Ok(vec![(pull - noise[0]) / curvature])
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        let [first, second] = self.sums.map(|sums| sums.phase(release[0], self.noise.step()));
        Some(first - second)
    }
}

/// Attacks the phase of b in a method's release, or in its bare minimiser, against that method's claim.
pub fn audit(
    method: &Method,
    budget: Budget,
    released: Released,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Finding, AuditError> {
    let request = Request {
        schema: pairs::schema(1, "l2", false)?,
        rows: ROWS,
        budget: Some(budget),
        neighbours: Neighbours::AddRemove,
        calibration: Calibration::Sound,
        noise: vec![],
        among: None,
        prior_fits: vec![],
        task: Erm { loss: Loss::SQUARED, method: method.clone() },
    };
    let planned: Plan = plan(&request)?;
    let missing = || AuditError::Table("the plan states no noise inside an objective".into());
    let shown = |name| planned.settings().get(name).ok_or_else(missing);
    let (noise_scale, ridge) = (shown("objective_noise")?, shown("ridge")?);
    let learner = Learner::new(&planned, 1, Pair::Opposed)?;
    let raises = method.name() == "linear-rotated";
    let [first, second] = learner.worlds().each_ref().map(|table| Sums::of(table, ridge, raises));
    let target = Phases {
        sums: [first?, second?],
        learner,
        noise: GridGaussian::new(noise_scale).map_err(bits::noise_failed)?,
        released,
    };
    attack::audit(&target, &certificate(&planned)?, options, watch)
}
