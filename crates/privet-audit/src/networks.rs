//! The audit of trained networks: their certificate against a planted record, and from a single run.
//!
//! A layer with one input x and two outputs: whatever the weights, a record's gradient is (x, 1) ⊗ (1, −1)
//! or its opposite, by its class, and the clip is so small that it is always reached. The planted record has
//! x = 1, so that it moves every noised sum by exactly what is charged, and the weights, sums of those, in one
//! direction that is known beforehand. All others have x = −1: (−1, 1) and (1, 1) are orthogonal, so that
//! nothing of them is seen in that direction, whoever of them is in a sample. What is left there is the
//! planted record and the noise. Under replace-one neighbours its class is the other one; under add-remove
//! it is there or not.
//!
//! What a training makes of its noised sums is undone where that hides them: Adam's first step u = g/(|g| + 10⁻⁸),
//! number by number, is g = 10⁻⁸·u/(1 − |u|); a step of `dp-agd` has its direction alone, not its length. Smoothing
//! multiplies the direction that is looked at by a number, and the noise with it. So the attack sees nearly all that is charged
//! and half the noise that a certificate claims is found out, of `dp-agd` a quarter ([`Subject::refutable`]).
//! Not looked at: the *choices* of `dp-agd`, a fifth of its budget, and the differences of `dp-srm`, whose direction
//! depends on the noise before; tests of their sensitivity stand beside them.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{Judge, audited, plan_and_claim};
use crate::claim::CONFIDENCE;
use crate::one_run::{CANARIES, OneRun, epsilon_lower};
use crate::pairs::{self, Row};
use crate::planned::Planned;
use crate::runs::{Target, World, scramble};
use privet_core::{Budget, Neighbours};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::networks::{ADAM_FLOOR, METHODS, Method, Network};
use privet_learn::{Artefact, Plan, Request, plan};
use privet_nn::{Description, Input, Layer, Loss};
use std::sync::atomic::AtomicBool;

/// Records besides the planted one.
const OTHERS: u64 = 7;
/// Records of a sample, expected: all but one, so that the planted one is rarely missing.
const SAMPLE: &str = "7";
/// All of them.
const EVERYONE: &str = "8";
/// What entries are multiplied by where each canary has an input of its own: most of its gradient is there
/// then, and little in the constant that all share.
const CANARY_SCALE: f64 = 4.0;
/// Steps: the first, and one that goes on from it; a single one where a second would hide the first.
const STEPS: [&str; 2] = ["2", "1"];
/// A clip that every gradient reaches; for Adam so small that its floor shows how long a gradient was.
const CLIPS: [&str; 2] = ["0.001", "0.000002"];
/// Halvings in the search for a budget: to a four-thousandth.
const HALVINGS: u32 = 12;

/// Which training, and what it is to claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// How it is trained.
    pub method: Method,
    /// What is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
}

impl Subject {
    /// Every private training under both relations, and one in floating point.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let mut all = Vec::new();
        for info in METHODS.iter().filter(|info| info.private) {
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                // Correlated noise hides what is in a place, not how many places there are.
                if info.name == "dp-ftrl" && neighbours == Neighbours::AddRemove {
                    continue;
                }
                all.push(Self { method: short(info.name)?, budget, neighbours });
            }
        }
        let (method, neighbours) =
            (short("dp-sgd")?.with("sums", "float")?, Neighbours::ReplaceOne);
        all.push(Self { method, budget, neighbours });
        Ok(all)
    }

    /// How many times less noise than is claimed the attack finds out: half the noise, of `dp-agd` a quarter. Its claim
    /// is that of a zCDP limit, which allows more than noise of that size does, and a fifth of it goes to choices.
    pub fn refutable(&self) -> f64 {
        if self.method.info().name == "dp-agd" { 4.0 } else { 2.0 }
    }

    /// Whether a few thousand runs are enough for that. Not of `rrpsgd`: the planted record is in one sample of eight, and
    /// it takes some ten times as many.
    pub fn is_sharp(&self) -> bool {
        self.method.info().name != "rrpsgd"
    }

    /// With samples of all of so many records but one, where it samples; of all of them in one place of an order.
    fn in_samples_of(&self, rows: u64) -> Result<Self, AuditError> {
        let info = self.method.info();
        let batch = if info.name == "dp-ftrl" { rows } else { rows - 1 };
        let method = match info.settings.iter().any(|own| own.name == "batch") {
            true => self.method.with("batch", &batch.to_string())?,
            false => self.method.clone(),
        };
        Ok(Self { method, ..self.clone() })
    }

    /// The budget for which the same training has so many times the noise, or hardly less: a certificate for it is false
    /// by that much.
    pub fn with_more_noise(&self, times: f64) -> Result<Budget, AuditError> {
        let noise = |epsilon: f64| -> Result<f64, AuditError> {
            let budget = Budget::new(epsilon, self.budget.delta())?;
            let plan = self.planned(budget, 1, OTHERS + 1)?;
            plan.request()
                .noise
                .first()
                .copied()
                .ok_or(AuditError::NothingClaimed { method: "network" })
        };
        let more = times * noise(self.budget.epsilon())?;
        // Below, there is more than that; above, less.
        let (mut below, mut above) = (self.budget.epsilon() / 64.0, self.budget.epsilon());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (below + above);
            *(if noise(middle)? > more { &mut below } else { &mut above }) = middle;
        }
        Ok(Budget::new(above, self.budget.delta())?)
    }

    fn planned(
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
        Ok(plan(&request.within(budget))?)
    }
}

/// A method of few steps, nearly all records in each.
fn short(name: &str) -> Result<Method, AuditError> {
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

audited!(Subject);

fn judged(subject: &Subject, stated: Budget, judge: Judge<'_>) -> Result<Finding, AuditError> {
    let plan = |budget| subject.planned(budget, 1, OTHERS + 1);
    let (planned, claim) = plan_and_claim(plan, subject.budget, stated)?;
    let schema = &planned.request().schema;
    let with = |last: Option<bool>| {
        let other = |row: u64| Row { axis: 0, value: -1.0, positive: row % 2 == 1 };
        let planted = last.map(|positive| Row { axis: 0, value: 1.0, positive });
        let rows: Vec<Row> = (0..OTHERS).map(other).chain(planted).collect();
        pairs::table(schema, 1, &rows)
    };
    let first = match subject.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => with(Some(true))?,
        Neighbours::AddRemove => with(None)?,
    };
    let worlds = [first, with(Some(false))?];
    // Weights of the input and the constant, towards class 0 and away from class 1.
    let direction = vec![1.0, -1.0, 1.0, -1.0];
    let start = planned.facts().net.initial(0).into_iter().map(f64::from).collect();
    let undone = Undone {
        start,
        method: &subject.method,
        planned: Planned::on(&planned, worlds, direction),
    };
    judge(&undone, &claim)
}

/// A training whose released weights are taken back to the noised sums that they were made of, as far as can be.
struct Undone<'a> {
    planned: Planned<'a, Network>,
    method: &'a Method,
    /// The weights at the start.
    start: Vec<f64>,
}

impl Target for Undone<'_> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let weights = self.planned.release(world, source)?;
        let moved: Vec<f64> =
            weights.iter().zip(&self.start).map(|(now, then)| now - then).collect();
        Ok(match self.method.info().name {
            "dp-adam" | "dp-lsadam" => {
                // The rate is 1. Beyond what `f32` tells from a whole step nothing more is known.
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

/// Trains once, with `canaries` records that are each in or out, or of one class or the other, by a fair
/// coin, each on an input of its own. A sample is nearly all of them: a canary that is in none is seen by nobody.
pub fn one_run(
    subject: &Subject,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Result<OneRun, AuditError> {
    one_run_against(subject, subject.budget, canaries, confidence, seed)
}

/// The same, judged by what is stated in place of what the training was planned for.
pub fn one_run_against(
    subject: &Subject,
    stated: Budget,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Result<OneRun, AuditError> {
    CANARIES.check(canaries as f64)?;
    CONFIDENCE.check(confidence)?;
    let width = canaries as usize;
    let planned = subject.in_samples_of(canaries)?.planned(subject.budget, width, canaries)?;
    planned.guarantee().ok_or(AuditError::NothingClaimed { method: "network" })?;
    let mut source = FixedSeed::new(scramble(seed));
    let coins: Vec<bool> = (0..width).map(|_| source.bits(1) == 1).collect();
    let there = |place: &usize| coins[*place] || subject.neighbours == Neighbours::ReplaceOne;
    let row = |place: usize| Row { axis: place, value: 1.0, positive: coins[place] };
    let rows: Vec<Row> = (0..width).filter(there).map(row).collect();
    let data = pairs::table(&planned.request().schema, width, &rows)?;
    let (tensors, _) = planned.run(&data, &mut source, &AtomicBool::new(false))?.into_parts();
    let weights = tensors.numbers();
    // How much an input speaks for class 1, less what it did at the start.
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
        method: subject.method.info().name,
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
