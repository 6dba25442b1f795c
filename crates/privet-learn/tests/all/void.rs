//! The list of certificates that `verify` refuses is that of `SECURITY.md`.

use crate::common::{Case, data};
use privet_data::Schema;
use privet_dp::gate::Version;
use privet_learn::file::{Seal, load};
use privet_learn::linear::model::Model;
use privet_learn::{DOUBTFUL_SCHEMAS, Finding, verify};
use std::path::Path;

#[test]
fn the_list_that_is_published_is_the_one_that_is_enforced() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let section = text.split("\n## ").find(|part| part.starts_with("Void certificates")).unwrap();
    let published: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| VOID-") || line.starts_with("| DOUBT-"))
        .collect();
    let enforced: Vec<String> = Finding::void()
        .into_iter()
        .chain(Finding::doubtful())
        .map(|finding| {
            let (name, before) = (finding.name, finding.before);
            format!("| {name} | before {before} | {} | {} |", finding.which, finding.why)
        })
        .collect();
    assert_eq!(published, enforced);
}

/// A doubt is noted of releases of earlier versions under a policy for bad records, and of no others.
#[test]
fn a_policy_for_bad_records_is_doubted_before_0_2_1() {
    let doubt = DOUBTFUL_SCHEMAS.iter().find(|doubt| doubt.finding.name == "DOUBT-4").unwrap();
    for (policy, total) in [("drop", true), ("stand-in", true), ("refuse", false)] {
        let stand_in =
            if policy == "stand-in" { "name = \"a\"\ninvalid = 0.5\n" } else { "name = \"a\"\n" };
        let columns = crate::common::SCHEMA.replace("name = \"a\"\n", stand_in);
        let text = format!("invalid = \"{policy}\"\n{columns}");
        let case = Case::of("amp").rows(240).schema(Schema::from_toml(&text).unwrap());
        let model = case.seeded(&data(240, 2, 5));
        for (version, earlier) in
            [(Version(0, 1, 0), true), (Version(0, 2, 0), true), (Version(0, 2, 1), false)]
        {
            assert_eq!(
                doubt.concerns(version, &model.request().schema),
                total && earlier,
                "{policy} {version}"
            );
        }
        assert!(verify(&model).notes.iter().all(|remark| !remark.contains("DOUBT")));
    }
    // What every earlier version wrote without a policy is noted by nothing new, and as valid as before.
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for version in ["0.1.0", "0.1.1", "0.2.0"] {
        for entry in std::fs::read_dir(golden.join(version)).unwrap() {
            let model: Model = load(&entry.unwrap().path(), Seal::Required).unwrap();
            let is_total = model.request().schema.invalid().is_total();
            let noted = verify(&model).notes.iter().any(|remark| remark.starts_with("DOUBT-4"));
            assert_eq!(noted, is_total);
        }
    }
}
