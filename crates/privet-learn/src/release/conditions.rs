//! Sorts the notes of a certificate: conditions of the plan made again, conditions of a run, and the
//! words of the file's maker.
//!
//! A file must state every condition of its plan, and by code no other. Since [`CODED`] it states a
//! condition by its code and parameters, as often as the plan has it, and in the sentence that its
//! version had for it: today's, or one of [`super::sentences`], which holds every sentence of an earlier
//! version. Files of earlier versions have sentences alone. Of a file of a later version the sentences
//! are not known here: the code is enough, and a code that no plan of this version writes is shown as
//! words of the file's maker.

use crate::release::note::Note;
use crate::release::plan::Plan;
use crate::release::released::Released;
use crate::release::sentences::{Origin, earlier, is_of_a_run};
use crate::release::task::Task;
use privet_core::printable;
use privet_dp::gate::{Certificate, Condition, Version};

/// The note that the list of classes was read off the records.
pub const CLASSES_FROM_RECORDS: &str = "the list of classes was taken from the labels of the records: the guarantee \
     does not cover which classes occur";

/// The first version whose files state conditions by code.
const CODED: Version = Version(0, 2, 1);

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
    pub fn of<T: Task>(released: &Released<T>, plan: Option<&Plan<T>>) -> Self {
        let certificate = released.certificate();
        let version = certificate.version();
        let is_coded = version.is_none_or(|version| version >= CODED);
        let is_later = is_later(certificate);
        let mut left: Vec<&String> = certificate.notes.iter().collect();
        let mut codes: Vec<&Condition> = certificate.conditions.iter().collect();
        let mut notes = Self::default();
        let planned = plan.map_or(&[][..], Plan::notes);
        for note in planned {
            let sentences = sentences(note, version);
            let same = |own: &String| sentences.iter().any(|sentence| same_sentence(sentence, own));
            left.retain(|own| !same(own));
            // Without a claim there is no condition.
            let needed = note.condition().filter(|_| certificate.events.is_some());
            let Some(condition) = needed else { continue };
            let coded = !is_coded || take(&mut codes, condition);
            let worded = is_later || certificate.notes.iter().any(same);
            if !(coded && worded) {
                notes.missing.push(format!("it leaves out: {}", &**note));
            }
        }
        for own in codes {
            let code = printable(&own.code);
            let is_planned =
                planned.iter().filter_map(Note::condition).any(|it| it.code == own.code);
            if !is_coded {
                notes.missing.push(format!(
                    "it states '{code}' by code, and no file before version {CODED} does"
                ));
            } else if is_planned {
                notes.missing.push(format!(
                    "it states '{code}' more often, or with other parameters, than its plan"
                ));
            } else if is_later {
                notes.stated.push(unknown(own));
            } else if plan.is_some() {
                notes
                    .missing
                    .push(format!("it states '{code}', which is no condition of its plan"));
            }
        }
        let origin = Origin::of(released);
        for note in left {
            match is_of_a_run(note, &origin) {
                true => notes.written.push(note.clone()),
                false => notes.stated.push(printable(note).into_owned()),
            }
        }
        notes
    }
}

/// Takes a condition out of those that a certificate states by code; false if it is not among them.
fn take(codes: &mut Vec<&Condition>, condition: &Condition) -> bool {
    let at = codes.iter().position(|own| *own == condition);
    at.map(|at| codes.swap_remove(at)).is_some()
}

/// A condition that this version does not know, as the file states it.
fn unknown(own: &Condition) -> String {
    let quoted = |text: &str| format!("\"{}\"", printable(text).replace('"', "'"));
    let parameters = own.parameters.iter();
    let parameters: Vec<String> =
        parameters.map(|(name, value)| format!("{} = {}", quoted(name), quoted(value))).collect();
    match parameters.is_empty() {
        true => format!("condition {}", quoted(&own.code)),
        false => format!("condition {} ({})", quoted(&own.code), parameters.join(", ")),
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
