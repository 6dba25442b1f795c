//! `privet-bench report`: from a results file to a page, and refusals.

use crate::world::World;

const HEAD: &str = r#"{"kind":"head","suite":"iyengar-logistic","started":"2026-11-15T18:30:00Z","version":"0.1.0","commit":"abc","compiler":"rustc","machine":{"processor":"p","cores":2,"memory":null,"system":"linux"}}"#;

fn results(world: &World) {
    let mut lines = format!("{HEAD}\n");
    for run in 0..2 {
        lines += &format!(
            r#"{{"kind":"run","dataset":"adult","entry":"auto","method":"auto","calibration":"sound","neighbours":"replace-one","epsilon":0.1,"delta":1e-9,"settings":{{}},"stage":"final","run":{run},"rows":36177,"columns":104,"classes":2,"measure":"accuracy","score":{}.5,"chosen":"gd","certified":0.1,"seconds":0.2,"peak_memory":null}}"#,
            80 + run
        );
        lines.push('\n');
    }
    std::fs::create_dir(world.path("bench")).unwrap();
    world.write("bench/results.jsonl", lines);
}

#[test]
fn a_results_file_becomes_a_page() {
    let world = World::new();
    results(&world);
    let markdown = world.ok("report bench --markdown");
    assert!(markdown.contains("| adult | 0.1 | 79.1 (AMP) |") && markdown.contains("81.0 ± 0.5"));
    assert_eq!(world.ok("report bench --html --out page.html"), "");
    assert!(world.read("page.html").starts_with("<!doctype html>"));
    assert_eq!(world.ok("report bench --csv").lines().count(), 2);
    // Cut in the middle of its last line: the rest is used, and the report states it.
    let whole = world.read("bench/results.jsonl");
    world.write("bench/results.jsonl", &whole[..whole.len() - 30]);
    let ended = world.run("report bench bench --markdown");
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("not whole") && ended.stdout.contains("not whole"));
}

#[test]
fn what_cannot_be_reported_is_refused() {
    let world = World::new();
    results(&world);
    world.write("empty", "");
    std::fs::create_dir(world.path("hollow")).unwrap();
    let before = world.names();
    for (line, words) in [
        ("report nowhere --html", "no such folder"),
        ("report hollow --html", "holds no results.jsonl"),
        ("report empty --html", "no such folder"),
        ("report bench", "--html"),
        ("report bench --html --csv", "cannot be used with"),
        ("report --html", "DIR"),
        ("report bench --html --out bench/results.jsonl", "would overwrite"),
        ("report bench nowhere --html --out page.html", "no such folder"),
    ] {
        let ended = world.run(line);
        assert_eq!(ended.code, 2, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{line}");
    }
    world.write("hollow/results.jsonl", "");
    assert!(world.run("report hollow --csv").stderr.contains("no measurement"));
    assert_eq!(world.names(), before);
}
