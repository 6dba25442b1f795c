//! The closed lists of queries of records, as plain data.
//!
//! [`Exact`] sums are released (with noise): integers, the same in any order, from any back end, bit
//! for bit. [`Inner`] sums are those that solvers need: floating point, also with the same bits from
//! any back end, because the cut into pieces and the order of merging are part of the contract
//! ([`super::pieces`]). Neither is a closure, so both work for rows in memory, on disk or on other
//! machines.

use super::{
    Count, Described, ExactCurvature, ExactGradient, ExactGram, ExactSum, Gradient, GradientSum,
    Hessian, HessianDiagonal, HessianVector, LossAndGradient, Occupied, PreciseGradient,
    PreciseSum, Records, RecordsError, SoftmaxGradient, Statistic, Transferable,
};
use privet_data::Target;
use serde::{Deserialize, Serialize};

/// A linear problem of a table: the map from its target to labels in [−1, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Labels {
    /// Numbers as they are; two classes as −1 and 1 times the class's weight (empty: all 1).
    Signed {
        /// Weights of the classes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// 1 for one class and −1 for the rest, times the class's weight.
    AgainstRest {
        /// The class.
        class: u32,
        /// Weights of the classes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// 1 − 1/K for one class of K and −1/K for the rest.
    Centred {
        /// The class.
        class: u32,
        /// The number of classes K.
        classes: u32,
    },
    /// 1 for every row.
    Same,
    /// The class's number over K ([`SoftmaxGradient::label`]).
    Joint {
        /// The number of classes K.
        classes: usize,
    },
}

impl Labels {
    /// The label of each row; `None` if the target is of another kind.
    pub fn of(&self, target: &Target) -> Option<Vec<f64>> {
        let weighted = |mut labels: Vec<f64>, weights: &[f64]| {
            if let Target::Class { codes, .. } = target {
                for (label, code) in labels.iter_mut().zip(codes) {
                    *label *= weights.get(*code as usize).unwrap_or(&1.0);
                }
            }
            labels
        };
        match self {
            Self::Signed { weights } => Some(weighted(target.signed()?, weights)),
            Self::AgainstRest { class, weights } => {
                Some(weighted(target.against_rest(*class)?, weights))
            }
            Self::Centred { class, classes } => {
                let share = 1.0 / f64::from(*classes);
                let mut labels = target.against_rest(*class)?;
                labels.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 - share } else { -share });
                Some(labels)
            }
            Self::Same => Some(vec![1.0; target.len()]),
            Self::Joint { classes } => match target {
                Target::Class { codes, .. } => {
                    Some(codes.iter().map(|code| SoftmaxGradient::label(*code, *classes)).collect())
                }
                Target::Number(_) => None,
            },
        }
    }
}

macro_rules! query_list {
    ($(#[$doc:meta])* $list:ident, $sums:ident, $ask:ident:
     $($(#[$each:meta])* $kind:ident($statistic:ty) => $variant:ident;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "question", rename_all = "kebab-case")]
        pub enum $list {
            $($(#[$each])* $kind($statistic),)*
        }

        $(impl Summable for $statistic {
            fn sum_over<R: Records + ?Sized>(&self, records: &R) -> Result<Self::Sum, RecordsError> {
                match records.$ask(&$list::$kind(self.clone()))? {
                    $sums::$variant(sum) => Ok(sum),
                    #[allow(unreachable_patterns)]
                    _ => Err(RecordsError::BackEnd("an answer of another kind".into())),
                }
            }
        })*

        impl $list {
            /// The approximate size in bytes of a partial sum ([`Statistic::bytes`]).
            pub fn bytes(&self, columns: usize) -> usize {
                match self {
                    $(Self::$kind(statistic) => statistic.bytes(columns),)*
                }
            }

            /// Passes the statistic, with its own type, to `answer`.
            pub(super) fn sum_with<A: SumBackEnd>(&self, answer: &A) -> Result<$sums, RecordsError> {
                Ok(match self {
                    $(Self::$kind(statistic) => $sums::$variant(answer.answer(statistic)?),)*
                })
            }
        }
    };
}

/// A statistic that is on one of the lists.
pub trait Summable: Statistic {
    /// Returns its sum over the records.
    fn sum_over<R: Records + ?Sized>(&self, records: &R) -> Result<Self::Sum, RecordsError>;
}

/// A back end's implementation for any statistic.
pub(super) trait SumBackEnd {
    /// The sum over all rows.
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError>;
}

/// The answer to an [`Exact`] query.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExactAnswer {
    /// Integers, in the statistic's unit.
    Units(ExactSum),
    /// A number of records.
    Count(u64),
}

/// The answer to an [`Inner`] query.
pub enum InnerAnswer {
    /// Loss and gradient.
    Gradient(GradientSum),
    /// Gradient in double-double.
    Precise(PreciseSum),
    /// A vector of numbers.
    Vector(Vec<f64>),
}

query_list! {
    /// Sums that are released.
    Exact, ExactAnswer, exact:
    /// Gradient, Σ trunc(ℓ′)·x.
    Gradient(ExactGradient) => Units;
    /// Gradient of the joint logistic loss, Σ (π − e_y)xᵀ.
    Softmax(SoftmaxGradient) => Units;
    /// Second moments, Σxxᵀ.
    Gram(ExactGram) => Units;
    /// Curvature, Σℓ″xxᵀ.
    Curvature(ExactCurvature) => Units;
    /// The number of records in each cell.
    Occupied(Occupied) => Units;
    /// The description of a table.
    Described(Described) => Units;
    /// The number of records.
    Count(Count) => Count;
}

query_list! {
    /// Sums that solvers need.
    Inner, InnerAnswer, inner:
    /// Loss and gradient, Σℓ and Σ∇ℓ.
    LossAndGradient(LossAndGradient) => Gradient;
    /// Gradient, Σ∇ℓ.
    Gradient(Gradient) => Gradient;
    /// Gradient Σ∇ℓ to 106 bits.
    PreciseGradient(PreciseGradient) => Precise;
    /// Hessian, Σℓ″xxᵀ.
    Hessian(Hessian) => Vector;
    /// The Hessian's diagonal.
    HessianDiagonal(HessianDiagonal) => Vector;
    /// The Hessian times a vector, Σℓ″⟨x,v⟩x.
    HessianVector(HessianVector) => Vector;
}

impl ExactAnswer {
    /// The sum alone, as bytes.
    pub(super) fn sum_bytes(&self) -> Vec<u8> {
        match self {
            Self::Units(sum) => sum.bytes(),
            Self::Count(count) => count.bytes(),
        }
    }
}

/// Sums of a statistic on the lists, from any back end.
pub trait Sums: Records {
    /// The sum over all rows.
    fn sum<S: Summable>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        statistic.sum_over(self)
    }
}

impl<R: Records + ?Sized> Sums for R {}
