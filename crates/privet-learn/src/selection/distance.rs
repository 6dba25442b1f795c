//! An answer that is released if the records are far from any that would give another answer.
//!
//! **Theorem** ([`privet_dp::mechanism::Stability`]; Smith & Thakurta 2013). The winner of an election
//! and its distance are a proxy (`election.rs`, with the bound D on the move of a lead between
//! neighbours); it is released if the distance under discrete Laplace noise passes a threshold, and
//! otherwise nothing is: (ε, δ), either way.
//!
//! **Elections** (setting `over`):
//! - `votes` (default): every unit is put into one of m chunks by coins of its own
//!   ([`privet_dp::mechanism::independent_blocks`]), so that a unit is in one ballot; each chunk votes
//!   for the s columns with the largest sums of label times entry in it, a chunk without records casts
//!   no vote. A lead moves by at most 2, under both relations.
//! - `mode`: each record votes for the column of its largest entry (of a table of categories: its
//!   category). One column only. A lead moves by the number of records by which neighbours differ.
//! - `errors`: the candidates are rules "the class is the sign of column j", or its opposite; the one
//!   with the fewest errors wins. Two classes, one column only. A lead moves as for `mode`.
//!
//! **Accuracy.** An answer is released in 98 of 100 runs if the winner leads by at least
//! `lead_needed` = D·(t + 1 + ⌈s·ln 25⌉), t the threshold, s the noise scale.
//!
//! - A table of one class, an empty chunk or an empty table is a fact of private rows: no vote, never an
//!   error.
//! - Finite arithmetic: all counts are integers.
//! - Tested by `tests/all/select.rs`.

use super::marginal::{self, Marginals};
use super::noisy_answer::{NoisyAnswer, SelectionSizes};
use crate::release::note::Condition;

use super::election::{count_ballots, winner_of};
use super::{Decision, PlanInput, Selector, SingleQuery};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{Stability, WithDistance, independent_blocks};
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Limits on the number of chunks.
pub const CHUNKS: Range = Range::from("chunks", 1.0, 1_000_001.0);

/// Registry entry of `distance`.
pub const INFO: Info = Info {
    name: "distance",
    summary: "the columns that most chunks of the records choose, released if so many chunks agree that no \
              one's records matter, and otherwise nothing",
    source: "Smith & Thakurta 2013; Thakurta 2013, §6.2",
    guarantee: FINITE_ARITHMETIC,
    settings: Distance::SETTINGS,
    noisy: "the distance to another answer",
    private: true,
    covers: UNSTABLE,
    more: (),
};

/// Ballots and candidates of the election.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElectionBallots {
    /// Chunks vote for columns.
    #[default]
    Votes,
    /// Records vote for the column of their largest entry.
    Mode,
    /// Columns are judged by the errors of their sign.
    Errors,
}

settings! {
    /// Settings of `distance`.
    #[derive(Copy)]
    pub struct Distance {
        over: ElectionBallots ["votes, mode or errors"]
            "chunks that vote for columns, the column that most records have their largest entry in, \
             or the column whose sign errs least; votes unless given";
        chunks: u32 [CHUNKS] "chunks of records that vote; chosen from public facts unless given";
    }
}

/// Cases covered where an unstable answer may be released: not pure ε.
pub(super) const UNSTABLE: MethodCoverage = MethodCoverage {
    pure: Coverage::No {
        why: "releases what is not stable with probability delta, and delta is 0",
        instead: "give a delta above 0, or method correlation or exponential",
    },
    needs: TableAccess::Memory,
    printed: Coverage::unprinted(NOT_PRINTED),
    ..MethodCoverage::ALL
};

/// Fraction of δ for the threshold: all but the accountant's possible rounding.
const THRESHOLD_DELTA_SHARE: f64 = 1.0 - 1e-6;

/// Stability test within a budget.
pub(super) fn test(input: &PlanInput<'_>) -> Result<Stability, LearnError> {
    let (facts, budget) = (input.facts, &input.budget);
    let at = |noise_scale| Stability {
        neighbours: facts.neighbours,
        unit: facts.unit,
        noise_scale,
        delta: THRESHOLD_DELTA_SHARE * budget.delta(),
    };
    let scale = budget.least_scale(1.0 / budget.epsilon(), |scale| at(scale).event())?;
    Ok(at(scale))
}

/// Lead needed for an answer in 98 of 100 runs if a lead moves by at most `moves` between neighbours.
pub(super) fn lead_needed(test: &Stability, moves: u64) -> f64 {
    let spare = (test.noise_scale * 25_f64.ln()).ceil();
    moves as f64 * (test.threshold() as f64 + 1.0 + spare)
}

/// Plans from public facts alone.
pub(crate) fn plan(input: &PlanInput<'_>, options: &Distance) -> Result<Decision, LearnError> {
    let facts = input.facts;
    let over = options.over.unwrap_or_default();
    let refused = |what: &str, instead| Err(LearnError::NotCovered { what: what.into(), instead });
    if over != ElectionBallots::Votes && input.size > 1 {
        return refused("over mode and errors one column wins", "give size 1, or over votes");
    }
    if over != ElectionBallots::Votes && options.chunks.is_some() {
        return refused(
            "only over votes are there chunks",
            "leave out the chunks, or give over votes",
        );
    }
    if over == ElectionBallots::Errors && (facts.problems > 1 || !facts.loss.needs_classes()) {
        return refused(
            "errors are counted for two classes",
            "give over votes, or a target of two classes",
        );
    }
    let test = test(input)?;
    // So many chunks that a lead of half of them suffices.
    let usual = (2.0 * lead_needed(&test, 2)).clamp(1.0, (facts.rows as f64 / 2.0).clamp(1.0, 1e6));
    let chunks = options.chunks.unwrap_or(usual as u32);
    CHUNKS.check(f64::from(chunks))?;
    let moves = match over {
        ElectionBallots::Votes => 2,
        ElectionBallots::Mode | ElectionBallots::Errors => facts.relation().records() as u64,
    };
    let chunks = (over == ElectionBallots::Votes).then_some(chunks);
    let sizes = SelectionSizes::of(facts, input.size);
    Ok(Decision {
        procedure: Arc::new(StableElection { test, over, chunks, moves, sizes }),
        settled: Selector::Distance(Distance { over: Some(over), chunks }),
        notes: vec![NO_ANSWER_NOTE.into()],
    })
}

/// Note on every release of these selectors.
pub(super) const NO_ANSWER_NOTE: Condition = Condition::new(
    "nothing-where-unstable",
    "where no answer is stable enough nothing is chosen, which spends the budget as well",
);

/// An election and the test of its winner.
#[derive(Debug, Clone)]
struct StableElection {
    test: Stability,
    over: ElectionBallots,
    chunks: Option<u32>,
    /// Upper bound on the move of a lead between neighbours, D.
    moves: u64,
    sizes: SelectionSizes,
}

impl StableElection {
    fn find_winner(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<WithDistance<Vec<u32>>, LearnError> {
        let marginals = Marginals::new(facts, data, &marginal::terms(facts, None)?)?;
        let otherwise: Vec<u32> = (0..self.sizes.size as u32).collect();
        let rows = 0..marginals.rows();
        if !watch.step() {
            return Err(LearnError::Solve(SolveError::Stopped));
        }
        let votes = match self.over {
            ElectionBallots::Votes => {
                let chunks = self.chunks.unwrap_or(1);
                let owners = admit::owners(facts.unit, data);
                let units = owners.iter().max().map_or(0, |last| last + 1);
                let drawn = independent_blocks(units, chunks, session);
                let mut ballots = vec![Vec::new(); chunks as usize];
                owners
                    .iter()
                    .enumerate()
                    .for_each(|(row, owner)| ballots[drawn[*owner] as usize].push(row));
                let vote = |rows: &[usize]| marginals.best(rows, self.sizes.size);
                count_ballots(&ballots, vote, || watch.step())
                    .ok_or(LearnError::Solve(SolveError::Stopped))?
            }
            ElectionBallots::Mode => {
                let mut votes = BTreeMap::new();
                for column in rows.filter_map(|row| marginals.largest_entry(row)) {
                    *votes.entry(vec![column as u32]).or_default() += 1;
                }
                votes
            }
            ElectionBallots::Errors => {
                // Correct answers of each rule: a column, and its sign (1 for the opposite).
                let mut right = vec![[0_u64; 2]; self.sizes.open];
                rows.for_each(|row| {
                    marginals.signs(row, |column, agrees| right[column][usize::from(!agrees)] += 1);
                });
                let rules = right.iter().enumerate().flat_map(|(column, counts)| {
                    (0..2).map(move |sign| ((column as u32, sign), counts[sign]))
                });
                let best = winner_of(rules.collect(), self.moves, (0, 0));
                return Ok(WithDistance { answer: vec![best.answer.0], distance: best.distance });
            }
        };
        Ok(winner_of(votes, self.moves, otherwise))
    }
}

impl SingleQuery for StableElection {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.test.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("size", self.sizes.size as f64),
            ("distance_noise", self.test.noise_scale),
            ("threshold", self.test.threshold() as f64),
            ("lead_needed", lead_needed(&self.test, self.moves)),
        ])
        .and("chunks", self.chunks.map(f64::from))
    }

    fn sizes(&self) -> SelectionSizes {
        self.sizes
    }

    fn rows<'a>(&self, table: &'a dyn Table) -> Result<&'a Dataset, LearnError> {
        admit::in_memory(table, INFO.name, "subsets of the rows")
    }

    fn ask(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<NoisyAnswer>, LearnError> {
        let watch = StepWatch::new(monitor);
        let found = self.find_winner(facts, data, session, &watch)?;
        Ok(self.test.run(Private::new(found), session)?.map(NoisyAnswer::Places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::task::Task;
    use crate::selection::{Select, subsample};
    use crate::{Allowance, Request};
    use privet_core::{Budget, Neighbours};
    use privet_data::matrix::{DenseMatrix, Matrix};
    use privet_data::{Schema, Target, read};
    use privet_dp::noise::{FixedSeed, Source};
    use std::sync::atomic::AtomicBool;

    const ROWS: usize = 60;

    fn request(neighbours: Neighbours, users: bool) -> Request<Select> {
        let mut text = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
                        classes = [\"no\", \"yes\"]\n"
            .to_string();
        if users {
            text += "[unit]\ncolumn = \"who\"\nmax_records = 3\n";
        }
        for name in ["a", "b", "c"] {
            text += &format!(
                "[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
            );
        }
        let schema = Schema::from_toml(&text).unwrap();
        let task = Select { size: 1, method: Selector::Distance(Distance::default()) };
        Request::new(schema, ROWS as u64, neighbours, task)
    }

    fn table(request: &Request<Select>, users: bool, seed: u64) -> Dataset {
        let mut source = FixedSeed::new(seed);
        let mut text = String::from(if users { "a,b,c,y,who\n" } else { "a,b,c,y\n" });
        for row in 0..ROWS {
            let cells: Vec<String> =
                (0..3).map(|_| format!("{}", source.below(21) as f64 / 10.0 - 1.0)).collect();
            let label = ["no", "yes"][source.below(2) as usize];
            let who = if users { format!(",u{}", row / 3) } else { String::new() };
            text += &format!("{},{label}{who}\n", cells.join(","));
        }
        read::csv_bytes(text.as_bytes(), &request.schema).unwrap()
    }

    /// The last unit exchanged or removed.
    fn neighbour(data: &Dataset, neighbours: Neighbours, unit: usize, seed: u64) -> Dataset {
        let kept = data.rows() - unit;
        if neighbours == Neighbours::AddRemove {
            return data.select(&(0..kept).collect::<Vec<_>>());
        }
        let Matrix::Dense(dense) = &data.features else { panic!("not dense") };
        let mut values = dense.values().to_vec();
        let columns = dense.columns();
        let at = seed as usize % columns;
        for (place, x) in values.iter_mut().enumerate().skip(kept * columns) {
            *x = if place % columns == at { 1.0 } else { 0.0 };
        }
        let features = Matrix::Dense(DenseMatrix::new(values, data.rows(), columns));
        let Target::Class { codes, count } = &data.target else { panic!("no classes") };
        let mut codes = codes.clone();
        codes.iter_mut().skip(kept).for_each(|code| *code = 1 - *code);
        Dataset { features, target: Target::Class { codes, count: *count }, ..data.clone() }
    }

    /// The two conditions of the theorem, with the same coins: distances move by at most 1, and an
    /// answer whose distance is 1 or more stays. For every election, relation and unit, at few votes,
    /// where leads are small.
    #[test]
    fn elections_are_proxies_on_neighbours() {
        let mut moved = 0;
        for (neighbours, users) in [
            (Neighbours::AddRemove, false),
            (Neighbours::ReplaceOne, false),
            (Neighbours::AddRemove, true),
            (Neighbours::ReplaceOne, true),
        ] {
            let request = request(neighbours, users);
            let facts = Select::facts(&request).unwrap();
            let budget = Allowance::new(Budget::new(1.0, 1e-6).unwrap(), &[]);
            let wanted = PlanInput {
                facts: &facts,
                budget,
                calibration: crate::Calibration::Sound,
                size: 1,
            };
            let test = test(&wanted).unwrap();
            let sizes = SelectionSizes::of(&facts, 1);
            let stop = AtomicBool::new(false);
            let watch = StepWatch::new(&stop);
            for seed in 0..40 {
                let data = table(&request, users, seed);
                let other = neighbour(&data, neighbours, if users { 3 } else { 1 }, seed);
                let worlds = [&data, &other];
                for over in [ElectionBallots::Votes, ElectionBallots::Mode, ElectionBallots::Errors]
                {
                    let moves = match over {
                        ElectionBallots::Votes => 2,
                        _ => facts.relation().records() as u64,
                    };
                    let electing = StableElection { test, over, chunks: Some(9), moves, sizes };
                    let found = worlds.map(|data| {
                        let mut source = FixedSeed::new(seed);
                        let mut session = Session::start(Event::All(vec![]), &mut source);
                        electing.find_winner(&facts, data, &mut session, &watch).unwrap()
                    });
                    moved += check(&found, over);
                }
                let found = worlds.map(|data| {
                    let mut source = FixedSeed::new(seed);
                    let mut session = Session::start(Event::All(vec![]), &mut source);
                    subsample::voting(test, 0.05, 60, sizes)
                        .find_winner(&facts, data, &mut session, &watch)
                        .unwrap()
                });
                moved += check(&found, ElectionBallots::Votes);
            }
        }
        assert!(moved > 20, "neighbours hardly differ: {moved}");
    }

    /// Checks both conditions; returns 1 if the answers differ.
    fn check(found: &[WithDistance<Vec<u32>>; 2], over: ElectionBallots) -> u32 {
        let [one, two] = found;
        assert!(one.distance.abs_diff(two.distance) <= 1, "{over:?}");
        let stable = one.distance.max(two.distance) >= 1;
        assert!(!stable || one.answer == two.answer, "{over:?}");
        u32::from(one.answer != two.answer)
    }
}
