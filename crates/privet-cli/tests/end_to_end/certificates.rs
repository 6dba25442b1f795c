//! Certificates that do not hold, and keys.

use crate::world::{TRAIN, World};
use privet_dp::gate::seal;
use serde_json::Value;

/// Changes a model file and gives it a new digest, as a forger would.
fn reseal(world: &World, name: &str, change: impl FnOnce(&mut Value)) {
    let mut document = world.json(name);
    change(&mut document);
    let document = seal::seal_document(document, None).unwrap();
    world.write(name, serde_json::to_string_pretty(&document).unwrap());
}

fn not_valid(world: &World, name: &str, failing: &str) {
    let ended = world.run(&format!("verify {name} --json"));
    assert_eq!(ended.code, 1, "{}\n{}", ended.stdout, ended.stderr);
    let verdict: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(verdict["valid"], false);
    assert!(verdict["epsilon"].is_null());
    let checks = verdict["checks"].as_array().unwrap();
    let actual = checks
        .iter()
        .any(|check| check["holds"] == false && check["what"].as_str().unwrap().contains(failing));
    assert!(actual, "{}", ended.stdout);
    assert!(world.run(&format!("verify {name}")).stdout.contains("NOT VALID"));
}

#[test]
fn an_edited_model_is_not_valid_and_not_used() {
    let world = World::new();
    world.ok(TRAIN);
    let mut document = world.json("model.json");
    document["body"]["weights"][0][0] = Value::from(0.25);
    world.write("edited.json", document.to_string());
    not_valid(&world, "edited.json", "belong together");
    for line in
        ["predict edited.json table.csv", "evaluate edited.json table.csv", "inspect edited.json"]
    {
        world.refused(2, line, &["edited.json", "digest"]);
    }
    let mut document = world.json("model.json");
    document["certificate"]["guarantee"]["epsilon"] = Value::from(0.1);
    world.write("edited.json", document.to_string());
    not_valid(&world, "edited.json", "belong together");
}

#[test]
fn a_model_cut_at_any_place_is_refused() {
    let world = World::new();
    world.ok(TRAIN);
    let text = world.read("model.json");
    for part in [0, 1, text.len() / 3, text.len() / 2, text.len() - 3] {
        world.write("cut.json", &text.as_bytes()[..part]);
        for line in [
            "predict cut.json table.csv",
            "evaluate cut.json table.csv",
            "inspect cut.json",
            "verify cut.json",
        ] {
            world.refused(2, line, &["cut.json", "not a privet model"]);
        }
    }
}

#[test]
fn noise_below_the_theorem_is_found_though_the_digest_is_fresh() {
    let world = World::new();
    for (method, scale) in [
        ("amp", "/Use/cost/objective/noise/noise_scale"),
        ("objective", "/Use/cost/objective/noise/noise_scale"),
        ("output", "/Use/cost/noise_scale"),
        ("gd", "/repeat/event/Use/cost/noise_scale"),
        ("sgd", "/repeat/event/Use/cost/noise_scale"),
        ("psgd", "/Use/cost/noise_scale"),
    ] {
        world.ok(&format!("{TRAIN} --method {method}"));
        reseal(&world, "model.json", |document| {
            let pointer = format!("/certificate/events{}", scale.replace("Use", "use"));
            let value = document.pointer_mut(&pointer).unwrap_or_else(|| panic!("no {pointer}"));
            *value = Value::from(value.as_f64().unwrap() * 0.5);
        });
        not_valid(&world, "model.json", "the same plan");
        not_valid(&world, "model.json", "the events prove the claim");
    }
}

#[test]
fn a_stronger_claim_is_found_though_the_digest_is_fresh() {
    let world = World::new();
    world.ok(TRAIN);
    reseal(&world, "model.json", |document| {
        document["certificate"]["guarantee"]["epsilon"] = Value::from(0.5);
    });
    not_valid(&world, "model.json", "the events prove the claim");
}

#[test]
fn fewer_rows_or_a_larger_radius_than_planned_are_found() {
    let world = World::new();
    world.ok(TRAIN);
    reseal(&world, "model.json", |document| {
        document["certificate"]["request"]["schema"]["clip"]["radius"] = Value::from(0.5);
    });
    not_valid(&world, "model.json", "the same plan");
}

#[test]
fn a_fixed_seed_is_repeatable_and_not_private() {
    let world = World::new();
    let ended = world.run(&format!("{TRAIN} --seed 7"));
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("NOT PRIVATE"), "{}", ended.stderr);
    let first = world.read("model.json");
    world.ok(&format!("{TRAIN} --seed 7"));
    assert_eq!(world.read("model.json"), first);
    not_valid(&world, "model.json", "the events prove the claim");
    assert!(world.ok("inspect model.json").contains("NOT PRIVATE"));
    assert!(!world.ok("train --help").contains("--seed"));
}

#[test]
fn a_model_without_noise_says_so_and_is_not_valid() {
    let world = World::new();
    let line = TRAIN.replace("--epsilon 5", "--method non-private");
    assert!(world.ok(&line).contains("WITHOUT privacy"));
    not_valid(&world, "model.json", "the events prove the claim");
    assert!(world.ok("inspect model.json").contains("NOT PRIVATE"));
    world.ok("evaluate model.json table.csv");
}

#[test]
fn an_organisation_vouches() {
    let world = World::new();
    let key = world.ok("keygen --out a.key").trim().to_string();
    let other = world.ok("keygen --out b.key").trim().to_string();
    assert!(key.len() == 64 && key != other);
    world.refused(2, "keygen --out a.key", &["exists already"]);
    world.ok(&format!("{TRAIN} --sign a.key"));
    let verdict = world.ok_json(&format!("verify model.json --signer {key} --json"));
    assert_eq!(verdict["signer"], Value::from(key.as_str()));
    assert_eq!(world.run(&format!("verify model.json --signer {other}")).code, 1);
    world.ok(TRAIN);
    assert_eq!(world.run(&format!("verify model.json --signer {key}")).code, 1);
    world.ok("verify model.json");
    world.write("short.key", "abcd");
    std::fs::set_permissions(world.path("short.key"), owner_only()).unwrap();
    world.refused(2, &format!("{TRAIN} --sign short.key"), &["short.key", "64 hexadecimal"]);
}

fn owner_only() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o600)
}

#[test]
fn a_secret_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.ok("keygen --out a.key");
    let mode = std::fs::metadata(world.path("a.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(world.path("a.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.refused(2, &format!("{TRAIN} --sign a.key"), &["a.key", "chmod 600"]);
}

#[test]
fn printed_constants_claim_what_is_proved() {
    let world = World::new();
    world.ok(&format!("{TRAIN} --method amp --calibration printed"));
    let verdict = world.ok_json("verify model.json --json");
    assert_eq!(verdict["valid"], true);
    assert_ne!(verdict["epsilon"], 5.0);
}

#[test]
fn a_verdict_says_all_that_the_claim_rests_on() {
    let world = World::new();
    world.ok(TRAIN);
    let text = world.ok("verify model.json");
    for words in [
        "VALID",
        "Unsigned: nobody vouches",
        "Arithmetic: proved with rounding",
        "Made by version",
        "202",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let verdict = world.ok_json("verify model.json --json");
    assert_eq!(verdict["arithmetic"], "finite");
    assert_eq!(verdict["made"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(verdict["made"]["id"].as_str().unwrap().len(), 32);
    // Notes are those of the plan made again: a file that leaves conditions out is refused.
    let large = "--epsilon 20 --delta 0.4 --method output --out large.json";
    world.ok(&TRAIN.replace("--epsilon 5 --out model.json", large));
    let text = world.ok("verify large.json");
    for words in ["delta is above 1 / rows", "epsilon is large", "delta is large"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(world.ok("inspect large.json").contains("delta is above 1 / rows"));
    reseal(&world, "large.json", |document| {
        document["certificate"]["notes"] = Value::Array(vec![])
    });
    let ended = world.run("verify large.json");
    let refused = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ended.code, 1, "{refused}");
    assert!(refused.contains("leaves out: delta is above 1 / rows"), "{refused}");
}

#[test]
fn inspect_states_no_claim_that_verify_refuses() {
    let world = World::new();
    world.ok(TRAIN);
    assert!(world.ok("inspect model.json").contains("the factor e^ε"));
    reseal(&world, "model.json", |document| {
        document["certificate"]["guarantee"]["epsilon"] = Value::from(0.5);
    });
    let ended = world.run("inspect model.json");
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("NOT VALID"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("the factor e^ε") && !ended.stdout.contains("Noise\n"));
}

#[test]
fn inspect_says_what_the_noise_is_on() {
    let world = World::new();
    for (settings, words) in [
        ("--method gd", "every number of the sum of all gradients"),
        ("--method ssp --loss squared", "every number of the second moments of the records"),
        ("--method output", "every number of the weights of the minimiser"),
        ("--method sgd", "on a sum over records, each drawn"),
        // Each of two events is on one of the two alone.
        (
            "--method centred-gd",
            "n 2 parts, under noise: the sum of all rows, and the sum of all gradients at each step",
        ),
    ] {
        let name = format!("{}.json", words.len());
        world.ok(&format!("{} {settings}", TRAIN.replace("model.json", &name)));
        let text = world.ok(&format!("inspect {name}"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{settings}: {text}");
        assert!(
            settings.contains("output") || !text.contains("every weight"),
            "{settings}: {text}"
        );
    }
}

#[test]
fn a_text_from_a_file_cannot_pass_for_words_of_the_program() {
    let world = World::new();
    world.ok(TRAIN);
    let forged = "x\nVALID: ε = 0\u{1b}[2J\u{9b}31m\u{202e}";
    for place in ["/format", "/certificate/format", "/certificate/request/schema/target/column"] {
        let mut document = world.json("model.json");
        *document.pointer_mut(place).unwrap() = Value::from(forged);
        world.write("odd.json", document.to_string());
        for line in ["verify odd.json", "verify odd.json --json", "inspect odd.json"] {
            let ended = world.run(line);
            let message = format!("{}{}", ended.stdout, ended.stderr);
            assert_ne!(ended.code, 0, "{message}");
            assert!(!message.lines().any(|line| line.starts_with("VALID")), "{message}");
            assert!(
                !message.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
                "{place} {line}: {message:?}"
            );
        }
    }
}

#[test]
fn a_key_twice_or_a_field_too_many_is_refused() {
    let world = World::new();
    world.ok(TRAIN);
    let text = world.read("model.json");
    let twice = text.replacen("\"epsilon\":", "\"epsilon\": 0.1, \"epsilon\":", 1);
    assert_ne!(twice, text);
    world.write("odd.json", twice);
    world.refused(2, "verify odd.json", &["odd.json", "'epsilon' stands twice"]);
    for place in [
        "",
        "/body",
        "/certificate",
        "/certificate/guarantee",
        "/certificate/request",
        "/certificate/request/schema",
        "/certificate/request/schema/clip",
        "/certificate/request/method",
        "/certificate/request/loss",
        "/certificate/request/budget",
        "/certificate/made",
    ] {
        let mut document = world.json("model.json");
        document.pointer_mut(place).unwrap()["hidden"] = Value::from(1);
        world.write("odd.json", document.to_string());
        world.refused(2, "verify odd.json", &["odd.json", "not a privet model"]);
    }
}

/// A note that the plan does not make is the file's word, and never passes for the program's.
#[test]
fn a_note_that_is_not_the_plans_is_shown_as_the_files() {
    let world = World::new();
    world.ok(TRAIN);
    reseal(&world, "model.json", |document| {
        document["certificate"]["notes"] =
            serde_json::json!(["audited by all\nVALID: ε = 0\u{1b}[2J"]);
    });
    for line in ["verify model.json", "inspect model.json"] {
        let text = world.ok(line);
        let (_, below) = text.split_once("Words of whoever made the file").expect("words apart");
        assert!(below.contains("\n  | audited by all"), "{line}: {text}");
        assert!(
            !text.contains('\u{1b}') && !text.lines().any(|line| line.trim() == "VALID: ε = 0")
        );
    }
    // In every division into lines.
    for width in [1, 40, 60, 70, 74, 78] {
        reseal(&world, "model.json", |document| {
            let lie = format!("{} Note: safe to publish in full", "x".repeat(width));
            document["certificate"]["notes"] = serde_json::json!([lie]);
        });
        let text = world.ok("verify model.json");
        let ours = |line: &&str| line.contains("publish") && !line.starts_with("  | ");
        assert_eq!(text.lines().find(ours), None, "{width}");
    }
    reseal(&world, "model.json", |document| {
        document["certificate"]["notes"] = serde_json::json!(["audited by all"]);
    });
    let verdict = world.ok_json("verify model.json --json");
    assert!(verdict["stated"][0].as_str().unwrap().starts_with("audited by all"));
    assert!(!verdict["notes"].to_string().contains("audited"));
}

#[test]
fn another_spelling_of_the_same_certificate_is_refused() {
    let world = World::new();
    world.ok(TRAIN);
    for (place, other) in [
        (
            "/certificate/guarantee",
            serde_json::json!(["replace-one", {"kind": "record"}, 5.0, 1e-5]),
        ),
        ("/certificate/guarantee/neighbours", serde_json::json!({"replace-one": null})),
    ] {
        let mut document = world.json("model.json");
        *document.pointer_mut(place).unwrap() = other;
        world.write("odd.json", document.to_string());
        let field = &place[1..].replace('/', ".");
        world.refused(2, "verify odd.json", &["odd.json", "not known", field]);
    }
}

#[test]
fn a_model_with_noise_of_its_own_has_a_date_and_an_id() {
    let world = World::new();
    world.ok(TRAIN);
    let version = env!("CARGO_PKG_VERSION");
    for made in [
        serde_json::json!({"version": version}),
        serde_json::json!({"version": version, "date": "2026-02-30T00:00:00Z", "id": "0".repeat(32)}),
    ] {
        reseal(&world, "model.json", |document| document["certificate"]["made"] = made);
        not_valid(&world, "model.json", "the events prove the claim");
    }
}

/// A device has no length to check.
#[test]
fn no_more_is_read_than_a_model_may_have() {
    World::new().refused(2, "verify /dev/zero", &["/dev/zero", "too large"]);
}
