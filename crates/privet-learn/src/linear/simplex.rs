//! Entropy-regularised minimisation over the ℓ1 ball, released by sampling columns.
//!
//! θ = C(w⁺ − w⁻), the weights w in the simplex of 2p signed columns; ŵ minimises Σℓ(⟨xᵢ, θ⟩; yᵢ) + λΣw ln w.
//! m columns are drawn from (nearly) ŵ, and their mean is released: at most m weights that are not 0.
//!
//! **Theorem** (after Jain & Thakurta 2014, §5.1; constants re-derived). Let entries be clamped to ±τ,
//! derivatives to ±S, ℓ″ ≤ c, κ = Cτ; one of n records is replaced, n public. If the weights found are
//! within e of ŵ in ‖·‖₁, and columns are drawn with probability ∝ e^(∓(C/λ)qⱼ), q = Σℓ′xᵢ there, then a
//! draw has bounded range **2(C/λ)Δ**, Δ = 2Sτ + ncτκ·(2Sκ/λ + 2e).
//!
//! *Proof.* Σℓ + λΣw ln w is λ-strongly convex in ‖·‖₁, and replacing a record moves its gradient by at
//! most 2Sκ in ‖·‖∞: the two ŵ are within 2Sκ/λ, the weights found within 2e more. So margins differ by
//! at most κ(2Sκ/λ + 2e), derivatives of the n − 1 records in common by c times that, and qⱼ by Δ. A
//! draw is an exponential mechanism of these scores ([`privet_dp::mechanism::Selection`]). ∎
//!
//! With e = 0 the range is (4Sκ/λ)(1 + ncκ²/λ): ε₀ of the digest. At ŵ itself the law *is* ŵ, because
//! ŵ ∝ e^(∓(C/λ)qⱼ); elsewhere it is closer to ŵ than the weights found.
//!
//! *In finite arithmetic.* Scores are integers; the effect of truncation and rounding between
//! neighbours, at most twice [`Entropic::slope_error`] a record, is added to Δ, and their part in e to e
//! ([`Entropic::slack`]). e is a hundredth of a record's weight, fixed beforehand, and proved before
//! anything is drawn. It is reached in a known number of rounds ([`Entropic::rounds`]) if the rounds are
//! exact; rounded derivatives may keep the iteration (4B/λ + 2)·n·slope_error·κ/λ away, which is above e
//! for large n, and no table is known on which they do. Such a table would end in an error, without a
//! draw: the certificate's note says that this is not proved impossible.
//!
//! **Choices.** λ by calibration; or, if λ is given, m as large as the budget allows. Without either,
//! with λ ≈ √(4Scnκ³m/ε): a column whose derivative is s₀ = [`STANDOUT_DERIVATIVE`] a record stands out,
//! ns₀κ/λ ≥ 2 ln 2p, as long as κ ≤ A/m, A = nεs₀²/(16Sc·ln² 2p), and the largest such κ is taken (at
//! most [`LARGEST_MARGIN`]). m draws leave (c/2)κ²/m, entropy costs λ ln(2p)/n; they balance at
//! m = (A·cnε/S)^¼/(2√ln 2p), at least 1. K problems get ε/K each.
//!
//! - n must be public: replace-one neighbours, a record a unit. Otherwise refused.
//! - K problems, one class against the rest, one after the other.
//! - Departs from print: m = (ελ/(LR∞))/(4 + 2nR∞²L_g/λ) there, as far as it is legible: not offered.
//! - Tested by `tests/all/simplex.rs`.

use super::Decision;
use super::calibrated;
use super::frank_wolfe::{CLIP, RADIUS, slope};
use crate::LearnError;
use crate::linear::facts::{Facts, repeated};
use crate::linear::learners::{LearnerFacts, Method, Scores as ClassScores};
use crate::linear::model::LinearWeights;
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::note::Condition;
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::settings::settings;
use crate::release::support::Support;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Scores, Selection, SelectionLaw, Vertex};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use privet_optim::vertex::{Entropic, FeatureGrid, GridMatrix, SlopeGrid};
use std::sync::Arc;

/// Limits on the entropy term's strength λ.
pub const ENTROPY: Range = Range::open("entropy", 0.0, 1e100);
/// Limits on the number of draws m.
pub const DRAWS: Range = Range::from("draws", 1.0, 1_000_001.0);

/// The reason that it needs a public number of rows.
const PUBLIC_COUNT: Coverage = Coverage::No {
    why: "has a theorem that needs a public number of rows",
    instead: "give replace-one neighbours and a record as the unit, or method frank-wolfe",
};

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "simplex",
    summary: "minimises with an entropy term over signed columns and releases the mean of columns drawn \
              from the minimiser",
    source: "Jain & Thakurta 2014, §5.1; constants re-derived",
    guarantee: "(ε, δ) and pure ε in finite arithmetic; replace-one neighbours only",
    settings: Simplex::SETTINGS,
    noisy: "the choice of a column by its score",
    private: true,
    covers: MethodCoverage {
        printed: Coverage::unprinted("has printed constants that are not legible"),
        private_count: PUBLIC_COUNT,
        users: PUBLIC_COUNT,
        needs: TableAccess::Memory,
        ..MethodCoverage::ALL
    },
    more: LearnerFacts { scores: ClassScores::Separate, any_storage: false },
};

settings! {
    /// Settings of `simplex`.
    #[derive(Copy)]
    pub struct Simplex {
        draws: u32 [DRAWS] "columns drawn; chosen from public facts unless given";
        entropy: f64 [ENTROPY]
            "strength of λΣw ln w beside the sum of losses; the least that the budget allows unless \
             given";
        radius: f64 [RADIUS] "ℓ1 norm of the model; chosen from public facts unless given";
        clip: f64 [CLIP]
            "what every entry is clamped to, both ways; chosen from the schema unless given";
    }
}

/// The note of its certificates.
const UNPROVED: Condition = Condition::new(
    "ends-in-a-model",
    "the guarantee is that of a run that ends in a model: that the minimum is always found \
     to the distance planned, with rounded slopes, is observed and not proved",
);

/// The derivative s₀ of the rule.
pub const STANDOUT_DERIVATIVE: f64 = 0.2;
/// The largest κ of the rule.
pub const LARGEST_MARGIN: f64 = 8.0;

/// The rule's choice of draws and radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawRule {
    /// The number of draws m before it is rounded.
    pub draws: f64,
    /// The product m·κ.
    pub reach: f64,
}

/// The rule of the module.
pub fn draws_and_radius(facts: &Facts, budget: &Allowance<'_>) -> DrawRule {
    let (slope, curvature) = (slope(facts), facts.shape.curvature);
    let known = facts.rows as f64 * budget.epsilon() / f64::from(facts.problems);
    let ln = (2.0 * facts.columns as f64).ln();
    let reach =
        known * STANDOUT_DERIVATIVE * STANDOUT_DERIVATIVE / (16.0 * slope * curvature * ln * ln);
    let draws = (reach * curvature * known / slope).powf(0.25) / (2.0 * ln.sqrt());
    DrawRule { draws: draws.clamp(1.0, 10_000.0), reach }
}

/// The problem at some λ, with the constants of its theorem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntropicTerms {
    /// The problem.
    pub problem: Entropic,
    /// The grid to which entries are rounded.
    pub features: FeatureGrid,
    /// The distance e.
    pub distance: f64,
    /// The sensitivity Δ, in units of the score.
    pub sensitivity: u64,
}

impl EntropicTerms {
    /// The terms from public facts; `None` if numbers leave their range.
    pub fn new(facts: &Facts, clip: f64, radius: f64, entropy: f64) -> Option<Self> {
        let features = FeatureGrid::new(clip);
        let slopes = SlopeGrid::for_rows(slope(facts), facts.rows);
        let problem = Entropic {
            loss: facts.loss,
            slopes,
            radius,
            entropy,
            bound: features.bound(),
            rows: facts.rows,
            columns: facts.columns,
        };
        let (rows, clip, reach) = (facts.rows as f64, features.bound(), problem.margin_bound());
        let shift = 2.0 * slopes.clip() * reach / entropy;
        let distance = 0.005 * shift + 2.0 * problem.slack();
        let between = shift + 2.0 * distance;
        let common = facts.loss.curvature() * reach * between + 2.0 * problem.slope_error();
        let sensitivity = 2.0 * slopes.clip() * clip + rows * clip * common;
        let units = sensitivity / (slopes.unit() * features.unit()) * (1.0 + 1e-12);
        let fits = units < 9e18 && distance > 0.0;
        fits.then(|| Self { problem, features, distance, sensitivity: units.ceil() as u64 })
    }

    /// The rate C/λ for a unit of the score.
    pub fn rate(&self) -> f64 {
        let unit = self.problem.slopes.unit() * self.features.unit();
        self.problem.radius / self.problem.entropy * unit
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    _calibration: Calibration,
    options: &Simplex,
) -> Result<Decision, LearnError> {
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    let given = options.draws.map(|draws| DRAWS.check(f64::from(draws)).map(|_| draws));
    let given = given.transpose()?;
    let clip = CLIP.check(options.clip.unwrap_or(facts.entry_scale.min(facts.entry_bound)))?;
    let pace = draws_and_radius(facts, budget);
    let expected = given.unwrap_or(pace.draws.round() as u32);
    let reach = (pace.reach / f64::from(expected)).min(LARGEST_MARGIN);
    let radius = RADIUS.check(options.radius.unwrap_or(reach / clip))?;
    let terms = |entropy: f64| EntropicTerms::new(facts, clip, radius, entropy);
    let choice = |entropy: f64| -> Result<Event, GateError> {
        Drawing::new(facts, &terms(entropy).ok_or(GateError::Malformed)?, 1).selection.choice()
    };
    let (draws, entropy) = match options.entropy {
        None => {
            let draws = expected;
            let entropy = calibrated(
                facts,
                budget,
                entropy_below(facts, budget, clip * radius, draws),
                |at| Ok(Event::Repeat { count: draws, event: Box::new(choice(at)?) }),
            )?;
            (draws, entropy)
        }
        Some(entropy) => {
            let entropy = ENTROPY.check(entropy)?;
            let one = choice(entropy)?;
            let meets = |count: u32| {
                let event = Event::Repeat { count, event: Box::new(one.clone()) };
                account::meets(&facts.repeated(event), budget.budget())
            };
            let draws = match given {
                Some(draws) if meets(draws)? => draws,
                None if meets(1)? => most_draws(&meets)?,
                _ => {
                    return refused(
                        "at this entropy the draws cost more than the budget",
                        "give a larger entropy, fewer draws, or leave the entropy out",
                    );
                }
            };
            (draws, entropy)
        }
    };
    let terms = terms(entropy).ok_or(GateError::Malformed)?;
    let clip = Some(clip);
    Ok(Decision {
        procedure: Arc::new(Drawing::new(facts, &terms, draws)),
        settled: Method::Simplex(Simplex {
            draws: Some(draws),
            entropy: Some(entropy),
            radius: Some(radius),
            clip,
        }),
        arithmetic: Arithmetic::Finite,
        notes: vec![UNPROVED.into()],
    })
}

/// A λ below the least: four times the range that basic composition or concentration allows, of
/// (4Sκ/λ)(1 + ncκ²/λ) ≥ both of its terms.
fn entropy_below(facts: &Facts, budget: &Allowance<'_>, reach: f64, draws: u32) -> f64 {
    let count = f64::from(draws) * f64::from(facts.problems);
    let mut range = budget.epsilon() / count;
    if !budget.is_pure() {
        let tail = (1.0 / budget.delta()).ln();
        range = range.max(budget.epsilon() * (2.0 / (tail * count)).sqrt());
    }
    let first = slope(facts) * reach / range;
    let second = facts.rows as f64 * facts.shape.curvature * reach * reach;
    first.max((first * second).sqrt())
}

/// The most draws that meet the budget, given that one does.
fn most_draws(
    meets: &impl Fn(u32) -> Result<bool, account::AccountError>,
) -> Result<u32, account::AccountError> {
    let (mut low, mut high) = (1_u32, 2_u32);
    while high <= 1_000_000 && meets(high)? {
        (low, high) = (high, 2 * high);
    }
    high = high.min(1_000_001);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if meets(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// The procedure: draws for each problem.
#[derive(Debug, Clone)]
struct Drawing {
    selection: Selection,
    terms: EntropicTerms,
    problems: u32,
}

impl Drawing {
    fn new(facts: &Facts, terms: &EntropicTerms, draws: u32) -> Self {
        let each = terms.problem.radius / f64::from(draws);
        let selection = Selection {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity: terms.sensitivity,
            law: SelectionLaw::Exponential(terms.rate()),
            columns: facts.columns,
            coefficients: vec![each; draws as usize],
            peeled: None,
        };
        Self { selection, terms: *terms, problems: facts.problems }
    }
}

impl Procedure<super::Erm> for Drawing {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(repeated(self.problems, self.selection.event()?))
    }

    /// The noise follows from λ, which the request states.
    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let support = Support::Choices(self.selection.coefficients.clone());
        support.refuses(&found.weights)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("entropy", self.terms.problem.entropy),
            ("radius", self.terms.problem.radius),
            ("clip", self.terms.features.bound()),
            ("draws", self.selection.coefficients.len() as f64),
        ])
    }

    fn predicted_excess(&self, facts: &Facts) -> Option<f64> {
        let problem = &self.terms.problem;
        let draws = self.selection.coefficients.len() as f64;
        let sampling = facts.shape.curvature * problem.margin_bound().powi(2) / (2.0 * draws);
        let entropy = problem.entropy * (2.0 * facts.columns as f64).ln() / facts.rows as f64;
        Some(f64::from(facts.problems) * (sampling + entropy))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        let data = admit::in_memory(table, INFO.name, "single columns")?;
        let features = GridMatrix::new(&data.features, self.terms.features)
            .ok_or(LearnError::DataShape("there are 2^32 rows or more"))?;
        let EntropicTerms { problem, distance, .. } = self.terms;
        // Every problem is solved before the first draw: nothing can fail after it.
        let watch = StepWatch::new(monitor);
        let mut solved = Vec::new();
        for number in 0..facts.problems {
            let labels = problems::labels(facts, data, number)?;
            let scores = problem.solve(&features, &labels, distance, &watch);
            watch.went_on()?;
            solved.push(scores.ok_or(GateError::NotCertified)?);
        }
        let draw = |scores| self.selection.run(Private::new(Constant(scores)), session);
        let parts = solved.into_iter().map(draw).collect::<Result<_, _>>()?;
        Ok(session.gather(parts)?.map(LinearWeights::of))
    }
}

/// Scores that no choice changes.
struct Constant(Vec<i64>);

impl Scores for Constant {
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool {
        if chosen.is_none() {
            self.0.iter().enumerate().for_each(|(column, score)| report(column, *score));
        }
        true
    }
}
