//! What can be set of a training, with what is taken where nothing is said.
//!
//! One list for all methods, of which each has some ([`super::method`]). Whatever is left open is chosen
//! from public facts alone and written into the settled request.

use super::update::Decay;
use crate::erm::sgd::Sampling;
use crate::request::STEPS;
use crate::settings::SettingInfo;
use privet_core::Range;
use serde::{Deserialize, Serialize};

/// Limits on the rate.
pub const RATE: Range = Range::open("rate", 0.0, 1e6);
/// Limits on what one record's gradient is clipped to.
pub const CLIP: Range = Range::open("clip", 1e-6, 1e6);
/// Limits on what the difference of one record's two gradients is clipped to.
pub const CLIP_DIFFERENCE: Range = Range::open("clip_difference", 1e-9, 1e6);
/// Limits on what one record's loss is clipped to, where losses are compared.
pub const CLIP_LOSS: Range = Range::open("clip_loss", 1e-6, 1e6);
/// Limits on the longest step that is tried at first.
pub const LONGEST: Range = Range::open("longest", 1e-9, 1e6);
/// Limits on the expected records of a sample.
pub const BATCH: Range = Range::from("batch", 1.0, 1_000_001.0);
/// Limits on those of the first step.
pub const FIRST_BATCH: Range = Range::from("first_batch", 1.0, 1_000_001.0);
/// Limits on the momentum.
pub const MOMENTUM: Range = Range::from("momentum", 0.0, 1.0);
/// Limits on γ of the recursion.
pub const GAMMA: Range = Range::open("gamma", 0.0, 1.0);
/// Limits on L.
pub const SMOOTHNESS: Range = Range::open("smoothness", 0.0, 1e9);
/// Limits on n₀.
pub const N0: Range = Range::from("n0", 1.0, 1e9);
/// Limits on σ of the smoothing.
pub const SMOOTHING: Range = Range::from("smoothing", 0.0, 1e6);
/// Limits on the share of the last points that are averaged.
pub const AVERAGED: Range = Range::from("averaged", 0.0, 1.0);
/// Limits on λ of (λ/2)‖θ‖² beside the mean loss.
pub const WEIGHT_DECAY: Range = Range::from("weight_decay", 0.0, 1e3);
/// Limits on λ of λ·Σθ²/(1 + θ²) beside the mean loss.
pub const NONCONVEX: Range = Range::from("nonconvex", 0.0, 1e3);
/// Limits on how fast first moments are forgotten.
pub const BETA1: Range = Range::from("beta1", 0.0, 1.0);
/// Limits on how fast second moments are.
pub const BETA2: Range = Range::from("beta2", 0.0, 1.0);

/// What smoothing runs over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Smoothed {
    /// Each tensor by itself.
    #[default]
    Tensors,
    /// All trained weights as one vector.
    Whole,
}

/// How gradients are added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sums {
    /// In floating point: faster, and proved in real arithmetic. What rounding adds is not charged, and grows with
    /// the number of records.
    Float,
    /// In whole numbers: proved for the program as executed.
    #[default]
    Exact,
}

/// The settings of a training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// b.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// η, of the mean gradient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    /// How samples are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// How gradients are added up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<Sums>,
    /// How the rate falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decay: Option<Decay>,
    /// Share of the last points that are averaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<f64>,
    /// λ of the ridge beside the mean loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// λ of the nonconvex penalty beside the mean loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonconvex: Option<f64>,
    /// β₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta1: Option<f64>,
    /// β₂.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta2: Option<f64>,
    /// σ of A_σ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<f64>,
    /// What it runs over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothed: Option<Smoothed>,
    /// C₂.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_difference: Option<f64>,
    /// γ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// b₀.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_batch: Option<u64>,
    /// L.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothness: Option<f64>,
    /// n₀.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n0: Option<f64>,
    /// What one record's loss is clipped to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_loss: Option<f64>,
    /// The longest step that is tried at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<f64>,
    /// Weight and decay of each buffer of correlated noise; searched for unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<[f64; 2]>,
}

impl Settings {
    /// C₂: a tenth of C₁ unless given.
    pub(super) fn usual_clip_difference(&self, clip: f64) -> f64 {
        self.clip_difference.unwrap_or(0.1 * clip)
    }
}

pub(super) const STEPS_SETTING: SettingInfo =
    SettingInfo::whole(STEPS, "noised steps; 30 passes over the rows unless given");
pub(super) const BATCH_SETTING: SettingInfo = SettingInfo::whole(
    BATCH,
    "expected rows of a sample; a fiftieth of the rows, 16 to 4,096, unless given",
)
.also("below the number of rows");
pub(super) const RATE_SETTING: SettingInfo =
    SettingInfo::number(RATE, "rate of the mean gradient; chosen from the clip unless given");
pub(super) const CLIP_SETTING: SettingInfo =
    SettingInfo::number(CLIP, "length that one record's gradient is clipped to; 1 unless given");
pub(super) const MOMENTUM_SETTING: SettingInfo =
    SettingInfo::number(MOMENTUM, "share of the last direction that goes on; 0 unless given");
pub(super) const SAMPLING_SETTING: SettingInfo = SettingInfo::words(
    "sampling",
    "poisson, or under replace-one without-replacement",
    "how samples are drawn; poisson unless given",
);
pub(super) const SUMS_SETTING: SettingInfo = SettingInfo::words(
    "sums",
    "exact or float",
    "how gradients are added up: in whole numbers, for which the guarantee holds for the program as executed, or in \
     floating point, whose rounding is not charged; exact unless given",
);
pub(super) const DECAY_SETTING: SettingInfo =
    SettingInfo::words("decay", Decay::WORDS, "how the rate falls; constant unless given");
pub(super) const AVERAGED_SETTING: SettingInfo = SettingInfo::number(
    AVERAGED,
    "share of the last points whose mean is released; 0.1 unless given, 0 for the last point alone",
);
pub(super) const WEIGHT_DECAY_SETTING: SettingInfo =
    SettingInfo::number(WEIGHT_DECAY, "λ of λ/2·‖θ‖² beside the mean loss; none unless given");
pub(super) const NONCONVEX_SETTING: SettingInfo =
    SettingInfo::number(NONCONVEX, "λ of λ·Σθ²/(1 + θ²) beside the mean loss; none unless given");
pub(super) const BETA1_SETTING: SettingInfo =
    SettingInfo::number(BETA1, "share of the first moments that goes on; 0.9 unless given");
pub(super) const BETA2_SETTING: SettingInfo =
    SettingInfo::number(BETA2, "share of the second moments that goes on; 0.999 unless given");
pub(super) const SMOOTHING_SETTING: SettingInfo =
    SettingInfo::number(SMOOTHING, "σ of the Laplacian smoothing; 1 unless given");
pub(super) const SMOOTHED_SETTING: SettingInfo = SettingInfo::words(
    "smoothed",
    "tensors or whole",
    "whether each tensor is smoothed by itself; tensors unless given",
);
pub(super) const CLIP_DIFFERENCE_SETTING: SettingInfo = SettingInfo::number(
    CLIP_DIFFERENCE,
    "length that the difference of one record's gradients at two points is clipped to; a tenth of the clip unless given",
);
pub(super) const CLIP_LOSS_SETTING: SettingInfo = SettingInfo::number(
    CLIP_LOSS,
    "what one record's loss is clipped to where step lengths are compared; 1 unless given",
);
pub(super) const LONGEST_SETTING: SettingInfo = SettingInfo::number(
    LONGEST,
    "length of the longest step that is tried at first; it follows those taken; 0.3 unless given",
);
pub(super) const GAMMA_SETTING: SettingInfo = SettingInfo::number(
    GAMMA,
    "share of the gradient itself in the recursion; clip_difference over clip, at most 0.99, unless given",
);
pub(super) const FIRST_BATCH_SETTING: SettingInfo = SettingInfo::whole(
    FIRST_BATCH,
    "expected rows of the first sample; that of the others unless given",
)
.also("below the number of rows");
pub(super) const SMOOTHNESS_SETTING: SettingInfo = SettingInfo::number(
    SMOOTHNESS,
    "L: no step is longer than clip_difference / L then, and no rate above 1 / (2·n0·L), as in Algorithm 4; no limits \
     unless given",
);
pub(super) const N0_SETTING: SettingInfo =
    SettingInfo::number(N0, "n₀ of Algorithm 4, beside smoothness; 1 unless given");
