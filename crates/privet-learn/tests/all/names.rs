//! Every registry: the name in a file is the requested one, and is read back.

use privet_data::Schema;
use privet_learn::file::{Seal, from_json};
use privet_learn::linear::request::REQUESTABLE_LOSSES;
use privet_learn::networks;
use privet_learn::ratings::{self, Complete};
use privet_learn::selection::{SELECTORS, Selector};
use privet_learn::streams;
use privet_learn::tuning::candidates_of_toml;
use privet_learn::votes::{AGGREGATORS, Aggregator, TEACHERS, Teacher};
use privet_learn::{METHODS, Method, Request, RequestOptions, verify};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Found by its name, shown by it, written with it, and read back.
fn same<M>(asked: &str, named: impl Fn(&str) -> Option<M>, shown: impl Fn(&M) -> String)
where
    M: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let method = named(asked).unwrap_or_else(|| panic!("{asked} is not accepted"));
    assert_eq!(shown(&method), asked);
    let written = serde_json::to_value(&method).unwrap();
    let name = written["name"].as_str().unwrap();
    assert_eq!(name, asked, "the name in files is the one asked for");
    assert_eq!(serde_json::from_value::<M>(written.clone()).unwrap(), method);
    assert!(named(name).is_some_and(|again| again == method), "what a file says is accepted");
}

#[test]
fn the_name_in_a_file_is_the_one_asked_for() {
    macro_rules! registry {
        ($method:ty, $list:expr) => {{
            let names: Vec<&str> = $list.iter().map(|info| info.name).collect();
            for name in &names {
                same::<$method>(name, |word| word.parse().ok(), |method| method.to_string());
            }
            assert!(names.len() > 2 && <$method>::accepted() == names.join(", "));
        }};
    }
    registry!(Method, METHODS);
    registry!(Selector, SELECTORS);
    registry!(ratings::Method, ratings::METHODS);
    registry!(streams::Method, streams::METHODS);
    registry!(networks::Method, networks::METHODS);
    registry!(Aggregator, AGGREGATORS);
    for info in TEACHERS {
        same(info.name, |word| Teacher::by_name(word).ok(), |teacher| teacher.name().into());
    }
    assert_eq!(Teacher::accepted().split(", ").count(), TEACHERS.len());
    // A candidate of a tuning is a learner by its name.
    for info in METHODS {
        let candidates = format!("[[candidates]]\nmethod = \"{}\"\n", info.name);
        let actual = candidates_of_toml(&candidates).unwrap();
        assert_eq!(actual.len(), 1);
        assert_eq!(serde_json::to_value(&actual[0]).unwrap()["name"], info.name);
    }
}

const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
     [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1]\n";

/// A loss too, in the request that is planned.
#[test]
fn the_loss_in_a_request_is_the_one_asked_for() {
    let classes = SCHEMA.replace("bounds = [0, 1]\n[[", "classes = [\"a\", \"b\"]\n[[");
    for info in REQUESTABLE_LOSSES {
        let asked = [SCHEMA, &classes].into_iter().filter_map(|schema| {
            let schema = Schema::from_toml(schema).unwrap();
            let loss = Some(info.name.into());
            let words = RequestOptions {
                loss,
                epsilon: Some(1.0),
                ..RequestOptions::of("gd".parse().unwrap())
            };
            Request::build(&schema, 100, &words).ok()
        });
        let asked: Vec<_> = asked.collect();
        assert!(asked.len() >= usize::from(info.classes) + usize::from(info.numbers));
        for request in asked {
            assert_eq!(serde_json::to_value(request.task.loss).unwrap()["kind"], info.name);
        }
    }
}

/// `golden-names` was written by 0.2.0, under names that no command takes.
#[test]
fn names_that_0_2_0_wrote_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden-names/0.2.0");
    for (asked, wrote) in [
        ("non-private-als", "plain-als"),
        ("non-private-frank-wolfe", "plain-frank-wolfe"),
        ("non-private-pgd", "plain-pgd"),
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{asked}.json"))).unwrap();
        assert!(text.contains(&format!("\"{wrote}\"")), "{asked}");
        let read = from_json::<Complete>(text.as_bytes(), Seal::Required).unwrap();
        assert_eq!(read.request().task.method.to_string(), asked);
        // Nothing is claimed, and nothing else is wrong with it.
        let verdict = verify(&read);
        assert!(!verdict.valid && verdict.guarantee.is_none());
        let written = serde_json::to_value(&read.request().task.method).unwrap();
        assert_eq!(written["name"], asked);
    }
}
