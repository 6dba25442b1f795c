//! A suite of ratings from its file to its verdict.

use privet_bench::check::{Verdict, check};
use privet_bench::error::BenchError;
use privet_bench::line::{Line, Run};
use privet_bench::suite::{Filter, RunObserver, RunOptions, Suite, parse, run};
use privet_data::ratings::{Layout, RatingFacts, schema};
use std::fmt::Write as _;
use std::path::Path;

const SUITE: &str = r#"
name = "mine"
title = "Mine"
task = "complete"
epsilons = [4]
delta = 1e-5
neighbours = "add-remove"
runs = 2
[[datasets]]
name = "films"
schema = "schema.toml"
train = "train.csv"
test = "test.csv"
held-out = 0.2
delta = 1e-4
[[methods]]
name = "moments"
method = "moments"
grid = { rank = [0, 2] }
set = { core = 6 }
[[methods]]
name = "plain"
method = "non-private"
[[methods]]
name = "mean"
method = "mean"
[[targets]]
dataset = "films"
method = "plain"
measure = "rmse"
at-most = 1
[[targets]]
dataset = "films"
method = "plain"
measure = "recall"
at-least = 2
"#;

struct Nobody;

impl RunObserver for Nobody {
    fn say(&self, _: &str) {}
    fn progress(&self, _: u64, _: u64, _: f64) {}
    fn writing(&self, write: &mut dyn FnMut()) {
        write();
    }
}

fn suite(edit: (&str, &str), folder: &Path) -> Result<Suite, BenchError> {
    assert!(SUITE.contains(edit.0), "{}", edit.0);
    parse(&SUITE.replacen(edit.0, edit.1, 1), "mine.toml", folder)
}

/// Two tastes, which a mean cannot represent.
fn world() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let items = (0..12).map(|item| item.to_string()).collect();
    let facts = RatingFacts { layout: Layout::Triples, items, bounds: [1.0, 5.0], most: 12 };
    std::fs::write(folder.path().join("schema.toml"), schema(&facts).unwrap().to_toml()).unwrap();
    let mut parts = ["user,item,rating\n".to_owned(), "user,item,rating\n".to_owned()];
    for user in 0..300 {
        for item in 0..12 {
            let liked = (item < 6) == (user % 2 == 0);
            let part = &mut parts[usize::from((user + item) % 5 == 0)];
            let _ = writeln!(part, "u{user},{item},{}", if liked { 5 } else { 2 });
        }
    }
    std::fs::write(folder.path().join("train.csv"), &parts[0]).unwrap();
    std::fs::write(folder.path().join("test.csv"), &parts[1]).unwrap();
    folder
}

#[test]
fn ratings_are_learnt_judged_and_checked() {
    let folder = world();
    let suite = suite(("", ""), folder.path()).unwrap();
    let options = RunOptions {
        out: folder.path().join("out"),
        resume: false,
        originals: folder.path().into(),
        cache: folder.path().join("cache"),
        filter: Filter::default(),
        python: "no-python".into(),
        threads: 2,
    };
    let outcome = run(&suite, &options, &Nobody).unwrap();
    // Two points screened once and run twice, and two runs of each baseline: every run holds out other
    // ratings.
    assert_eq!((outcome.made, outcome.refused), (2 + 4 + 4, 0));
    let text = std::fs::read_to_string(folder.path().join("out/results.jsonl")).unwrap();
    let runs: Vec<Run> = text
        .lines()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            Line::Run(run) => Some(run),
            _ => None,
        })
        .collect();
    let of = |entry: &str| runs.iter().filter(|run| run.cell.entry == entry).collect::<Vec<_>>();
    for run in &runs {
        assert_eq!((run.measure.as_str(), run.rows, run.columns), ("rmse", 300, 12));
        assert!(run.recall.is_some() && run.ndcg.is_some());
    }
    assert_eq!(of("moments")[0].cell.delta, Some(1e-4), "the data set's own");
    assert!(of("plain")[0].score < 0.5 * of("mean")[0].score);
    assert!(of("mean")[0].score != of("mean")[1].score, "other ratings are held out");
    let checked = check(&suite, &options.out).unwrap();
    let verdicts: Vec<Verdict> = checked.findings.iter().map(|finding| finding.verdict()).collect();
    assert_eq!(verdicts, [Verdict::Met, Verdict::Missed]);
    // The least error is the best point of the grid.
    let report = privet_bench::report::aggregate::summaries(&runs);
    let mean = |counts: bool| {
        let mut actual = report.iter().filter(|one| one.cell.entry == "moments");
        actual.find(|one| one.counts == counts).unwrap().mean
    };
    assert!(mean(true) <= mean(false));
}

#[test]
fn what_is_not_of_ratings_is_refused() {
    let folder = world();
    for (from, to, words) in [
        ("task = \"complete\"", "task = \"complete\"\nloss = \"logistic\"", "there is no loss"),
        ("task = \"complete\"\n", "", "held-out is of ratings"),
        ("held-out = 0.2", "held-out = 1.0", "a share above 0 and below 1"),
        ("method = \"mean\"", "method = \"amp\"", "amp"),
        ("core = 6", "row-norm = 6", "'row-norm': accepted are rank, rounds, core, spread"),
        (
            "name = \"films\"\nschema = \"schema.toml\"\ntrain = \"train.csv\"\ntest = \"test.csv\"",
            "name = \"adult\"",
            "sets of ratings",
        ),
    ] {
        let error = suite((from, to), folder.path()).unwrap_err();
        assert!(error.to_string().contains(words), "{to}: {error}");
    }
}

/// Seconds of this process on all cores together, and its largest memory in MiB; nothing where /proc is not.
fn spent() -> Option<(f64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks: Vec<f64> =
        stat.rsplit(')').next()?.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak: u64 = peak.trim().trim_end_matches("kB").trim().parse().ok()?;
    // The state is no number: user and system time are fields 11 and 12 of the rest, in hundredths.
    Some(((ticks[10] + ticks[11]) / 100.0, peak / 1024))
}

/// Frank–Wolfe and Oja on matrices of rank one: seconds, memory, and the growth of Oja's seconds with
/// the ratings.
#[test]
#[ignore = "prints; takes minutes and gigabytes"]
fn print_the_scale() {
    use privet_catalog::synth::RankOne;
    use privet_core::{Budget, Neighbours};
    use privet_data::ratings::{OwnRatings, Rated, table};
    use privet_learn::ratings::{Complete, Method};
    let items: usize = 900;
    let named = (1..=items).map(|item| item.to_string()).collect();
    let facts =
        RatingFacts { layout: Layout::Triples, items: named, bounds: [-1.0, 1.0], most: 80 };
    let schema = schema(&facts).unwrap();
    let rated = Rated::of(&schema).unwrap();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (users, name, rounds) in [
        (62_500, "oja", 2),
        (125_000, "oja", 2),
        (250_000, "oja", 2),
        (500_000, "oja", 2),
        (500_000, "frank-wolfe", 1),
        (500_000, "frank-wolfe", 20),
    ] {
        let shape = RankOne { users, items, each: 80, seed: 1 };
        let user = |row: Vec<(u32, f64)>| {
            let mut own = OwnRatings::default();
            row.into_iter().for_each(|(item, rating)| own.and(item as usize, rating, &rated));
            own
        };
        let data = table(shape.rows().map(user).collect(), &rated);
        let method: Method = name.parse().unwrap();
        let method = method.with("rounds", &rounds.to_string()).unwrap();
        let request =
            Complete::by(method).request(schema.clone(), users as u64, Neighbours::AddRemove);
        let plan =
            privet_learn::plan(&request.with_budget(Budget::new(1.0, 1e-6).unwrap())).unwrap();
        let (began, before) = (std::time::Instant::now(), spent());
        let mut source = privet_dp::noise::FixedSeed::new(1);
        plan.run(&data, &mut source, &std::sync::atomic::AtomicBool::new(false)).unwrap();
        let wall = began.elapsed().as_secs_f64();
        let cores = spent().zip(before).map(|((now, _), (then, _))| now - then);
        let memory = spent().map(|(_, peak)| peak);
        println!(
            "{name}, {users} users, {rounds} rounds: {wall:.1} s, on all cores {cores:?} s, peak {memory:?} MiB"
        );
        if name == "oja" {
            points.push(((users as f64 * 80.0).ln(), cores.unwrap_or(wall).ln()));
        }
    }
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    println!("oja: seconds grow as the ratings to the power {slope:.2}");
}
