//! Public facts of a request, which every rule may read.

use crate::linear::{Erm, Method};
use crate::release::request::ROWS;
use crate::release::task::Task;
use crate::{LearnError, Request};
use privet_core::{Neighbours, Relation, Unit};
use privet_data::encode::Encoding;
use privet_data::schema::{Norm, TargetKind};
use privet_dp::account::{Event, LossShape, Sign};
use privet_optim::loss::Loss;

/// Public facts of a request, which every rule may read.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The declared number of rows n.
    pub rows: u64,
    /// The number of encoded columns p, bias included.
    pub columns: usize,
    /// The number of columns m before any number is expanded in a basis
    /// ([`Encoding::columns_before_unfolding`]).
    pub sources: usize,
    /// Linear problems to solve: 1, or one per class if there are more than two.
    pub problems: u32,
    /// Bound R on the norm ‖x‖₂ of a row, bias included.
    pub radius: f64,
    /// Bound on every entry |xⱼ|.
    pub entry_bound: f64,
    /// Expected size of an entry: R spread evenly over the entries of a row.
    pub entry_scale: f64,
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The privacy unit.
    pub unit: Unit,
    /// The loss.
    pub loss: Loss,
    /// The loss's constants that the accountant needs.
    pub shape: LossShape,
    /// The weight of each class, the largest 1; empty if all are equal.
    pub weights: Vec<f64>,
    /// True if the last column is the constant one.
    pub bias: bool,
    /// The sizes of groups of encoded columns, in order ([`Encoding::groups`]).
    pub groups: Vec<u32>,
    /// Expected number of nonzero entries of a row ([`Encoding::expected_entries`]).
    pub entries: f64,
    /// True if rows are those of images ([`privet_data::image`]).
    pub image: bool,
    /// True if rows keep norms of their own: none is scaled up, and none can be clipped.
    pub whole: bool,
    /// The range of each entry of a row, where rows are whole and have columns ([`Encoding::ranges`]);
    /// else empty.
    pub ranges: Vec<(f64, f64)>,
    /// The factor of the released noise over the noise charged: 1, or √(k/t) among parties whose servers
    /// each draw their own ([`privet_dp::mechanism::shares`]).
    pub widening: f64,
    /// True if several parties hold the rows.
    pub shared: bool,
}

/// Largest number of rows for which `f64` proves γ = 1/n of the sum form.
const MOST_PROVED_ROWS: u64 = 1 << 20;
/// The tolerance γ that a pass in `f64` proves, per row and per LR.
const PROVED: f64 = 1.0 / (1_u64 << 38) as f64;

/// True if a Poisson loss was made for the bounds of the target, to which its rate is relative.
fn bounds_fit(request: &Request) -> bool {
    match (request.task.loss, &request.schema.target().kind) {
        (Loss::Poisson { least, .. }, TargetKind::Number { low, high }) => {
            *low >= 0.0 && least == low / high
        }
        _ => true,
    }
}

impl Facts {
    /// Facts of the rows and the target alone, for a family that fits no linear model.
    pub(crate) fn of_rows<T: Task>(request: &Request<T>) -> Result<Self, LearnError> {
        let loss = match request.schema.classes() {
            Some(_) => Loss::Logistic,
            None => Loss::SQUARED,
        };
        Self::with_loss(request, loss)
    }

    /// The same with this loss.
    pub(crate) fn with_loss<T: Task>(request: &Request<T>, loss: Loss) -> Result<Self, LearnError> {
        // The learner does not matter: facts are those of rows and target.
        let task = Erm { loss, method: Method::Auto(Default::default()) };
        Self::of(&Request::new(request.schema.clone(), request.rows, request.neighbours, task))
    }

    /// Derives the facts of a request, and refuses a loss that does not fit the target.
    pub fn of(request: &Request) -> Result<Self, LearnError> {
        ROWS.check(request.rows as f64)?;
        request.task.loss.check()?;
        let encoding = Encoding::new(&request.schema);
        let classes = encoding.classes();
        let margin = request.task.loss.needs_classes();
        let refused = |accepted| {
            let loss = request.task.loss.name();
            Err(LearnError::LossAndTarget { loss, accepted })
        };
        match classes {
            None if margin => {
                return refused("a numeric target needs loss squared, huber, quantile or poisson");
            }
            Some(_) if request.task.loss.needs_number() => {
                return refused("it needs a numeric target with public bounds");
            }
            None if !bounds_fit(request) => {
                return refused(
                    "poisson needs a target whose lower bound is at least 0, and least = low / high \
                     of those bounds",
                );
            }
            Some(0 | 1) => return refused("a target of at least two classes"),
            Some(_) if !margin && request.schema.class_weights().is_some() => {
                return refused("class weights need loss logistic or huber-svm");
            }
            _ => {}
        }
        let unit = request.schema.unit();
        let weights = request.schema.class_weights().unwrap_or_default().to_vec();
        Ok(Self {
            rows: request.rows,
            columns: encoding.width(),
            sources: encoding.columns_before_unfolding(),
            problems: classes.filter(|count| *count > 2).map_or(1, |count| count as u32),
            radius: encoding.l2_radius(),
            entry_bound: encoding.linf_radius(),
            entry_scale: match encoding.clip().norm() {
                Norm::L2 => encoding.l2_radius() / encoding.expected_entries().sqrt(),
                Norm::Linf => encoding.linf_radius(),
            },
            neighbours: request.neighbours,
            unit,
            loss: request.task.loss,
            shape: LossShape {
                lipschitz: request.task.loss.lipschitz(),
                curvature: request.task.loss.curvature(),
                sign: if request.task.loss.keeps_sign() { Sign::Fixed } else { Sign::Any },
                // With class weights it is no longer exactly the logistic loss.
                logistic: request.task.loss.logistic_like() && weights.is_empty(),
            },
            weights,
            bias: encoding.has_bias(),
            groups: encoding.groups(),
            entries: encoding.expected_entries(),
            image: request.schema.image().is_some(),
            whole: encoding.is_whole(),
            ranges: match encoding.is_whole() && encoding.features() == 0 {
                true => encoding.ranges(),
                false => Vec::new(),
            },
            widening: request.among.map_or(1.0, |among| among.widening()),
            shared: request.among.is_some(),
        })
    }

    /// The neighbouring relation and the unit.
    pub fn relation(&self) -> Relation {
        Relation::new(self.neighbours, self.unit)
    }

    /// The largest norm of a record's gradient: L·R.
    pub fn gradient_bound(&self) -> f64 {
        self.shape.lipschitz * self.radius
    }

    /// The ℓ2 sensitivity of Σ∇ℓ: 2kLR or kLR.
    pub fn gradient_shift(&self) -> f64 {
        self.relation().shift(self.gradient_bound())
    }

    /// The tolerance γ of the sum form for the default γ = 1/n² of the mean form.
    pub fn default_tolerance(&self) -> f64 {
        1.0 / self.rows as f64
    }

    /// The tolerance γ of the sum form that a pass in `f64` proves with a margin, beyond 2²⁰ rows; 0 up
    /// to them, where 1/n is coarse enough.
    pub(crate) fn provable_tolerance(&self) -> f64 {
        self.gradient_bound() * self.rows.saturating_sub(MOST_PROVED_ROWS) as f64 * PROVED
    }

    /// The event of solving every problem once.
    pub fn repeated(&self, event: Event) -> Event {
        repeated(self.problems, event)
    }
}

/// The event of solving this many problems, each once.
pub(super) fn repeated(problems: u32, event: Event) -> Event {
    match problems {
        1 => event,
        count => Event::Repeat { count, event: Box::new(event) },
    }
}
