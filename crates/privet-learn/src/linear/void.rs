//! Certificates of linear models that cannot be relied on ([`Task::VOID`](crate::Task::VOID)).

use super::Erm;
use super::learners::Method;
use super::model::Model;
use crate::release::support::Support;
use crate::release::void::{Concern, Finding};
use privet_core::Unit;
use privet_dp::account::{Cost, Event, OutputNoise};
use privet_dp::gate::Version;
use privet_dp::mechanism::released_step;

/// Refused by `verify`.
pub(super) const VOID: &[Concern<Erm>] = &[
    Concern {
        finding: Finding {
            name: "VOID-1",
            before: Version(0, 1, 1),
            which: "method `linear-rotated`",
            why: "the minimiser was released bit for bit, and its last bits tell neighbouring tables apart",
        },
        of: |model| matches!(model.request().task.method, Method::LinearRotated(_)),
    },
    Concern {
        finding: Finding {
            name: "VOID-2",
            before: Version(0, 1, 1),
            which: "methods `objective` and `linear`",
            why: "the noise inside the objective was drawn on too coarse a grid for what was released: a small \
                  epsilon is exceeded",
        },
        of: |model| matches!(model.request().task.method, Method::Objective(_) | Method::Linear(_)),
    },
    Concern {
        finding: Finding {
            name: "VOID-3",
            before: Version(0, 1, 1),
            which: "methods `output` and `amp` with delta = 0, where weights are not rounded to a grid",
            why: "a build from before such releases were rounded: the last bits of the weights tell \
                  neighbouring tables apart",
        },
        of: not_rounded,
    },
    // NEXT ENTRY HERE, and its line in SECURITY.md.
];

/// Noted by `verify`: what a certificate alone cannot tell.
pub(super) const DOUBTFUL: &[Concern<Erm>] = &[Concern {
    finding: Finding {
        name: "DOUBT-1",
        before: Version(0, 1, 1),
        which: "schemas with a `[unit]`",
        why: "it holds only if the table named its units by text or by whole numbers below 2^53: larger \
                  numbers in Parquet files, and fractions or large numbers from Python, could be taken for one unit",
    },
    of: |model| model.request().schema.unit() != Unit::Record,
}];

/// Whether ℓ2-Laplace noise was added last and the sums were left as they were.
fn not_rounded(model: &Model) -> bool {
    let cost = model.certificate().events.as_ref().and_then(Event::single_cost);
    let noise_scale = match cost {
        Some(Cost::L2Laplace { noise_scale, .. }) => noise_scale,
        Some(Cost::ApproximateMinima {
            output: OutputNoise::L2Laplace { noise_scale }, ..
        }) => noise_scale,
        _ => return false,
    };
    let grid = Support::Grid(released_step(*noise_scale));
    grid.refuses(&model.weights().weights).is_some()
}
