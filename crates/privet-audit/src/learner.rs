//! Audit of a learner: its certificate against its behaviour on built-in neighbouring tables.
//!
//! A learner is given by its method, budget and neighbour relation, as for any caller; schema, loss and
//! tables are built in. The Huber hinge is tried first: on its linear part a record's gradient has
//! exactly the bound that the theorem charges, so little of the claim is slack. Methods that refuse it
//! are tried with other losses and clipping norms.
//!
//! A pilot with few runs finds the pair of tables that is worst for this learner; the audit itself uses
//! fresh runs. If a learner has a ridge and the caller gives none, one is tried that keeps the minimiser
//! on the linear part of the loss, beside the one that the learner's own rule chooses; for some learners
//! also settings under which the theorem is nearly tight (`sharp.rs`). If the number of steps is not
//! given it is small: the events, and their visible effects, are of the same kind, and thousands of runs
//! take minutes.

use crate::attack::{self, AttackOptions, Finding, RUNS};
use crate::claim::Claim;
use crate::pairs::{self, Pair, Tables};
use crate::planned_target::{PlannedTarget, claim_of_plan};
use crate::runs::{self, AttackWatch};
use crate::sharp::{sharp, with_unless_given};
use crate::{AuditError, bits};
use privet_core::{Budget, Neighbours};
use privet_learn::{Calibration, Erm, Method, Plan, PlanNumbers, Request, plan};
use privet_optim::loss::Loss;
use serde::Serialize;

/// The number of columns of the built-in tables.
pub const COLUMNS: usize = 3;
/// Default number of rows of the built-in tables.
pub const ROWS: u64 = 64;
/// Maximum runs per input in the pilot.
const PILOT: u64 = 1_000;
/// Ridge that keeps the minimiser inside the hinge's linear part, and the cost of determinants small.
const STRAIGHT_RIDGE: &str = "65536";
/// Ridge that is a power of two, so that division by it keeps the bits of the dividend.
const EVEN_RIDGE: &str = "4";
/// Default number of steps of a descent.
const FEW_STEPS: &str = "16";

/// Setting of an audit: a learner and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The learner and its settings.
    pub method: Method,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// The number of rows of the tables.
    pub rows: u64,
    /// Source of the constants; with printed ones the claim is what the accountant proves.
    pub calibration: Calibration,
}

impl Setting {
    /// Uses the default number of rows and sound constants.
    pub fn new(method: Method, budget: Budget, neighbours: Neighbours) -> Self {
        Self { method, budget, neighbours, rows: ROWS, calibration: Calibration::Sound }
    }
}

/// Result of the audit of a learner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the method.
    pub method: &'static str,
    /// Name of the loss.
    pub loss: &'static str,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// Settings of its plan.
    pub settings: PlanNumbers,
    /// The pair of tables with the strongest attack.
    pub pair: Pair,
    /// Result on this pair.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A learner's plan on two neighbouring tables.
pub type Learner<'a> = PlannedTarget<'a, Erm>;

impl<'a> Learner<'a> {
    /// Builds the target of a plan for a schema of [`pairs::schema`] with this many columns.
    pub fn new(plan: &'a Plan, columns: usize, pair: Pair) -> Result<Self, AuditError> {
        let request = plan.request();
        let Tables { worlds, axis } =
            pairs::build(pair, &request.schema, columns, request.rows, request.neighbours)?;
        let direction = (0..columns).map(|column| f64::from(u8::from(column == axis))).collect();
        Ok(Self::on_tables(plan, worlds, direction))
    }
}

/// Returns the first plan that the method accepts.
pub fn first_plan(setting: &Setting, columns: usize) -> Result<Plan, AuditError> {
    let method = setting.method.name();
    if !setting.method.is_private() {
        return Err(AuditError::NothingClaimed { method });
    }
    let losses = [Loss::HuberSvm { h: 0.1 }, Loss::Logistic, Loss::SQUARED];
    let mut reason = String::new();
    for classes in [true, false] {
        for norm in ["l2", "linf", "l1"] {
            for loss in losses {
                // A numeric target needs the squared loss: other losses would only be refused again.
                if !classes && loss != Loss::SQUARED {
                    continue;
                }
                let Ok(schema) = pairs::schema(columns, norm, classes) else { continue };
                let request = Request {
                    schema,
                    rows: setting.rows,
                    budget: Some(setting.budget),
                    neighbours: setting.neighbours,
                    calibration: setting.calibration,
                    noise: vec![],
                    among: None,
                    prior_fits: vec![],
                    task: Erm { loss, method: setting.method.clone() },
                };
                match plan(&request) {
                    Ok(plan) => return Ok(plan),
                    Err(error) if reason.is_empty() => reason = error.to_string(),
                    Err(_) => {}
                }
            }
        }
    }
    Err(AuditError::NoTable { method, reason })
}

/// Audits a learner on the pair that is worst for it.
pub fn audit(
    setting: &Setting,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Report, AuditError> {
    audit_against(setting, setting.budget, options, watch)
}

/// Audits a learner against the certificate of another budget: with a smaller one that certificate is
/// false, and an audit with power refutes it.
pub fn audit_against(
    setting: &Setting,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Report, AuditError> {
    RUNS.check(options.runs as f64)?;
    let method = setting.method.name();
    let few = [("steps", FEW_STEPS.into())];
    let fewer = with_unless_given(&setting.method, &few);
    // Some variants of a method have no steps.
    let quick = fewer.map(|method| Setting { method, ..setting.clone() });
    let quick = quick.filter(|quick| first_plan(quick, COLUMNS).is_ok()).unwrap_or(setting.clone());
    let mut tried: Vec<(Plan, usize, &[Pair])> =
        vec![(first_plan(&quick, COLUMNS)?, COLUMNS, &Pair::GENERAL)];
    let straight = [("ridge", STRAIGHT_RIDGE.into())];
    if let Some(method) = with_unless_given(&quick.method, &straight) {
        let plan = first_plan(&Setting { method, ..quick }, COLUMNS);
        tried.extend(plan.ok().map(|plan| (plan, COLUMNS, &Pair::GENERAL[..])));
    }
    if let Some(sharp) = sharp(method, setting.rows) {
        let method = with_unless_given(&setting.method, &sharp.settings);
        let plan = method.and_then(|method| {
            first_plan(&Setting { method, ..setting.clone() }, sharp.columns).ok()
        });
        tried.extend(plan.map(|plan| (plan, sharp.columns, sharp.pairs)));
    }
    let pilot = (options.runs / 5).clamp(40, PILOT);
    let seed = runs::scramble(options.seed);
    let mut worst: Option<((f64, f64), Learner<'_>, Pair, Claim)> = None;
    for (plan, columns, pairs) in &tried {
        let request = plan.request();
        let claim = if Some(stated) == request.budget {
            certificate(plan)?
        } else {
            let method = request.task.method.clone();
            certificate(&first_plan(
                &Setting { method, budget: stated, ..setting.clone() },
                *columns,
            )?)?
        };
        for pair in *pairs {
            let target = Learner::new(plan, *columns, *pair)?;
            let releases = runs::collect(&target, pilot, seed, &StopOnly(watch))?;
            let promise = attack::expected_strength(&target, &releases, &claim, options.confidence);
            if worst.as_ref().is_none_or(|(most, ..)| promise > *most) {
                worst = Some((promise, target, *pair, claim.clone()));
            }
        }
    }
    // There is at least one plan and one pair.
    let Some((_, target, pair, claim)) = worst else {
        return Err(AuditError::NothingClaimed { method });
    };
    let finding = attack::audit(&target, &claim, options, watch)?;
    let plan = target.plan();
    let request = plan.request();
    Ok(Report {
        method,
        loss: request.task.loss.name(),
        neighbours: request.neighbours,
        settings: plan.settings(),
        pair,
        finding,
    })
}

/// The claim of a plan.
pub(crate) fn certificate(plan: &Plan) -> Result<Claim, AuditError> {
    let method = plan.request().task.method.name();
    claim_of_plan(plan)?.ok_or(AuditError::NothingClaimed { method })
}

/// Searches the low bits of a learner's releases on a pair of tables ([`crate::bits`]). The default
/// ridge is a power of two: quotients by it keep the bits of the dividend.
pub fn low_bits(
    setting: &Setting,
    pair: Pair,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Finding, AuditError> {
    let straight = [("ridge", EVEN_RIDGE.into()), ("steps", FEW_STEPS.into())];
    let changed = with_unless_given(&setting.method, &straight[..1])
        .or_else(|| with_unless_given(&setting.method, &straight[1..]))
        .unwrap_or(setting.method.clone());
    let plan = first_plan(&Setting { method: changed, ..setting.clone() }, COLUMNS)?;
    let claim = certificate(&plan)?;
    bits::audit(&Learner::new(&plan, COLUMNS, pair)?, &claim, options, watch)
}

/// Passes a stop through, but no progress: the pilot is short.
struct StopOnly<'a>(&'a dyn AttackWatch);

impl AttackWatch for StopOnly<'_> {
    fn proceed(&self, _done: u64, total: u64) -> bool {
        self.0.proceed(0, total)
    }
}
