//! Private fits of the columns that a first stage chose.
//!
//! | `fit` | | loss |
//! |---|---|---|
//! | `ssp` | noisy second moments ([`super::ssp`]) | squared |
//! | `amp` | approximate minima of a perturbed objective ([`super::amp`]) | any |
//! | `linear` | plain squares perturbed, in a ball (Algorithm 4.1, [`super::regression`]) | squared |
//!
//! Each is the learner of that name with the facts of the narrow table, at a noise scale that the
//! accountant finds for both stages together.

use super::Erm;
use super::amp::DEFAULT_SPLIT;
use super::minimum::{Minimum, Step};
use super::objective::{expected_noise, with_shared_noise};
use super::regression::{InBall, in_ball, norm};
use super::{ridge as rule, ssp};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::allowance::Allowance;
use crate::release::request::RIDGE;
use crate::release::task::Procedure;
use privet_optim::solver::Penalty;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// The fit of the second stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Noisy second moments.
    Ssp,
    /// A perturbed objective.
    Amp,
    /// Perturbed least squares in a ball.
    Linear,
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ssp => "ssp",
            Self::Amp => "amp",
            Self::Linear => "linear",
        })
    }
}

/// A fit at a noise scale, and its ridge.
pub(super) type Fitting<'a> = Box<dyn Fn(f64) -> (Arc<dyn Procedure<Erm>>, f64) + 'a>;

/// The least noise that a fit needs, and the fit at any noise scale.
pub(super) fn second<'a>(
    fit: Fit,
    fewer: &'a Facts,
    budget: &'a Allowance<'a>,
    given: Option<f64>,
) -> Result<(f64, Fitting<'a>), LearnError> {
    match fit {
        Fit::Ssp => {
            let pure = budget.is_pure();
            let fit = move |scale| -> (Arc<dyn Procedure<Erm>>, f64) {
                let solving = ssp::at(fewer, pure, scale, given);
                let ridge = solving.ridge();
                (Arc::new(solving), ridge)
            };
            Ok((ssp::floor(fewer, budget), Box::new(fit)))
        }
        Fit::Amp => {
            let (floor, perturbed) = perturbed(fewer.clone(), Penalty::None, budget, given)?;
            Ok((
                floor,
                Box::new(move |scale| {
                    let (minimum, ridge) = perturbed(scale);
                    (Arc::new(minimum) as Arc<dyn Procedure<Erm>>, ridge)
                }),
            ))
        }
        Fit::Linear => {
            let norm = norm(fewer, None)?;
            let facts = in_ball(fewer, norm);
            let ball = Penalty::Ball { radius: norm };
            let (floor, perturbed) = perturbed(facts.clone(), ball, budget, given)?;
            Ok((
                floor,
                Box::new(move |scale| {
                    let (minimum, ridge) = perturbed(scale);
                    let (facts, procedure) = (facts.clone(), Arc::new(minimum));
                    (Arc::new(InBall { facts, norm, procedure }) as Arc<dyn Procedure<Erm>>, ridge)
                }),
            ))
        }
    }
}

/// A minimum at a noise scale, and its ridge.
type Minima<'a> = Box<dyn Fn(f64) -> (Minimum, f64) + 'a>;

/// Minima of a perturbed objective.
fn perturbed<'a>(
    facts: Facts,
    penalty: Penalty,
    budget: &'a Allowance<'a>,
    given: Option<f64>,
) -> Result<(f64, Minima<'a>), LearnError> {
    let (expected, length) = expected_noise(&facts, budget)?;
    let usual = rule::for_objective(&facts, budget.epsilon(), expected, length);
    let ridge = RIDGE.check(given.unwrap_or(usual))?;
    let fit = move |scale| {
        let tolerance = facts.default_tolerance();
        let step = Step::Perturbed(with_shared_noise(
            &facts,
            budget,
            ridge,
            tolerance,
            DEFAULT_SPLIT,
            scale,
        ));
        (Minimum::new(&facts, step, penalty.clone()), ridge)
    };
    Ok((expected, Box::new(fit)))
}
