//! The examples run.

#[path = "../examples/visits.rs"]
mod visits;

#[test]
fn a_file_becomes_a_model_and_answers() {
    visits::main().unwrap();
}
