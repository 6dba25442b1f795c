//! Public facts that every rule may read.

use crate::LearnError;
use crate::request::{ROWS, Request};
use privet_core::{Neighbours, Unit};
use privet_data::encode::Encoding;
use privet_dp::account::{Event, LossShape, Sign};
use privet_optim::loss::Loss;

/// Public facts that every rule may read.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// n, declared.
    pub rows: u64,
    /// p, bias included.
    pub columns: usize,
    /// Linear problems to solve: 1, or one per class if there are more than two.
    pub problems: u32,
    /// R ≥ ‖x‖₂, bias included.
    pub radius: f64,
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The privacy unit.
    pub unit: Unit,
    /// The loss.
    pub loss: Loss,
    /// What privacy needs to know of it.
    pub shape: LossShape,
}

impl Facts {
    /// Reads them off a request.
    pub fn of(request: &Request) -> Result<Self, LearnError> {
        ROWS.check(request.rows as f64)?;
        request.loss.check()?;
        let encoding = Encoding::new(&request.schema);
        let classes = encoding.classes();
        let margin = request.loss.needs_classes();
        match classes {
            None if margin => {
                return Err(LearnError::LossAndTarget {
                    loss: request.loss.name(),
                    accepted: "a numeric target needs the squared loss",
                });
            }
            Some(0 | 1) => {
                return Err(LearnError::LossAndTarget {
                    loss: request.loss.name(),
                    accepted: "a target of at least two classes",
                });
            }
            _ => {}
        }
        let unit = request.schema.unit();
        Ok(Self {
            rows: request.rows,
            columns: encoding.width(),
            problems: classes.filter(|count| *count > 2).map_or(1, |count| count as u32),
            radius: encoding.l2_radius(),
            neighbours: request.neighbours,
            unit,
            loss: request.loss,
            shape: LossShape {
                lipschitz: request.loss.lipschitz(),
                curvature: request.loss.curvature(),
                sign: if request.loss.keeps_sign() { Sign::Fixed } else { Sign::Any },
                logistic: request.loss.logistic_like(),
            },
        })
    }

    /// L·R: the largest gradient of one record.
    pub fn gradient_bound(&self) -> f64 {
        self.shape.lipschitz * self.radius
    }

    /// How far Σ∇ℓ can move between neighbours: 2kLR or kLR.
    pub fn gradient_shift(&self) -> f64 {
        let sides = match self.neighbours {
            Neighbours::ReplaceOne => 2.0,
            Neighbours::AddRemove => 1.0,
        };
        sides * f64::from(self.unit.records()) * self.gradient_bound()
    }

    /// γ of the sum form for the default γ = 1/n² of the mean form.
    pub fn default_tolerance(&self) -> f64 {
        1.0 / self.rows as f64
    }

    /// The event of solving every problem once.
    pub fn repeated(&self, event: Event) -> Event {
        match self.problems {
            1 => event,
            count => Event::Repeat { count, event: Box::new(event) },
        }
    }
}
