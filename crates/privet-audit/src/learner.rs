//! The audit of a learner: its certificate against its behaviour on built-in neighbours.
//!
//! A learner is asked for with its method, budget and neighbour relation, as anybody would; schema, loss
//! and tables are ours. The Huber hinge comes first: on its straight part a record's gradient has
//! exactly the bound that the theorem charges, so little of the claim is slack. Methods that refuse it
//! are tried with other losses and clipping norms.
//!
//! A pilot with few runs finds the pair of tables that is worst for this learner; the audit itself uses
//! fresh runs. Where a learner has a ridge and the caller gives none, one is tried that keeps the
//! minimiser on the straight part of the loss, beside the one that the learner's own rule chooses; for
//! some learners also settings under which the theorem is nearly tight (`sharp.rs`). A number of steps that
//! is not given is small: the events, and what can be seen of them, are of the same kind, and thousands
//! of runs take minutes.

use crate::attack::{self, AttackOptions, Finding, RUNS};
use crate::claim::Claim;
use crate::pairs::{self, Pair, Tables};
use crate::planned::{Planned, claimed};
use crate::runs::{self, Watch};
use crate::sharp::{sharp, with_unless_given};
use crate::{AuditError, bits};
use privet_core::{Budget, Neighbours};
use privet_learn::{Calibration, Erm, Method, Plan, Request, Shown, plan};
use privet_optim::loss::Loss;
use serde::Serialize;

/// Columns of the built-in tables.
pub const COLUMNS: usize = 3;
/// Rows of the built-in tables, unless asked otherwise.
pub const ROWS: u64 = 64;
/// Runs a world of the pilot, at most.
const PILOT: u64 = 1_000;
/// Keeps the minimiser inside the hinge's straight part, and what determinants cost small.
const STRAIGHT_RIDGE: &str = "65536";
/// Keeps the bits of what is divided by it.
const EVEN_RIDGE: &str = "4";
/// Steps of a descent, unless given.
const FEW_STEPS: &str = "16";

/// Which learner, and what it is to claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The learner and its settings.
    pub method: Method,
    /// What it is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
    /// Rows of the tables.
    pub rows: u64,
    /// Whose constants; a printed one claims what the accountant proves.
    pub calibration: Calibration,
}

impl Subject {
    /// With the usual number of rows and sound constants.
    pub fn new(method: Method, budget: Budget, neighbours: Neighbours) -> Self {
        Self { method, budget, neighbours, rows: ROWS, calibration: Calibration::Sound }
    }
}

/// What was found, and on what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The method.
    pub method: &'static str,
    /// The loss it was given.
    pub loss: &'static str,
    /// The relation.
    pub neighbours: Neighbours,
    /// The numbers of its plan.
    pub settings: Shown,
    /// The pair of tables that told most.
    pub pair: Pair,
    /// What was found there.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A learner's plan on two neighbouring tables.
pub type Learner<'a> = Planned<'a, Erm>;

impl<'a> Learner<'a> {
    /// A plan made for a schema of [`pairs::schema`] with so many columns.
    pub fn new(plan: &'a Plan, columns: usize, pair: Pair) -> Result<Self, AuditError> {
        let request = plan.request();
        let Tables { worlds, axis } =
            pairs::build(pair, &request.schema, columns, request.rows, request.neighbours)?;
        let direction = (0..columns).map(|column| f64::from(u8::from(column == axis))).collect();
        Ok(Self::on(plan, worlds, direction))
    }
}

/// The first plan that the method accepts.
pub fn planned(subject: &Subject, columns: usize) -> Result<Plan, AuditError> {
    let method = subject.method.name();
    if !subject.method.is_private() {
        return Err(AuditError::NothingClaimed { method });
    }
    let losses = [Loss::HuberSvm { h: 0.1 }, Loss::Logistic, Loss::SQUARED];
    let mut reason = String::new();
    for classes in [true, false] {
        for norm in ["l2", "linf", "l1"] {
            for loss in losses {
                // A number needs the squared loss; asking otherwise would only repeat that.
                if !classes && loss != Loss::SQUARED {
                    continue;
                }
                let Ok(schema) = pairs::schema(columns, norm, classes) else { continue };
                let request = Request {
                    schema,
                    rows: subject.rows,
                    budget: Some(subject.budget),
                    neighbours: subject.neighbours,
                    calibration: subject.calibration,
                    noise: vec![],
                    among: None,
                    prior_fits: vec![],
                    task: Erm { loss, method: subject.method.clone() },
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
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Report, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that it would have with another budget: with a smaller one that
/// certificate is false, and an audit with power refutes it.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Report, AuditError> {
    RUNS.check(options.runs as f64)?;
    let method = subject.method.name();
    let few = [("steps", FEW_STEPS.into())];
    let fewer = with_unless_given(&subject.method, &few);
    // Not every way of a method has steps.
    let quick = fewer.map(|method| Subject { method, ..subject.clone() });
    let quick = quick.filter(|quick| planned(quick, COLUMNS).is_ok()).unwrap_or(subject.clone());
    let mut tried: Vec<(Plan, usize, &[Pair])> =
        vec![(planned(&quick, COLUMNS)?, COLUMNS, &Pair::GENERAL)];
    let straight = [("ridge", STRAIGHT_RIDGE.into())];
    if let Some(method) = with_unless_given(&quick.method, &straight) {
        let plan = planned(&Subject { method, ..quick }, COLUMNS);
        tried.extend(plan.ok().map(|plan| (plan, COLUMNS, &Pair::GENERAL[..])));
    }
    if let Some(sharp) = sharp(method, subject.rows) {
        let method = with_unless_given(&subject.method, &sharp.settings);
        let plan = method
            .and_then(|method| planned(&Subject { method, ..subject.clone() }, sharp.columns).ok());
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
            certificate(&planned(
                &Subject { method, budget: stated, ..subject.clone() },
                *columns,
            )?)?
        };
        for pair in *pairs {
            let target = Learner::new(plan, *columns, *pair)?;
            let releases = runs::collect(&target, pilot, seed, &Quiet(watch))?;
            let promise = attack::promise(&target, &releases, &claim, options.confidence);
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

/// What a plan claims.
pub(crate) fn certificate(plan: &Plan) -> Result<Claim, AuditError> {
    let method = plan.request().task.method.name();
    claimed(plan)?.ok_or(AuditError::NothingClaimed { method })
}

/// Searches the low bits of a learner's releases on a pair of tables ([`crate::bits`]), with the ridge
/// that is a power of two where none is given: quotients by it keep the bits of what is divided.
pub fn low_bits(
    subject: &Subject,
    pair: Pair,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let straight = [("ridge", EVEN_RIDGE.into()), ("steps", FEW_STEPS.into())];
    let changed = with_unless_given(&subject.method, &straight[..1])
        .or_else(|| with_unless_given(&subject.method, &straight[1..]))
        .unwrap_or(subject.method.clone());
    let plan = planned(&Subject { method: changed, ..subject.clone() }, COLUMNS)?;
    let claim = certificate(&plan)?;
    bits::audit(&Learner::new(&plan, COLUMNS, pair)?, &claim, options, watch)
}

/// Lets a stop through, but no progress: the pilot is short.
struct Quiet<'a>(&'a dyn Watch);

impl Watch for Quiet<'_> {
    fn proceed(&self, _done: u64, total: u64) -> bool {
        self.0.proceed(0, total)
    }
}
