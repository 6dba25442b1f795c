//! Several organisations, each a process: laid out, served, joined, trained, killed, taken up again, verified; and refused.

use crate::world::{SCHEMA, World, table};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// A port of this process alone, below those that the system hands out, so that nobody else is given it meanwhile.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + (std::process::id() % 200) as u16 * 100;
    (0..100)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % 100)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port that is free")
}

/// A world with three tables of 300, 500 and 700 rows.
fn world() -> World {
    let world = World::new();
    let all = table(1500);
    let (head, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (name, from, to) in [("clinic", 0, 300), ("hospital", 300, 800), ("ward", 800, 1500)] {
        world.write(&format!("{name}.csv"), format!("{head}\n{}\n", rows[from..to].join("\n")));
    }
    world
}

/// Lays out the study; gives back where its servers will listen.
fn init(world: &World, more: &str) -> [u16; 2] {
    let [one, two] = [port(), port()];
    world.ok(&format!(
        "party init study --schema schema.toml --epsilon 2 --party clinic=300 --party hospital=500 \
         --party ward=700 --server north=127.0.0.1:{one} --server south=127.0.0.1:{two} {more}"
    ));
    [one, two]
}

fn start(world: &World, line: &str) -> Child {
    world.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Both servers, once they listen: whoever comes earlier is patient, but not for long in these tests.
fn servers(world: &World, ports: [u16; 2]) -> [Child; 2] {
    let started = ["north", "south"].map(|name| start(world, &format!("party serve study/{name}")));
    for port in ports {
        let listens = |_: &u32| TcpStream::connect(("127.0.0.1", port)).is_ok();
        let pause = |_: &u32| std::thread::sleep(std::time::Duration::from_millis(50));
        assert!((0..600).inspect(pause).any(|at| listens(&at)), "nobody listens");
    }
    started
}

/// Ends it as a power cut does.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn ended(child: Child) -> (i32, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout) + &text(&output.stderr))
}

fn train(name: &str) -> String {
    // One of them keeps a ledger.
    let ledger = if name == "clinic" { "" } else { " --ledger none" };
    format!(
        "party train study/{name} --data {name}.csv --schema schema.toml --out {name}.json{ledger}"
    )
}

#[test]
fn three_organisations_train_one_model_and_two_processes_are_killed() {
    let world = world();
    world.ok("budget open clinic.csv --schema schema.toml --epsilon 3 --delta 1e-5");
    let ports = init(&world, "--method gd --steps 60 --patience 30");
    let [north, south] = servers(&world, ports);
    let joined = world.ok("party join study/ward --schema schema.toml");
    assert!(joined.contains("ward and north, south agree"), "{joined}");
    let [clinic, hospital] = ["clinic", "hospital"].map(|name| start(&world, &train(name)));
    // One party is killed before the first round can be opened, one server meanwhile.
    std::thread::sleep(std::time::Duration::from_millis(700));
    kill(hospital);
    kill(south);
    let south = start(&world, "party serve study/south");
    let [hospital, ward] = ["hospital", "ward"].map(|name| start(&world, &train(name)));
    for (name, child) in [("clinic", clinic), ("hospital", hospital), ("ward", ward)] {
        let (code, words) = ended(child);
        assert_eq!(code, 0, "{name}: {words}");
        assert_eq!(world.ok_json(&format!("verify {name}.json --json"))["valid"], true);
        assert_eq!(
            world.json(&format!("{name}.json"))["model"],
            world.json("clinic.json")["model"]
        );
    }
    for (name, child) in [("north", north), ("south", south)] {
        let (code, words) = ended(child);
        assert_eq!(code, 0, "{name}: {words}");
        assert!(words.contains("all 60 rounds are opened"), "{words}");
    }
    let output = world.ok("inspect clinic.json").replace('\n', " ");
    assert!(output.contains("among 3 parties and 2 servers"), "{output}");
    // Paid for once, by the party that has a ledger and by none of the others.
    let history = world.ok_json("budget history privet.ledger --json");
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    assert!(world.path("study/hospital/state/paid.json").exists());
    // Everyone has the signatures of all.
    let signed = world.json("study/clinic/state/signatures.json");
    assert_eq!(signed["parties"], serde_json::json!(["clinic", "hospital", "ward"]));
    assert_eq!(
        signed["signatures"][2]["transcript"],
        world.json("study/ward/state/signatures.json")["signatures"][0]["transcript"]
    );
}

/// A folder knows its table, and so does a copy of it: another one is refused before anything is said.
#[test]
fn a_folder_or_a_copy_of_it_goes_on_with_its_own_table_alone() {
    let world = world();
    // Nobody serves: a party that is content with its table goes as far as that.
    init(&world, "--method gd --patience 1");
    let ended = world.run(&train("clinic"));
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let known = world.json("study/clinic/state/table.json");
    let text = std::fs::read_to_string(world.path("clinic.csv")).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    world.write("other.csv", format!("{head}\n{}\n", turned.join("\n")));
    std::fs::create_dir_all(world.path("copy/state")).unwrap();
    for file in ["party.toml", "agreement.json", "certificate.pem", "key.pem"]
        .map(String::from)
        .into_iter()
        .chain(["agreement", "instance", "table.json"].map(|name| format!("state/{name}")))
    {
        let from = world.path(&format!("study/clinic/{file}"));
        std::fs::copy(from, world.path(&format!("copy/{file}"))).unwrap();
    }
    for folder in ["study/clinic", "copy"] {
        let line = format!("party train {folder} --out m.json --ledger none --data");
        let ended = world.run(&format!("{line} other.csv"));
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        assert!(ended.stderr.contains("begun with another table"), "{}", ended.stderr);
        let ended = world.run(&format!("{line} clinic.csv"));
        assert_eq!(ended.code, 3, "{}", ended.stderr);
    }
    assert_eq!(world.json("copy/state/table.json"), known);
}

/// Files, and exit codes, say it all.
#[test]
fn a_quiet_run_says_nothing() {
    let world = world();
    let ports = init(&world, "--method ssp --loss squared --patience 30 --quiet");
    let listens = |port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
    let servers =
        ["north", "south"].map(|name| start(&world, &format!("-q party serve study/{name}")));
    for port in ports {
        let pause = |_: &u32| std::thread::sleep(std::time::Duration::from_millis(50));
        assert!((0..600).inspect(pause).any(|_| listens(port)), "nobody listens");
    }
    assert_eq!(world.ok("-q party join study/ward --schema schema.toml"), "");
    let names = ["clinic", "hospital", "ward"];
    let parties = names.map(|name| {
        let ledger = train(name).replace(" --ledger none", "");
        start(&world, &format!("{ledger} --ledger none -q"))
    });
    for child in parties.into_iter().chain(servers) {
        assert_eq!(ended(child), (0, String::new()));
    }
    assert!(!world.ok("-q party status study/clinic").is_empty(), "what was asked for");
    assert_eq!(world.ok_json("verify ward.json --json")["valid"], true);
}

#[test]
fn a_party_that_stays_away_ends_the_run_by_name() {
    let world = world();
    let ports = init(&world, "--method ssp --loss squared --patience 15");
    let servers = servers(&world, ports);
    let present = ["clinic", "ward"].map(|name| start(&world, &train(name)));
    for child in present {
        let (code, words) = ended(child);
        assert_eq!(code, 3, "{words}");
        assert!(words.contains("hospital"), "{words}");
    }
    for child in servers {
        let (code, words) = ended(child);
        assert_eq!(code, 3, "{words}");
        assert!(words.contains("waited 15 s for hospital, and is not opened"), "{words}");
    }
    assert!(!world.path("clinic.json").exists());
    assert!(!world.path("study/north/state/opening-0000000").exists());
}

#[test]
fn what_does_not_fit_together_is_said_before_anything_is_sent() {
    let world = world();
    let ports = init(&world, "--method gd --patience 10");
    let [north, south] = servers(&world, ports);
    // Two schemas: both named.
    world.write("other.toml", SCHEMA.replace("bounds = [0, 100]", "bounds = [0, 120]"));
    world.ok("party join study/clinic --schema schema.toml");
    let ended = world.run("party join study/ward --schema other.toml");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("the schemas of ward and clinic differ"), "{}", ended.stderr);
    // A second folder under the same name.
    let copy = |from: &str, to: &str| {
        std::fs::create_dir_all(world.path(to)).unwrap();
        for file in ["party.toml", "agreement.json", "certificate.pem", "key.pem"] {
            std::fs::copy(
                world.path(&format!("{from}/{file}")),
                world.path(&format!("{to}/{file}")),
            )
            .unwrap();
        }
    };
    copy("study/clinic", "elsewhere");
    let ended = world.run("party join elsewhere --schema schema.toml");
    assert!(ended.stderr.contains("clinic has joined before"), "{}", ended.stderr);
    // Another number of rows than was declared.
    let ended = world.run("party train study/clinic --data ward.csv --out m.json");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("clinic declared 300 rows and its table has 700"),
        "{}",
        ended.stderr
    );
    // Shares from a seed would hide nothing.
    let ended = world.run("party train study/clinic --data clinic.csv --out m.json --seed 1");
    assert!(ended.code == 2 && ended.stderr.contains("--seed"), "{}", ended.stderr);
    let status = world.ok("party status study/clinic");
    assert!(status.contains("north: 0 rounds opened; joined: clinic"), "{status}");
    kill(north);
    kill(south);
    // Plans that are not for parties, names that are none, servers that are too few.
    let base = "party init x --schema schema.toml --epsilon 1 --party a=10 --party b=10";
    let two = "--server s=127.0.0.1:1 --server t=127.0.0.1:2";
    for (line, code, words) in [
        (format!("{base} {two} --method amp"), 1, "among parties"),
        (format!("{base} {two} --delta 0"), 1, "among parties"),
        (format!("{base} --server s=127.0.0.1:1"), 2, "servers"),
        (format!("{base} {two} --honest 2"), 2, "honest"),
        (format!("{base} {two} --party a=5"), 2, "comes twice"),
        (format!("{base} {two} --party A=5"), 2, "not accepted"),
        (format!("{base} {two} --party c=none"), 2, "whole number"),
        (format!("{base} --server s=here --server t=there"), 2, "no address"),
    ] {
        let ended = world.run(&line);
        assert_eq!(ended.code, code, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{line}: {}", ended.stderr);
        assert!(!world.path("x").exists(), "{line}");
    }
    let ended = world.run("party train nowhere --data clinic.csv --out m.json");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let output = world.ok(
        "plan --schema schema.toml --rows 1500 --epsilon 1 --method gd --parties 3 --servers 2",
    );
    assert!(output.replace('\n', " ").contains("1.414 times as wide"), "{output}");
}
