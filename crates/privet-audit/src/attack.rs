//! Black-box audit: tests whether two neighbouring inputs can be distinguished better than claimed.
//!
//! Half of the runs, at most [`CHOOSING`], choose: a statistic, and thresholds for three criteria. The
//! others, which had no part in the choice, count the errors of each chosen rule; Clopper–Pearson bounds
//! turn the counts into boxes around (false positive, false negative). All bounds of one audit hold
//! together with the stated confidence (each gets an equal share of 1 − confidence).
//!
//! - `epsilon_lower`: (ε, δ)-DP both ways makes 1 − β ≤ δ + e^ε·α and 1 − α ≤ δ + e^ε·β, so that ε ≥ ln
//!   max{ (1 − β̄ − δ)/ᾱ, (1 − ᾱ − δ)/β̄ } with upper bounds ᾱ, β̄: for any noise.
//! - `refuted`: a box lies wholly below the claimed trade-off curve ([`crate::claim`]).
//! - `mu_lower`: Φ⁻¹(1 − ᾱ) − Φ⁻¹(β̄), a lower bound on the μ of a *Gaussian* release; reported only if
//!   every event is Gaussian, since for other noise it would overstate the loss.
//!
//! **False alarm**: a true claim is refuted with probability at most 1 − confidence in each audit.
//!
//! Tested by `tests/audit/soundness.rs`, `tests/audit/power.rs`.

use crate::claim::{CONFIDENCE, Claim};
use crate::interval::{roughly_upper, upper};
use crate::membership::area;
use crate::runs::{self, AttackWatch, Target};
use crate::statistic::{Kind, Statistic, candidates};
use crate::{AuditError, normal};
use privet_core::Range;
use privet_dp::account::gaussian;
use serde::Serialize;

/// Limits on the number of runs per input.
pub const RUNS: Range = Range::from("runs", 40.0, 1e9);
/// Maximum runs of each input that choose the attack: more would not improve the choice.
pub const CHOOSING: usize = 10_000;
/// The number of thresholds tried.
const THRESHOLDS: usize = 256;
/// The number of bounds in one audit: three boxes with two bounds each.
const BOUNDS: f64 = 6.0;

/// Settings of an attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttackOptions {
    /// Runs of each input; half of them, at most [`CHOOSING`], choose the attack.
    pub runs: u64,
    /// Confidence of all bounds together.
    pub confidence: f64,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for AttackOptions {
    fn default() -> Self {
        Self { runs: 10_000, confidence: 0.999, seed: 1 }
    }
}

/// Upper bounds on an attacker's two error probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// The first input taken for the second.
    pub false_positive: f64,
    /// The second input taken for the first.
    pub false_negative: f64,
}

/// Reasons for a refutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grounds {
    /// `epsilon_lower` exceeds the claimed ε.
    Epsilon,
    /// The errors lie below the claimed trade-off curve, which is stronger than its (ε, δ).
    TradeOff,
    /// `mu_lower` exceeds the claimed μ.
    Multiplier,
}

/// Result of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The claimed ε.
    pub epsilon_claimed: f64,
    /// The claimed δ.
    pub delta: f64,
    /// Lower bound on the true ε at this δ.
    pub epsilon_lower: f64,
    /// True if the claim is refuted.
    pub refuted: bool,
    /// Reason, if it is refuted.
    pub refuted_by: Option<Grounds>,
    /// Largest `epsilon_lower` that any attack could show with this many runs.
    pub epsilon_reachable: f64,
    /// Runs of each input.
    pub runs: u64,
    /// Confidence of all bounds together.
    pub confidence: f64,
    /// The statistic that scored the releases.
    pub statistic: Kind,
    /// Upper bounds on the errors of the strongest rule.
    pub errors: Errors,
    /// Gaussian events only: lower bound on the true μ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu_lower: Option<f64>,
    /// Gaussian events only: the claimed μ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu_claimed: Option<f64>,
    /// Gaussian events only: the ε of `mu_lower` at this δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon_lower_gaussian: Option<f64>,
}

/// Attacks a target and tests its claim.
pub fn audit(
    target: &dyn Target,
    claim: &Claim,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Finding, AuditError> {
    RUNS.check(options.runs as f64)?;
    CONFIDENCE.check(options.confidence)?;
    let worlds = runs::collect(target, options.runs, options.seed, watch)?;
    Ok(test_claim(target, &worlds, claim, options.confidence))
}

/// Tests a claim on releases made elsewhere; each input needs at least four.
pub fn test_claim(
    target: &dyn Target,
    worlds: &[Vec<Vec<f64>>; 2],
    claim: &Claim,
    confidence: f64,
) -> Finding {
    let runs = worlds[0].len().min(worlds[1].len());
    let split = (runs / 2).min(CHOOSING);
    let choosing = worlds.each_ref().map(|neighbour| &neighbour[..split]);
    let judging = worlds.each_ref().map(|neighbour| &neighbour[split..runs]);
    let alpha = (1.0 - confidence) / BOUNDS;
    let search = Search { claim, z: normal::quantile(1.0 - alpha), trials: split as f64 };

    let statistic = search.best_statistic(target, choosing);
    let choosing = choosing.map(|neighbour| scores(&statistic, neighbour));
    let judging = judging.map(|neighbour| scores(&statistic, neighbour));
    let found = |goal: Goal| {
        let rule = search.best_rule(&choosing, goal).1;
        let errors = rule.errors(&judging);
        let bound = |count: usize, of: &[f64]| upper(count as u64, of.len() as u64, alpha);
        Errors {
            false_positive: bound(errors.0, &judging[0]),
            false_negative: bound(errors.1, &judging[1]),
        }
    };
    let (plain, curve) = (found(Goal::Epsilon), found(Goal::Curve));
    let below = |e: &Errors| e.false_negative < claim.least_second_error(e.false_positive);
    let epsilon_lower = lower_epsilon(&plain, claim.delta).max(lower_epsilon(&curve, claim.delta));
    let mu_lower = claim.gaussian().map(|_| lower_mu(&found(Goal::Multiplier)).max(0.0));
    let found_mu = mu_lower.zip(claim.gaussian());
    let refuted_by = if epsilon_lower > claim.epsilon {
        Some(Grounds::Epsilon)
    } else if below(&plain) || below(&curve) {
        Some(Grounds::TradeOff)
    } else {
        found_mu.filter(|(found, claimed)| found > claimed).map(|_| Grounds::Multiplier)
    };
    Finding {
        epsilon_claimed: claim.epsilon,
        delta: claim.delta,
        epsilon_lower,
        refuted: refuted_by.is_some(),
        refuted_by,
        epsilon_reachable: reachable((runs - split) as u64, claim.delta, confidence),
        runs: runs as u64,
        confidence,
        statistic: statistic.kind(),
        errors: if below(&curve) { curve } else { plain },
        mu_lower,
        mu_claimed: claim.gaussian(),
        epsilon_lower_gaussian: mu_lower.map(|mu| gaussian::epsilon(claim.delta, mu)),
    }
}

/// Expected strength of an attack on these releases: the ε it would prove (μ, for a Gaussian claim),
/// and, if that is 0, the distance between the inputs, as the area under the ROC curve above ½. A
/// statistic is trained on half of the releases and evaluated on the other half. For choosing an attack,
/// not for testing a claim.
pub fn expected_strength(
    target: &dyn Target,
    worlds: &[Vec<Vec<f64>>; 2],
    claim: &Claim,
    confidence: f64,
) -> (f64, f64) {
    let half = worlds[0].len().min(worlds[1].len()) / 2;
    let training = worlds.each_ref().map(|neighbour| &neighbour[..half]);
    let z = normal::quantile(1.0 - (1.0 - confidence) / BOUNDS);
    let search = Search { claim, z, trials: half as f64 };
    let mut best = (0.0_f64, 0.0_f64);
    for statistic in candidates(target, training) {
        let worlds = worlds.each_ref().map(|neighbour| scores(&statistic, &neighbour[half..]));
        best.0 = best.0.max(search.best_rule(&worlds, search.goal()).0);
        best.1 = best.1.max((area(&worlds[1], &worlds[0]) - 0.5).abs());
    }
    best
}

/// The ε that an attack without a single error would show with this many judging runs per input.
fn reachable(judging: u64, delta: f64, confidence: f64) -> f64 {
    let least = upper(0, judging, (1.0 - confidence) / BOUNDS);
    lower_epsilon(&Errors { false_positive: least, false_negative: least }, delta)
}

/// The distribution-free bound; 0 if the errors prove nothing.
fn lower_epsilon(errors: &Errors, delta: f64) -> f64 {
    let (alpha, beta) = (errors.false_positive, errors.false_negative);
    let ratio = |detected: f64, mistaken: f64| (detected / mistaken).max(1.0);
    let best = ratio(1.0 - beta - delta, alpha).max(ratio(1.0 - alpha - delta, beta));
    libm::log(best)
}

fn lower_mu(errors: &Errors) -> f64 {
    normal::quantile(1.0 - errors.false_positive) - normal::quantile(errors.false_negative)
}

fn scores(statistic: &Statistic<'_>, neighbour: &[Vec<f64>]) -> Vec<f64> {
    let mut scores: Vec<f64> = neighbour.iter().map(|release| statistic.score(release)).collect();
    scores.sort_by(f64::total_cmp);
    scores
}

/// Criterion for choosing a threshold.
#[derive(Clone, Copy)]
enum Goal {
    Epsilon,
    Curve,
    Multiplier,
}

/// Decides "second" if the score is above (or not above) the threshold.
#[derive(Clone, Copy)]
struct Rule {
    threshold: f64,
    above: bool,
}

impl Rule {
    /// The number of errors on the first and on the second input; scores are sorted.
    fn errors(&self, worlds: &[Vec<f64>; 2]) -> (usize, usize) {
        let low = worlds.each_ref().map(|scores| scores.partition_point(|s| *s <= self.threshold));
        if self.above {
            (worlds[0].len() - low[0], low[1])
        } else {
            (low[0], worlds[1].len() - low[1])
        }
    }
}

struct Search<'a> {
    claim: &'a Claim,
    z: f64,
    /// The number of choosing runs: bounds at this number keep lucky thresholds from being chosen.
    trials: f64,
}

impl Search<'_> {
    /// The strongest criterion for this claim.
    fn goal(&self) -> Goal {
        if self.claim.gaussian().is_some() { Goal::Multiplier } else { Goal::Epsilon }
    }

    /// The value of a rule by this criterion, if as many other runs had the same error rates.
    fn rule_strength(&self, rule: Rule, worlds: &[Vec<f64>; 2], goal: Goal) -> f64 {
        let (first, second) = rule.errors(worlds);
        let expected = |count: usize, of: usize| {
            let share = count as f64 / of.max(1) as f64;
            roughly_upper(share * self.trials, self.trials, self.z)
        };
        let errors = Errors {
            false_positive: expected(first, worlds[0].len()),
            false_negative: expected(second, worlds[1].len()),
        };
        match goal {
            Goal::Epsilon => lower_epsilon(&errors, self.claim.delta),
            Goal::Curve => {
                self.claim.least_second_error(errors.false_positive) - errors.false_negative
            }
            Goal::Multiplier => lower_mu(&errors),
        }
    }

    fn best_rule(&self, worlds: &[Vec<f64>; 2], goal: Goal) -> (f64, Rule) {
        let mut best = (f64::NEG_INFINITY, Rule { threshold: 0.0, above: true });
        for scores in worlds {
            let step = (scores.len() / THRESHOLDS).max(1);
            for threshold in scores.iter().step_by(step).copied() {
                for above in [true, false] {
                    let rule = Rule { threshold, above };
                    let worth = self.rule_strength(rule, worlds, goal);
                    if worth > best.0 {
                        best = (worth, rule);
                    }
                }
            }
        }
        best
    }

    /// Chooses a statistic: trained on one half of these runs, compared on the other.
    fn best_statistic<'a>(
        &self,
        target: &'a dyn Target,
        choosing: [&[Vec<f64>]; 2],
    ) -> Statistic<'a> {
        let half = choosing[0].len() / 2;
        let all = candidates(target, choosing.map(|neighbour| &neighbour[..half]));
        let goal = self.goal();
        let worth = |statistic: &Statistic<'_>| {
            let worlds = choosing.map(|neighbour| scores(statistic, &neighbour[half..]));
            self.best_rule(&worlds, goal).0
        };
        let mut rated: Vec<(f64, Statistic<'a>)> =
            all.into_iter().map(|statistic| (worth(&statistic), statistic)).collect();
        // The first, simpler one, unless another is clearly better. `candidates` gives at least one.
        let mut best = rated.remove(0);
        for other in rated {
            if other.0 > best.0 * 1.05 + 0.05 {
                best = other;
            }
        }
        best.1
    }
}
