//! The notes of a certificate, told apart: those of the plan made again, those that the program writes when
//! it runs, and words of whoever made the file.
//!
//! A condition of the plan that a file does not state is missing, and the file is not as the program writes
//! it. What a version called otherwise, or did not say yet, stands in [`REWORDED`]: who changes a
//! condition, or has plans state another for requests that were planned before, adds a line there
//! (`tests/battery/golden/conditions.json` notices).

use crate::linear::{CONTINUOUS_NOISE, predicted::HOPELESS, rotated};
use crate::release::note::Note;
use crate::release::plan::Plan;
use crate::release::run::SIMULATED;
use crate::release::task::Task;
use privet_core::printable;
use privet_data::schema::Origin;
use privet_dp::gate::{Certificate, ENDED_EARLY, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE, Version};

/// What a certificate says where the list of classes was read off the records.
pub const CLASSES_FROM_RECORDS: &str = "the list of classes was taken from the labels of the records: the guarantee \
     does not cover which classes occur";

/// What the program writes when it runs, and no plan can: conditions all, and expectations of earlier
/// versions.
const WRITTEN: [&str; 7] =
    [CLASSES_FROM_RECORDS, SIMULATED, ENDED_EARLY, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE, HOPELESS];

/// A condition in the words of earlier versions. Frozen: what a version wrote does not change any more.
struct Reworded {
    /// Versions below this one say it so.
    before: Version,
    now: &'static str,
    then: &'static str,
}

const REWORDED: [Reworded; 2] = [
    Reworded {
        before: Version(0, 1, 1),
        now: rotated::EXPERIMENTAL,
        then: "experimental: the thesis's proof of this algorithm has gaps (docs/errata.md, C3). What is \
               claimed rests on a bound of our own, which charges the determinants √columns-fold, and speaks of \
               the exact minimiser in real arithmetic",
    },
    Reworded {
        before: Version(0, 1, 1),
        now: CONTINUOUS_NOISE,
        then: "the theorem speaks of the exact minimiser in real arithmetic; what is released is a point whose \
               gradient norm is proved to be at most the tolerance, rounded so that its last bits do not tell of \
               the records. Method amp has no such gap.",
    },
];

/// The first version that quotes where a public table is.
const QUOTES: Version = Version(0, 2, 1);

/// The notes of a certificate, told apart.
#[derive(Default)]
pub(crate) struct Told {
    /// Conditions of the plan that it does not state.
    pub missing: Vec<String>,
    /// What the program writes when it runs.
    pub written: Vec<String>,
    /// Words of whoever made the file, with nothing in them that acts on a terminal.
    pub stated: Vec<String>,
}

/// Tells the notes of a certificate apart, by the plan made again.
pub(crate) fn told<T: Task>(certificate: &Certificate, plan: Option<&Plan<T>>) -> Told {
    let mut left: Vec<&String> = certificate.notes.iter().collect();
    let mut told = Told::default();
    for note in plan.map_or(&[][..], Plan::notes) {
        let earlier = earlier(note, plan, certificate.version());
        let same = |own: &String| **own == **note || earlier.as_ref() == Some(own);
        left.retain(|own| !same(own));
        // Where nothing is claimed, nothing is conditional.
        let needed = note.is_condition() && certificate.events.is_some();
        if needed && !certificate.notes.iter().any(same) {
            told.missing.push(note.to_string());
        }
    }
    for note in left {
        match WRITTEN.contains(&note.as_str()) {
            true => told.written.push(note.clone()),
            false => told.stated.push(printable(note).into_owned()),
        }
    }
    told
}

/// How an earlier version said it.
fn earlier<T: Task>(
    note: &Note,
    plan: Option<&Plan<T>>,
    version: Option<Version>,
) -> Option<String> {
    let version = version?;
    let origin = plan.and_then(|plan| plan.request().schema.origin());
    if version < QUOTES && origin.and_then(Origin::public_in_words).as_deref() == Some(&**note) {
        return origin.and_then(Origin::public_unquoted);
    }
    let known = REWORDED.iter().find(|one| version < one.before && *one.now == **note)?;
    Some(known.then.into())
}
