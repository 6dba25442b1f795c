//! Votes: sizes chosen by the plan for pluralities, programs that behave differently in rehearsal and on
//! records, labels that are released where teachers agree, and the accounting of the sparse vector
//! against a published alternative.

use privet_core::Neighbours;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{self, ThresholdNoise, gaussian};
use privet_dp::mechanism::SparseVector;
use privet_dp::noise::FixedSeed;
use privet_learn::votes::{Ballot, Teach, Teacher, TrainingData, Vote, with_rows_and_teachers};
use privet_learn::{Plan, plan};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn schema() -> Schema {
    Schema::from_toml(
        "bias = false\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"a\", \"b\", \"c\"]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1]\n",
    )
    .unwrap()
}

fn table(rows: usize) -> Dataset {
    let line = |row: usize| format!("{},{}\n", (row % 7) as f64 / 7.0, ["a", "b", "c"][row % 3]);
    let text = format!("x,y\n{}", (0..rows).map(line).collect::<String>());
    read::csv_bytes(text.as_bytes(), &schema()).unwrap()
}

fn public(rows: usize) -> Matrix {
    table(rows).features
}

fn planned(task: Vote, rows: u64, epsilon: f64) -> Plan<Vote> {
    let budget = (epsilon, Some(1e-5));
    plan(&task.request(&schema(), rows, Neighbours::ReplaceOne, budget).unwrap()).unwrap()
}

fn outside(questions: u64, aggregator: &str) -> Vote {
    let teacher = Teacher::Outside { what: "a test".into() };
    Vote {
        teachers: Some(400),
        teacher,
        aggregator: aggregator.parse().unwrap(),
        ..Vote::on(questions)
    }
}

fn labels(plan: &Plan<Vote>, data: &Dataset, seed: u64) -> Vec<i32> {
    let release = plan.run(data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    release.into_parts().0.labels
}

/// b³ = 180n/μ² where rows allow it, fewer for fewer queries, 10 rows a class where they do not;
/// settled, it stays. Requested numbers are kept.
#[test]
fn pluralities_choose_their_teachers_from_public_facts() {
    let gnmax =
        |questions: u64| Vote { aggregator: "gnmax".parse().unwrap(), ..Vote::on(questions) };
    let mu = gaussian::mu(1.0, 1e-5);
    let teachers = |plan: &Plan<Vote>| plan.request().task.teachers.unwrap();
    let says = |plan: &Plan<Vote>, word: &str| plan.notes().iter().any(|note| note.contains(word));
    let rule = (180.0 * 33_178.0 / mu.powi(2)).cbrt();
    let adult = planned(gnmax(400), 33_178, 1.0);
    assert_eq!(teachers(&adult), rule.round() as u32);
    assert!(!says(&adult, "small") && !says(&adult, "worth asking"), "{:?}", adult.notes());
    assert_eq!(
        planned(adult.request().task.clone(), 33_178, 1.0).request().task,
        adult.request().task
    );
    // Five times the rows of a teacher, and the resulting noise: a third of the teachers, on a lead.
    let worth = 5.0 * 33_178.0 / rule;
    assert!((2.0 * worth.sqrt() / mu / (rule / 3.0) - 1.0).abs() < 1e-9);
    let many = planned(gnmax(3_000), 33_178, 1.0);
    assert!(
        says(&many, &format!("about {worth:.0} questions are worth asking")),
        "{:?}",
        many.notes()
    );
    assert_eq!(teachers(&many), teachers(&adult));
    assert_eq!(teachers(&planned(gnmax(1), 33_178, 1.0)), (18.0 / mu).round() as u32);
    // 3 classes: at least 30 rows a teacher.
    let small = planned(gnmax(10), 900, 1.0);
    assert_eq!(teachers(&small), 30);
    assert!(says(&small, "the table is small"), "{:?}", small.notes());
    let own = planned(Vote { teachers: Some(7), ..gnmax(3_000) }, 900, 1.0);
    assert!(teachers(&own) == 7 && !says(&own, "worth asking"));
    let enough = 30_f64.powf(1.5) * 180_f64.sqrt() / mu;
    for (rows, fits) in [(1.01 * enough, true), (0.99 * enough, false)] {
        let plan = planned(gnmax(1_000_000), rows as u64, 1.0);
        assert_eq!(says(&plan, "the table is small"), !fits, "{rows}: {:?}", plan.notes());
    }
}

/// A program that is right about synthetic rows (12 of them for 3 classes) and writes a line too many,
/// or too few, on records has its fixed vote, without any visible sign.
#[cfg(unix)]
#[test]
fn a_program_that_fails_on_records_alone_votes_for_the_first_class() {
    use privet_learn::votes::command::Program;
    let data = table(120);
    let plan = planned(Vote { teachers: Some(6), ..outside(5, "gnmax") }, 120, 60.0);
    let right = "awk 'NR > 1 { print 2 }' queries.csv > predictions.csv";
    let odd = |then: &str| format!("{right}; [ $(wc -l < train.csv) -eq 13 ] || {then}");
    for (command, expected) in [
        (right.to_string(), 2),
        (odd("echo 2 >> predictions.csv"), 0),
        (odd("sed -i 1d predictions.csv"), 0),
        (odd("exit 1"), 0),
    ] {
        let program = Program::new(&command, std::time::Duration::from_secs(20));
        program.rehearse(1, 3).unwrap();
        let ready =
            with_rows_and_teachers(plan.clone(), &public(5), Some(Arc::new(program))).unwrap();
        assert_eq!(labels(&ready, &data, 3), [expected; 5], "{command}");
    }
}

/// All teachers for one class, or each for its own.
#[derive(Debug)]
struct Same(bool);

impl Teach for Same {
    fn ballots(
        &self,
        training_data: &TrainingData<'_>,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Ballot>> {
        let class = |number: usize| if self.0 { 2 } else { (number % 3) as u32 };
        let ballot = |number| Some(vec![class(number); training_data.queries.rows()]);
        Some((0..training_data.chunks.len()).map(ballot).collect())
    }
}

/// 300 labels under noise of 4 cost far more than ε = 10 for any votes. If teachers agree they are
/// released, all of them and right (a lead of 400 is 70 standard deviations of its noise); if not, none
/// is. Seeds are fixed; drawn anew, the one would fail with probability far below 1e-9, the other with
/// at most δ.
#[test]
fn labels_come_out_where_teachers_agree() {
    let aggregator = "agreed-gnmax".parse::<privet_learn::votes::Aggregator>().unwrap();
    let aggregator = aggregator.with("vote_noise", "4").unwrap();
    let data = table(1_200);
    let plan = planned(Vote { aggregator, ..outside(300, "gnmax") }, 1_200, 10.0);
    let costs = |sigma: f64| gaussian::mu(10.0, 1e-5) < (2.0 * 300.0_f64).sqrt() / sigma;
    assert!(costs(4.0), "no budget covers these labels whatever the votes");
    for (same, expected) in [(true, 2), (false, -1)] {
        let ready =
            with_rows_and_teachers(plan.clone(), &public(300), Some(Arc::new(Same(same)))).unwrap();
        assert_eq!(labels(&ready, &data, 11), [expected; 300]);
    }
}

/// Rényi divergence of order a between Laplace laws 1/s apart.
fn laplace_renyi(order: f64, scale: f64) -> f64 {
    let (a, e) = (order, 1.0 / scale);
    let first = (a / (2.0 * a - 1.0)).ln() + (a - 1.0) * e;
    let second = ((a - 1.0) / (2.0 * a - 1.0)).ln() - a * e;
    (first + (second - first).exp().ln_1p()) / (a - 1.0)
}

/// The published alternative: T runs of a sparse vector by moments (Zhu & Wang 2020): the curve of the
/// threshold's noise, and 2/s₂ for the comparison that ends a run, for each; the best order of a fine
/// list.
fn by_moments(of: &SparseVector, delta: f64) -> f64 {
    let runs = f64::from(of.cutoff);
    let at = |step: i32| {
        let order = 1.0 + (-5.0 + 0.01 * f64::from(step)).exp();
        let curve = laplace_renyi(order, of.noise_scale) + 2.0 / of.query_noise_scale();
        runs * curve + (-1.0 / order).ln_1p() - (delta * order).ln() / (order - 1.0)
    };
    (0..1_500).map(at).fold(f64::INFINITY, f64::min)
}

/// Cases where exact composition of pure runs needs less noise than the published moments, and where it
/// does not.
#[test]
fn runs_composed_exactly_beside_their_moments() {
    let of = |cutoff: u32, query_ratio: f64, noise_scale: f64| SparseVector {
        neighbours: Neighbours::ReplaceOne,
        unit: privet_core::Unit::Record,
        sensitivity: 1,
        law: ThresholdNoise::Laplace,
        noise_scale,
        query_ratio,
        cutoff,
        threshold: 0,
    };
    let delta = 5e-6;
    let exactly = |of: &SparseVector| account::epsilon(&of.event().unwrap(), delta).unwrap();
    // Noise for about ε = 1. Few runs: level. Many: the moments of a comparison add up, whole runs
    // compose like a root.
    for (cutoff, ratio, noise, times) in [
        (1, 1.4, 2.43, 1.0),
        (4, 1.4, 9.71, 1.0),
        (16, 1.4, 33.9, 1.05),
        (64, 1.4, 74.0, 1.6),
        (256, 1.4, 150.0, 2.8),
        (256, 64.0, 63.8, 1.1),
    ] {
        let of = of(cutoff, ratio, noise);
        let (exact, moments) = (exactly(&of), by_moments(&of, delta));
        assert!((exact - 1.0).abs() < 0.01, "{cutoff}: {exact}");
        assert!(moments >= times * exact * (1.0 - 1e-3), "{cutoff}: {moments} {exact}");
    }
    // At ε = 8 and 16 runs of Laplace noise the moments need a little less.
    let of = of(16, 1.4, 4.851);
    let (exact, moments) = (exactly(&of), by_moments(&of, delta));
    assert!(moments < exact && moments > 0.97 * exact, "{moments} {exact}");
}
