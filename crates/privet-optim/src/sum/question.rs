//! The closed lists of what records can be asked, as plain data.
//!
//! [`Exact`] sums are released (under noise): integers, the same in any order, from any back end, bit for
//! bit. [`Inner`] sums are what solvers ask on their way: floating point, the same bits from any back end too,
//! because the cut into pieces and the order of merging are part of the contract ([`super::pieces`]).
//! Neither is a closure, so both can be put to rows in memory, on disk or on other machines.

use super::{
    Carried, Count, Described, ExactCurvature, ExactGradient, ExactGram, ExactSum, Gradient,
    GradientSum, Hessian, HessianDiagonal, HessianVector, LossAndGradient, Occupied,
    PreciseGradient, PreciseSum, Records, RecordsError, SoftmaxGradient, Statistic,
};
use privet_data::Target;
use serde::{Deserialize, Serialize};

/// Which linear problem of a table is meant: how its target becomes labels in [−1, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Labels {
    /// Numbers as they are; two classes as −1 and 1 times how much each counts (empty: all the same).
    Signed {
        /// Of the classes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// 1 for one class and −1 for the rest, times how much each class counts.
    AgainstRest {
        /// Which class.
        class: u32,
        /// Of the classes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// 1 − 1/K for one class of K and −1/K for the rest.
    Centred {
        /// Which class.
        class: u32,
        /// K.
        classes: u32,
    },
    /// 1 for every row.
    Same,
    /// The class's number over K ([`SoftmaxGradient::label`]).
    Joint {
        /// K.
        classes: usize,
    },
}

impl Labels {
    /// The label of each row; `None` where the target is not of that kind.
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

macro_rules! questions {
    ($(#[$doc:meta])* $list:ident, $sums:ident, $ask:ident:
     $($(#[$each:meta])* $kind:ident($statistic:ty) => $variant:ident;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "question", rename_all = "kebab-case")]
        pub enum $list {
            $($(#[$each])* $kind($statistic),)*
        }

        $(impl Asked for $statistic {
            fn asked<R: Records + ?Sized>(&self, records: &R) -> Result<Self::Sum, RecordsError> {
                match records.$ask(&$list::$kind(self.clone()))? {
                    $sums::$variant(sum) => Ok(sum),
                    #[allow(unreachable_patterns)]
                    _ => Err(RecordsError::BackEnd("an answer of another kind".into())),
                }
            }
        })*

        impl $list {
            /// About how many bytes a partial sum takes ([`Statistic::bytes`]).
            pub fn bytes(&self, columns: usize) -> usize {
                match self {
                    $(Self::$kind(statistic) => statistic.bytes(columns),)*
                }
            }

            /// Hands the question, with its own type, to `answer`.
            pub(super) fn put<A: Answering>(&self, answer: &A) -> Result<$sums, RecordsError> {
                Ok(match self {
                    $(Self::$kind(statistic) => $sums::$variant(answer.answer(statistic)?),)*
                })
            }
        }
    };
}

/// A statistic that is on one of the lists.
pub trait Asked: Statistic {
    /// Puts it to records.
    fn asked<R: Records + ?Sized>(&self, records: &R) -> Result<Self::Sum, RecordsError>;
}

/// A back end's way of answering a statistic.
pub(super) trait Answering {
    /// The sum over all rows.
    fn answer<S: Statistic>(&self, statistic: &S) -> Result<S::Sum, RecordsError>;
}

/// The answer to an [`Exact`] question.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExactAnswer {
    /// Integers, in the statistic's unit.
    Units(ExactSum),
    /// A number of records.
    Count(u64),
}

/// The answer to an [`Inner`] question.
pub enum InnerAnswer {
    /// Loss and gradient.
    Gradient(GradientSum),
    /// Gradient in double-double.
    Precise(PreciseSum),
    /// Numbers.
    Vector(Vec<f64>),
}

questions! {
    /// Sums that are to be released.
    Exact, ExactAnswer, exact:
    /// Σ trunc(ℓ′)·x.
    Gradient(ExactGradient) => Units;
    /// Σ (π − e_y)xᵀ.
    Softmax(SoftmaxGradient) => Units;
    /// Σxxᵀ.
    Gram(ExactGram) => Units;
    /// Σℓ″xxᵀ.
    Curvature(ExactCurvature) => Units;
    /// How many records are in each cell.
    Occupied(Occupied) => Units;
    /// What a table looks like.
    Described(Described) => Units;
    /// How many records there are.
    Count(Count) => Count;
}

questions! {
    /// What solvers ask.
    Inner, InnerAnswer, inner:
    /// Σℓ and Σ∇ℓ.
    LossAndGradient(LossAndGradient) => Gradient;
    /// Σ∇ℓ.
    Gradient(Gradient) => Gradient;
    /// Σ∇ℓ to 106 bits.
    PreciseGradient(PreciseGradient) => Precise;
    /// Σℓ″xxᵀ.
    Hessian(Hessian) => Vector;
    /// Its diagonal.
    HessianDiagonal(HessianDiagonal) => Vector;
    /// Σℓ″⟨x,v⟩x.
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
    fn sum<S: Asked>(&self, statistic: &S) -> Result<S::Sum, RecordsError> {
        statistic.asked(self)
    }
}

impl<R: Records + ?Sized> Sums for R {}
