//! The layout of the sums of an evaluation.

use super::{Evaluate, THRESHOLD};
use crate::linear::model::Model;
use crate::networks::TrainedNetwork;
use crate::release::request::ROWS;
use crate::statistics::sums;
use crate::{LearnError, Request};
use privet_core::Relation;
use privet_data::Schema;
use privet_data::schema::{Invalid, TargetKind};
use privet_optim::loss::Loss;
use privet_optim::sum::{Described, Labels, Slot};
use serde::{Deserialize, Serialize};

/// The number of bins of a score.
pub const BINS: usize = 24;
/// Upper bound on the number of classes.
const CLASSES: usize = 1000;
/// Bins are even in t(z) = ±ln(1 + |z|/[`BIN_SCALE`]) of the log odds z, |z| ≤ [`LARGEST_LOG_ODDS`]:
/// narrow near z = 0, where noisy models' scores lie, and wide far from it.
const BIN_SCALE: f64 = 0.5;
const LARGEST_LOG_ODDS: f64 = 8.0;
/// The number of hexadecimal digits of a digest.
const DIGEST: usize = 64;

/// The kind of a model's output for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputKind {
    /// A class.
    Classes,
    /// One of two classes, and a score that ranks records.
    Scores,
    /// A class, and the probability of each class.
    Probabilities,
    /// A number.
    Number,
}

/// The public facts of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The declared number of rows n.
    pub rows: u64,
    /// Neighbours and unit.
    pub relation: Relation,
    /// The kind of the model's output.
    pub says: OutputKind,
    /// The classes; empty if the target is a number.
    pub classes: Vec<String>,
    /// The bounds of a numeric target.
    pub bounds: Option<(f64, f64)>,
    /// The probability above which the second class is predicted.
    pub threshold: Option<f64>,
    /// The sums to compute.
    pub query: Described,
    /// The encoding of the records' targets: not used, since judgements contain them.
    pub labels: Labels,
}

impl OutputKind {
    /// The output of a linear model.
    pub fn of_model(model: &Model) -> Self {
        match (model.request().schema.classes(), model.loss()) {
            (None, _) => Self::Number,
            (Some(_), Loss::Logistic) => Self::Probabilities,
            (Some([_, _]), _) => Self::Scores,
            (Some(_), _) => Self::Classes,
        }
    }

    /// The output of a network.
    pub fn of_network(network: &TrainedNetwork) -> Self {
        match network.request().schema.classes() {
            None => Self::Number,
            Some(_) => Self::Probabilities,
        }
    }
}

impl Form {
    pub(super) fn of(request: &Request<Evaluate>) -> Result<Self, LearnError> {
        ROWS.check(request.rows as f64)?;
        let schema = &request.schema;
        let Evaluate { model, says, threshold, declared_public: _ } = &request.task;
        // Only the target and the unit matter, whatever other columns the table has.
        if schema.of_rows() != *schema {
            return Err(LearnError::NotCovered {
                what: "an evaluation is asked for with the target and the unit of a table alone"
                    .into(),
                instead: "make the request with Evaluate::request, or give the schema of Schema::of_rows",
            });
        }
        let digits = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
        if model.len() != DIGEST || !model.bytes().all(digits) {
            return Err(LearnError::NotCovered {
                what: "which model is evaluated is said by the digest of its file".into(),
                instead: "give the 64 digits that its certificate has under digest",
            });
        }
        let classes = schema.classes().unwrap_or_default().to_vec();
        let bounds = match &schema.target().kind {
            TargetKind::Number { low, high } => Some((*low, *high)),
            TargetKind::Classes(_) => None,
        };
        let fits = match says {
            OutputKind::Number => bounds.is_some(),
            OutputKind::Scores => classes.len() == 2,
            OutputKind::Classes | OutputKind::Probabilities => {
                (2..=CLASSES).contains(&classes.len())
            }
        };
        if !fits {
            return Err(LearnError::NotCovered {
                what: "what the model is said to say does not fit the target".into(),
                instead: "number needs a numeric target, scores two classes, classes and probabilities \
                          from 2 to 1000 of them",
            });
        }
        if let Some(threshold) = threshold {
            THRESHOLD.check(*threshold)?;
            if *says != OutputKind::Probabilities || classes.len() != 2 {
                return Err(LearnError::NotCovered {
                    what: "a threshold is for models that give two classes their probabilities"
                        .into(),
                    instead: "leave out the threshold, or evaluate a logistic model of two classes",
                });
            }
        }
        let relation = request.relation();
        let counted = relation.count_is_public() && schema.invalid() == Invalid::Refuse;
        let mut form = Self {
            rows: request.rows,
            relation,
            says: *says,
            classes,
            bounds,
            threshold: *threshold,
            query: Described { marker: 0, rows: !counted, slots: Vec::new(), products: false },
            labels: Labels::Same,
        };
        (form.query.slots, form.query.marker) = form.slots();
        Ok(form)
    }

    /// The form of an exact, non-private evaluation: records are counted one by one.
    pub fn exact(
        schema: &Schema,
        says: OutputKind,
        threshold: Option<f64>,
    ) -> Result<Self, LearnError> {
        let model = "0".repeat(DIGEST);
        let task = Evaluate { model, says, threshold, declared_public: false };
        let neighbours = privet_core::Neighbours::AddRemove;
        Self::of(&Request::new(schema.of_rows(), 1, neighbours, task))
    }

    /// The slots, and the last column, which marks records that are not null.
    fn slots(&self) -> (Vec<Slot>, usize) {
        let mut slots = Vec::new();
        let mut at = 0;
        let mut cells = |count: usize, at: &mut usize| {
            slots.push(Slot::Cells { first: *at, count });
            *at += count;
        };
        let shares = match self.says {
            OutputKind::Number => 4,
            says => {
                cells(self.classes.len() * self.classes.len(), &mut at);
                if says != OutputKind::Classes {
                    cells(2 * BINS, &mut at);
                }
                if says == OutputKind::Probabilities { 2 } else { 0 }
            }
        };
        slots.extend((at..at + shares).map(|column| Slot::Share { column }));
        (slots, at + shares)
    }

    /// The number of columns of the table of judgements.
    pub fn columns(&self) -> usize {
        self.query.marker + 1
    }

    /// The ℓ1 sensitivity Δ₁ of all sums: see `sums`.
    pub fn absolute_shift(&self) -> f64 {
        sums::absolute_shift(&self.query, self.relation)
    }

    /// The ℓ2 sensitivity Δ₂ of all sums: see `sums`.
    pub fn shift(&self) -> f64 {
        sums::shift(&self.query, self.relation)
    }
}

/// The index of the bin of log odds.
pub(super) fn bin(log_odds: f64) -> usize {
    let far = (1.0 + LARGEST_LOG_ODDS / BIN_SCALE).ln();
    let t = (log_odds.abs() / BIN_SCALE).ln_1p().copysign(log_odds);
    let place = if t.is_nan() { 0.5 } else { ((t / far).clamp(-1.0, 1.0) + 1.0) / 2.0 };
    ((place * BINS as f64) as usize).min(BINS - 1)
}

/// The probability at a position from 0 to [`BINS`] on the scale of bins.
pub(super) fn probability_at(place: f64) -> f64 {
    let far = (1.0 + LARGEST_LOG_ODDS / BIN_SCALE).ln();
    let t = far * (2.0 * place / BINS as f64 - 1.0);
    let log_odds = (BIN_SCALE * t.abs().exp_m1()).copysign(t);
    match place {
        place if place <= 0.0 => 0.0,
        place if place >= BINS as f64 => 1.0,
        _ => 1.0 / (1.0 + (-log_odds).exp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_rise_with_the_odds_and_go_back_to_them() {
        let mut last = 0;
        for step in -900..=900 {
            let odds = f64::from(step) / 100.0;
            let found = bin(odds);
            assert!(found >= last && found < BINS);
            let p = 1.0 / (1.0 + (-odds).exp());
            let (from, to) = (probability_at(found as f64), probability_at(found as f64 + 1.0));
            assert!(from - 1e-12 <= p && p <= to + 1e-12, "{odds}: {from} {to}");
            last = found;
        }
        assert_eq!((bin(f64::INFINITY), bin(f64::NEG_INFINITY)), (BINS - 1, 0));
        assert_eq!(bin(f64::NAN), BINS / 2);
        assert_eq!((bin(1e-9), bin(-1e-9)), (BINS / 2, BINS / 2 - 1));
    }
}
