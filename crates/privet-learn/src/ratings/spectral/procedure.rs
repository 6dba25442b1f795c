//! Settled sizes of a plan: norm bounds, noise, and costs of its queries.

use super::directions::DirectionSearch;
use super::path::Subspace;
use super::query::Query;
use crate::ratings::execution::MethodPlan;
use crate::ratings::factors::Factors;
use crate::release::rounding::nearly_equal;
use crate::release::settings::PlanNumbers;
use privet_core::{Neighbours, Relation};
use privet_dp::account::Event;
use privet_dp::gate::GateError;
use privet_dp::mechanism::Gaussian;
use serde::{Deserialize, Serialize};

/// Settled sizes of a plan: the start of its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(super) way: SpectralMethod,
    pub(super) items: usize,
    pub(super) relation: Relation,
    pub(super) clip: f64,
    pub(super) nuclear: f64,
    pub(super) rounds: u32,
    pub(super) noise: f64,
    /// Offsets of the items, in baselines without privacy; always empty in a private plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offsets: Vec<f64>,
}

/// Method with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SpectralMethod {
    FrankWolfe,
    Oja { steps: u32 },
    Svd { rank: usize },
    Pgd { rank: usize, rate: f64 },
}

impl Sizes {
    /// Sensitivity Δ₂ of a covariance (`true`), or of a power step or an energy.
    pub(super) fn shift(&self, covariance: bool) -> f64 {
        let radius = match self.way {
            SpectralMethod::Svd { .. } | SpectralMethod::Pgd { .. } => self.clip,
            SpectralMethod::FrankWolfe | SpectralMethod::Oja { .. } => 2.0 * self.clip,
        };
        let factor = match (covariance, self.relation.neighbours) {
            (true, Neighbours::AddRemove) => 1.125_f64.sqrt(),
            (true, Neighbours::ReplaceOne | Neighbours::ReplaceLabel) => 1.5,
            (false, Neighbours::AddRemove) => 1.0,
            // Truncation to units of at most R²/2³⁸ can separate two vectors by one unit in each
            // coordinate.
            (false, Neighbours::ReplaceOne | Neighbours::ReplaceLabel) => {
                1.0 + (self.items as f64).sqrt() * 2_f64.powi(-38)
            }
        };
        radius * radius * factor * (1.0 + 8.0 * f64::EPSILON)
    }

    fn gaussian(&self, query: QueryKind) -> Gaussian {
        let coordinates = match query {
            QueryKind::Covariance => self.items * (self.items + 1) / 2,
            QueryKind::Power => self.items,
            QueryKind::Energy => 1,
        };
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: self.shift(query == QueryKind::Covariance),
            noise_scale: self.noise,
            coordinates,
        }
    }

    /// Number of releases of this sensitivity.
    pub(super) fn releases(&self) -> f64 {
        f64::from(match self.way {
            SpectralMethod::Svd { .. } => 1,
            SpectralMethod::FrankWolfe | SpectralMethod::Pgd { .. } => self.rounds,
            SpectralMethod::Oja { steps } => self.rounds * (steps + 1),
        })
    }
}

/// Kind of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
enum QueryKind {
    Covariance,
    Power,
    Energy,
}

impl Query {
    fn kind(&self) -> QueryKind {
        match self {
            Self::Covariance { .. } => QueryKind::Covariance,
            Self::Power { .. } => QueryKind::Power,
            Self::Energy { .. } => QueryKind::Energy,
        }
    }
}

impl MethodPlan for Sizes {
    type Query = Query;
    type Walk = DirectionSearch;

    fn events(&self) -> Result<Event, GateError> {
        let event = |question| self.gaussian(question).event();
        let rounds = |event| Event::Repeat { count: self.rounds, event: Box::new(event) };
        Ok(match self.way {
            SpectralMethod::Svd { .. } => event(QueryKind::Covariance)?,
            SpectralMethod::FrankWolfe | SpectralMethod::Pgd { .. } => {
                rounds(event(QueryKind::Covariance)?)
            }
            SpectralMethod::Oja { steps } => {
                let power =
                    Event::Repeat { count: steps, event: Box::new(event(QueryKind::Power)?) };
                rounds(Event::All(vec![power, event(QueryKind::Energy)?]))
            }
        })
    }

    fn mechanism(&self, query: &Query) -> Gaussian {
        self.gaussian(query.kind())
    }

    fn numbers(&self) -> PlanNumbers {
        let shown = PlanNumbers::of([("clip", self.clip), ("sum_noise", self.noise)]);
        match self.way {
            SpectralMethod::Svd { rank } => shown.and("rank", Some(rank as f64)),
            SpectralMethod::Pgd { rank, rate } => shown
                .and("rounds", Some(f64::from(self.rounds)))
                .and("rank", Some(rank as f64))
                .and("rate", Some(rate))
                .and("nuclear", Some(self.nuclear)),
            SpectralMethod::FrankWolfe => {
                shown.and("rounds", Some(f64::from(self.rounds))).and("nuclear", Some(self.nuclear))
            }
            SpectralMethod::Oja { steps } => shown
                .and("rounds", Some(f64::from(self.rounds)))
                .and("steps", Some(f64::from(steps)))
                .and("nuclear", Some(self.nuclear)),
        }
    }

    fn refuses(&self, found: &Factors) -> Option<&'static str> {
        let same = |a: f64, b: f64| nearly_equal(a, b, 1e-12);
        let fits = match (found, self.way) {
            (Factors::Subspace(Subspace { clip, vectors }), SpectralMethod::Svd { rank }) => {
                same(*clip, self.clip) && vectors.len() == rank
            }
            (Factors::Descent(descent), SpectralMethod::Pgd { rank, rate }) => {
                same(descent.clip, self.clip)
                    && descent.offsets.is_empty()
                    && same(descent.rate, rate)
                    && descent.steps.len() == self.rounds as usize
                    && descent.steps.iter().all(|step| step.vectors.len() <= rank)
            }
            (
                Factors::Directions(path),
                SpectralMethod::FrankWolfe | SpectralMethod::Oja { .. },
            ) => {
                same(path.clip, self.clip)
                    && path.offsets.is_empty()
                    && same(path.nuclear, self.nuclear)
                    && path.directions.len() == self.rounds as usize
            }
            _ => false,
        };
        (!fits).then_some("its radii or the number of its vectors are not the plan's")
    }
}
