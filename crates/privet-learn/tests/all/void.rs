//! The list of certificates that `verify` refuses is that of `SECURITY.md`.

use privet_learn::{DOUBTFUL, VOID};
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
    let enforced: Vec<String> = VOID
        .iter()
        .chain(DOUBTFUL)
        .map(|finding| {
            let (name, before) = (finding.name, finding.before);
            format!("| {name} | before {before} | {} | {} |", finding.which, finding.why)
        })
        .collect();
    assert_eq!(published, enforced);
}
