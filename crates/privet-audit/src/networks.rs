//! Audit of trained networks: their certificate against a planted record, and from a single run.
//!
//! A layer with one input x and two outputs: for any weights, a record's gradient is a multiple of
//! (x, 1) ⊗ (1, −1), with the sign of its class, and the clipping norm is so small that it is always
//! reached. The planted record has x = 1, so that it moves every noisy sum by exactly the sensitivity
//! charged, and the weights, sums of those, in one direction that is known beforehand. All others have
//! x = −1: (−1, 1) and (1, 1) are orthogonal, so that none of them is visible in that direction, for any
//! sample. In that direction remain the planted record and the noise. Under replace-one it has the other
//! class in the neighbouring table; under add-remove it is present or absent.
//!
//! The training's transformation of its noisy sums is inverted if it hides them: Adam's first step u =
//! g/(|g| + 10⁻⁸), elementwise, gives g = 10⁻⁸·u/(1 − |u|); a step of `dp-agd` shows the direction
//! alone, not the norm. Smoothing multiplies the observed direction by a number, and the noise with it.
//! So the attack sees nearly the whole sensitivity, and detects half the noise that a certificate
//! claims, for `dp-agd` a quarter ([`Setting::refutable`]). Not attacked: the *choices* of `dp-agd`, a
//! fifth of its budget, and the differences of `dp-srm`, whose direction depends on the noise before;
//! their sensitivities are tested beside the learners.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::claim::CONFIDENCE;
use crate::one_run::{CANARIES, OneRun, epsilon_lower};
use crate::pairs::{self, Row};
use crate::planned_target::PlannedTarget;
use crate::runs::{Neighbour, Target, scramble};
use privet_core::{Budget, Neighbours};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::networks::{ADAM_FLOOR, METHODS, Method, Network};
use privet_learn::{Artefact, Plan, Request, plan};
use privet_nn::{Description, Input, Layer, Loss};
use std::sync::atomic::AtomicBool;

/// The number of records besides the planted one.
const OTHER_RECORDS: u64 = 7;
/// Expected size of a sample: all but one record, so that the planted one is rarely missing.
const SAMPLE: &str = "7";
/// All records.
const EVERYONE: &str = "8";
/// Scale of the inputs if each canary has an input of its own: most of its gradient is then there, and
/// little in the constant that all share.
const CANARY_SCALE: f64 = 4.0;
/// The number of steps: two, the second continuing from the first; one if a second would hide the first.
const STEPS: [&str; 2] = ["2", "1"];
/// Clipping norms that every gradient reaches; for Adam so small that its constant in the denominator
/// reveals a gradient's size.
const CLIPS: [&str; 2] = ["0.001", "0.000002"];
/// Halvings in the search for a budget: down to a relative 1/4096.
const HALVINGS: u32 = 12;

/// Setting of an audit: a training and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Training method.
    pub method: Method,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

impl Setting {
    /// Settings of every private training under both relations, and one in floating point.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let mut all = Vec::new();
        for info in METHODS.iter().filter(|info| info.private) {
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                // Correlated noise hides the content of a place in the order, not the number of places.
                if info.name == "dp-ftrl" && neighbours == Neighbours::AddRemove {
                    continue;
                }
                all.push(Self { method: method_of_few_steps(info.name)?, budget, neighbours });
            }
        }
        let (method, neighbours) =
            (method_of_few_steps("dp-sgd")?.with("sums", "float")?, Neighbours::ReplaceOne);
        all.push(Self { method, budget, neighbours });
        Ok(all)
    }

    /// The factor of missing noise that the attack detects: half the noise, for `dp-agd` a quarter. Its
    /// claim is that of a zCDP limit, which allows more than noise of that size does, and a fifth of it
    /// goes to choices.
    pub fn refutable(&self) -> f64 {
        if self.method.info().name == "dp-agd" { 4.0 } else { 2.0 }
    }

    /// True if a few thousand runs suffice for that. False for `rrpsgd`: the planted record is in one
    /// sample of eight, and it takes some ten times as many.
    pub fn is_sharp(&self) -> bool {
        self.method.info().name != "rrpsgd"
    }

    /// With samples of all but one of this many records, if the method samples; with all of them in one
    /// place of an order.
    fn in_samples_of(&self, rows: u64) -> Result<Self, AuditError> {
        let info = self.method.info();
        let batch = if info.name == "dp-ftrl" { rows } else { rows - 1 };
        let method = match info.settings.iter().any(|own| own.name == "batch") {
            true => self.method.with("batch", &batch.to_string())?,
            false => self.method.clone(),
        };
        Ok(Self { method, ..self.clone() })
    }

    /// The budget for which the same training has this many times the noise, or hardly less: a
    /// certificate for it is false by that factor.
    pub fn with_more_noise(&self, times: f64) -> Result<Budget, AuditError> {
        let noise = |epsilon: f64| -> Result<f64, AuditError> {
            let budget = Budget::new(epsilon, self.budget.delta())?;
            let plan = self.make_plan(budget, 1, OTHER_RECORDS + 1)?;
            plan.request()
                .noise
                .first()
                .copied()
                .ok_or(AuditError::NothingClaimed { method: "network" })
        };
        let more = times * noise(self.budget.epsilon())?;
        // At the lower end there is more noise than that; at the upper end, less.
        let (mut below, mut above) = (self.budget.epsilon() / 64.0, self.budget.epsilon());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (below + above);
            *(if noise(middle)? > more { &mut below } else { &mut above }) = middle;
        }
        Ok(Budget::new(above, self.budget.delta())?)
    }

    fn make_plan(
        &self,
        budget: Budget,
        columns: usize,
        rows: u64,
    ) -> Result<Plan<Network>, AuditError> {
        let net = Description {
            input: Input::Features { features: columns },
            layers: vec![Layer::Linear { out: 2, frozen: false }],
            loss: Loss::CrossEntropy,
        };
        let scale = (columns > 1).then_some(CANARY_SCALE);
        let task = Network { scale, ..Network::new(net, self.method.clone()) };
        let request =
            Request::new(pairs::schema(columns, "l2", true)?, rows, self.neighbours, task);
        Ok(plan(&request.with_budget(budget))?)
    }
}

/// A method of few steps, nearly all records in each.
fn method_of_few_steps(name: &str) -> Result<Method, AuditError> {
    let method: Method = name.parse()?;
    let adam = matches!(name, "dp-adam" | "dp-lsadam");
    let single = adam || matches!(name, "dp-agd" | "rrpsgd");
    let method = method.with("steps", STEPS[usize::from(single)])?;
    let method = method.with("clip", CLIPS[usize::from(adam)])?;
    let method = if adam { method.with("rate", "1")? } else { method };
    // All rows are one place of the order: the planted record is in every step.
    let batch = if name == "dp-ftrl" { EVERYONE } else { SAMPLE };
    let known = method.info().settings;
    let one = |method: Method, (name, value): (&str, &str)| match known
        .iter()
        .any(|own| own.name == name)
    {
        true => method.with(name, value),
        false => Ok(method),
    };
    // Nearly all of a term of the recursion is the gradient.
    let few =
        [("averaged", "0"), ("batch", batch), ("clip_difference", "0.0001"), ("gamma", "0.99")];
    Ok(few.into_iter().try_fold(method, one)?)
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let plan = |budget| setting.make_plan(budget, 1, OTHER_RECORDS + 1);
    let (planned, claim) = plan_and_claim(plan, setting.budget, stated)?;
    let schema = &planned.request().schema;
    let with = |last: Option<bool>| {
        let other = |row: u64| Row { axis: 0, value: -1.0, positive: row % 2 == 1 };
        let planted = last.map(|positive| Row { axis: 0, value: 1.0, positive });
        let rows: Vec<Row> = (0..OTHER_RECORDS).map(other).chain(planted).collect();
        pairs::table(schema, 1, &rows)
    };
    let first = match setting.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => with(Some(true))?,
        Neighbours::AddRemove => with(None)?,
    };
    let worlds = [first, with(Some(false))?];
    // Weights of the input and the constant, towards class 0 and away from class 1.
    let direction = vec![1.0, -1.0, 1.0, -1.0];
    let start = planned.facts().net.initial(0).into_iter().map(f64::from).collect();
    let undone = Inverted {
        start,
        method: &setting.method,
        planned: PlannedTarget::on_tables(&planned, worlds, direction),
    };
    judge.attack(&undone, &claim)
}

/// A training whose released weights are mapped back to the noisy sums that they were made of, as far as
/// possible.
struct Inverted<'a> {
    planned: PlannedTarget<'a, Network>,
    method: &'a Method,
    /// Initial weights.
    start: Vec<f64>,
}

impl Target for Inverted<'_> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let weights = self.planned.release(neighbour, source)?;
        let moved: Vec<f64> =
            weights.iter().zip(&self.start).map(|(now, then)| now - then).collect();
        Ok(match self.method.info().name {
            "dp-adam" | "dp-lsadam" => {
                // The step size is 1. A step within `f32` rounding of 1 carries no more information.
                moved.iter().map(|u| ADAM_FLOOR * u / (1.0 - u.abs()).max(1e-8)).collect()
            }
            "dp-agd" => {
                let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
                moved.iter().map(|x| if length > 0.0 { x / length } else { 0.0 }).collect()
            }
            _ => moved,
        })
    }

    fn direction(&self) -> Option<Vec<f64>> {
        self.planned.direction()
    }
}

/// Trains once, with `canaries` records that are each present or absent, or of one class or the other,
/// by a fair coin, each on an input of its own. A sample contains nearly all of them: a canary in no
/// sample would be invisible.
pub fn one_run(
    setting: &Setting,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Result<OneRun, AuditError> {
    one_run_against(setting, setting.budget, canaries, confidence, seed)
}

/// Trains once, and tests a stated budget in place of the one that the training was planned for.
pub fn one_run_against(
    setting: &Setting,
    stated: Budget,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Result<OneRun, AuditError> {
    CANARIES.check(canaries as f64)?;
    CONFIDENCE.check(confidence)?;
    let width = canaries as usize;
    let planned = setting.in_samples_of(canaries)?.make_plan(setting.budget, width, canaries)?;
    planned.guarantee().ok_or(AuditError::NothingClaimed { method: "network" })?;
    let mut source = FixedSeed::new(scramble(seed));
    let coins: Vec<bool> = (0..width).map(|_| source.bits(1) == 1).collect();
    let there = |place: &usize| coins[*place] || setting.neighbours == Neighbours::ReplaceOne;
    let row = |place: usize| Row { axis: place, value: 1.0, positive: coins[place] };
    let rows: Vec<Row> = (0..width).filter(there).map(row).collect();
    let data = pairs::table(&planned.request().schema, width, &rows)?;
    let (tensors, _) = planned.run(&data, &mut source, &AtomicBool::new(false))?.into_parts();
    let weights = tensors.numbers();
    // Evidence of an input for class 1, less its value at the start.
    let start = planned.facts().net.initial(0);
    let speaks = |place: usize| {
        let moved = |at: usize| weights[at] - f64::from(start[at]);
        moved(2 * place + 1) - moved(2 * place)
    };
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|a, b| speaks(*a).total_cmp(&speaks(*b)));
    let side = (width / 8).max(1);
    let low = order.iter().take(side).filter(|place| !coins[**place]).count();
    let high = order.iter().rev().take(side).filter(|place| coins[**place]).count();
    let (guesses, right) = (2 * side as u64, (low + high) as u64);
    let lower = epsilon_lower(canaries, guesses, right, stated.delta(), confidence);
    Ok(OneRun {
        method: setting.method.info().name,
        epsilon_claimed: stated.epsilon(),
        delta: stated.delta(),
        epsilon_lower: lower,
        refuted: lower > stated.epsilon(),
        canaries,
        guesses,
        right,
        confidence,
    })
}
