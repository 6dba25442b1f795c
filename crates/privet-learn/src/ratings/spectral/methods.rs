//! The four methods: their settings and default rules.

use super::procedure::{Sizes, SpectralMethod};
use crate::LearnError;
use crate::ratings::Shape;
use crate::ratings::execution::MethodPlan;
use crate::ratings::learners::{Decision, Method, RATINGS, Settling, USERS};
use crate::release::registry::Info;
use crate::release::settings::{SettingInfo, settings};
use privet_core::Range;

/// Limits on the number of rounds, T.
pub(super) const ROUNDS: Range = Range::from("rounds", 1.0, 201.0);
/// Limits on the number of Oja steps of each direction, Γ.
const STEPS: Range = Range::from("steps", 1.0, 201.0);
/// Limits on the dimensions of the subspace.
pub(super) const RANK: Range = Range::from("rank", 1.0, 65.0);
/// Limits on the nuclear norm, k.
pub(super) const NUCLEAR: Range = Range::open("nuclear", 0.0, 1e12);
/// Limits on the clip of a row, Δ.
const CLIP: Range = Range::open("clip", 1e-3, 1e6);
/// Limits on the step size η.
pub(super) const RATE: Range = Range::open("rate", 0.0, 1.000_001);
/// Upper limit on the number of items if whole rows are multiplied.
const MOST_WHOLE: usize = 2048;
/// Upper limit on the number of items if their covariance is held in memory.
const MOST_ITEMS: usize = 16_384;

const ROUNDS_INFO: SettingInfo =
    SettingInfo::integer(ROUNDS, "directions, one a round; 10 unless given");
const NUCLEAR_INFO: SettingInfo = SettingInfo::number(
    NUCLEAR,
    "bound on the nuclear norm, in quarters of the bounds' distance; √(users × items)/4 unless given",
);
const CLIP_INFO: SettingInfo = SettingInfo::number(
    CLIP,
    "radius that a user's row around its mean is scaled into; the root of the cap on ratings, at most √80, unless given",
);

settings! {
    /// Settings of `frank-wolfe`.
    pub struct FrankWolfe {
        rounds: u32 = ROUNDS_INFO;
        nuclear: f64 = NUCLEAR_INFO;
        clip: f64 = CLIP_INFO;
    }
}

settings! {
    /// Settings of `oja`.
    pub struct Oja {
        rounds: u32 = ROUNDS_INFO;
        steps: u32 [STEPS] "noised steps to each direction; 5 unless given";
        nuclear: f64 = NUCLEAR_INFO;
        clip: f64 = CLIP_INFO;
    }
}

settings! {
    /// Settings of `svd`.
    pub struct Svd {
        rank: u32 [RANK] "dimensions of the subspace; 3 unless given";
        clip: f64 = CLIP_INFO;
    }
}

settings! {
    /// Settings of `pgd`.
    pub struct Pgd {
        rounds: u32 = ROUNDS_INFO;
        rank: u32 [RANK] "the most directions kept of each projection; 10 unless given";
        rate: f64 [RATE] "the step towards a user's ratings; 0.5 unless given";
        nuclear: f64 = NUCLEAR_INFO;
        clip: f64 = CLIP_INFO;
    }
}

/// Calibrates the noise of open sizes.
fn calibrate_sizes(
    open: Sizes,
    settling: &Settling<'_>,
    settled: impl FnOnce(&Sizes) -> Method,
) -> Result<Decision, LearnError> {
    if !matches!(open.way, SpectralMethod::Oja { .. }) && open.items > MOST_ITEMS {
        return Err(LearnError::NotCovered {
            what: format!("the covariance of {} items takes too much memory", open.items),
            instead: "list at most 16384 items, or take method oja or moments",
        });
    }
    let mu = settling.multiplier();
    let covariance = !matches!(open.way, SpectralMethod::Oja { .. });
    let floor = open.shift(covariance) * open.releases().sqrt() / mu;
    let at = |noise| Sizes { noise, ..open.clone() };
    let noise = settling.least_noise(floor, |noise| at(noise).events())?;
    let settled = settled(&open);
    Ok(Decision::new(at(noise), settling, settled))
}

fn clip(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    Ok(CLIP.check(given.unwrap_or(f64::from(shape.most.min(80)).sqrt()))?)
}

fn nuclear(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    let by_rule = 0.25 * (shape.users as f64 * shape.items as f64).sqrt();
    Ok(NUCLEAR.check(given.unwrap_or(by_rule))?)
}

/// Refuses too many items or directions: every user's whole row is multiplied.
pub(super) fn most_whole(rank: u32, shape: &Shape) -> Result<(), LearnError> {
    if rank as usize > shape.items || shape.items > MOST_WHOLE {
        return Err(LearnError::NotCovered {
            what: "whole rows of more than 2048 items, or more directions than items".into(),
            instead: "list at most 2048 items and give a rank up to their number, or take moments",
        });
    }
    Ok(())
}

/// Open sizes of a method that goes in rounds: what is given of clip, nuclear norm and rounds, or the
/// rule.
fn in_rounds(
    way: SpectralMethod,
    shape: &Shape,
    given: (Option<f64>, Option<f64>, Option<u32>),
) -> Result<Sizes, LearnError> {
    Ok(Sizes {
        way,
        items: shape.items,
        relation: shape.relation,
        clip: clip(given.0, shape)?,
        nuclear: nuclear(given.1, shape)?,
        rounds: ROUNDS.check(f64::from(given.2.unwrap_or(10)))? as u32,
        noise: 1.0,
        offsets: Vec::new(),
    })
}

/// Frank–Wolfe by the noisy covariance.
pub(in crate::ratings) mod frank_wolfe {
    use super::*;
    /// Registry entry of `frank-wolfe`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "frank-wolfe",
        summary: "Frank–Wolfe over the nuclear-norm ball, each direction from a noised covariance of the items",
        source: "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 13), constants put right",
        guarantee: USERS,
        settings: FrankWolfe::SETTINGS,
        noisy: "the covariance of residuals over the items",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &FrankWolfe,
    ) -> Result<Decision, LearnError> {
        let open =
            in_rounds(SpectralMethod::FrankWolfe, shape, (own.clip, own.nuclear, own.rounds))?;
        calibrate_sizes(open, settling, |sizes| {
            let (rounds, nuclear) = (Some(sizes.rounds), Some(sizes.nuclear));
            Method::FrankWolfe(FrankWolfe { rounds, nuclear, clip: Some(sizes.clip) })
        })
    }
}

/// Frank–Wolfe by Oja's rule.
pub(in crate::ratings) mod oja {
    use super::*;
    /// Registry entry of `oja`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "oja",
        summary: "the same, each direction by noised steps of Oja's rule: no matrix of items by items",
        source: "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 14), constants put right",
        guarantee: USERS,
        settings: Oja::SETTINGS,
        noisy: "products of the covariance with a vector",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Oja,
    ) -> Result<Decision, LearnError> {
        let steps = STEPS.check(f64::from(own.steps.unwrap_or(5)))? as u32;
        let open =
            in_rounds(SpectralMethod::Oja { steps }, shape, (own.clip, own.nuclear, own.rounds))?;
        calibrate_sizes(open, settling, |sizes| {
            let (rounds, nuclear) = (Some(sizes.rounds), Some(sizes.nuclear));
            Method::Oja(Oja { rounds, steps: Some(steps), nuclear, clip: Some(sizes.clip) })
        })
    }
}

/// Projected gradient descent.
pub(in crate::ratings) mod pgd {
    use super::*;
    /// Registry entry of `pgd`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "pgd",
        summary: "gradient steps of whole rows, projected to the nuclear-norm ball by a noised covariance",
        source: "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 16), constants and sign put right",
        guarantee: USERS,
        settings: Pgd::SETTINGS,
        noisy: "the covariance of rows over the items",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Pgd,
    ) -> Result<Decision, LearnError> {
        let most = 10.min(shape.items.max(1) as u32);
        let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
        let rate = RATE.check(own.rate.unwrap_or(0.5))?;
        most_whole(rank, shape)?;
        let open = in_rounds(
            SpectralMethod::Pgd { rank: rank as usize, rate },
            shape,
            (own.clip, own.nuclear, own.rounds),
        )?;
        calibrate_sizes(open, settling, |sizes| {
            Method::Pgd(Pgd {
                rounds: Some(sizes.rounds),
                rank: Some(rank),
                rate: Some(rate),
                nuclear: Some(sizes.nuclear),
                clip: Some(sizes.clip),
            })
        })
    }
}

/// One singular subspace.
pub(in crate::ratings) mod svd {
    use super::*;
    /// Registry entry of `svd`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "svd",
        summary: "rows projected to the leading subspace of one noised covariance of the items",
        source: "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 15), constants put right",
        guarantee: USERS,
        settings: Svd::SETTINGS,
        noisy: "the covariance of rows over the items",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Svd,
    ) -> Result<Decision, LearnError> {
        let rank = RANK.check(f64::from(own.rank.unwrap_or(3)))? as u32;
        if rank as usize > shape.items {
            return Err(LearnError::NotCovered {
                what: "the subspace has more dimensions than there are items".into(),
                instead: "give a rank up to the number of items",
            });
        }
        let open = Sizes {
            way: SpectralMethod::Svd { rank: rank as usize },
            items: shape.items,
            relation: shape.relation,
            clip: clip(own.clip, shape)?,
            nuclear: 0.0,
            rounds: 1,
            noise: 1.0,
            offsets: Vec::new(),
        };
        calibrate_sizes(open, settling, |sizes| {
            Method::Svd(Svd { rank: Some(rank), clip: Some(sizes.clip) })
        })
    }
}
