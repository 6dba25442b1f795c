//! Sorts the notes of a certificate: conditions of the plan made again, conditions of a run, and the
//! words of the file's maker.
//!
//! A condition of the plan that a file does not state is missing, and the file is not as the program
//! writes it. A file states a condition by its code and parameters (since 0.2.1) and in the sentence
//! that its version had for it: today's, or one of [`super::sentences`], which holds every sentence of
//! an earlier version. For a file of a later version, whose sentence is not known here, the code is
//! enough.

use crate::release::note::Note;
use crate::release::plan::Plan;
use crate::release::sentences::{earlier, is_of_a_run};
use crate::release::task::Task;
use privet_core::printable;
use privet_dp::gate::{Certificate, Version};

/// The note that the list of classes was read off the records.
pub const CLASSES_FROM_RECORDS: &str = "the list of classes was taken from the labels of the records: the guarantee \
     does not cover which classes occur";

/// The notes of a certificate, by origin.
#[derive(Default)]
pub(crate) struct Notes {
    /// Conditions of the plan that the certificate does not state, and codes that no condition of the
    /// plan has.
    pub missing: Vec<String>,
    /// Notes that the program writes when it runs.
    pub written: Vec<String>,
    /// Words of the file's maker, without terminal control characters.
    pub stated: Vec<String>,
}

impl Notes {
    /// Sorts the notes of a certificate by the plan made again.
    pub fn of<T: Task>(certificate: &Certificate, plan: Option<&Plan<T>>) -> Self {
        let mut left: Vec<&String> = certificate.notes.iter().collect();
        let mut notes = Self::default();
        let planned = plan.map_or(&[][..], Plan::notes);
        for note in planned {
            let sentences = sentences(note, certificate.version());
            let same = |own: &String| sentences.iter().any(|sentence| same_sentence(sentence, own));
            left.retain(|own| !same(own));
            // Without a claim there is no condition.
            let needed = note.is_condition() && certificate.events.is_some();
            let worded = certificate.notes.iter().any(same);
            if needed && !states_condition(note, worded, certificate) {
                notes.missing.push(format!("it leaves out: {}", &**note));
            }
        }
        let planned: Vec<_> = planned.iter().filter_map(Note::condition).collect();
        let unplanned = certificate.conditions.iter().filter(|own| !planned.contains(own));
        if plan.is_some() && !is_later(certificate) {
            notes.missing.extend(unplanned.map(|own| {
                format!("it states '{}', which is no condition of its plan", printable(&own.code))
            }));
        }
        for note in left {
            match is_of_a_run(note) {
                true => notes.written.push(note.clone()),
                false => notes.stated.push(printable(note).into_owned()),
            }
        }
        notes
    }
}

/// True if a certificate states a condition: in words of its version, and by its code where it has codes.
fn states_condition(note: &Note, worded: bool, certificate: &Certificate) -> bool {
    let coded = note.condition().is_some_and(|own| certificate.conditions.contains(own));
    match is_later(certificate) {
        true => worded || coded,
        false => worded && (coded || certificate.conditions.is_empty()),
    }
}

fn is_later(certificate: &Certificate) -> bool {
    certificate.version().is_some_and(|version| version > Version::this())
}

/// The wordings of a note in this version and, for an older one, in that version.
fn sentences(note: &Note, version: Option<Version>) -> Vec<String> {
    let earlier = note.condition().zip(version).map(|(own, version)| earlier(own, version));
    std::iter::once(note.to_string()).chain(earlier.unwrap_or_default()).collect()
}

/// Compares two sentences; quotation marks within quoted parameters were written in two ways.
fn same_sentence(sentence: &str, own: &str) -> bool {
    sentence == own || sentence.replace('"', "'") == own.replace('"', "'")
}
