//! Common parts of trainings by a schedule: sizes, penalties, step sizes, and their default rules.

use super::learners::{Method, RowAccess};
use super::options::{
    AVERAGED, BATCH, CLIP, NONCONVEX, RATE, SMOOTHING, Settings, Smoothed, WEIGHT_DECAY,
};
use super::update::{Penalty, Schedule};
use super::{BALL_RADIUS, NetFacts};
use crate::LearnError;
use crate::release::request::STEPS;

/// Default number of passes over the rows.
const DEFAULT_PASSES: f64 = 30.0;
/// Default number of passes for single records, and of steps over all records.
const SINGLE_PASSES: f64 = 8.0;
const FULL_STEPS: u32 = 100;
/// Default fraction of the last points that are averaged.
const USUAL_AVERAGED: f64 = 0.1;

/// Sizes of a training by a schedule.
pub(super) struct Sizes {
    pub steps: u32,
    pub batch: u64,
    pub clip: f64,
    pub schedule: Schedule,
}

/// The sizes of a training, with every choice written into `settled`.
pub(super) fn sizes(
    facts: &NetFacts,
    method: &Method,
    settled: &mut Settings,
) -> Result<Sizes, LearnError> {
    let (given, info) = (method.settings(), method.info());
    let rows = facts.table.rows;
    let batch = match info.more.asks {
        RowAccess::All => rows,
        RowAccess::One => 1,
        RowAccess::Sample | RowAccess::Next => {
            let usual = (rows / 50).clamp(16, 4096).min((rows / 2).max(1));
            let batch = BATCH.check(given.batch.unwrap_or(usual) as f64)? as u64;
            settled.batch = Some(batch);
            batch
        }
    };
    let passes = |passes: f64| (passes * rows as f64 / batch as f64).ceil().clamp(1.0, 1e6) as u32;
    let usual = match info.more.asks {
        RowAccess::All => FULL_STEPS,
        RowAccess::One => passes(SINGLE_PASSES),
        RowAccess::Sample | RowAccess::Next => passes(DEFAULT_PASSES),
    };
    let steps = STEPS.check(f64::from(given.steps.unwrap_or(usual)))? as u32;
    let clip = CLIP.check(given.clip.unwrap_or(1.0))?;
    let rule = info.more.rule.with(given, settled)?;
    let smoothing = match info.more.smooths {
        true => {
            let strength = SMOOTHING.check(given.smoothing.unwrap_or(1.0))?;
            let over = given.smoothed.unwrap_or_default();
            (settled.smoothing, settled.smoothed) = (Some(strength), Some(over));
            Some((strength, over == Smoothed::Tensors))
        }
        false => None,
    };
    let rate = RATE.check(given.rate.unwrap_or(rule.usual_rate(clip)))?;
    let averaged = AVERAGED.check(given.averaged.unwrap_or(USUAL_AVERAGED))?;
    let decay = given.decay.unwrap_or_default();
    let penalty = Penalty {
        ridge: WEIGHT_DECAY.check(given.weight_decay.unwrap_or(0.0))?,
        nonconvex: NONCONVEX.check(given.nonconvex.unwrap_or(0.0))?,
    };
    (settled.steps, settled.clip, settled.rate) = (Some(steps), Some(clip), Some(rate));
    (settled.averaged, settled.decay) = (Some(averaged), Some(decay));
    settled.weight_decay = Some(penalty.ridge).filter(|ridge| *ridge > 0.0);
    settled.nonconvex = Some(penalty.nonconvex).filter(|penalty| *penalty > 0.0);
    let schedule = Schedule {
        steps,
        expected: [batch as f64; 2],
        rule,
        rate,
        decay,
        longest: None,
        smoothing,
        penalty,
        averaged: (averaged * f64::from(steps)).round() as u32,
        ball: BALL_RADIUS,
    };
    Ok(Sizes { steps, batch, clip, schedule })
}
