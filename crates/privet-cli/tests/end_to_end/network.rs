//! Networks, from the description to the verdict.

use crate::world::World;

pub const NET: &str = "input = { features = 5 }\n[[layers]]\nkind = \"linear\"\nout = 4\n[[layers]]\nkind = \"tanh\"\n\
     [[layers]]\nkind = \"linear\"\nout = 2\n";
const TRAIN: &str =
    "train table.csv --schema schema.toml --model net.toml --set batch=40 --steps 20";

/// The text without line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn world() -> World {
    let world = World::new();
    world.write("net.toml", NET);
    world
}

#[test]
fn a_network_is_trained_verified_used_and_gone_on_from() {
    let world = world();
    let trained = flat(&world.ok(&format!("{TRAIN} --epsilon 4 --out net.json")));
    assert!(trained.contains("ε = 4") && !trained.contains("real arithmetic"), "{trained}");
    let float = flat(&world.ok(&format!("{TRAIN} --set sums=float --epsilon 4 --out float.json")));
    assert!(float.contains("real arithmetic") && float.contains("grows with the"), "{float}");
    assert!(world.ok("verify net.json").contains("VALID"));
    let told = world.ok("inspect net.json");
    assert!(told.contains("A network of 3 layers") && told.contains("3.linear.weight"), "{told}");
    let predicted = world.ok("predict net.json table.csv --proba");
    assert_eq!(predicted.lines().count(), 401, "{predicted}");
    assert!(world.ok("evaluate net.json table.csv").contains("accuracy"));
    // From public weights, with the first layer kept.
    let plain = format!("{TRAIN} --method non-private --out public.json");
    assert!(world.ok(&plain).contains("WITHOUT privacy"));
    world.write("net.toml", NET.replacen("out = 4", "out = 4\nfrozen = true", 1));
    let fine = format!("{TRAIN} --epsilon 4 --weights public.json --out fine.json");
    let told = flat(&world.ok(&fine));
    assert!(told.contains("said to be public") && told.contains("carry no guarantee"), "{told}");
    let twice =
        flat(&world.ok(&format!("{TRAIN} --epsilon 4 --weights net.json --out twice.json")));
    assert!(twice.contains("were themselves released under ε = 4"), "{twice}");
    // A file of a fixed seed claims nothing, whatever its ε was.
    world.ok(&format!("{TRAIN} --epsilon 4 --seed 1 --out seeded.json"));
    let third =
        flat(&world.ok(&format!("{TRAIN} --epsilon 4 --weights seeded.json --out third.json")));
    assert!(third.contains("carry no guarantee"), "{third}");
    let tensors = |name: &str| world.json(name)["body"]["tensors"].clone();
    assert_eq!(tensors("fine.json")[0], tensors("public.json")[0]);
    assert_ne!(tensors("fine.json")[2], tensors("public.json")[2]);
    world.ok("verify fine.json");
    // Without privacy too.
    world.ok(&format!("{TRAIN} --method non-private --weights public.json --out plain.json"));
    assert_eq!(tensors("plain.json")[0], tensors("public.json")[0]);
    assert_ne!(tensors("plain.json")[2], tensors("public.json")[2]);
    // Every method, in few steps.
    world.write("net.toml", NET);
    for method in ["dp-adam", "dp-lssgd", "dp-lsadam", "dp-srm", "dp-gd", "dp-agd", "rrpsgd"] {
        let line = "train table.csv --schema schema.toml --model net.toml --steps 5 --epsilon 4";
        world.ok(&format!("{line} --method {method} --out {method}.json"));
        world.ok(&format!("verify {method}.json"));
    }
    assert!(world.ok("methods --network").contains("dp-srm"));
}

#[test]
fn a_training_is_put_aside_and_gone_on_with() {
    let world = world();
    let line = format!("{TRAIN} --epsilon 4 --checkpoint aside --every 7");
    world.ok(&format!("{line} --out net.json"));
    assert!(world.names().contains(&"aside.journal".to_string()));
    world.ok("verify net.json");
    // A finished checkpoint cannot be resumed; nor can that of another network, or a cut one.
    assert_ne!(world.run(&format!("{line} --out again.json")).code, 0);
    world.write("net.toml", NET.replace("out = 4", "out = 3"));
    let other = world.run(&format!("{line} --out other.json"));
    assert_eq!(other.code, 2, "{}", other.stderr);
    assert!(other.stderr.contains("another network"), "{}", other.stderr);
    let text = world.read("aside");
    world.write("aside", &text[..text.len() / 2]);
    let cut = world.run(&format!("{line} --out cut.json"));
    assert_eq!(cut.code, 2);
    assert!(cut.stderr.contains("not a checkpoint, or cut"), "{}", cut.stderr);
    assert!(!world.names().contains(&"cut.json".to_string()));
}

/// With a ledger, a training with checkpoints is paid for in full when it begins; a refusal before that
/// costs nothing.
#[test]
fn a_refused_checkpoint_costs_nothing() {
    let world = world();
    world.ok("budget open table.csv --schema schema.toml --epsilon 4 --delta 1e-5");
    let states = || {
        let history = world.ok_json("budget history privet.ledger --json");
        let state = |entry: &serde_json::Value| entry["state"].as_str().unwrap().to_string();
        history.as_array().unwrap().iter().map(state).collect::<Vec<_>>()
    };
    let line =
        "train table.csv --schema schema.toml --model net.toml --steps 5 --epsilon 1 --delta 1e-6";
    for (flags, code, words) in [
        ("--method dp-agd --checkpoint aside", 1, "cannot be put aside"),
        ("--method dp-ftrl --checkpoint aside", 1, "cannot be put aside"),
        ("--checkpoint nowhere/aside", 2, "nowhere"),
        ("--rows 399 --checkpoint aside", 2, "rows"),
    ] {
        let before = world.names();
        let ended = world.run(&format!("{line} {flags} --out no.json"));
        assert_ne!(ended.code, 0, "{flags}");
        assert!(ended.stderr.contains(words), "{flags}: {code} {}", ended.stderr);
        assert_eq!(world.names(), before, "{flags}");
    }
    assert!(
        !states().iter().any(|state| ["drawn", "settled"].contains(&&state[..])),
        "{:?}",
        states()
    );
    world.write("aside.journal", "");
    let left = world.run(&format!("{line} --checkpoint aside --out no.json"));
    assert!(left.stderr.contains("its journal is there already"), "{}", left.stderr);
    assert!(
        !states().iter().any(|state| ["drawn", "settled"].contains(&&state[..])),
        "{:?}",
        states()
    );
    std::fs::remove_file(world.path("aside.journal")).unwrap();
    // Then it is paid for once, and its certificate names the entry.
    world.ok(&format!("{line} --checkpoint aside --every 2 --out net.json"));
    assert_eq!(states().iter().filter(|state| *state == "settled").count(), 1, "{:?}", states());
    assert!(world.json("net.json")["certificate"]["ledger"]["sequence"].as_u64().is_some());
    world.ok("verify net.json");
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let world = world();
    let refused = |net: &str, flags: &str, words: &str| {
        world.write("net.toml", net);
        let ended = world.run(&format!("{TRAIN} --epsilon 4 --out no.json {flags}"));
        // 1 where no theorem covers it, 2 where it cannot be read or set.
        assert!([1, 2].contains(&ended.code), "{flags}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{flags}: {}", ended.stderr);
        assert!(!world.names().contains(&"no.json".to_string()));
    };
    refused(&NET.replace("5", "6"), "", "takes 6 numbers, and a row of this schema has 5");
    refused(&NET.replace("out = 2", "out = 3"), "", "3 outputs, and the schema lists 2 classes");
    refused(&NET.replace("tanh", "batch-norm"), "", "layer 2 (batch-norm)");
    refused(&NET.replace("tanh", "dropout"), "", "unknown variant");
    refused(
        &NET.replace("kind = \"tanh\"", "kind = \"max-pool\"\nsize = 2"),
        "",
        "layer 2 (max-pool)",
    );
    refused(NET, "--set batch=400", "a sampling rate of 1 or more");
    refused(NET, "--loss logistic", "stands in its description");
    refused(NET, "--method amp", "not a method");
    refused(NET, "--weights table.csv", "not a privet model");
    refused(NET, "--set clip=0", "clip");
    let without =
        world.run("train table.csv --schema schema.toml --method dp-sgd --epsilon 1 --out no.json");
    assert_eq!(without.code, 2, "{}", without.stderr);
}
