//! Knowledge transfer: a model of few columns learned from noisy answers of a teacher on public inputs.
//!
//! **Theorem.** Let θ̂ minimise Σℓ + (λ/2)‖θ‖² to a certified tolerance; between neighbours it moves by
//! at most Δ_θ ([`super::output::sensitivity`]). For public inputs X̃, m rows with ‖X̃‖₂ ≤ ν, the
//! answers X̃θ̂ move by at most **ν·Δ_θ** in ℓ2; under Gaussian noise of that sensitivity they have the
//! exact Gaussian curve, and learning from X̃ and the answers is post-processing.
//!
//! *Proof.* ‖X̃θ̂ − X̃θ̂′‖ ≤ ‖X̃‖₂·‖θ̂ − θ̂′‖. θ̂ is first projected on the ball of radius
//! `BALL_TIMES_RADIUS`/R, which increases no distance. *In finite arithmetic.* A product of p terms is
//! rounded by at most p·2⁻⁵³ of the sum of their sizes, in all by at most p·2⁻⁵³·‖X̃‖_F·BALL/R, for each
//! of the two: added to the sensitivity, ‖X̃‖_F ≤ √min(m, p)·ν. ∎
//!
//! **Student.** Least squares on X̃ and the answers that keeps s columns (`ight`), for any loss of the
//! teacher.
//!
//! **Inputs.** Public rows from a file ([`crate::Plan::with_public`]; `--public`), whose number m and
//! norm ν the plan states; they are not protected. Without any, X̃ is the unit matrix: the answers are
//! the weights, and this is `output` followed by a threshold. A file is better only in so far as it
//! shows which directions matter: a well-spread X̃ is an isometry up to scale, and noise on its answers
//! is noise on the weights.
//!
//! **A private teacher** (`teacher = "private"`): [`super::ssp`] for squared loss, [`super::amp`] for
//! others, charged in full; its answers on public inputs are then post-processing, and no norm of theirs
//! matters.
//!
//! - **Departs from print** (Wang 2021, Algorithm 2, Theorem 3.3.3; erratum DPSL-KT). There the teacher
//!   is sparse, and has no small sensitivity; no constants of it are offered.
//! - One linear problem. δ = 0 is refused. Tested by `tests/all/sparse.rs`.

use super::Decision;
use super::chosen_amp::COLUMNS;
use super::descent::keep_within;
use super::distillation::{Inputs, Student, margin};
use super::gd::BALL_TIMES_RADIUS;
use super::ight::for_row;
use super::minimum::{SolverRequest, solve};
use super::output::sensitivity;
use super::public_norm::norm_bound;
use super::second_stage::{Fit, second};
use super::{calibrated, ridge as rule, ssp, tolerance};
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::allowance::Allowance;
use crate::release::ask::ask;
use crate::release::covers::{Coverage, MethodCoverage};
use crate::release::note::Condition;
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::{Check, Erm, LearnError};
use privet_core::Range;
use privet_data::matrix::Matrix;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::{Monitor, Penalty};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on the number of public rows m.
pub const PUBLIC_ROWS: Range = Range::from("public_rows", 1.0, 10_000_001.0);
/// Limits on their norm ν.
pub const PUBLIC_NORM: Range = Range::open("public_norm", 0.0, 1e60);

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "dpsl-kt",
    summary: "learns a model of few columns from what a teacher says of public inputs, under noise or by a private \
              teacher; the public rows are not protected",
    source: "Wang 2021, Algorithm 2, with a teacher whose sensitivity is proved",
    guarantee: FINITE_ARITHMETIC,
    settings: DpslKt::SETTINGS,
    noisy: "what the minimiser says of public inputs",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::No {
            why: "has a printed theorem that is false",
            instead: "leave out the calibration, or give sound; `docs/errata.md` says more",
        },
        pure: Coverage::gaussian("give a delta above 0, or method two-stage, frank-wolfe or amp"),
        several: Coverage::one_problem(
            "give a number or two classes as target, or method gd or dp-ight",
        ),
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `dpsl-kt`.
    #[derive(Copy)]
    pub struct DpslKt {
        columns: u32 [COLUMNS]
            "columns kept; chosen from public facts unless given",
            also "at most the columns of the table";
        public_rows: u32 [PUBLIC_ROWS] "rows of the public file; none unless there is one";
        public_norm: f64 [PUBLIC_NORM]
            "a bound on the spectral norm of its rows",
            also "with public_rows";
        teacher: Teacher ["minimum or private"]
            "a minimiser whose answers are noised, or a private model; minimum unless given";
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
    }
}

/// The model that answers public inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Teacher {
    /// A certified minimiser, whose answers get noise.
    #[default]
    Minimum,
    /// A private model, whose answers are post-processing.
    Private,
}

/// Checks that these public rows, encoded by a model's schema, are as many and of no larger norm than
/// its settings state: this ties the norm that the noise was made for to a file.
pub fn check_public_rows(method: &Method, rows: &Matrix) -> Check {
    let what = "the public rows are those that the certificate states";
    let Method::DpslKt(DpslKt { public_rows: Some(count), public_norm: Some(norm), .. }) = method
    else {
        return Check { what, holds: false, detail: "it states none".into() };
    };
    let (found, bound) = (rows.rows(), norm_bound(rows));
    let holds = found == *count as usize && bound <= *norm;
    let detail = match holds {
        true => format!("{found} rows of norm {bound} at most"),
        false => {
            format!("{count} rows of norm {norm} are stated, and these are {found} of norm {bound}")
        }
    };
    Check { what, holds, detail }
}

/// The assumption of the noise about a public file.
pub(crate) fn rests_on(method: &Method) -> Option<String> {
    let Method::DpslKt(DpslKt { public_rows: Some(count), public_norm: Some(norm), .. }) = method
    else {
        return None;
    };
    Some(format!(
        "that its {count} public rows have a norm of at most {norm}, for which the noise was made"
    ))
}

/// Largest number of columns that the rule keeps.
const MOST_COLUMNS: f64 = 500.0;

/// Upper bound on the nonzero entries of public rows: the student's part of a session is stored whole.
const MOST_ENTRIES: u64 = 10_000_000;

/// The note in every such certificate.
const UNPROTECTED: Condition = Condition::new(
    "public-inputs-unprotected",
    "the rows of the public file were taken for public: nothing is promised to those in it",
);

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &DpslKt,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    options.public_rows.map(|rows| PUBLIC_ROWS.check(rows.into())).transpose()?;
    options.public_norm.map(|norm| PUBLIC_NORM.check(norm)).transpose()?;
    if options.public_rows.is_some() != options.public_norm.is_some() {
        return refused(
            "of a public file both the rows and the norm are stated".into(),
            "give public_rows and public_norm, or neither; --public states both",
        );
    }
    let open = facts.columns - usize::from(facts.bias);
    let usual =
        (0.25 * (facts.rows as f64 * budget.epsilon()).sqrt()).clamp(1.0, MOST_COLUMNS).round();
    let count = options.columns.unwrap_or((usual as u32).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be kept of {open}"),
            "give at most as many as there are",
        );
    }
    let given = options.public_rows.zip(options.public_norm);
    let (rows, norm) = match given {
        Some((rows, norm)) => (PUBLIC_ROWS.check(rows.into())? as usize, PUBLIC_NORM.check(norm)?),
        None => (facts.columns, 1.0),
    };
    let transfer = |teacher: Teaching, ridge: f64| Transfer {
        teacher,
        ridge,
        size: count as usize,
        bias: facts.bias,
        norm,
        inputs: rows,
        rows: facts.rows,
        given: given.map(|_| PublicInputs::Awaited),
    };
    let transfer = match options.teacher.unwrap_or_default() {
        Teacher::Minimum => {
            let (answers, ridge) = answers(facts, budget, (rows, norm), options.ridge)?;
            transfer(Teaching::Minimum(answers), ridge)
        }
        Teacher::Private => {
            let squares = matches!(facts.loss, Loss::Squared { .. });
            let fit =
                if squares && facts.columns < ssp::MOST_COLUMNS { Fit::Ssp } else { Fit::Amp };
            let ridge = options.ridge.map(|ridge| RIDGE.check(ridge)).transpose()?;
            let (floor, fitting) = second(fit, facts, budget, ridge)?;
            let event = |scale| fitting(scale).0.event().map_err(|_| GateError::Malformed);
            let (fitted, ridge) = fitting(budget.least_scale(floor, event)?);
            transfer(Teaching::Private(fitted), ridge)
        }
    };
    let settled = Method::DpslKt(DpslKt {
        columns: Some(count),
        public_rows: options.public_rows,
        public_norm: options.public_norm,
        teacher: options.teacher,
        ridge: Some(transfer.ridge),
    });
    Ok(Decision {
        procedure: Arc::new(transfer),
        settled,
        arithmetic: Arithmetic::Finite,
        notes: given.map(|_| UNPROTECTED.into()).into_iter().collect(),
    })
}

/// The mechanism of answers to `rows` inputs of this norm, and the ridge of the teacher.
fn answers(
    facts: &Facts,
    budget: &Allowance<'_>,
    (rows, norm): (usize, f64),
    ridge: Option<f64>,
) -> Result<(Answers, f64), LearnError> {
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let unit_noise = facts.gradient_shift() / mu;
    let ridge = RIDGE.check(ridge.unwrap_or_else(|| rule::for_output(facts, unit_noise)))?;
    let tolerance = facts.default_tolerance();
    let rounding = {
        let columns = facts.columns as f64;
        let length = norm * (rows as f64).min(columns).sqrt() * BALL_TIMES_RADIUS / facts.radius;
        2.0 * (columns + 2.0) * f64::EPSILON * length
    };
    let shift = (norm * sensitivity(facts, ridge, tolerance) + rounding) * (1.0 + 1e-12);
    let at = |noise_scale: f64| Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity: shift,
        noise_scale,
        coordinates: rows,
    };
    let scale = calibrated(facts, budget, shift / mu, |scale| at(scale).event())?;
    let ask = SolverRequest { ridge, tolerance, linear_norm: 0.0 };
    Ok((Answers { gaussian: at(scale), ask, ball: BALL_TIMES_RADIUS / facts.radius }, ridge))
}

/// Public inputs of a plan that states some.
#[derive(Debug, Clone)]
enum PublicInputs {
    /// Not given yet.
    Awaited,
    /// The rows.
    There(Arc<Matrix>),
}

/// The noisy answers of a minimiser.
#[derive(Debug, Clone)]
struct Answers {
    gaussian: Gaussian,
    ask: SolverRequest,
    ball: f64,
}

/// The teacher, with its cost.
#[derive(Debug, Clone)]
enum Teaching {
    Minimum(Answers),
    Private(Arc<dyn Procedure<Erm>>),
}

/// The procedure: a teacher, its answers, and a student.
#[derive(Debug, Clone)]
struct Transfer {
    teacher: Teaching,
    ridge: f64,
    size: usize,
    bias: bool,
    norm: f64,
    /// The number of inputs m.
    inputs: usize,
    rows: u64,
    given: Option<PublicInputs>,
}

impl Procedure<Erm> for Transfer {
    fn event(&self) -> Result<Event, LearnError> {
        match &self.teacher {
            Teaching::Minimum(answers) => Ok(answers.gaussian.event()?),
            Teaching::Private(fit) => fit.event(),
        }
    }

    fn settings(&self) -> PlanNumbers {
        let own = PlanNumbers::of([("columns", self.size as f64)]);
        match &self.teacher {
            Teaching::Minimum(answers) => own
                .and("ridge", Some(self.ridge))
                .and("gamma", Some(answers.ask.tolerance / self.rows as f64))
                .and("answer_noise", Some(answers.gaussian.noise_scale))
                .and("public_norm", Some(self.norm)),
            Teaching::Private(fit) => {
                fit.settings().iter().fold(own, |all, (name, value)| all.and(name, Some(value)))
            }
        }
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let used = |row: &Vec<f64>| row.iter().filter(|weight| **weight != 0.0).count();
        let most = self.size + usize::from(self.bias);
        if found.weights.iter().any(|row| used(row) > most) {
            return Some("more weights are not 0 than columns were kept");
        }
        // Without public rows the noisy answers are the weights.
        match (&self.teacher, &self.given) {
            (Teaching::Minimum(answers), None) => {
                Support::gaussian(answers.gaussian.noise_scale).refuses(&found.weights)
            }
            _ => None,
        }
    }

    fn check(&self, facts: &Facts) -> Result<(), LearnError> {
        match &self.teacher {
            Teaching::Minimum(answers) => tolerance::check(facts, answers.ask, &Penalty::None),
            Teaching::Private(fit) => fit.check(facts),
        }
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let inputs = match &self.given {
            Some(PublicInputs::There(rows)) => Some(Inputs::of(rows)),
            _ => None,
        };
        let Self { size, bias, norm, .. } = *self;
        let told_weights = matches!(self.teacher, Teaching::Private(_));
        serde_json::to_value(Student { inputs, size, bias, norm, told_weights }).ok()
    }

    fn with_public(&self, rows: &Matrix) -> Option<Result<Arc<dyn Procedure<Erm>>, LearnError>> {
        self.given.as_ref()?;
        if rows.rows() != self.inputs {
            return Some(Err(LearnError::DataShape("the public rows are not as many as planned")));
        }
        let entries = (0..rows.rows()).map(|row| {
            let mut count = 0;
            for_row(rows, row, |_, x| count += u64::from(x != 0.0));
            count
        });
        if entries.sum::<u64>() > MOST_ENTRIES {
            return Some(Err(LearnError::NotCovered {
                what: "more than 10,000,000 entries of public rows".into(),
                instead: "give fewer public rows",
            }));
        }
        if norm_bound(rows) > self.norm {
            return Some(Err(LearnError::DataShape("the public rows are longer than planned")));
        }
        let given = Some(PublicInputs::There(Arc::new(rows.clone())));
        Some(Ok(Arc::new(Self { given, ..self.clone() })))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let inputs = match &self.given {
            None => None,
            Some(PublicInputs::There(rows)) if rows.columns() == facts.columns => {
                Some(rows.clone())
            }
            Some(_) => {
                return Err(LearnError::DataShape("the public rows of the plan are not there"));
            }
        };
        let watch = StepWatch::new(monitor);
        ask::<Student>(session, &watch, |(), session| match &self.teacher {
            Teaching::Private(fit) => {
                let fitted = fit.run(facts, table, session, monitor)?;
                Ok(fitted.map(single_problem))
            }
            Teaching::Minimum(Answers { gaussian, ask, ball }) => {
                let solved = solve(facts, table, 0, *ask, &Penalty::None, None, monitor)?;
                if solved.distance_bound() > ask.tolerance / ask.ridge {
                    return Err(GateError::NotCertified.into());
                }
                let mut theta = solved.into_theta();
                keep_within(&mut theta, *ball);
                let answers = match &inputs {
                    None => theta,
                    Some(rows) => (0..rows.rows()).map(|row| margin(rows, row, &theta)).collect(),
                };
                Ok(gaussian.run(Private::new(answers), session)?)
            }
        })
    }
}

/// The weights of the one problem.
fn single_problem(fitted: LinearWeights) -> Vec<f64> {
    fitted.weights.into_iter().next().unwrap_or_default()
}
