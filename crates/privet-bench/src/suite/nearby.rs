//! Answers by records nearby in a suite: some test rows, others in each run, are the public queries, and
//! answers are evaluated by their classes. All training rows are records.

use super::grid::Point;
use super::pool::Job;
use super::table::Table;
use crate::error::BenchError;
use crate::line::Run;
use crate::memory;
use privet_catalog::SPLIT_SEED;
use privet_core::Range;
use privet_data::{Target, keyed, split};
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::Predictions;
use privet_learn::neighbours::{Nearby, VOTES, WITHIN};
use privet_learn::{LearnError, SettingInfo, plan};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Limits on the number of test rows that are queried.
const QUESTIONS: Range = Range::from("questions", 1.0, 1_000_001.0);

/// The settings of a suite's entry.
pub const SETTINGS: &[SettingInfo] = &[
    SettingInfo::integer(QUESTIONS, "test rows that are asked about; 1000 unless given"),
    SettingInfo::number(
        WITHIN,
        "how near a record must be to vote; from the questions unless given",
    ),
    SettingInfo::integer(
        VOTES,
        "in how many answers one record may vote; from the questions unless given",
    ),
];

/// The settings of the queries.
#[derive(Debug, Clone, PartialEq)]
pub struct QuerySettings {
    questions: u64,
    within: Option<f64>,
    votes: Option<u32>,
}

impl QuerySettings {
    /// Its name as a `method`.
    pub const NAME: &'static str = "neighbours";

    /// The default settings, if this is its name.
    pub fn by_name(word: &str) -> Option<Self> {
        (word == Self::NAME).then_some(Self { questions: 1_000, within: None, votes: None })
    }

    /// With the settings of a point.
    pub fn with(&self, point: &Point) -> Result<Self, LearnError> {
        let mut asker = self.clone();
        for (key, value) in point {
            let checked = |range: Range, whole: bool| {
                let found = value.parse::<f64>().ok().filter(|number| {
                    range.check(*number).is_ok() && (!whole || number.fract() == 0.0)
                });
                found.ok_or_else(|| LearnError::SettingValue {
                    setting: range.name(),
                    given: value.clone(),
                    accepted: if whole { range.whole() } else { range.to_string() },
                })
            };
            match key.as_str() {
                "questions" => asker.questions = checked(QUESTIONS, true)? as u64,
                "within" => asker.within = Some(checked(WITHIN, false)?),
                _ => asker.votes = Some(checked(VOTES, true)? as u32),
            }
        }
        Ok(asker)
    }
}

impl Job<'_> {
    /// Answers queries for test rows.
    pub(super) fn answer_test_rows(
        &self,
        table: &Table,
        asker: &QuerySettings,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let schema = table.schema.linear();
        let rows = table.training.rows() as u64;
        let Target::Class { codes, count } = &table.test.target else {
            return Err(LearnError::DataShape("there are no classes").into());
        };
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let key = keyed::key(SPLIT_SEED + u64::from(*run));
            let mut some = split::shuffled_rows(table.test.rows(), &key);
            some.truncate(asker.questions as usize);
            let (within, votes) = (asker.within, asker.votes);
            let task = Nearby { within, votes, ..Nearby::of(&table.test.features.select(&some)) };
            let started = Instant::now();
            let planned = plan(&self.request(&schema, rows, task)?)?;
            let release = planned.run(&table.training, &mut SystemRandom::new()?, stop)?;
            let seconds = started.elapsed().as_secs_f64();
            let noise = Nearby::noise(planned.request());
            let Predictions::Classes(told) = release.value().predictions(&schema, noise) else {
                return Err(LearnError::DataShape("there are no classes").into());
            };
            let right = told.iter().zip(&some).filter(|(told, row)| **told == codes[**row]).count();
            let settled = &planned.request().task;
            let (within, votes) = (settled.within.unwrap_or(0.0), settled.votes.unwrap_or(0));
            tell(Run {
                cell: self.place.cell.clone(),
                stage: self.stage,
                run: *run,
                rows,
                columns: table.training.features.columns() as u64,
                classes: *count as u64,
                measure: "accuracy".into(),
                score: 100.0 * right as f64 / some.len().max(1) as f64,
                ranking: None,
                loss: None,
                gradient: None,
                passes: None,
                questions: None,
                distance: None,
                recall: None,
                ndcg: None,
                chosen: Some(format!("within {within:.3}, {votes} votes")),
                certified: planned.guarantee().map(|guarantee| guarantee.epsilon),
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
    fn settings_are_checked() {
        let asker = QuerySettings::by_name("neighbours").unwrap();
        let set = |key: &str, value: &str| asker.with(&Point::from([(key.into(), value.into())]));
        assert_eq!(set("questions", "50").unwrap().questions, 50);
        assert_eq!(set("within", "0.25").unwrap().within, Some(0.25));
        assert_eq!(set("votes", "3").unwrap().votes, Some(3));
        for (key, value) in
            [("questions", "0"), ("votes", "1.5"), ("within", "-1"), ("within", "a")]
        {
            assert!(matches!(set(key, value), Err(LearnError::SettingValue { .. })), "{key}");
        }
        assert!(QuerySettings::by_name("vote").is_none());
    }
}
