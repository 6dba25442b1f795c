//! Answers to public queries: released, verified, shown; and refusals.

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
    let output = world.ok_json(&format!("{ASK} --epsilon 5 --out more.json --json"));
    assert_eq!(output["answers_given"].as_array().unwrap().len(), 3);
    assert!(output["settings"]["within"].as_f64().unwrap() > 0.0);
    assert!(world.ok("methods --help").contains("--select"));
    // A verb that needs a model names the kind of file it got.
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

#[test]
fn questions_come_in_batches_from_one_budget() {
    let world = world();
    let stream = "--stream s.answers";
    let begin =
        format!("{ASK} --epsilon 5 --within 1 --votes 2 {stream} --queries 7 --out one.json");
    world.refused(2, &begin.replace(" --queries 7", ""), &["--queries"]);
    world.refused(2, &begin.replace("--queries 7", "--queries 2"), &["3 questions in this batch"]);
    for out in ["questions.csv", "none/one.json", "s.answers"] {
        world.refused(2, &begin.replace("one.json", out), &["--out"]);
        assert!(!world.names().contains(&"s.answers".into()), "a stream was begun for {out}");
    }
    let shown = world.ok(&begin);
    assert!(shown.contains("e^ε") && world.names().contains(&"s.answers".into()));
    let go_on = format!("neighbours table.csv --questions questions.csv {stream}");
    let output = world.ok_json(&format!("{go_on} --out two.json --json"));
    assert_eq!(
        (&output["asked_before"], output["answers_given"].as_array().unwrap().len()),
        (&3.into(), 3)
    );
    for file in ["one.json", "two.json"] {
        let verdict = world.ok_json(&format!("verify {file} --json"));
        assert_eq!((&verdict["valid"], &verdict["epsilon"]), (&true.into(), &5.0.into()));
    }
    assert!(world.ok("inspect two.json").contains("Answers to 3 public questions"));
    world.refused(2, &format!("{go_on} --out three.json"), &["1 to 1 are left"]);
    world.refused(
        2,
        &format!("{go_on} --votes 9 --out three.json"),
        &["--votes", "says it already"],
    );
}
