//! The answers of a plan: their cost, and their computation.

use super::{Nearby, NoisyVotes, VOTES, WITHIN, ends, parts, rule};
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::plan::no_budget;
use crate::release::settings::PlanNumbers;
use crate::release::support::Support;
use crate::release::task::{Procedure, Task};
use crate::release::watch::StepWatch;
use crate::{LearnError, Plan};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::Individual;
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use std::sync::Arc;

/// The mechanism that answers the questions with noisy votes.
#[derive(Debug, Clone)]
pub(super) struct AnswerPlan {
    sums: Individual,
    questions: Arc<Vec<Vec<f64>>>,
    within: f64,
    /// True if questions come in batches.
    stream: bool,
}

/// The release that holds all votes.
fn all_votes(votes: Vec<Vec<f64>>) -> NoisyVotes {
    NoisyVotes { votes, first: 0, questions: Vec::new() }
}

impl AnswerPlan {
    /// Distance, K and noise scale from public facts and the budget.
    pub fn plan_answers(
        task: &Nearby,
        facts: &Facts,
        budget: &Allowance<'_>,
    ) -> Result<Self, LearnError> {
        let sides = facts.relation().sides();
        let noise_of_one = sides.sqrt() / gaussian::mu(budget.epsilon(), budget.delta());
        let within = WITHIN.check(match task.within {
            Some(within) => within,
            None => {
                let share = rule::share(facts.rows, task.in_all(), noise_of_one);
                rule::distance_of_share(&task.questions, share, facts.radius)
            }
        })?;
        let all = task.in_all() as u32;
        let votes = task.votes.unwrap_or_else(|| {
            // Of a stream only the first questions are known; later ones are assumed to be like them.
            let times = f64::from(all) / task.questions.len().max(1) as f64;
            (f64::from(rule::votes(&task.questions, within)) * times.max(1.0)).ceil() as u32
        });
        // More votes than questions cannot be used.
        let votes = (VOTES.check(f64::from(votes))? as u32).min(all);
        let at = |noise_scale| Individual {
            neighbours: facts.neighbours,
            unit: facts.unit,
            steps: all,
            share: parts::FULL_SQUARE * u128::from(votes),
            resolution: parts::RESOLUTION,
            noise_scale,
            coordinates: ends(facts),
        };
        let floor = noise_of_one * f64::from(votes).sqrt();
        let sums = at(budget.least_scale(floor, |scale| at(scale).event())?);
        let questions = Arc::new(task.questions.clone());
        Ok(Self { sums, questions, within, stream: task.stream.is_some() })
    }

    /// A warning if even the largest share of the records gives too few voters for the noise.
    pub fn few_voters_warning(&self, facts: &Facts) -> Option<String> {
        let wanted = rule::VOTERS_PER_NOISE * self.sums.noise_scale;
        let most = rule::LARGEST_SHARE * facts.rows as f64;
        (most < wanted).then(|| {
            format!(
                "the table is small for this: about {wanted:.0} records near a question are heard above the noise, and a \
                 fifth of {} is fewer. Answers will hardly differ from the commonest class (the mean, of numbers): ask \
                 fewer questions, or take privet train",
                facts.rows
            )
        })
    }

    /// The task with every choice written down.
    pub fn settled_task(&self, task: &Nearby) -> Nearby {
        let votes = (self.sums.share / parts::FULL_SQUARE) as u32;
        Nearby { within: Some(self.within), votes: Some(votes), ..task.clone() }
    }

    /// Rebuilds the mechanism of a settled plan.
    pub fn of_settled(plan: &Plan<Nearby>) -> Result<Self, LearnError> {
        let request = plan.request();
        let budget = request.budget.ok_or_else(|| no_budget(request))?;
        Self::plan_answers(&request.task, plan.facts(), &Allowance::new(budget, &request.noise))
    }

    /// Noisy votes on `questions`, after replaying (without noise) those on the questions `before` of
    /// earlier sessions.
    pub fn votes(
        &self,
        (facts, table): (&Facts, &dyn Table),
        (before, questions): (&[Vec<f64>], &[Vec<f64>]),
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Vec<Vec<f64>>>, LearnError> {
        let data = admit::in_memory(table, Nearby::NAME, "how far each record is from a question")?;
        let owners = admit::owners(facts.unit, data);
        let units = owners.iter().max().map_or(0, |last| last + 1);
        let watch = StepWatch::new(monitor);
        let own = |question: &Vec<f64>| {
            if !watch.step() {
                return Err(LearnError::Solve(SolveError::Stopped));
            }
            let mut near = parts::rows_within(&data.features, question, self.within);
            // A null record has no vote.
            near.retain(|row| data.report.null_rows.binary_search(row).is_err());
            let own = parts::votes_of_units(&near, &data.target, &owners, self.sums.coordinates);
            Ok(Private::new(own.ok_or(GateError::Malformed)?))
        };
        let mut spending = self.sums.begin(units, session)?;
        for question in before {
            spending.count_earlier(own(question)?)?;
        }
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(spending.step(own(question)?, session)?);
        }
        Ok(session.gather(answers)?)
    }
}

impl Procedure<Nearby> for AnswerPlan {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.sums.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        let votes = self.sums.share / parts::FULL_SQUARE;
        PlanNumbers::of([
            ("vote_noise", self.sums.noise_scale),
            ("within", self.within),
            ("votes", votes as f64),
            ("questions", f64::from(self.sums.steps)),
        ])
    }

    fn refuses(&self, found: &NoisyVotes) -> Option<&'static str> {
        let off = Support::gaussian(self.sums.noise_scale).refuses(&found.votes).is_some();
        off.then_some("a vote is off the grid of the noise")
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyVotes>, LearnError> {
        if self.stream {
            return Err(LearnError::NotCovered {
                what: "the plan is for questions in batches".into(),
                instead: "begin a stream with it, or plan for the questions at hand",
            });
        }
        let votes = self.votes((facts, table), (&[], &self.questions), session, monitor)?;
        Ok(votes.map(all_votes))
    }
}
