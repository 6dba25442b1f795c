//! The columns most associated with the target, chosen one after the other.
//!
//! **Theorem.** Every column has an integer score for its association with the target (for K > 2
//! classes: with each class against the rest), which moves by at most Δ between neighbours. s signed
//! columns are chosen, each by the exponential mechanism among those not yet chosen: s mechanisms of
//! bounded range 2Δ·rate ([`privet_dp::mechanism::Selection`], `peeled`).
//!
//! | association | Δ | for |
//! |---|---|---|
//! | `kendall` | 2(n − 1), of at most n(n − 1)/2 | a public number of rows (replace-one records) |
//! | `kendall` with a `cap` N | 2r(N − 1), r the records that neighbours differ in | any relation |
//! | `products` | 2kMK (replace-one), kMK (add-remove), of at most nMK | any relation |
//!
//! `kendall` counts pairs of records (`kendall.rs`); `products` sums label times entry, in integer
//! multiples of a unit (`marginal.rs`, the scores of [`crate::linear::frank_wolfe`] at θ = 0). The first
//! needs no centred columns and is the default where its sensitivity is proved. Both are exact integers,
//! and choices are drawn exactly: finite arithmetic.
//!
//! **Accuracy.** A choice is expected to miss the best association by at most ln(2Kp)/rate;
//! `association_noise` shows this as a fraction of the largest possible one. Columns whose associations
//! differ by less are chosen by chance.
//!
//! - Kendall's coefficient for private choices of features: Dick, Gillenwater & Joseph 2023, whose mechanism
//!   also subtracts associations with columns chosen before; here it does not.
//! - Tested by `tests/all/select.rs`.

use super::noisy_answer::{NoisyAnswer, SelectionSizes};

use super::{Decision, PlanInput, Selector, SingleQuery, Support, kendall, marginal, open};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::frank_wolfe::{CLIP, usual_range};
use crate::linear::problems;
use crate::release::admit;
use crate::release::allowance::{Allowance, scales};
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{Scores, Selection, SelectionLaw, Vertex};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Registry entry of `correlation`.
pub const INFO: Info = Info {
    name: "correlation",
    summary: "the columns most associated with the target, chosen one after the other by noisy counts of \
              pairs of records, or by noisy sums",
    source: "Dwork, Su & Zhang 2021 (peeling); Dick, Gillenwater & Joseph 2023 (Kendall's coefficient)",
    guarantee: "(ε, δ) and pure ε in finite arithmetic",
    settings: Correlation::SETTINGS,
    noisy: "the choice of a column by its association",
    private: true,
    covers: MethodCoverage {
        needs: TableAccess::Memory,
        printed: Coverage::unprinted(NOT_PRINTED),
        ..MethodCoverage::ALL
    },
    more: (),
};

/// Limits on the cap on rows.
pub const CAP: Range = Range::from("cap", 2.0, 4_294_967_296.0);

/// Measure of association.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Association {
    /// Pairs of records that agree, less those that do not.
    Kendall,
    /// Sums of label times entry.
    Products,
}

settings! {
    /// Settings of `correlation`.
    #[derive(Copy)]
    pub struct Correlation {
        association: Association ["kendall or products"]
            "pairs of records that agree, or sums of label times entry; kendall unless given, where \
             the number of rows is public";
        clip: f64 [CLIP]
            "what every entry is clamped to, for products; chosen from the schema unless given";
        cap: u32 [CAP]
            "count pairs among at most this many rows, the first, for kendall where their number is \
             private";
    }
}

impl Association {
    /// Returns the requested association or the default one, with the clip of entries; `capped` is true
    /// if a cap was declared.
    pub(crate) fn with_clip(
        facts: &Facts,
        asked: Option<Self>,
        clip: Option<f64>,
        capped: bool,
    ) -> Result<(Self, Option<f64>), LearnError> {
        let clip = clip.map(|clip| CLIP.check(clip)).transpose()?;
        let counted = facts.relation().count_is_public();
        if capped && (counted || asked == Some(Self::Products)) {
            return Err(LearnError::NotCovered {
                what: "a cap on rows is for pairs of records whose number is private".into(),
                instead: "leave out the cap",
            });
        }
        let public = capped || facts.relation().count_is_public();
        let association = asked.unwrap_or(if public { Self::Kendall } else { Self::Products });
        if association == Self::Kendall && !public {
            return Err(LearnError::NotCovered {
                what: "how far a count of pairs moves is no public number where the number of rows is \
                       private"
                    .into(),
                instead: "give a cap on the rows, association products, or replace-one neighbours with \
                          records as units",
            });
        }
        if association == Self::Kendall && facts.rows > u64::from(u32::MAX) {
            return Err(LearnError::NotCovered {
                what: "pairs of 2^32 records or more are not counted".into(),
                instead: "give association products",
            });
        }
        if association == Self::Kendall && clip.is_some() {
            return Err(LearnError::NotCovered {
                what: "pairs of records are counted by their order, and nothing is clamped".into(),
                instead: "leave out the clip, or give association products",
            });
        }
        Ok((association, clip))
    }
}

/// Plans from public facts alone.
pub(crate) fn plan(input: &PlanInput<'_>, options: &Correlation) -> Result<Decision, LearnError> {
    let facts = input.facts;
    let cap = options.cap.map(|cap| CAP.check(cap.into()).map(|_| cap)).transpose()?;
    let (association, clip) =
        Association::with_clip(facts, options.association, options.clip, cap.is_some())?;
    let way = AssociationMeasure { association, clip, cap };
    let choosing = AssociationChoices::with_least_noise(facts, &input.budget, input.size, way)?;
    let clip = choosing.clip();
    Ok(Decision {
        procedure: Arc::new(choosing),
        settled: Selector::Correlation(Correlation { association: Some(association), clip, cap }),
        notes: vec![],
    })
}

/// Measure of association with its settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssociationMeasure {
    pub association: Association,
    /// Bound to which entries are clamped, τ.
    pub clip: Option<f64>,
    /// Cap on the number of rows counted, N.
    pub cap: Option<u32>,
}

/// Choices of columns by their association.
#[derive(Debug, Clone)]
pub(crate) struct AssociationChoices {
    pub selection: Selection,
    association: Association,
    cap: Option<u32>,
    clip: f64,
    sizes: SelectionSizes,
    /// Upper bound on a score.
    largest: f64,
}

impl AssociationChoices {
    /// With the least noise that the budget allows.
    pub fn with_least_noise(
        facts: &Facts,
        budget: &Allowance<'_>,
        size: u32,
        AssociationMeasure { association, clip, cap }: AssociationMeasure,
    ) -> Result<Self, LearnError> {
        let terms = marginal::terms(facts, clip)?;
        let rows = facts.rows as f64;
        let (sensitivity, largest) = match (association, cap) {
            (Association::Kendall, None) => {
                (kendall::sensitivity(facts.rows).max(1), rows * (rows - 1.0) / 2.0)
            }
            (Association::Kendall, Some(cap)) => {
                let records = facts.relation().records() as u64;
                let rows = rows.min(f64::from(cap));
                (records * kendall::sensitivity(cap.into()).max(1), rows * (rows - 1.0) / 2.0)
            }
            (Association::Products, _) => {
                let one = f64::from(terms.features.largest()) * f64::from(terms.slopes.largest());
                (terms.sensitivity, rows * one)
            }
        };
        let selection = Selection {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity,
            law: SelectionLaw::Exponential(1.0),
            columns: open(facts) * facts.problems as usize,
            coefficients: vec![1.0; size as usize],
            peeled: Some(open(facts)),
        };
        // Parametrised by one over the range; ranges above four times the usual one are not searched.
        let floor = 0.25 / usual_range(budget, f64::from(size));
        let scale = budget.least_scale(floor, |scale| selection.with_range(1.0 / scale).event())?;
        let selection = selection.with_range(1.0 / scale);
        let sizes = SelectionSizes::of(facts, size);
        let clip = terms.features.bound();
        Ok(Self { selection, association, cap, clip, sizes, largest })
    }

    /// Bound to which entries are clamped, for `products`.
    pub fn clip(&self) -> Option<f64> {
        (self.association == Association::Products).then_some(self.clip)
    }

    /// Upper bound on the expected loss of association of a choice, as a fraction of the largest
    /// possible association.
    pub fn expected_loss(&self) -> Option<f64> {
        let event = self.selection.choice().ok()?;
        let scale = scales(&event).first().copied()?;
        let candidates = 2.0 * self.selection.columns as f64;
        // ln(2Kp)/rate, rate = range/2Δ.
        let by = candidates.ln() * scale * 2.0 * self.selection.sensitivity as f64;
        Some(by / self.largest.max(1.0))
    }

    /// Associations of all columns, problem after problem.
    fn associations(&self, facts: &Facts, data: &Dataset) -> Result<Vec<i64>, LearnError> {
        match self.association {
            Association::Kendall => {
                let mut all = Vec::new();
                let first = self.cap.map(|cap| cap as usize).filter(|cap| *cap < data.rows());
                let first = first.map(|cap| data.select(&(0..cap).collect::<Vec<_>>()));
                let data = first.as_ref().unwrap_or(data);
                for problem in 0..facts.problems {
                    let labels = problems::labels(facts, data, problem)?;
                    all.extend(kendall::pair_counts(&data.features, &labels, self.sizes.open));
                }
                Ok(all)
            }
            Association::Products => {
                let terms = marginal::terms(facts, Some(self.clip))?;
                let marginals = marginal::Marginals::new(facts, data, &terms)?;
                Ok(marginals.sums(0..marginals.rows()))
            }
        }
    }

    /// Chooses the columns.
    pub fn choose(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let watch = StepWatch::new(monitor);
        let scores = FixedScores { scores: self.associations(facts, data)?, watch: &watch };
        let chosen = self.selection.run(Private::new(scores), session);
        watch.went_on()?;
        Ok(chosen?)
    }
}

impl SingleQuery for AssociationChoices {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.selection.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("size", self.sizes.size as f64)])
            .and("association_noise", self.expected_loss())
    }

    fn refuses(&self, found: &Support) -> Option<&'static str> {
        found.columns.is_none().then_some("such a choice always names columns")
    }

    fn sizes(&self) -> SelectionSizes {
        self.sizes
    }

    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError> {
        admit::in_memory(table, INFO.name, "single columns")
    }

    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError> {
        Ok(self.choose(facts, data, session, monitor)?.map(NoisyAnswer::Point))
    }
}

/// Scores that do not depend on earlier choices.
struct FixedScores<'a> {
    scores: Vec<i64>,
    watch: &'a StepWatch<'a>,
}

impl Scores for FixedScores<'_> {
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool {
        if chosen.is_none() {
            self.scores.iter().enumerate().for_each(|(column, score)| report(column, *score));
        }
        self.watch.step()
    }
}
