//! Votes of black boxes in a suite: teachers on most of the training rows, labels of the rest, a student
//! of those.
//!
//! `queries` of the training rows, others in each run, are taken as public: their labels are dropped,
//! they are voted on, and they have no guarantee. The student that learns from the release is evaluated
//! on the test rows, as every other learner is. `one-chunk` is the teachers' learner without privacy, on
//! as many rows as one of them has.

use super::grid::Point;
use super::pool::Job;
use super::table::Table;
use crate::error::BenchError;
use crate::line::{Questions, Run};
use crate::memory;
use privet_catalog::SPLIT_SEED;
use privet_core::Range;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target, keyed, split};
use privet_dp::noise::SystemRandom;
use privet_learn::votes::student::{Student, Study};
use privet_learn::votes::{AGGREGATORS, Aggregator, TEACHERS, Teacher, Vote};
use privet_learn::{LearnError, SettingInfo, plan};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Limits on the number of rounds in which a student labels rows itself.
const ROUNDS: Range = Range::from("rounds", 0.0, 101.0);
/// Limits on the number of public rows that are queried.
const ASK: Range = Range::from("ask", 1.0, 100_000_001.0);
const TEACHER_COUNT: Range = privet_learn::votes::TEACHER_COUNT;
const QUERIES: Range = privet_learn::votes::QUERIES;
const CHOOSE: Range = privet_learn::votes::CHOOSE;

/// The settings of a suite's entry beside an aggregator's own.
pub const VOTE_SETTINGS: &[SettingInfo] = &[
    SettingInfo::one_of_words(
        "aggregator",
        "a word of `privet vote`",
        "what makes labels of votes",
    ),
    SettingInfo::one_of_words("teacher", "a word of `privet vote`", "what votes"),
    SettingInfo::one_of_words("student", "a word of `privet vote`", "what learns from labels"),
    SettingInfo::one_of_words(
        "spread",
        "yes or no",
        "whether labels are spread first among public rows that resemble one another; no unless given",
    ),
    SettingInfo::integer(TEACHER_COUNT, "how many vote"),
    SettingInfo::integer(QUERIES, "training rows that are taken for public; 1000 unless given"),
    SettingInfo::integer(ASK, "public rows that are asked about; all of them unless given"),
    SettingInfo::integer(
        CHOOSE,
        "rounds in which the rows of ask are chosen among all public ones; the first ones unless given",
    ),
    SettingInfo::integer(ROUNDS, "rounds in which the student labels rows itself; 1 unless given"),
];

/// Teachers, an aggregator and a student.
#[derive(Debug, Clone, PartialEq)]
pub struct Voter {
    /// True for the teachers' learner alone, on a chunk.
    alone: bool,
    aggregator: Aggregator,
    teacher: Teacher,
    student: Study,
    teachers: Option<u32>,
    queries: u64,
    /// Number of public rows that are queried.
    ask: Option<u64>,
    /// Number of rounds in which they are chosen.
    choose: Option<u32>,
}

impl Voter {
    /// The default settings of this name; `None` for another name.
    pub fn by_name(word: &str) -> Option<Self> {
        let alone = match word {
            "vote" => false,
            "one-chunk" => true,
            _ => return None,
        };
        let logistic = Teacher::Logistic { ridge: None };
        Some(Self {
            alone,
            aggregator: Aggregator::default(),
            teacher: logistic.clone(),
            student: Study::by(logistic),
            teachers: None,
            queries: 1_000,
            ask: None,
            choose: None,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        if self.alone { "one-chunk" } else { "vote" }
    }

    /// True if it is private.
    pub fn is_private(&self) -> bool {
        !self.alone
    }

    /// The keys that a suite may set.
    pub fn keys(&self) -> Vec<&'static str> {
        let of_aggregators = AGGREGATORS.iter().flat_map(|info| info.settings);
        let of_teachers = TEACHERS.iter().flat_map(|info| info.settings);
        VOTE_SETTINGS
            .iter()
            .chain(of_aggregators)
            .chain(of_teachers)
            .map(|setting| setting.name)
            .collect()
    }

    /// With the settings of a point. Settings of an aggregator or a learner that the point does not name
    /// are kept.
    pub fn with(&self, point: &Point) -> Result<Self, LearnError> {
        let mut voter = self.clone();
        if let Some(word) = point.get("aggregator") {
            voter.aggregator = word.parse()?;
        }
        if let Some(word) = point.get("teacher") {
            voter.teacher = Teacher::by_name(word)?;
        }
        if let Some(word) = point.get("student") {
            voter.student.learner = Study::by_name(word)?.learner;
        }
        for (key, value) in point {
            let whole = |range: Range| {
                let refused = || LearnError::SettingValue {
                    setting: range.name(),
                    given: value.clone(),
                    accepted: range.whole(),
                };
                let number: u64 = value.parse().map_err(|_| refused())?;
                range.check(number as f64).map_err(|_| refused())?;
                Ok::<u64, LearnError>(number)
            };
            match key.as_str() {
                "aggregator" | "teacher" | "student" => {}
                "teachers" => voter.teachers = Some(whole(TEACHER_COUNT)? as u32),
                "queries" => voter.queries = whole(QUERIES)?,
                "ask" => voter.ask = Some(whole(ASK)?),
                "choose" => voter.choose = Some(whole(CHOOSE)? as u32),
                "rounds" => voter.student.rounds = whole(ROUNDS)? as u32,
                "spread" => {
                    voter.student.spread = match value.as_str() {
                        "yes" => true,
                        "no" => false,
                        _ => {
                            return Err(LearnError::SettingValue {
                                setting: "spread",
                                given: value.clone(),
                                accepted: "yes or no".into(),
                            });
                        }
                    }
                }
                other => {
                    let of_aggregator = voter.aggregator.info().settings.iter();
                    if of_aggregator.clone().any(|setting| setting.name == other) {
                        voter.aggregator = voter.aggregator.with(other, value)?;
                    }
                    // For teachers and student alike.
                    for learner in [&mut voter.teacher, &mut voter.student.learner] {
                        match learner.with(other, value) {
                            Ok(with) => *learner = with,
                            Err(LearnError::NotASetting { .. }) => {}
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
        }
        Ok(voter)
    }
}

/// Private rows and public ones, others for each run.
fn parts(data: &Dataset, queries: u64, run: u32) -> (Dataset, Matrix) {
    let order = split::shuffled_rows(data.rows(), &keyed::key(SPLIT_SEED + u64::from(run)));
    let (public, private) = order.split_at((queries as usize).min(data.rows()));
    let mut private = private.to_vec();
    private.sort_unstable();
    (data.select(&private), data.features.select(public))
}

fn accuracy(student: &Student, test: &Dataset) -> Result<f64, LearnError> {
    let Target::Class { codes, .. } = &test.target else {
        return Err(LearnError::DataShape("there are no classes"));
    };
    let predicted = student.predict(&test.features)?;
    let right = predicted.iter().zip(codes).filter(|(one, other)| one == other).count();
    Ok(100.0 * right as f64 / codes.len().max(1) as f64)
}

impl Job<'_> {
    /// Trains students of votes.
    pub(super) fn train_students(
        &self,
        table: &Table,
        voter: Voter,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let schema = table.schema.linear();
        let classes = schema.classes().map_or(0, <[String]>::len);
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (private, public) = parts(&table.training, voter.queries, *run);
            let rows = private.rows() as u64;
            let started = Instant::now();
            let mut questions = None;
            let (labels, rows_learnt, chosen, certified, study) = if voter.alone {
                let count = (private.rows() / voter.teachers.unwrap_or(250) as usize).max(1);
                let chunk = private
                    .select(&(0..count).map(|at| at * private.rows() / count).collect::<Vec<_>>());
                let Target::Class { codes, .. } = &chunk.target else {
                    return Err(LearnError::DataShape("there are no classes").into());
                };
                let codes = codes.iter().map(|code| Some(*code)).collect();
                let study = Study { learner: voter.teacher.clone(), rounds: 0, spread: false };
                (codes, chunk.features, format!("{count} rows"), None, study)
            } else {
                let task = Vote {
                    teachers: voter.teachers,
                    teacher: voter.teacher.clone(),
                    aggregator: voter.aggregator.clone(),
                    choose: voter.choose,
                    ..Vote::of_first(voter.ask.unwrap_or(u64::MAX), &public)
                };
                let planned = plan(&self.request(&schema, rows, task)?)?.with_public(&public)?;
                let release = planned.run(&private, &mut SystemRandom::new()?, stop)?;
                let labels = release.value().by_row(public.rows());
                let epsilon = planned.guarantee().map(|guarantee| guarantee.epsilon);
                // The number of answers grows as εn/V (Thakkar 2019, Theorem 12, realizable): V weights
                // of a line.
                let learnt = (public.columns() * classes.saturating_sub(1).max(1)) as f64;
                questions = Some(Questions {
                    asked: release.value().labels.len() as u64,
                    answered: release.value().answered() as u64,
                    bound: self.place.cell.epsilon.unwrap_or(0.0) * rows as f64 / learnt,
                });
                let settings = planned.settings();
                let cutoff = settings.get("cutoff").or(release.value().cutoff.map(f64::from));
                let cutoff = cutoff.map_or_else(String::new, |cutoff| format!(", T = {cutoff}"));
                let teachers = planned.request().task.teachers.unwrap_or(0);
                let message = format!("{teachers} teachers{cutoff}");
                (labels, public, message, epsilon, voter.student.clone())
            };
            let student = Student::fit(&study, &rows_learnt, &labels, classes)?;
            // Without a label every row is predicted to be of the first class.
            let nothing = || Student::fit(&study, &rows_learnt.select(&[0]), &[Some(0)], classes);
            let student = match student {
                Some(student) => Some(student),
                None => nothing()?,
            };
            let seconds = started.elapsed().as_secs_f64();
            let student = student.ok_or(LearnError::DataShape("there is no student"))?;
            tell(Run {
                cell: self.place.cell.clone(),
                stage: self.stage,
                run: *run,
                rows,
                columns: table.training.features.columns() as u64,
                classes: classes as u64,
                measure: "accuracy".into(),
                score: accuracy(&student, &table.test)?,
                ranking: None,
                loss: None,
                gradient: None,
                passes: None,
                questions,
                distance: None,
                recall: None,
                ndcg: None,
                chosen: Some(chosen),
                certified,
                seconds,
                peak_memory: memory::peak(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_where_they_belong() {
        let point = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect::<Point>()
        };
        let voter = Voter::by_name("vote").unwrap();
        let set = voter.with(&point(&[
            ("agree", "0.7"),
            ("aggregator", "confident-gnmax"),
            ("depth", "3"),
            ("queries", "50"),
            ("teacher", "forest"),
            ("teachers", "40"),
        ]));
        let set = set.unwrap();
        assert_eq!(
            (set.queries, set.teachers, set.aggregator.name()),
            (50, Some(40), "confident-gnmax")
        );
        assert_eq!(set.teacher, Teacher::Forest { trees: None, depth: Some(3) });
        assert_eq!(set.student.learner, Teacher::Logistic { ridge: None });
        assert!(voter.with(&point(&[("teachers", "0")])).is_err());
        assert!(voter.with(&point(&[("teacher", "oracle")])).is_err());
        assert!(voter.with(&point(&[("student", "propagation")])).is_err());
        assert!(voter.with(&point(&[("spread", "perhaps")])).is_err());
        assert!(voter.with(&point(&[("spread", "yes")])).unwrap().student.spread);
        assert!(voter.keys().contains(&"cutoff") && Voter::by_name("amp").is_none());
    }
}
