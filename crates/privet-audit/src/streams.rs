//! Audit of streams: all releases from the first step to the last, attacked together.
//!
//! Every slot is empty except the first, which differs (for `giga` the first that moves anything). Its
//! record is of class yes in one table and no in the other, with the whole radius in one column, so that
//! its gradient at the model 0 moves by exactly the sensitivity, and with it every later row of C·g. The
//! releases are an invertible linear function of the noisy rows: the attacker recovers these, where the
//! noise is white, and projects onto the difference of the means, which is the optimal test.
//!
//! Points under noise ([`privet_learn::streams::implicit`]) are inverted by multiplying with their step;
//! projecting them onto the ball loses information, hence the large ball. Columns that were drawn
//! ([`privet_learn::streams::experts`]) are one column with a plus or a minus: one draw of all slots,
//! since the combined evidence of many small draws needs more runs than there are.
//!
//! All of these are sharp except `giga`: on empty slots its points contract by 1 − 2/t per step, where
//! its lemma has 1 − 1/t, so that the best pair moves all releases by 0.60 of the charged sensitivity:
//! the charge is larger than necessary, not smaller.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::planned_target::PlannedTarget;
use crate::runs::{Neighbour, Target};
use privet_core::Budget;
use privet_data::{Dataset, Schema, read};
use privet_dp::continual::Factor;
use privet_dp::noise::Source;
use privet_learn::streams::base::{self, Ball};
use privet_learn::streams::tally::Tally;
use privet_learn::streams::{Method, Online};
use privet_learn::{Plan, Request, RequestOptions, plan};

/// D, the radius of the ball of points.
const BALL_RADIUS: f64 = 1e6;

/// Setting of an audit: a stream and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Kind of the stream's releases.
    pub of: ReleaseKind,
    /// Budget requested.
    pub budget: Budget,
}

/// Kind of a stream's releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseKind {
    /// Models by follow-the-regularised-leader, with the factor of the noise: buffered, tree, or
    /// square-root.
    Ftrl(&'static str),
    /// Points of implicit descent.
    Implicit,
    /// Points of gradient descent.
    Giga,
    /// Minima over all records so far.
    Leader,
    /// Columns drawn by exponential weights.
    Experts,
    /// Running counts.
    Tally,
}

impl ReleaseKind {
    /// The number of slots, the index of the slot that differs, and Ψ of points.
    fn shape(self) -> (u32, usize, f64) {
        match self {
            // Gradients are used from the third step on; after the fourth too little of them remains.
            Self::Giga => (4, 2, 2.0),
            // One draw: counting cannot distinguish many small ones from their bound.
            Self::Experts => (2, 0, 1.0),
            _ => (12, 0, 1.0),
        }
    }

    /// Name in `privet audit --online`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ftrl("tree") => "ftrl-tree",
            Self::Ftrl("square-root") => "ftrl-square-root",
            Self::Ftrl(_) => "ftrl",
            Self::Implicit => "implicit",
            Self::Giga => "giga",
            Self::Leader => "leader",
            Self::Experts => "experts",
            Self::Tally => "count",
        }
    }

    /// True if the pair of tables attains the sensitivity, or nearly.
    pub fn sharp(self) -> bool {
        // A single draw of `experts` shows its range, not the composition of ranges, which is charged.
        !matches!(self, Self::Giga | Self::Experts)
    }
}

impl std::str::FromStr for ReleaseKind {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|of| of.name() == word);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{}' is no stream; accepted are {names}", privet_core::printable(word))
        })
    }
}

impl ReleaseKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Ftrl("buffered"),
        Self::Ftrl("tree"),
        Self::Ftrl("square-root"),
        Self::Implicit,
        Self::Giga,
        Self::Leader,
        Self::Experts,
        Self::Tally,
    ];
}

impl Setting {
    /// Settings of every kind of stream.
    pub fn all(budget: Budget) -> Vec<Self> {
        ReleaseKind::ALL.map(|of| Self { of, budget }).into()
    }
}

const SCHEMA: &str = "invalid = \"drop\"\nbias = false\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

fn table(schema: &Schema, of: ReleaseKind, own: &str) -> Result<Dataset, AuditError> {
    let (slots, at, _) = of.shape();
    // If another record counts against the expert, it is drawn by the differing record, or hardly ever.
    let other = if of == ReleaseKind::Experts { "1,no" } else { "nothing" };
    let mut lines = vec![other; slots as usize];
    lines[at] = own;
    let text = format!("x,y\n{}\n", lines.join("\n"));
    read::csv_bytes(text.as_bytes(), schema).map_err(|error| AuditError::Table(error.to_string()))
}

fn schema() -> Result<Schema, AuditError> {
    Schema::from_toml(SCHEMA).map_err(|error| AuditError::Table(error.to_string()))
}

/// C·g for one coordinate.
fn apply_factor(factor: &Factor, g: &[f64]) -> Vec<f64> {
    match factor {
        Factor::Tree => {
            (1..=g.len()).map(|t| g[t - (1 << t.trailing_zeros())..t].iter().sum()).collect()
        }
        Factor::SquareRoot => {
            let c: Vec<f64> = (0..g.len())
                .scan(1.0, |next, k| {
                    let now = *next;
                    *next *= 1.0 - 0.5 / (k as f64 + 1.0);
                    Some(now)
                })
                .collect();
            (0..g.len()).map(|t| (0..=t).map(|s| c[t - s] * g[s]).sum()).collect()
        }
        Factor::Buffered { weights, decays } => {
            let mut buffers = vec![0.0; weights.len()];
            let each = g.iter().map(|g| {
                let mut out = *g;
                for ((b, w), d) in buffers.iter_mut().zip(weights).zip(decays) {
                    out += w * *b;
                    *b = d * *b + g;
                }
                out
            });
            each.collect()
        }
    }
}

/// The factor that a plan settled on.
fn factor(word: &str, buffers: &[[f64; 2]]) -> Factor {
    match word {
        "tree" => Factor::Tree,
        "square-root" => Factor::SquareRoot,
        _ => Factor::Buffered {
            weights: buffers.iter().map(|buffer| buffer[0]).collect(),
            decays: buffers.iter().map(|buffer| buffer[1]).collect(),
        },
    }
}

/// Inverse of a release's transformation of the noisy rows, by coordinate.
enum Inverted {
    /// Running sums times a decreasing number.
    Sums { factor: Factor, stiffness: f64, coordinates: usize },
    /// Points, multiplied by their step.
    Points { ahead: f64 },
    /// Nothing to invert.
    AsItIs,
}

impl Inverted {
    fn undo(&self, release: &[f64]) -> Vec<f64> {
        match self {
            Self::AsItIs => release.to_vec(),
            Self::Points { ahead } => {
                release.iter().zip(1_u32..).map(|(x, t)| x * (f64::from(t) + ahead)).collect()
            }
            Self::Sums { factor: Factor::Tree, stiffness, coordinates } => {
                // The block that a step adds is the sum less those of the digits above its last.
                let sum = |t: usize, at: usize| match t {
                    0 => 0.0,
                    t => release[(t - 1) * coordinates + at] * stiffness,
                };
                let block = |t: usize, at: usize| sum(t, at) - sum(t & (t - 1), at);
                let steps = release.len() / coordinates;
                (1..=steps).flat_map(|t| (0..*coordinates).map(move |at| block(t, at))).collect()
            }
            Self::Sums { factor, stiffness, coordinates } => {
                let mut out = vec![0.0; release.len()];
                for at in 0..*coordinates {
                    let sums: Vec<f64> = release
                        .iter()
                        .skip(at)
                        .step_by(*coordinates)
                        .map(|x| x * stiffness)
                        .collect();
                    let rows = match factor {
                        // B = C there: the rows are C⁻¹ of the sums, C⁻¹ = (I − shift)·C.
                        Factor::SquareRoot => {
                            let once = apply_factor(factor, &sums);
                            let before = [0.0].into_iter().chain(once.iter().copied());
                            once.iter().zip(before).map(|(now, before)| now - before).collect()
                        }
                        _ => {
                            let before = [0.0].into_iter().chain(sums.iter().copied());
                            let g: Vec<f64> =
                                sums.iter().zip(before).map(|(now, before)| now - before).collect();
                            apply_factor(factor, &g)
                        }
                    };
                    rows.iter().enumerate().for_each(|(t, row)| out[t * coordinates + at] = *row);
                }
                out
            }
        }
    }
}

/// A stream on two neighbouring tables, its releases mapped back to the noisy rows.
struct StreamPair<T> {
    inner: T,
    undone: Inverted,
    direction: Vec<f64>,
}

impl<T: Target> Target for StreamPair<T> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        Ok(self.undone.undo(&self.inner.release(neighbour, source)?))
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(self.direction.clone())
    }
}

fn models(of: ReleaseKind, budget: Budget) -> Result<Plan<Online>, AuditError> {
    let (slots, _, ridge) = of.shape();
    let points = |method: &str| {
        let method: Method = method.parse()?;
        method.with("ridge", &ridge.to_string())?.with("ball", &BALL_RADIUS.to_string())
    };
    let method = match of {
        // Each sum by itself: means of them carry less information.
        ReleaseKind::Ftrl(factor) => {
            "ftrl".parse::<Method>()?.with("factor", factor)?.with("smooth", "1")?
        }
        ReleaseKind::Implicit => points("implicit")?,
        ReleaseKind::Leader => points("leader")?,
        ReleaseKind::Experts => "experts".parse::<Method>()?.with("signs", "both")?,
        ReleaseKind::Giga | ReleaseKind::Tally => points("giga")?,
    };
    let words = RequestOptions {
        epsilon: Some(budget.epsilon()),
        delta: Some(budget.delta()),
        ..RequestOptions::of("gd".parse()?)
    };
    let request = Online::request(&schema()?, u64::from(slots), method, &words)?;
    let batch = if of == ReleaseKind::Experts { slots } else { 1 };
    let task = request.task.clone().in_batches(batch).keeping_models(slots);
    Ok(plan(&Request { task, ..request })?)
}

fn counts(budget: Budget) -> Result<Plan<Tally>, AuditError> {
    let (slots, ..) = ReleaseKind::Tally.shape();
    let task = Tally { kept: Some(slots), ..Tally::by("y") };
    Ok(plan(&task.request(&schema()?, u64::from(slots))?.with_budget(budget))?)
}

/// Differences of the points on the two inputs, each multiplied by its step.
fn points_apart(slope: f64, of: ReleaseKind) -> Vec<f64> {
    let (slots, changed, ridge) = of.shape();
    let ball = Ball { radius: BALL_RADIUS, ridge, slope };
    let neighbour = |own: f64| -> Vec<f64> {
        let mut theta = vec![0.0];
        let step = |t: u32| {
            let x: &[(usize, f64)] = if t as usize == changed + 1 { &[(0, 1.0)] } else { &[] };
            let at = f64::from(t);
            match of {
                ReleaseKind::Implicit => {
                    base::implicit(&ball, &mut theta, x, 1.0 / (ridge * at), |_| own);
                    theta[0] * (at + 1.0)
                }
                // The minimum of ±Sθ + (Ψt/2)θ², times t.
                ReleaseKind::Leader => -own / ridge,
                _ => {
                    if at >= base::first_gradient(&ball, 0.25, 1.0) {
                        base::gradient(&ball, &mut theta, x, 2.0 / (ridge * at), |_| own);
                    }
                    theta[0] * at
                }
            }
        };
        (1..=slots).map(step).collect()
    };
    neighbour(-slope).iter().zip(neighbour(slope)).map(|(a, b)| a - b).collect()
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let of = setting.of;
    let (slots, changed, _) = of.shape();
    let mut g = vec![0.0; slots as usize];
    if of == ReleaseKind::Tally {
        let (plan, claim) = plan_and_claim(counts, setting.budget, stated)?;
        let schema = &plan.request().schema;
        let worlds = [table(schema, of, "0,yes")?, table(schema, of, "0,no")?];
        let factor = factor("buffered", &plan.request().task.buffers);
        g[changed] = 1.0;
        let column = apply_factor(&factor, &g);
        let direction = column.iter().flat_map(|c| [*c, -*c]).collect::<Vec<f64>>();
        let undone = Inverted::Sums { factor, stiffness: 1.0, coordinates: 2 };
        let inner = PlannedTarget::on_tables(&plan, worlds, direction.clone());
        return judge.attack(&StreamPair { inner, undone, direction }, &claim);
    }
    let (plan, claim) = plan_and_claim(|budget| models(of, budget), setting.budget, stated)?;
    let worlds = [table(plan.schema(), of, "1,yes")?, table(plan.schema(), of, "1,no")?];
    let slope = plan.facts().slope;
    let (undone, direction) = match (&plan.request().task.method, of) {
        (Method::Ftrl(settled), ReleaseKind::Ftrl(word)) => {
            let factor = factor(word, &settled.buffers);
            // A derivative of −S (yes) against S.
            g[changed] = 2.0 * slope;
            let direction = apply_factor(&factor, &g);
            let stiffness = -1.0 / settled.rate.unwrap_or(1.0);
            (Inverted::Sums { factor, stiffness, coordinates: 1 }, direction)
        }
        (Method::Experts(_), _) => (Inverted::AsItIs, vec![1.0]),
        _ => {
            let direction = points_apart(slope, of).iter().map(|apart| -apart).collect();
            let ahead = if of == ReleaseKind::Implicit { 1.0 } else { 0.0 };
            (Inverted::Points { ahead }, direction)
        }
    };
    let inner = PlannedTarget::on_tables(&plan, worlds, direction.clone());
    judge.attack(&StreamPair { inner, undone, direction }, &claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_dp::noise::FixedSeed;

    /// Releases before the differing slot are equal, those from it on are not.
    #[test]
    fn the_worlds_differ_from_the_slot_that_is_attacked_on() {
        for setting in Setting::all(Budget::new(8.0, 1e-5).unwrap()) {
            assert_eq!(setting.of.name().parse(), Ok(setting.of));
            if setting.of == ReleaseKind::Tally {
                continue;
            }
            let (of, (_, at, _)) = (setting.of, setting.of.shape());
            let plan = models(of, setting.budget).unwrap();
            let neighbour = |own: &str| table(plan.schema(), of, own).unwrap();
            let run = |neighbour: &Dataset, seed: u64| {
                let mut source = FixedSeed::new(seed);
                let stop = std::sync::atomic::AtomicBool::new(false);
                let release = plan.run(neighbour, &mut source, &stop).unwrap();
                privet_learn::Artefact::numbers(release.value())
            };
            let differs = (0..60).any(|seed| {
                let (a, b) = (run(&neighbour("1,yes"), seed), run(&neighbour("1,no"), seed));
                assert!(a[..at] == b[..at], "{setting:?}");
                a[at..] != b[at..]
            });
            assert!(differs, "{setting:?}");
        }
        assert!("nonsense".parse::<ReleaseKind>().unwrap_err().contains("ftrl-tree"));
    }
}
