//! Settings of trainings, with their defaults.
//!
//! One list for all methods, of which each has some ([`super::learners`]). Settings left open are chosen
//! from public facts alone and written into the settled request.

use super::update::Decay;
use crate::linear::sgd::Sampling;
use crate::release::request::STEPS;
use crate::release::settings::{SettingInfo, settings};
use privet_core::Range;
use serde::{Deserialize, Serialize};

/// Limits on the step size of the mean gradient.
pub const RATE: Range = Range::open("rate", 0.0, 1e6);
/// Limits on the norm to which one record's gradient is clipped.
pub const CLIP: Range = Range::open("clip", 1e-6, 1e6);
/// Limits on the norm to which the difference of one record's two gradients is clipped.
pub const CLIP_DIFFERENCE: Range = Range::open("clip_difference", 1e-9, 1e6);
/// Limits on the bound to which one record's loss is clipped, where losses are compared.
pub const CLIP_LOSS: Range = Range::open("clip_loss", 1e-6, 1e6);
/// Limits on the norm of the longest step that is tried at first.
pub const LONGEST: Range = Range::open("longest", 1e-9, 1e6);
/// Limits on the expected number of records of a sample.
pub const BATCH: Range = Range::from("batch", 1.0, 1_000_001.0);
/// Limits on the expected number of records of the first sample.
pub const FIRST_BATCH: Range = Range::from("first_batch", 1.0, 1_000_001.0);
/// Limits on the momentum.
pub const MOMENTUM: Range = Range::from("momentum", 0.0, 1.0);
/// Limits on the weight γ of the gradient itself in the recursion.
pub const GAMMA: Range = Range::open("gamma", 0.0, 1.0);
/// Limits on the smoothness L.
pub const SMOOTHNESS: Range = Range::open("smoothness", 0.0, 1e9);
/// Limits on n₀ of Algorithm 4.
pub const N0: Range = Range::from("n0", 1.0, 1e9);
/// Limits on the strength σ of the smoothing.
pub const SMOOTHING: Range = Range::from("smoothing", 0.0, 1e6);
/// Limits on the fraction of the last points that are averaged.
pub const AVERAGED: Range = Range::from("averaged", 0.0, 1.0);
/// Limits on λ of (λ/2)‖θ‖² beside the mean loss.
pub const WEIGHT_DECAY: Range = Range::from("weight_decay", 0.0, 1e3);
/// Limits on λ of λ·Σθ²/(1 + θ²) beside the mean loss.
pub const NONCONVEX: Range = Range::from("nonconvex", 0.0, 1e3);
/// Limits on the decay of first moments.
pub const BETA1: Range = Range::from("beta1", 0.0, 1.0);
/// Limits on the decay of second moments.
pub const BETA2: Range = Range::from("beta2", 0.0, 1.0);

/// Vectors that are smoothed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Smoothed {
    /// Each tensor separately.
    #[default]
    Tensors,
    /// All trained weights as one vector.
    Whole,
}

/// Arithmetic of the sums of gradients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sums {
    /// Floating point: faster, and proved in real arithmetic. The effect of rounding is not charged, and
    /// grows with the number of records.
    Float,
    /// Integers: proved for the program as executed.
    #[default]
    Exact,
}

settings! {
    /// The settings of a training.
    pub struct Settings {
        steps: u32 [STEPS] "noised steps; 30 passes over the rows unless given";
        batch: u64 [BATCH]
            "expected rows of a sample; a fiftieth of the rows, 16 to 4,096, unless given",
            also "below the number of rows";
        rate: f64 [RATE] "rate of the mean gradient; chosen from the clip unless given";
        clip: f64 [CLIP] "length that one record's gradient is clipped to; 1 unless given";
        momentum: f64 [MOMENTUM] "share of the last direction that goes on; 0 unless given";
        sampling: Sampling ["poisson, or under replace-one without-replacement"]
            "how samples are drawn; poisson unless given";
        sums: Sums ["exact or float"]
            "how gradients are added up: in whole numbers, for which the guarantee holds for the \
             program as executed, or in floating point, whose rounding is not charged; exact unless \
             given";
        decay: Decay = SettingInfo::one_of_words("decay", Decay::WORDS, "how the rate falls; constant unless given");
        averaged: f64 [AVERAGED]
            "share of the last points whose mean is released; 0.1 unless given, 0 for the last point \
             alone";
        weight_decay: f64 [WEIGHT_DECAY] "λ of λ/2·‖θ‖² beside the mean loss; none unless given";
        nonconvex: f64 [NONCONVEX] "λ of λ·Σθ²/(1 + θ²) beside the mean loss; none unless given";
        beta1: f64 [BETA1] "share of the first moments that goes on; 0.9 unless given";
        beta2: f64 [BETA2] "share of the second moments that goes on; 0.999 unless given";
        smoothing: f64 [SMOOTHING] "σ of the Laplacian smoothing; 1 unless given";
        smoothed: Smoothed ["tensors or whole"]
            "whether each tensor is smoothed by itself; tensors unless given";
        clip_difference: f64 [CLIP_DIFFERENCE]
            "length that the difference of one record's gradients at two points is clipped to; a \
             tenth of the clip unless given";
        gamma: f64 [GAMMA]
            "share of the gradient itself in the recursion; clip_difference over clip, at most 0.99, \
             unless given";
        first_batch: u64 [FIRST_BATCH]
            "expected rows of the first sample; that of the others unless given",
            also "below the number of rows";
        smoothness: f64 [SMOOTHNESS]
            "L: no step is longer than clip_difference / L then, and no rate above 1 / (2·n0·L), as \
             in Algorithm 4; no limits unless given";
        n0: f64 [N0] "n₀ of Algorithm 4, beside smoothness; 1 unless given";
        clip_loss: f64 [CLIP_LOSS]
            "what one record's loss is clipped to where step lengths are compared; 1 unless given";
        longest: f64 [LONGEST]
            "length of the longest step that is tried at first; it follows those taken; 0.3 unless \
             given";
    }
    also {
        /// Weight and decay of each buffer of correlated noise; searched for unless given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub buffers: Vec<[f64; 2]>,
    }
}

impl Settings {
    /// Clip of differences, C₂: a tenth of the clip C₁ unless given.
    pub(super) fn usual_clip_difference(&self, clip: f64) -> f64 {
        self.clip_difference.unwrap_or(0.1 * clip)
    }
}
