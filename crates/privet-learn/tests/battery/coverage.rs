//! Coverage of every learner: `golden/coverage.txt`, so that a change of planned and refused cases is
//! noticed.
//!
//! A line is a learner and a problem; a `+` is a plan, a `-` a refusal because no theorem covers it.
//! After an intended change write the file anew with `cargo test -p privet-learn --test battery coverage
//! -- --ignored`.

use crate::common::{Case, RELATIONS};
use crate::subject::wanted;
use privet_learn::{LearnError, METHODS, plan};
use privet_optim::loss::Loss;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const PROBLEMS: [(&str, u32, Loss); 3] = [
    ("number", 1, Loss::SQUARED),
    ("2 classes", 2, Loss::Logistic),
    ("3 classes", 3, Loss::Logistic),
];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/battery/golden/coverage.txt")
}

/// Of each unit and calibration: replace-one with δ > 0 and δ = 0, then add-remove.
fn table() -> String {
    let mut text = String::from(
        "# learner, problem: record sound, record printed, users sound, users printed\n",
    );
    for info in METHODS.iter().filter(|info| info.private && wanted(info.name)) {
        for (what, classes, loss) in PROBLEMS {
            write!(text, "{}, {what}:", info.name).unwrap();
            for (users, printed) in [(None, false), (None, true), (Some(2), false), (Some(2), true)]
            {
                text.push(' ');
                for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)])
                {
                    let case =
                        Case::of(info.name).classes(classes).neighbours(neighbours).delta(delta);
                    let case = users.map_or(case.clone(), |most| case.users(most));
                    let case = if classes == 1 { case.loss(loss) } else { case };
                    let case = if printed { case.printed() } else { case };
                    text.push(match plan(&case) {
                        Ok(_) => '+',
                        Err(LearnError::NotCovered { .. }) => '-',
                        Err(error) => panic!("{} {what} {neighbours} {delta}: {error}", info.name),
                    });
                }
            }
            text.push('\n');
        }
    }
    text
}

/// The declared coverage is the true one: a case declared as not covered is never planned, and a case
/// declared as covered is planned somewhere.
#[test]
fn what_is_declared_is_what_is_covered() {
    let known = std::fs::read_to_string(file()).expect("the committed table");
    for info in METHODS.iter().filter(|info| info.private && wanted(info.name)) {
        let of = |line: &&str| line.split(',').next() == Some(info.name);
        let cells = known.lines().filter(of).map(|line| {
            let (problem, cells) = line.split_once(": ").expect("a line of cells");
            (problem.ends_with("3 classes"), cells.replace(' ', "").into_bytes())
        });
        let (mut pure, mut printed, mut private_count) = (false, false, false);
        let (mut users, mut several) = (false, false);
        for (is_several, cells) in cells {
            for (place, _) in cells.iter().enumerate().filter(|(_, cell)| **cell == b'+') {
                pure |= place % 2 == 1;
                printed |= place / 4 % 2 == 1;
                private_count |= place % 4 >= 2;
                users |= place >= 8;
                several |= is_several;
            }
        }
        let covers = info.covers;
        for (what, declared, found) in [
            ("delta = 0", covers.pure, pure),
            ("printed constants", covers.printed, printed),
            ("a private count", covers.private_count, private_count),
            ("users", covers.users, users),
            ("three classes", covers.several, several),
        ] {
            assert_eq!(declared.is_yes(), found, "{}: {what}", info.name);
        }
    }
}

#[test]
fn what_is_covered_did_not_change() {
    let known = std::fs::read_to_string(file()).expect("the committed table");
    let own = |line: &&str| line.starts_with('#') || line.split(',').next().is_some_and(wanted);
    assert_eq!(table().lines().collect::<Vec<_>>(), known.lines().filter(own).collect::<Vec<_>>());
}

#[test]
#[ignore = "writes a file; run when what is covered is changed on purpose"]
fn write_the_coverage() {
    std::fs::write(file(), table()).unwrap();
}
