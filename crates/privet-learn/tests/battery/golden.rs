//! Golden numbers of a fixed seed: `golden/METHOD.json`, so that a change of stream is noticed.
//!
//! After an intended change write them anew with `cargo test -p privet-learn --test battery --
//! --ignored`, and say in the changelog that models of a fixed seed differ.
//!
//! `conditions.json` there has the conditions of every plan in words. An intended change adds the words
//! of earlier versions to `src/release/conditions.rs`, for their files state those, and writes the file
//! anew with `cargo test -p privet-learn --test battery write_the_conditions -- --ignored`.

use crate::subject::{
    ANSWERS, COUNTS, DESCRIPTIONS, EVALUATIONS, MODELS, NETWORKS, PLAIN, RATINGS, STREAMS,
    SUPPORTS, Subject, TALLIES, TUNINGS, VOTES, declared, each_declared, wanted,
};
use privet_learn::{FamilyVisitor, OfferedFamily, Task};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Another platform's `exp` and `ln` may differ in the last digits; another stream gives other numbers.
const NEAR: f64 = 1e-6;

type Numbers = BTreeMap<String, Vec<f64>>;

fn file(method: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/battery/golden");
    folder.join(format!("{method}.json"))
}

pub fn same<T: Task>(subject: &Subject<T>) {
    let name = &subject.name;
    let path = file(subject.method());
    let text = std::fs::read(&path).unwrap_or_else(|_| panic!("{name} has no golden numbers"));
    let known: Numbers = serde_json::from_slice(&text).unwrap();
    let known = known.get(name).unwrap_or_else(|| panic!("{name} has no golden numbers"));
    let actual = subject.seeded(&subject.data).unwrap();
    let size = known.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    // Networks compute in 32 bits, whose last ones depend on the processor.
    let near = if T::NAME == "network" { 100.0 * NEAR } else { NEAR };
    let near = |(one, other): (&f64, &f64)| (one - other).abs() <= near * size;
    assert_eq!(known.len(), actual.len(), "{name}");
    assert!(known.iter().zip(&actual).all(near), "{name}: {known:?} became {actual:?}");
}

type Words = BTreeMap<String, Vec<String>>;

fn conditions<T: Task>(subject: &Subject<T>) -> (String, Vec<String>) {
    let own = subject.plan.notes().iter().filter(|note| note.is_condition());
    (format!("{} {}", T::NAME, subject.name), own.map(ToString::to_string).collect())
}

pub fn same_conditions<T: Task>(subject: &Subject<T>) {
    let known: Words = serde_json::from_slice(&std::fs::read(file("conditions")).unwrap()).unwrap();
    let (name, own) = conditions(subject);
    assert_eq!(known.get(&name).cloned().unwrap_or_default(), own, "{name}");
}

#[test]
#[ignore = "writes a file; run when conditions are reworded on purpose"]
fn write_the_conditions() {
    // What is not wanted stays.
    let known = std::fs::read(file("conditions")).unwrap();
    let mut all: Words = serde_json::from_slice(&known).unwrap();
    all.retain(|name, _| name.split([' ', ',']).nth(1).is_some_and(|method| !wanted(method)));
    macro_rules! add {
        ($($subjects:ident),*) => {$(
            all.extend($subjects.iter().map(conditions).filter(|(_, own)| !own.is_empty()));
        )*};
    }
    add!(MODELS, COUNTS, DESCRIPTIONS, EVALUATIONS, SUPPORTS, RATINGS, STREAMS);
    add!(TALLIES, VOTES, ANSWERS, NETWORKS, TUNINGS);
    struct Declared<'a>(&'a mut Words);
    impl FamilyVisitor for Declared<'_> {
        fn family<F: OfferedFamily>(&mut self) {
            let own = declared::<F>();
            self.0.extend(own.iter().map(conditions).filter(|(_, own)| !own.is_empty()));
        }
    }
    each_declared(&mut Declared(&mut all));
    let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
    std::fs::write(file("conditions"), text).unwrap();
}

#[test]
#[ignore = "writes files; run when a stream is changed on purpose"]
fn write_the_numbers() {
    let mut all: BTreeMap<&'static str, Numbers> = BTreeMap::new();
    fn add<T: Task>(all: &mut BTreeMap<&'static str, Numbers>, subject: &Subject<T>) {
        let numbers = subject.seeded(&subject.data).unwrap();
        all.entry(subject.method()).or_default().insert(subject.name.clone(), numbers);
    }
    macro_rules! add {
        ($($subjects:ident),*) => {$($subjects.iter().for_each(|one| add(&mut all, one));)*};
    }
    add!(MODELS, COUNTS, DESCRIPTIONS, EVALUATIONS, SUPPORTS, RATINGS, STREAMS);
    add!(TALLIES, VOTES, ANSWERS, NETWORKS, TUNINGS);
    if wanted("non-private") {
        add(&mut all, &PLAIN);
    }
    struct Declared<'a>(&'a mut BTreeMap<&'static str, Numbers>);
    impl FamilyVisitor for Declared<'_> {
        fn family<F: OfferedFamily>(&mut self) {
            declared::<F>().iter().for_each(|one| add(self.0, one));
        }
    }
    each_declared(&mut Declared(&mut all));
    for (method, numbers) in all {
        let text = serde_json::to_string_pretty(&numbers).unwrap() + "\n";
        std::fs::write(file(method), text).unwrap();
    }
}
