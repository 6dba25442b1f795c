//! The frozen table of every sentence in which a version stated a condition, with its code.
//!
//! Certificates of versions before 0.2.1 have sentences alone; whoever rewords a condition leaves its
//! row here as it is, and adds one for the versions that wrote the sentence until now
//! (`tests/all/conditions.rs` and `tests/battery/golden/conditions.json` notice a missing row).

use crate::families::UNNAMED;
use crate::release::note::fill_sentence;
use crate::release::released::Released;
use crate::release::task::Task;
use privet_dp::account::SeenBy;
use privet_dp::gate::{Certificate, Condition, Version};
use privet_dp::noise::Origin as Randomness;

const V0_1_1: Version = Version(0, 1, 1);
const V0_2_1: Version = Version(0, 2, 1);

/// Rows (version, code, sentence): versions below `version` stated the condition `code` in this
/// sentence.
#[rustfmt::skip]
pub(crate) const SENTENCES: &[(Version, &str, &str)] = &[
    (V0_2_1, "all-or-none",
     "all questions are answered or none is, by a test of how much the teachers agree; the budget \
     is spent either way"),
    (V0_2_1, "among-parties",
     "among {parties} parties and {servers} servers: it holds towards everyone who sees the model, \
     and towards any of the parties together with at most {out} of the servers; {honest} must \
     keep shares and noise secret. For that the released noise is {widening} times as wide as \
     what is charged"),
    (V0_2_1, "among-parties-joint-noise",
     "among {parties} parties and {servers} servers, who draw the noise together and once: it \
     holds towards everyone who sees the model, and towards any of the parties together with all \
     but one of the servers, which must keep its shares and random bits secret, as long as all \
     servers follow the protocol while they draw. Of servers that cheat in it nothing is \
     promised: the secure computation (polytune 0.2.0-alpha.4, which nobody is known to have \
     audited) is meant to withstand them, and as published does not. It rests on what that takes \
     to be hard to compute; {taken} of delta is set aside for it"),
    (V0_2_1, "at-most-squares-of-votes",
     "the squares of the votes of {whose} add up to at most {votes} in all {answers} answers: a \
     number at an end of its bounds votes in {votes} of them, one in the middle in up to \
     {middle}; who has used theirs up is not shown"),
    (V0_2_1, "at-most-votes",
     "{whose} has a vote in at most {votes} of the {answers} answers; who has used theirs up is \
     not shown"),
    (V0_2_1, "began-from-public",
     "weights began from a file (SHA-256 {sha256}) that was said to be public: the weights it \
     began from carry no guarantee; they are taken as public, and its records are not protected \
     here"),
    (V0_2_1, "began-from-release",
     "weights began from a file (SHA-256 {sha256}) that was said to be public: the weights it \
     began from were themselves released under ε = {epsilon}, δ = {delta}, says the file; they \
     are taken as public, and its records are not protected here"),
    (V0_2_1, "continuous-noise",
     "the noise is continuous and drawn in floating point: the guarantee is proved in real \
     arithmetic"),
    (V0_2_1, "cutoff-estimated",
     "how often teachers dissent is estimated under noise, and decides after how many questions \
     without a stable answer nothing more is answered, of {cutoffs}; the whole budget is spent \
     either way"),
    (V0_2_1, "delta-above-one-in-rows",
     "delta is above 1 / rows: a mechanism that gives away a random record whole could have it; \
     take a delta far below that"),
    (V0_2_1, "ends-after",
     "nothing more is answered once {cutoff} questions were without a stable answer; the whole \
     budget is spent either way"),
    (V0_2_1, "ends-after-one",
     "nothing more is answered once 1 question was without a stable answer; the whole budget is \
     spent either way"),
    (V0_2_1, "ends-in-a-model",
     "the guarantee is that of a run that ends in a model: that the minimum is always found to the \
     distance planned, with rounded slopes, is observed and not proved"),
    (V0_2_1, "every-count-of-the-stream",
     "neighbouring streams differ in one slot: its record is another, or there is none; every \
     count of the stream is covered, all together"),
    (V0_2_1, "every-model-of-the-stream",
     "neighbouring streams differ in one slot: its record is another, or there is none; every \
     model of the stream is covered, all together"),
    (V0_2_1, "experimental-rotated",
     "experimental: the thesis's proof of this algorithm has gaps (docs/errata.md, C3). What is \
     claimed rests on a bound of our own, which charges the determinants √columns-fold"),
    (V0_2_1, "first-columns-otherwise",
     "where no choice of columns is stable enough the first ones are fitted, which spends the \
     budget as well"),
    (V0_2_1, "float-sums",
     "gradients are added up in 32-bit floating point: the guarantee is proved in real arithmetic. \
     Rounding in sums is not charged, and what one record moves by it grows with the number of \
     records (sums = exact proves the guarantee for the program as executed)"),
    (V0_2_1, "joint-privacy",
     "this file may be seen by everyone. Predictions made from it with a person's own ratings are \
     for that person alone: whoever else sees them may learn those ratings. All that others see, \
     this file and their own predictions, tells no more of a person than the guarantee says \
     (joint privacy)"),
    (V0_2_1, "labels-alone",
     "labels alone are protected: which records there are, and everything else of them, was taken \
     for public"),
    (V0_2_1, "mean-of-the-parties-models",
     "what gets its noise is the mean of the parties' own models, weighted by their rows, and not \
     the model of all rows: parties of few rows each lose by that (gd does not)"),
    (V0_2_1, "merged-identifiers",
     "with [unit] spelling = \"{spelling}\" a user is whoever shares an identifier under it. Of \
     several who share one, the claim covers each by herself: that she leaves, comes, or has \
     other records. One who takes her place under another shared identifier changes two users"),
    (V0_2_1, "model-declared-public",
     "the model of digest {digest}… is declared public by whoever asked for this, and no \
     certificate shows that: if it was learnt from the same records without privacy, nothing is \
     promised"),
    (V0_2_1, "model-taken-for-public",
     "the model of digest {digest}… is taken for public: what it was learnt with, if from the same \
     records, adds to this (privet total)"),
    (V0_2_1, "no-noise",
     "no noise: it may reveal whose ratings it was learnt from"),
    (V0_2_1, "no-noise",
     "no noise: the model may reveal its training records"),
    (V0_2_1, "no-noise",
     "no noise: the model may reveal its training records"),
    (V0_2_1, "no-noise",
     "no noise: the models may reveal their records"),
    (V0_2_1, "nothing-where-unstable",
     "where no answer is stable enough nothing is chosen, which spends the budget as well"),
    (V0_2_1, "one-of-several",
     "one of up to {times} releases: the guarantee is that of all of them together"),
    (V0_2_1, "outside-teachers",
     "the teachers were programs of the holder's: it is assumed that each learnt from its own part \
     of the records alone, and that none met a limit of time, memory or disk because of what the \
     others did"),
    (V0_2_1, "printed-amp",
     "printed constants: see errata PRIV-2 (output noise for the norm, not the sensitivity) and \
     PRIV-5 (smoothness of the Huber loss)"),
    (V0_2_1, "printed-composition",
     "the thesis claims (3ε, 2δ) for this noise; what is claimed here is what the exact Gaussian \
     curve proves for it"),
    (V0_2_1, "printed-frank-wolfe",
     "printed noise: see erratum PRIV-14 (it composes to a little more than claimed)"),
    (V0_2_1, "printed-sampling",
     "printed noise; samples are drawn as the events say, not with replacement as in print, and \
     the claim is the accountant's"),
    (V0_2_1, "public-inputs-unprotected",
     "the rows of the public file were taken for public: nothing is promised to those in it"),
    (V0_2_1, "public-rows-unprotected",
     "the rows that were voted on were taken for public: nothing is promised to those in them"),
    (V0_2_1, "questions-public",
     "the questions are public, and nothing protects them; records taken out of the table later \
     leave the answers given before as they are"),
    (V0_2_1, "ratings-at-one-party",
     "each person's ratings must all be held by one party: of a person with ratings at several, \
     each party's count on their own, and what is claimed does not hold"),
    (V0_2_1, "records-in-order",
     "records take part in the order of the table, pass after pass; neighbouring tables differ in \
     the record of one place"),
    (V0_2_1, "schema-estimated-privately",
     "the schema's bounds were bought from the records by a private release: schema ε = \
     {schema_epsilon}, δ = {schema_delta}; this release ε = {own_epsilon}, δ = {own_delta}; \
     together, of the same records, ε = {epsilon}, δ = {delta}"),
    (V0_2_1, "steps-chosen-within-limit",
     "how much is spent on each step, and how many steps there are, was decided on the way from \
     noised answers: the guarantee is that of the limit, all of which counts as spent"),
    (V0_2_1, "table-changed-between-batches",
     "questions came in batches, and the table may have lost and gained records between them: a \
     record that was changed counts as one taken out and another put in, each with votes of its \
     own; of someone whose record was changed b times the noise hides √(b + 1) times less"),
    (V0_2_1, "trials-secret",
     "all trials but the best, their scores and their number must stay secret; how long a tuning \
     took tells about how many there were"),
    (V0_1_1, "experimental-rotated",
     "experimental: the thesis's proof of this algorithm has gaps (docs/errata.md, C3). What is \
     claimed rests on a bound of our own, which charges the determinants √columns-fold, and \
     speaks of the exact minimiser in real arithmetic"),
    (V0_1_1, "continuous-noise",
     "the theorem speaks of the exact minimiser in real arithmetic; what is released is a point \
     whose gradient norm is proved to be at most the tolerance, rounded so that its last bits do \
     not tell of the records. Method amp has no such gap."),
    (V0_2_1, "schema-from-public-table",
     "bounds and categories were filled in from a table marked public: {public} (SHA-256 {sha256})"),
];

/// What of a file tells which notes a run may have written in it.
pub(crate) struct Origin<'a> {
    certificate: &'a Certificate,
    is_linear: bool,
    is_among_parties: bool,
    has_classes: bool,
}

impl<'a> Origin<'a> {
    /// That of a release.
    pub fn of<T: Task>(released: &'a Released<T>) -> Self {
        let request = released.request();
        Self {
            certificate: released.certificate(),
            is_linear: T::NAME == UNNAMED,
            is_among_parties: request.among.is_some(),
            has_classes: request.schema.classes().is_some(),
        }
    }

    fn is_private(&self) -> bool {
        self.certificate.events.is_some()
    }
}

/// A note, and whether a run may have written it in a file.
type OfARun = (&'static str, fn(&Origin<'_>) -> bool);

/// Notes that the program writes when it runs, and no plan can, in the words of every version; each with
/// the files in which it does. No file has [`privet_dp::gate::ENDED_EARLY`]: a session that ends early
/// releases nothing.
const OF_A_RUN: &[OfARun] = &[
    (
        "the list of classes was taken from the labels of the records: the guarantee does not cover which classes occur",
        |file| file.has_classes && file.is_private(),
    ),
    (
        "simulated: one process was all parties and all servers, so that of these nobody was kept from anything; the \
         guarantee holds towards whoever sees what was released",
        |file| file.is_among_parties,
    ),
    ("NOT PRIVATE: the noise was made from a fixed seed", |file| {
        file.certificate.randomness == Some(Randomness::FixedSeed)
    }),
    (
        "for the eyes of the person concerned alone: it is made from what was published and that person's own records, and \
         whoever else sees it may learn those records",
        |file| {
            file.certificate.guarantee.is_some_and(|claim| claim.seen_by == SeenBy::AllButTheUnit)
        },
    ),
    ("NOT PRIVATE: trained without noise, for comparison only", |file| !file.is_private()),
    // An expectation, which earlier versions wrote among the conditions, and may have predicted otherwise.
    (
        "the budget is too small for this many rows and columns: the noise is predicted to drown what could be learnt. Give \
         more rows, fewer columns or a larger epsilon",
        |file| {
            let is_earlier = file.certificate.version().is_some_and(|version| version < V0_2_1);
            is_earlier && file.is_linear && file.is_private()
        },
    ),
];

/// True if a run of some version of the program writes this note in such a file.
pub(crate) fn is_of_a_run(note: &str, file: &Origin<'_>) -> bool {
    OF_A_RUN.iter().any(|(own, writes)| *own == note && writes(file))
}

/// The sentences of a condition in this version, where they may differ from today's.
pub(crate) fn earlier(condition: &Condition, version: Version) -> Vec<String> {
    let rows =
        SENTENCES.iter().filter(|(before, code, _)| version < *before && *code == condition.code);
    rows.map(|(.., sentence)| fill_sentence(sentence, &condition.parameters)).collect()
}

/// The code of the condition that this sentence states in some version, whatever its parameters.
#[cfg(test)]
pub(crate) fn code_of(note: &str) -> Option<&'static str> {
    let fits = |sentence: &str| {
        let mut rest = Some(note);
        let mut parts = sentence.split('{');
        let first = parts.next().unwrap_or_default();
        rest = rest.and_then(|rest| rest.strip_prefix(first));
        for part in parts {
            let literal = part.split_once('}').map_or("", |(_, literal)| literal);
            rest = rest.and_then(|rest| match literal {
                "" => Some(""),
                _ => rest.split_once(literal).map(|(_, after)| after),
            });
        }
        rest == Some("")
    };
    SENTENCES.iter().find(|(.., sentence)| fits(sentence)).map(|(_, code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Codes that no version before 0.2.1 knew.
    const NEW: [&str; 1] = ["prior-fits"];

    /// A reworded condition whose old sentence has no row fails here.
    #[test]
    fn every_sentence_of_the_battery_has_a_row() {
        let text = include_str!("../../tests/battery/golden/conditions.json");
        let all: BTreeMap<String, Vec<String>> = serde_json::from_str(text).unwrap();
        for (plan, sentences) in all {
            for sentence in sentences {
                assert!(code_of(&sentence).is_some(), "{plan}: no row for: {sentence}");
            }
        }
    }

    #[test]
    fn an_invented_sentence_has_no_code() {
        for note in ["this release is safe to publish in full", "", "the noise is continuous"] {
            assert_eq!(code_of(note), None, "{note}");
        }
        let extended =
            "one of up to 5 releases: the guarantee is that of all of them together. It is safe";
        assert_eq!(code_of(extended), None);
        let known = "one of up to 5 releases: the guarantee is that of all of them together";
        assert_eq!(code_of(known), Some("one-of-several"));
    }

    /// A reworded note of a run whose old words have no row fails here.
    #[test]
    fn every_note_of_a_run_has_a_row() {
        use crate::release::conditions::CLASSES_FROM_RECORDS;
        use crate::release::run::SIMULATED;
        use privet_dp::gate::{FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE};
        for note in [CLASSES_FROM_RECORDS, SIMULATED, FIXED_SEED, FOR_THE_UNIT, NOT_PRIVATE] {
            assert!(OF_A_RUN.iter().any(|(own, _)| *own == note), "no row for: {note}");
        }
    }

    /// A version finds its own rows, and no later one does.
    #[test]
    fn a_version_has_its_own_sentences() {
        let own = |code: &str, version| {
            let parameters = [("public", "p"), ("sha256", "s")].map(|(a, b)| (a.into(), b.into()));
            earlier(&Condition { code: code.into(), parameters: parameters.into() }, version).len()
        };
        assert_eq!(own("continuous-noise", Version(0, 1, 0)), 2);
        assert_eq!(own("continuous-noise", Version(0, 2, 0)), 1);
        assert_eq!(own("continuous-noise", Version(0, 2, 1)), 0);
        assert_eq!(own("schema-from-public-table", Version(0, 2, 0)), 1);
        assert!(NEW.iter().all(|code| own(code, Version(0, 1, 0)) == 0));
    }
}
