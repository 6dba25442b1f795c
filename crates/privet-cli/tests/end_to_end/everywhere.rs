//! Conventions of every verb. A new verb, or a new flag that names an output, fails here until it is
//! listed.

use crate::world::{Ended, World};
use std::collections::BTreeSet;
use std::process::Stdio;

/// A folder that takes no file, not even from root: the kernel reports a new file in it as not found.
const NOWHERE: &str = "/proc/privet";

/// The output of a command line on standard output.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    /// Prints its result.
    Output,
    /// Prints no result: it is in a file, or in the exit code.
    Nothing,
}
use Leaves::{Nothing, Output};

/// Every verb, in an order in which each finds its inputs; those of parties depend on one another
/// (`party`).
const LINES: &[(&str, Leaves)] = &[
    ("schema new table.csv --out new.toml", Nothing),
    ("schema new table.csv", Output),
    ("schema check schema.toml table.csv", Nothing),
    ("schema reference", Output),
    ("describe table.csv --schema wide.toml --epsilon 60 --out table.json", Nothing),
    ("schema narrow wide.toml --by table.json --out narrow.toml", Nothing),
    ("plan --schema schema.toml --rows 400 --epsilon 1", Output),
    ("budget open table.csv --schema schema.toml --epsilon 9 --delta 1e-4", Nothing),
    ("train table.csv --schema schema.toml --epsilon 1 --out paid.json", Nothing),
    ("train table.csv --schema schema.toml --epsilon 5 --out model.json --ledger none", Nothing),
    ("train table.csv --schema schema.toml --epsilon 5 --out - --ledger none", Output),
    ("train table.csv --schema schema.toml --epsilon 5 --out j.json --ledger none --json", Output),
    (
        "train table.csv --schema schema.toml --rows 400 --epsilon 5 --method amp --memory 1KB --cache rows --out \
         disk.json --ledger none",
        Nothing,
    ),
    (
        "tune table.csv --schema schema.toml --epsilon 4 --trials 10 --method gd --set steps=3,9 --out best.json \
      --ledger none",
        Nothing,
    ),
    (
        "count table.csv --schema schema.toml --by ward --epsilon 2 --out c.json --ledger none",
        Nothing,
    ),
    (
        "count table.csv --schema schema.toml --by ward --epsilon 2 --times 2 --rows 400 --stream c.s --out d.json \
      --ledger none",
        Nothing,
    ),
    (
        "select table.csv --schema schema.toml --epsilon 40 --delta 1e-6 --size 1 --method correlation --out s.json \
      --ledger none",
        Nothing,
    ),
    (
        "vote table.csv --schema schema.toml --public table.csv --epsilon 400 --delta 1e-6 --teachers 40 --out l.json \
      --labels l.csv --student tree --apply table.csv --predictions lp.csv --ledger none",
        Nothing,
    ),
    (
        "answer table.csv --schema schema.toml --public table.csv --epsilon 400 --delta 1e-6 --teachers 40 --rows 400 \
      --queries 900 --set cutoff=60 --stream a.s --out a.json --labels a.csv --ledger none",
        Nothing,
    ),
    (
        "neighbours table.csv --schema schema.toml --questions q.csv --rows 400 --epsilon 5 --within 1 --votes 2 \
      --queries 9 --stream n.s --out n.json --ledger none",
        Nothing,
    ),
    (
        "complete ratings.csv --items 12 --users 60 --epsilon 2 --out films.json --ledger none",
        Nothing,
    ),
    ("recommend films.json --user mine.csv", Output),
    (
        "online train --schema stream.toml --epsilon 2 --horizon 40 --lines none --rows few.csv --out o.json --ledger none",
        Nothing,
    ),
    (
        "online train --schema stream.toml --epsilon 2 --horizon 40 --rows few.csv --state t.s --out p.json --ledger none",
        Output,
    ),
    (
        "online count --schema stream.toml --by ill --epsilon 2 --horizon 40 --rows few.csv --state oc.s --out oc.json --ledger none",
        Output,
    ),
    (
        "train table.csv --schema schema.toml --model net.toml --epsilon 4 --set steps=4 --checkpoint net.s --every 2 \
      --out net.json --ledger none",
        Nothing,
    ),
    ("predict model.json table.csv --out predictions.csv", Nothing),
    ("predict model.json table.csv", Output),
    ("evaluate model.json table.csv", Output),
    ("evaluate model.json table.csv --epsilon 2 --out worth.json --ledger none", Nothing),
    ("budget show privet.ledger", Output),
    ("budget history privet.ledger", Output),
    ("budget verify privet.ledger", Nothing),
    ("budget export privet.ledger", Output),
    ("budget report privet.ledger --html budget.html", Nothing),
    ("verify model.json", Nothing),
    ("inspect model.json", Output),
    ("inspect model.json --html weights.html", Nothing),
    ("report model.json --html page.html", Nothing),
    ("export model.json --to sql --out model.sql", Nothing),
    ("total model.json", Output),
    ("explain --epsilon 1 --rows 400", Output),
    ("methods", Output),
    ("audit --method output --epsilon 4 --runs 40", Output),
    ("split table.csv --test 0.2 --out-train tr.csv --out-test te.csv", Nothing),
    ("keygen --out secret.key", Output),
    ("completions bash", Output),
    ("man", Output),
    ("man --out pages", Nothing),
    ("demo --out demo", Nothing),
];

/// Verbs that are run quietly elsewhere (`party`, and below), need a killed process (`budget void`), or
/// are groups.
const ELSEWHERE: [&str; 10] = [
    "budget-unit",
    "budget-import",
    "budget-void",
    "party-init",
    "party-join",
    "party-serve",
    "party-train",
    "party-status",
    "help",
    "bench",
];

/// The catalog's verbs, which the command may be built without: first, since a table beside a ledger is
/// refused.
const OF_DATA: &[(&str, Leaves)] =
    &[("data list", Output), ("data prepare synthetic-l --out made", Nothing)];

fn world() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("rows")).unwrap();
    let schema = world.read("schema.toml");
    world.write("wide.toml", schema.replace("bounds = [0, 100]", "bounds = [0, 100000]"));
    world.write("stream.toml", format!("invalid = \"drop\"\n{schema}"));
    world.write("few.csv", crate::world::table(30));
    world.write("q.csv", "ward,age,dose\na,30,2\nb,60,8\nc,45,5\n");
    world.write("mine.csv", "item,rating\n1,5\n2,5\n7,1\n");
    let rated = (0..60).flat_map(|user| (1..=12).map(move |item| (user, item)));
    let rated = rated.filter(|(user, item)| (user + item) % 4 != 0);
    let line = |(user, item): (i32, i32)| {
        format!("u{user},{item},{}\n", if (item <= 6) == (user % 2 == 0) { 5 } else { 2 })
    };
    world
        .write("ratings.csv", format!("user,item,rating\n{}", rated.map(line).collect::<String>()));
    world.write("net.toml", crate::network::NET);
    world
}

fn lines() -> impl Iterator<Item = &'static (&'static str, Leaves)> {
    let of_data = if cfg!(feature = "data") { OF_DATA } else { &[] };
    of_data.iter().chain(LINES)
}

/// Only errors are printed; requested results still appear.
#[test]
fn quiet_is_quiet_everywhere() {
    let world = world();
    for (line, leaves) in lines() {
        let mut command = world.command(&format!("--quiet {line}"));
        let ended = Ended::of(line, command.stdin(Stdio::null()).output().unwrap());
        assert_eq!(ended.code, 0, "{line}\n{}\n{}", ended.stdout, ended.stderr);
        assert_eq!(ended.stderr, "", "{line}");
        assert_eq!(ended.stdout.is_empty(), *leaves == Nothing, "{line}\n{}", ended.stdout);
    }
    std::fs::copy(world.path("privet.ledger"), world.path("copy.ledger")).unwrap();
    world.ok("count table.csv --schema schema.toml --by ward --epsilon 1 --ledger copy.ledger --out e.json");
    let users = "budget open few.csv --epsilon 1 --delta 1e-6 --unit user:2 --name visits --ledger u.ledger";
    for line in [
        "budget import privet.ledger copy.ledger",
        users,
        "budget unit u.ledger visits --column ward",
    ] {
        let ended = world.run(&format!("{line} -q"));
        assert_eq!((ended.code, ended.stdout + &ended.stderr), (0, String::new()), "{line}");
    }
    // A refusal is printed.
    let ended = world.run("-q train table.csv --schema schema.toml --epsilon 5 --out model.json");
    assert!(ended.code == 2 && ended.stderr.starts_with("error: --out model.json: exists already"));
    world.write(
        "odd.json",
        world.read("model.json").replacen("\"epsilon\": 5", "\"epsilon\": 4", 1),
    );
    let ended = world.run("-q verify odd.json");
    assert!(ended.code != 0 && !(ended.stdout + &ended.stderr).is_empty());
    // Every verb is listed.
    let pages = std::fs::read_dir(world.path("pages")).unwrap();
    let names: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_prefix("privet-")?.strip_suffix(".1")?.to_string()))
        .collect();
    let above = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name}-")));
    let listed: BTreeSet<String> = lines()
        .flat_map(|(line, _)| {
            let words: Vec<&str> = line.split_whitespace().take(2).collect();
            [words[0].to_string(), words.join("-")]
        })
        .collect();
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| {
            !above(name) && !listed.contains(*name) && !ELSEWHERE.contains(&name.as_str())
        })
        .filter(|name| cfg!(feature = "data") || !name.starts_with("data"))
        .collect();
    assert!(missing.is_empty() && names.len() > 40, "not listed: {missing:?} of {}", names.len());
}

/// Flags that name an output.
const WRITTEN: [&str; 10] = [
    "--out",
    "--labels",
    "--predictions",
    "--html",
    "--certificate",
    "--out-train",
    "--out-test",
    "--state",
    "--stream",
    "--checkpoint",
];

/// An output that cannot be written is the machine's fault, 3, whichever flag names it; a folder that
/// does not exist is a wrong name, 2. Nothing is paid for.
#[test]
fn what_cannot_be_written_ends_with_3_everywhere() {
    let world = world();
    for (line, _) in lines() {
        let ended = world.run(line);
        assert_eq!(ended.code, 0, "{line}\n{}\n{}", ended.stdout, ended.stderr);
    }
    let more = [
        "schema new table.csv --epsilon 2 --certificate outline.json --ledger none",
        "party init study --schema schema.toml --epsilon 2 --party a=200 --party b=200 --server n=127.0.0.1:9 \
         --server s=127.0.0.1:8",
    ];
    let mut seen = BTreeSet::new();
    for line in lines().map(|(line, _)| *line).chain(more) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, flag) in words.iter().enumerate() {
            let flag = match *flag {
                flag if WRITTEN.contains(&flag) || flag == "--cache" => flag,
                // The folder of parties has no flag.
                "study" => "FOLDER",
                _ => continue,
            };
            let place = if flag == "FOLDER" { at } else { at + 1 };
            if words[place] == "-" {
                continue;
            }
            let fails = |code: i32, to: &str| {
                let other = |(at, word): (usize, &&str)| {
                    let before = words.get(at.wrapping_sub(1)).copied().unwrap_or_default();
                    match at == place {
                        true => to.to_string(),
                        // Everything else anew.
                        false if WRITTEN.contains(&before) && *word != "-" => {
                            format!("again-{word}")
                        }
                        false => word.to_string(),
                    }
                };
                let line: Vec<String> = words.iter().enumerate().map(other).collect();
                let line = line.join(" ");
                let ended = world.run(&line);
                assert_eq!(ended.code, code, "{line}\n{}\n{}", ended.stdout, ended.stderr);
                assert!(!ended.stderr.contains("panicked"), "{line}");
                // The message names the flag, except for journals beside a state.
                let named = ended.stderr.contains(flag) || ended.stderr.contains(to);
                assert!(named, "{line}\n{}", ended.stderr);
                for name in world.names().iter().filter(|name| name.starts_with("again-")) {
                    let path = world.path(name);
                    if path.is_dir() {
                        std::fs::remove_dir_all(path)
                    } else {
                        std::fs::remove_file(path)
                    }
                    .unwrap();
                }
            };
            fails(3, NOWHERE);
            let verb = if words[1].starts_with("--") {
                words[0].to_string()
            } else {
                words[..2].join(" ")
            };
            seen.insert((verb, flag));
        }
    }
    // Each such flag of each verb was tried.
    let flags: BTreeSet<&str> = seen.iter().map(|(_, flag)| *flag).collect();
    for flag in WRITTEN {
        assert!(flags.contains(flag), "{flag} was never tried");
    }
    for (line, _) in lines() {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        let verb = ["schema", "online", "budget", "data"].contains(&words[0]);
        let verb = if verb { words.join(" ") } else { words[0].to_string() };
        let help = world.ok(&format!("{verb} --help"));
        for flag in WRITTEN.iter().filter(|flag| help.contains(&format!(" {flag} <"))) {
            let tried = seen.iter().any(|(of, tried)| tried == flag && of.starts_with(&verb));
            assert!(tried, "{verb} {flag} was never tried");
        }
    }
}

/// `privet methods` lists, family by family, everything that each verb accepts.
#[test]
fn methods_lists_what_every_verb_takes() {
    let world = world();
    for (family, line, flag) in [
        ("", "train table.csv --schema schema.toml --epsilon 1 --out m.json", "--method"),
        ("", "tune table.csv --schema schema.toml --epsilon 1 --out m.json", "--method"),
        (
            "--network",
            "train table.csv --schema schema.toml --model net.toml --out m.json",
            "--method",
        ),
        (
            "--select",
            "select table.csv --schema schema.toml --epsilon 1 --size 1 --out m.json",
            "--method",
        ),
        (
            "--complete",
            "complete ratings.csv --items 12 --users 60 --epsilon 2 --out m.json",
            "--method",
        ),
        (
            "--vote",
            "vote table.csv --schema schema.toml --public table.csv --out m.json",
            "--aggregator",
        ),
        (
            "--vote",
            "vote table.csv --schema schema.toml --public table.csv --epsilon 1 --out m.json",
            "--teacher",
        ),
        (
            "--online",
            "online train --schema stream.toml --epsilon 1 --horizon 9 --out m.json",
            "--method",
        ),
    ] {
        let listed = world.ok_json(&format!("methods {family} --json"));
        let listed: BTreeSet<&str> =
            listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        let ended = world.run(&format!("{line} {flag} no-such-method"));
        assert_eq!(ended.code, 2, "{line}: {}", ended.stderr);
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.split(" For more").next().unwrap_or_default();
        let mut lists =
            words.split("accepted: ").nth(1).unwrap_or_default().split("; with --model: ");
        let accepted = if family == "--network" { lists.nth(1) } else { lists.next() };
        let accepted: BTreeSet<&str> = accepted.unwrap_or_default().split(", ").collect();
        assert!(accepted.len() > 2, "{words}");
        let both = flag != "--aggregator" && flag != "--teacher";
        assert!(accepted.is_subset(&listed), "{line} {flag}: {accepted:?} {listed:?}");
        assert!(!both || accepted == listed, "{line} {flag}: {accepted:?} {listed:?}");
    }
    world.refused(2, "methods --select --online", &["cannot be used with"]);
}

/// The benchmark is a command of its own; the message names it.
#[test]
fn the_benchmark_says_where_it_went() {
    let world = World::new();
    world.refused(2, "bench run smoke --out x", &["privet-bench run smoke --out x", "cargo run"]);
    world.refused(2, "-q bench", &["privet-bench"]);
    assert!(world.ok("bench --help").contains("privet-bench"));
    assert!(!world.ok("--help").contains("bench"));
}

/// Labels and predictions follow `--force`, and a refusal names its own flag.
#[test]
fn force_is_for_every_file_that_a_verb_writes() {
    let world = world();
    let vote = "vote table.csv --schema schema.toml --public table.csv --epsilon 400 --delta 1e-6 --teachers 40 --out \
                l.json --labels l.csv --student tree --apply table.csv --predictions p.csv";
    let answer = "answer table.csv --public few.csv --stream a.s --out a.json --labels a.csv";
    let begin = "--schema schema.toml --epsilon 400 --delta 1e-6 --teachers 40 --rows 400 --queries 200 --set cutoff=120";
    world.ok(vote);
    world.ok(&format!("{answer} {begin}"));
    for (line, file, flag) in [
        (vote, "l.csv", "--labels l.csv"),
        (vote, "p.csv", "--predictions p.csv"),
        (answer, "a.csv", "--labels a.csv"),
    ] {
        // All but this one are new.
        let line = line.replace(" l.json", " n.json").replace(" a.json", " n.json");
        let line = match file {
            "l.csv" => line.replace("p.csv", "n.csv"),
            "p.csv" => line.replace("l.csv", "n.csv"),
            _ => line,
        };
        world.refused(2, &line, &[flag, "exists already", "--force"]);
    }
    for (line, files) in [(vote, ["l.csv", "p.csv"]), (answer, ["a.csv", "a.csv"])] {
        files.iter().for_each(|file| world.write(file, "old"));
        world.ok(&format!("{line} --force"));
        files.iter().for_each(|file| assert_ne!(world.read(file), "old", "{file}"));
    }
    world.ok("budget open table.csv --schema schema.toml --epsilon 9 --delta 1e-4");
    world.write("budget.html", "old");
    world.refused(
        2,
        "budget report privet.ledger --html budget.html",
        &["--html budget.html", "exists"],
    );
}

/// A state restored together with its journal answers again: no help promises that a state is resumed
/// only once, and every verb that keeps one reports the remaining budget.
#[test]
fn help_of_states_promises_no_more_than_holds() {
    let world = World::new();
    for verb in ["count", "answer", "neighbours", "online train", "online count"] {
        let help =
            world.ok(&format!("{verb} --help")).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            !help.contains("an older copy is refused") && !help.contains("gone on from once"),
            "{verb}"
        );
        assert!(help.contains("brought back from a backup, go on a second time"), "{verb}: {help}");
    }
    assert!(
        world
            .ok("train --help")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("copies of both")
    );
}
