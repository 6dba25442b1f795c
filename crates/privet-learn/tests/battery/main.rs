//! Checks for every method of every task: one battery, read off the registry, so that a method that is
//! added and does not pass fails here. Left out are two aggregators of votes whose single event is the
//! claim itself (`UNSETTLED`).
//!
//! | file | checks |
//! |---|---|
//! | `subject` | the subjects: all methods, relations and kinds of δ of all tasks |
//! | `verify` | trained, written, read, verified; the claim is the request's; settled requests stay |
//! | `forge` | less noise, a stronger claim, another relation, an impossible artefact, a broken seal, notes |
//! | `refuse` | a case that no theorem covers is refused before anything is drawn |
//! | `storage` | the same model of dense and of compressed rows |
//! | `back_end` | the same bits from memory, row blocks and other machines, or an explained refusal |
//! | `stop` | a stopped run releases nothing, and before the first draw pays nothing |
//! | `golden` | a fixed seed gives the committed numbers; conditions have the committed words |
//! | `reference` | `docs/reference.md` is what is declared |
//!
//! Sensitivities are attacked learner by learner, beside this folder and in the learners' own modules;
//! `sweep.rs` and `sweep_networks.rs` edit every leaf of the certificates of linear models and networks.

mod back_end;
#[path = "../common/mod.rs"]
mod common;
mod coverage;
mod forge;
mod golden;
mod reference;
mod refuse;
mod stop;
mod storage;
mod subject;
mod verify;

use privet_learn::{FamilyVisitor, OfferedFamily};

/// A test for each check: of every model, every table of counts, every selection of columns, every
/// method for ratings, streams and answers; and of every family that is offered, by its declaration alone.
macro_rules! every_task {
    ($($(#[$doc:meta])* $name:ident: $check:path;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            subject::MODELS.iter().for_each($check);
            subject::COUNTS.iter().for_each($check);
            subject::DESCRIPTIONS.iter().for_each($check);
            subject::EVALUATIONS.iter().for_each($check);
            subject::SUPPORTS.iter().for_each($check);
            subject::RATINGS.iter().for_each($check);
            subject::STREAMS.iter().for_each($check);
            subject::TALLIES.iter().for_each($check);
            subject::VOTES.iter().for_each($check);
            subject::ANSWERS.iter().for_each($check);
            subject::NETWORKS.iter().for_each($check);
            subject::TUNINGS.iter().for_each($check);
            struct Declared;
            impl FamilyVisitor for Declared {
                fn family<F: OfferedFamily>(&mut self) {
                    subject::declared::<F>().iter().for_each($check);
                }
            }
            subject::each_declared(&mut Declared);
        }
    )*};
}

every_task! {
    what_is_released_verifies_and_claims_what_was_asked: verify::verifies;
    a_settled_request_is_planned_as_it_stands: verify::stays_settled;
    less_noise_is_found_out: forge::less_noise;
    a_stronger_claim_is_found_out: forge::stronger_claim;
    another_relation_is_found_out: forge::other_relation;
    an_artefact_off_its_support_is_found_out: forge::off_support;
    a_broken_seal_is_found_out: forge::broken_seal;
    conditions_that_are_left_out_are_found_out: forge::conditions;
    conditions_are_in_the_committed_words: golden::same_conditions;
    public_facts_that_cannot_be_are_refused: refuse::public_facts;
    tables_of_another_form_are_refused_before_noise: refuse::tables;
    storage_changes_nothing_that_is_not_charged_for: storage::same;
    memory_and_a_file_give_the_same_bits: back_end::same_bits;
    whoever_stops_gets_nothing: stop::nothing;
    a_fixed_seed_gives_the_committed_numbers: golden::same;
}

#[test]
fn the_baseline_passes_what_can_be_asked_of_it() {
    if !subject::wanted("non-private") {
        return;
    }
    let plain = &subject::PLAIN;
    verify::claims_nothing(plain);
    refuse::tables(plain);
    storage::same(plain);
    back_end::same_bits(plain);
    stop::nothing(plain);
    golden::same(plain);
}

/// Models, counts and descriptions are queried from rows that other machines keep.
#[test]
fn memory_and_other_machines_give_the_same_bits() {
    subject::MODELS.iter().for_each(back_end::same_bits_elsewhere);
    subject::COUNTS.iter().for_each(back_end::same_bits_elsewhere);
    subject::DESCRIPTIONS.iter().for_each(back_end::same_bits_elsewhere);
}
