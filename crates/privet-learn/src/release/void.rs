//! Certificates that cannot be relied on, though they are as their version wrote them.
//!
//! This list and the one in `SECURITY.md` say the same (`tests/all/void.rs` compares them). An entry names the
//! first version that it no longer concerns, and recognises a certificate by its own words.

use crate::linear::learners::Method;
use crate::linear::model::Model;
use crate::release::released::Released;
use crate::release::support::Support;
use crate::release::task::Task;
use crate::statistics::evaluate::Evaluate;
use crate::streams::Online;
use crate::tuning::Tune;
use privet_core::Unit;
use privet_dp::account::{Cost, Event, OutputNoise};
use privet_dp::gate::Version;
use privet_dp::mechanism::released_step;
use std::any::Any;

/// A kind of certificate that was found wanting.
#[derive(Debug, Clone, Copy)]
pub struct Finding {
    /// Its name in `SECURITY.md`.
    pub name: &'static str,
    /// Versions below this one are concerned.
    pub before: Version,
    /// Which of their certificates, in words.
    pub which: &'static str,
    /// What is wrong.
    pub why: &'static str,
    concerns: Concerns,
}

/// By what an entry recognises a certificate.
#[derive(Debug, Clone, Copy)]
enum Concerns {
    /// A linear model of this kind.
    Models(fn(&Model) -> bool),
    /// Every release of these families, by the words of requests.
    Families(&'static [&'static str]),
}

/// Refused by `verify`.
pub const VOID: &[Finding] = &[
    Finding {
        name: "VOID-1",
        before: Version(0, 1, 1),
        which: "method `linear-rotated`",
        why: "the minimiser was released bit for bit, and its last bits tell neighbouring tables apart",
        concerns: Concerns::Models(|model| {
            matches!(model.request().task.method, Method::LinearRotated(_))
        }),
    },
    Finding {
        name: "VOID-2",
        before: Version(0, 1, 1),
        which: "methods `objective` and `linear`",
        why: "the noise inside the objective was drawn on too coarse a grid for what was released: a small \
              epsilon is exceeded",
        concerns: Concerns::Models(|model| {
            matches!(model.request().task.method, Method::Objective(_) | Method::Linear(_))
        }),
    },
    Finding {
        name: "VOID-3",
        before: Version(0, 1, 1),
        which: "methods `output` and `amp` with delta = 0, where weights are not rounded to a grid",
        why: "a build from before such releases were rounded: the last bits of the weights tell \
              neighbouring tables apart",
        concerns: Concerns::Models(not_rounded),
    },
    // NEXT ENTRY HERE, and its line in SECURITY.md.
];

/// Noted by `verify`: what a certificate alone cannot tell.
pub const DOUBTFUL: &[Finding] = &[
    Finding {
        name: "DOUBT-1",
        before: Version(0, 1, 1),
        which: "schemas with a `[unit]`",
        why: "it holds only if the table named its units by text or by whole numbers below 2^53: larger \
              numbers in Parquet files, and fractions or large numbers from Python, could be taken for one unit",
        concerns: Concerns::Models(|model| model.request().schema.unit() != Unit::Record),
    },
    Finding {
        name: "DOUBT-2",
        before: Version(0, 2, 1),
        which: "streams (`online`)",
        why: "it holds only if the stream was not fed from Python with lists, arrays of objects or single \
              records: one cell or label of another type could empty every row of its call, and the keys of \
              the first record chose the columns",
        concerns: Concerns::Families(&[Online::NAME]),
    },
    Finding {
        name: "DOUBT-3",
        before: Version(0, 2, 1),
        which: "evaluations (`evaluate`) and tuning (`tune`)",
        why: "it holds only if the table was not a list or an array of objects from Python: one cell or label \
              of another type could change how every other record was read",
        concerns: Concerns::Families(&[Evaluate::NAME, Tune::NAME]),
    },
];

impl Finding {
    /// Whether it concerns what this version released.
    pub fn concerns<T: Task>(&self, version: Version, released: &Released<T>) -> bool {
        let model = (released as &dyn Any).downcast_ref::<Model>();
        version < self.before
            && match self.concerns {
                Concerns::Models(these) => model.is_some_and(these),
                Concerns::Families(names) => names.contains(&T::NAME),
            }
    }
}

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
