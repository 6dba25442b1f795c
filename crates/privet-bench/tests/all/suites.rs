//! The suites that come with privet, and refusals of user suites.

use privet_bench::error::BenchError;
use privet_bench::suite::target::Bound;
use privet_bench::suite::{self, BUILT_IN, Filter, Peer, Suite, find, forecast, parse};
use privet_core::Neighbours;
use privet_learn::Calibration;
use std::path::Path;

const MINE: &str = r#"
name = "mine"
title = "Mine"
loss = "logistic"
epsilons = [0.1, 1]
delta = "1/n^2"
runs = 3

[[datasets]]
name = "synthetic-l"

[[methods]]
name = "amp"
method = "amp"
grid = { split = [0.1, 0.2] }
"#;

fn mine(edit: impl Fn(&str) -> String) -> Result<Suite, BenchError> {
    parse(&edit(MINE), "mine.toml", Path::new("folder"))
}

#[test]
fn every_suite_that_comes_with_privet_reads() {
    for known in BUILT_IN {
        let suite = find(known.name).unwrap();
        assert_eq!(suite.name, known.name);
        let forecast = forecast(&suite, &Filter::default()).unwrap();
        assert!(forecast.counting > 0 && forecast.seconds > 0.0, "{}", known.name);
    }
}

/// The released code's grids: AMP 4·4·3; P-SGD 3·3·3·4·3, P-PSGD 2·3·3·3 and P-SCPSGD 2·3·3 without the
/// settings that ours do not have (4 radii, 2 ridges, 3 radii); P-FW 7·4·3, of whose 7 numbers of passes
/// 5 are at most 100.
#[test]
fn grids_are_the_papers() {
    for name in ["iyengar-logistic", "iyengar-huber"] {
        let suite = find(name).unwrap();
        let points = |name: &str| {
            let entry = suite.entries.iter().find(|entry| entry.name == name).unwrap();
            assert_eq!(entry.calibrations, [Calibration::Sound, Calibration::Printed]);
            assert_eq!((entry.screen, entry.keep), (1, 5));
            entry.points.len()
        };
        assert_eq!(points("amp-tuned"), 48);
        assert_eq!(points("sgd-tuned"), 324 / 4);
        assert_eq!(points("psgd-tuned"), 54 / 2);
        assert_eq!(points("psgd-strong-tuned"), 18 / 3);
        assert_eq!(points("frank-wolfe-tuned"), 84 / 7 * 5);
        for entry in &suite.entries {
            assert_eq!(entry.epsilons.len(), 7);
            for (place, epsilon) in entry.epsilons.iter().enumerate() {
                let exact = 10_f64.powf(-2.0 + 0.5 * place as f64);
                let exact = if place == 6 { 10.0 } else { exact };
                assert!((epsilon / exact - 1.0).abs() < 1e-12, "{epsilon}");
            }
        }
    }
}

#[test]
fn a_forecast_counts_screens_and_what_is_kept() {
    let suite = mine(str::to_owned).unwrap();
    let count = |filter: &Filter| {
        let forecast = forecast(&suite, filter).unwrap();
        (forecast.screening, forecast.counting)
    };
    // Two points at two budgets; both are kept, with three runs each.
    assert_eq!(count(&Filter::default()), (4, 12));
    let filter = Filter { epsilons: vec![2.0], runs: Some(7), ..Filter::default() };
    assert_eq!(count(&filter), (2, 14));
}

#[test]
fn mistakes_are_named_with_their_line_and_what_is_accepted() {
    let refused = [
        ("[0.1, 1]", "[0.1, -1]", "line 5", "epsilon"),
        ("\"1/n^2\"", "\"1/n\"", "line 6", "1/n^2"),
        ("\"1/n^2\"", "2.5", "line 6", "delta"),
        ("runs = 3", "runs = 0", "line 7", "from 1"),
        ("runs = 3", "runs = 3\nrun = 4", "line 8", "unknown field `run`, expected one of"),
        ("\"logistic\"", "\"hinge\"", "line 4", "expected one of `logistic`"),
        ("name = \"synthetic-l\"", "name = \"synthetic-x\"", "line 9", "known are adult"),
        ("name = \"synthetic-l\"", "name = \"../up\"", "line 9", "accepted are letters"),
        ("name = \"synthetic-l\"", "name = \"ours\"\ntrain = \"t\"", "line 9", "together"),
        ("method = \"amp\"", "method = \"ampp\"", "line 12", "accepted: auto, amp"),
        (
            "{ split = [0.1, 0.2] }",
            "{ spilt = [1] }",
            "line 12",
            "accepted are ridge, gamma, split",
        ),
        ("{ split = [0.1, 0.2] }", "{ split = [\"x\"] }", "line 12", "above 0 and below 1"),
        ("{ split = [0.1, 0.2] }", "{ row-norm = [-1] }", "line 12", "row-norm"),
        ("{ split = [0.1, 0.2] }", "{ row-norm = [\"x\"] }", "line 12", "row-norm"),
        ("{ split = [0.1, 0.2] }", "{ split = [] }", "line 12", "a value or more"),
        ("{ split = [0.1, 0.2] }", "{ split = [0.1] }\nkeep = 0", "line 12", "from 1"),
        ("{ split = [0.1, 0.2] }", "{}\ndatasets = [\"adult\"]", "line 12", "synthetic-l"),
        ("{ split = [0.1, 0.2] }", "{}\ncalibrations = [\"exact\"]", "line 16", "`printed`"),
        ("title = \"Mine\"", "", "mine.toml", "missing field `title`"),
    ];
    for (from, to, place, words) in refused {
        assert!(MINE.contains(from), "{from}");
        let error = mine(|text| text.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(error, BenchError::Suite { .. }), "{to}: {error:?}");
        let error = error.to_string();
        assert!(error.contains(place) && error.contains(words), "{to}: {error}");
    }
    let twice = mine(|text| format!("{text}\n[[methods]]\nname = \"amp\"\nmethod = \"gd\"\n"));
    assert!(twice.unwrap_err().to_string().contains("two methods are called 'amp'"));
}

const TARGET: &str = r#"
[[targets]]
dataset = "synthetic-l"
method = "amp"
epsilon = 0.1
measure = "accuracy"
at-least = 80
"#;

#[test]
fn a_target_is_of_a_cell_that_the_suite_measures() {
    let with = |from: &str, to: &str| {
        assert!(TARGET.contains(from), "{from}");
        mine(|text| format!("{text}{}", TARGET.replacen(from, to, 1)))
    };
    let suite = with("", "").unwrap();
    let target = &suite.targets[0];
    assert_eq!((target.entry.as_str(), target.epsilon), ("amp", Some(0.1)));
    assert_eq!(target.bound, Bound::AtLeast(80.0));
    for (from, to, words) in [
        ("\"synthetic-l\"", "\"adult\"", "data set 'adult': this suite has synthetic-l"),
        ("\"amp\"", "\"gd\"", "method 'gd': on synthetic-l this suite has amp"),
        ("0.1", "0.2", "epsilon 0.2: amp on synthetic-l has 0.1, 1"),
        ("epsilon = 0.1", "", "epsilon none: amp"),
        (
            "\"accuracy\"",
            "\"area\"",
            "expected one of `accuracy`, `auc`, `r-squared`, `relative-error`, `rmse`, `recall`, `ndcg`, `loss`, `answered`, `seconds`",
        ),
        ("at-least = 80", "", "as at-least, as at-most"),
        ("at-least = 80", "at-least = 80\nat-most = 90", "one of them"),
        ("at-least = 80", "at-least = nan", "accepted is a number"),
        ("at-least = 80", "within = 2", "within with of"),
        (
            "at-least = 80",
            "within = 2\nof = \"gd\"",
            "method 'gd': on synthetic-l this suite has amp",
        ),
        ("at-least = 80", "atleast = 80", "unknown field `atleast`"),
        ("at-least", "calibration = \"printed\"\nat-least", "'printed': amp has sound"),
    ] {
        let error = with(from, to).unwrap_err();
        assert!(matches!(error, BenchError::Suite { .. }), "{to}: {error:?}");
        let error = error.to_string();
        assert!(error.contains(words) && error.contains("line "), "{to}: {error}");
    }
    let plain = "[[methods]]\nname = \"plain\"\nmethod = \"non-private\"\ndatasets = []";
    let of_plain = TARGET.replace("amp", "plain").replace("epsilon = 0.1", "");
    let elsewhere = mine(|text| format!("{text}{plain}{of_plain}")).unwrap_err().to_string();
    assert!(elsewhere.contains("'plain': on synthetic-l this suite has amp"), "{elsewhere}");
    let here = mine(|text| format!("{text}{}{of_plain}", plain.replace("datasets = []", "")));
    assert_eq!(here.unwrap().targets[0].epsilon, None);
}

#[test]
fn a_peer_keeps_its_own_relation_and_settings() {
    let with = |rest: &str| {
        mine(|text| format!("{text}\n[[methods]]\nname = \"other\"\npeer = \"dp-ebm\"\n{rest}\n"))
    };
    let suite = with("").unwrap();
    let entry = &suite.entries[1];
    assert_eq!((entry.learner.peer(), entry.learner.is_private()), (Some(Peer::DpEbm), true));
    assert_eq!(entry.neighbours, Neighbours::AddRemove);
    assert_eq!(suite.entries[0].neighbours, Neighbours::ReplaceOne);
    assert!(with("neighbours = \"add-remove\"").is_ok());
    assert!(with("grid = { max-rounds = [100, 300], learning-rate = [0.01] }").is_ok());
    for (rest, words) in [
        ("method = \"amp\"", "a method or a peer, one of them"),
        ("neighbours = \"replace-one\"", "accepted is \"add-remove\""),
        ("loss = \"huber-svm\"", "accepted is \"logistic\""),
        ("calibrations = [\"printed\"]", "constants of its own"),
        ("set = { C = 1 }", "accepted are max-rounds, learning-rate"),
        ("set = { max-rounds = 0 }", "a number above 0"),
        ("set = { max-rounds = \"many\" }", "a number above 0"),
    ] {
        let error = with(rest).unwrap_err().to_string();
        assert!(error.contains("method 'other'") && error.contains(words), "{rest}: {error}");
    }
    let unknown = mine(|text| text.replace("method = \"amp\"", "peer = \"ebm\"")).unwrap_err();
    assert!(unknown.to_string().contains("accepted are dp-ebm, diffprivlib"), "{unknown}");
    let neither = mine(|text| text.replace("method = \"amp\"", "")).unwrap_err();
    assert!(neither.to_string().contains("a method or a peer"), "{neither}");
}

#[test]
fn names_that_are_not_there() {
    let error = find("iyengar").unwrap_err();
    assert!(matches!(error, BenchError::UnknownSuite { .. }));
    let error = error.to_string();
    let parts = ["race", "scale", "ledger", "thakurta-online", "wang-parties"];
    assert!(["iyengar-logistic"].iter().chain(&parts).all(|name| error.contains(name)), "{error}");
    for name in parts {
        let error = find(name).unwrap_err().to_string();
        assert!(error.contains(&format!("'{name}' is a suite in parts")), "{error}");
        assert!(error.contains(&format!("privet-bench run {name} --dry-run")), "{error}");
    }
    let suite = mine(str::to_owned).unwrap();
    let refused = |filter: Filter| suite::forecast(&suite, &filter).unwrap_err().to_string();
    let unknown = refused(Filter { datasets: vec!["adult".into()], ..Filter::default() });
    assert!(unknown.contains("'adult'") && unknown.contains("synthetic-l"), "{unknown}");
    let unknown = refused(Filter { methods: vec!["gd".into()], ..Filter::default() });
    assert!(unknown.contains("'gd'") && unknown.contains("amp"), "{unknown}");
    let nothing = refused(Filter { calibrations: vec![Calibration::Printed], ..Filter::default() });
    assert!(nothing.contains("nothing is left"), "{nothing}");
    let odd = refused(Filter { epsilons: vec![f64::NAN], ..Filter::default() });
    assert!(odd.contains("epsilon"), "{odd}");
}

#[test]
fn paths_of_one_s_own_are_relative_to_the_suite() {
    let own = "name = \"ours\"\nschema = \"s.toml\"\ntrain = \"a.csv\"\ntest = \"/b.csv\"";
    let suite = mine(|text| text.replace("name = \"synthetic-l\"", own)).unwrap();
    let paths = suite.datasets[0].own.as_ref().unwrap();
    assert_eq!(
        paths.each_ref().map(|path| path.to_str().unwrap()),
        ["folder/s.toml", "folder/a.csv", "/b.csv"]
    );
}
