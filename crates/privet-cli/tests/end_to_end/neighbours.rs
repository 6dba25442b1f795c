//! Answers to public questions: released, verified, shown; and what is refused.

use crate::world::World;

const ASK: &str = "neighbours table.csv --schema schema.toml --questions questions.csv --rows 400";

fn world() -> World {
    let world = World::new();
    // Columns in another order, and no target.
    world.write("questions.csv", "ward,age,dose\na,30,2\nb,60,8\nc,45,5\n");
    world
}

#[test]
fn questions_are_answered_verified_and_shown() {
    let world = world();
    let shown = world.ok(&format!("{ASK} --epsilon 5 --within 1 --votes 2 --out answers.json"));
    assert!(shown.contains("e^ε") && shown.contains("near)"), "{shown}");
    assert!(shown.contains("at most 2 of the 3 answers"), "{shown}");
    let verdict = world.ok_json("verify answers.json --json");
    assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &5.0.into()));
    let inspected = world.ok("inspect answers.json");
    assert!(inspected.contains("3 public questions about \"ill\""), "{inspected}");
    assert!(inspected.contains("who has spent their share"), "{inspected}");
    let told = world.ok_json(&format!("{ASK} --epsilon 5 --out more.json --json"));
    assert_eq!(told["answers_given"].as_array().unwrap().len(), 3);
    assert!(told["settings"]["within"].as_f64().unwrap() > 0.0);
    assert!(world.ok("methods --help").contains("--select"));
    // What needs a model says what it got.
    world.refused(2, "predict answers.json table.csv --out p.csv", &["answers.json", "answers"]);
}

#[test]
fn what_cannot_be_answered_is_refused_before_anything_is_written() {
    let world = world();
    let before = world.names();
    let out = "--out o.json";
    world.refused(1, &format!("{ASK} --epsilon 1 --delta 0 {out}"), &["delta above 0"]);
    world.refused(2, &format!("{ASK} --epsilon 1 --within 0 {out}"), &["within"]);
    world.refused(2, &format!("{ASK} --epsilon 1 --votes 0 {out}"), &["votes"]);
    world.refused(2, &format!("{ASK} {out}"), &["--epsilon"]);
    let undeclared = ASK.replace(" --rows 400", "");
    world.refused(2, &format!("{undeclared} --epsilon 1 {out}"), &["--rows"]);
    assert_eq!(world.names(), before);
    world.write("other.csv", "ward,age\na,30\n");
    let other = ASK.replace("questions.csv", "other.csv");
    world.refused(2, &format!("{other} --epsilon 1 {out}"), &["dose"]);
    world.write("empty.csv", "ward,age,dose\n");
    let empty = ASK.replace("questions.csv", "empty.csv");
    world.refused(2, &format!("{empty} --epsilon 1 {out}"), &["records"]);
}
