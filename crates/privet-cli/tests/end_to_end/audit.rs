//! `privet audit`, from outside.

use crate::world::{TRAIN, World, table};

#[test]
fn a_sound_learner_is_not_refuted_and_the_finding_is_repeatable() {
    let world = World::new();
    let line = "audit --method output --epsilon 4 --delta 1e-5 --runs 2000 --seed 7 --json";
    let actual = world.ok_json(line);
    assert_eq!(actual["epsilon_claimed"], 4.0);
    assert_eq!(actual["refuted"], false);
    assert_eq!(actual["runs"], 2000);
    let lower = actual["epsilon_lower"].as_f64().unwrap();
    assert!((0.0..=4.0).contains(&lower), "{actual}");
    assert!(actual["epsilon_lower_gaussian"].as_f64().unwrap() > 1.0, "{actual}");
    assert_eq!(world.ok_json(line), actual, "one seed, one finding");
    let words =
        world.ok("audit --method output --epsilon 1 --runs 200 --seed 3 --neighbours add-remove");
    assert!(words.contains("not refuted") && words.contains("add-remove"), "{words}");
    assert!(actual["epsilon_reachable"].as_f64().unwrap() > 4.0, "{actual}");
    assert!(actual["refuted_by"].is_null(), "{actual}");
    let words = world.ok("audit --method output --epsilon 4 --runs 40");
    assert!(words.contains("no attack could show more") && words.contains("too few"), "{words}");
}

#[test]
fn one_run_is_enough_to_ask() {
    let world = World::new();
    let actual =
        world.ok_json("audit --method output --epsilon 4 --one-run --canaries 64 --seed 2 --json");
    assert_eq!(actual["refuted"], false);
    assert_eq!(actual["canaries"], 64);
}

#[test]
fn membership_inference_reports_area_and_rate() {
    let world = World::new();
    world.ok(TRAIN);
    world.write("other.csv", table(900));
    let actual =
        world.ok_json("audit --model model.json --data table.csv --holdout other.csv --json");
    let auc = actual["auc"].as_f64().unwrap();
    assert!((0.3..=0.7).contains(&auc), "{actual}");
    assert!(actual["tpr_at_fpr_0_001"].as_f64().unwrap() <= 0.2, "{actual}");
    assert_eq!(actual["members"], 400);
    assert_eq!(actual["non_members_from"], "holdout");
    assert_eq!(actual["epsilon_claimed"], 5.0);
    let actual = world.ok_json("audit --model model.json --data table.csv --json");
    assert_eq!(actual["non_members_from"], "stand-ins");
    let words = world.ok("audit --model model.json --data table.csv --holdout other.csv");
    assert!(words.contains("AUC") && words.contains("fewer than 1,000"), "{words}");
    assert_eq!(actual["too_few_non_members"], true);
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let world = World::new();
    world.ok(TRAIN);
    for (line, words) in [
        ("audit", &["--method"][..]),
        ("audit --method output", &["--epsilon"]),
        ("audit --method nonsense --epsilon 1", &["nonsense"]),
        ("audit --method non-private --epsilon 1", &["claims no privacy"]),
        ("audit --method output --epsilon -1", &["epsilon"]),
        ("audit --method output --epsilon 1 --runs 3", &["runs", "40"]),
        ("audit --method output --epsilon 1 --runs x", &["whole number"]),
        ("audit --method output --epsilon 1 --confidence 1", &["confidence"]),
        ("audit --method output --epsilon 1 --set nothing=1", &["nothing"]),
        ("audit --method gd --epsilon 1 --delta 0 --runs 100", &["gd"]),
        ("audit --method output --epsilon 1 --one-run --canaries 3", &["canaries"]),
        ("audit --method output --epsilon 1 --model model.json", &["--model"]),
        ("audit --model model.json", &["--data"]),
        ("audit --model model.json --data table.csv --epsilon 1", &["--epsilon", "--method"]),
        ("audit --model model.json --data table.csv --runs 100", &["--runs", "--method"]),
        ("audit --model model.json --data table.csv --one-run", &["--one-run", "--method"]),
        ("audit --model model.json --data table.csv --set ridge=1", &["--set", "--method"]),
        ("audit --model model.json --data table.csv --rows 9", &["--rows", "--method"]),
        ("audit --method output --epsilon 1 --canaries 64", &["--canaries", "--one-run"]),
        ("audit --method output --epsilon 1 --data table.csv", &["--data", "--model"]),
        ("audit --model absent.json --data table.csv", &["absent.json"]),
        ("audit --model model.json --data absent.csv", &["absent.csv"]),
    ] {
        world.refused(2, line, words);
    }
}
