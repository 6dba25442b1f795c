//! The columns that most random parts of the records choose, released if enough of them agree: A_samp.
//!
//! **Theorem** (after Smith & Thakurta 2013; Thakurta 2013, Algorithm 6.1). m ballots; every unit is in
//! each with probability q, by coins of its own, drawn again until it is in at most c = ⌊2mq⌋ of them
//! ([`privet_dp::mechanism::independent_sets`]). Each ballot votes for the s columns with the largest
//! sums of label times entry among its records, and for nothing where it has none. A unit's records
//! touch at most c ballots, so that a lead moves by at most D = 2c between neighbours under both
//! relations, and the winner with ⌈lead/D⌉ − 1 is a proxy (`election.rs`) for the test of
//! [`privet_dp::mechanism::Stability`]: (ε, δ), whatever m, q and the records are.
//!
//! *Departs from print.* There all draws are repeated until no position is in more than 2mq ballots: the
//! event factorises over positions, so that drawing again one by one has the same law, ends at once, and
//! sees nothing of the records. Printed are q = ε/(32 ln(1/δ)) and m = ln(n/δ)/q² (5·10⁶ ballots at
//! ε = 1, δ = 10⁻⁶, n = 10⁶); here
//!
//! m = max{ 3 ln(n/δ)/q, 32 ln(1/δ) }  (4·10⁴ there).
//!
//! *Claim.* If the answer of a random part is the same one with probability at least ¾, it is released
//! with probability at least 1 − (2 + e^ε)δ. *Proof.* Pr\[Bin(m, q) > 2mq\] ≤ e^(−mq/3) ≤ δ/n
//! (Chernoff): but for δ no unit is drawn again. Of m independent ballots fewer than ⅝m give that answer
//! with probability at most e^(−2m/64) ≤ δ (Hoeffding). So the lead is at least m/4, and the distance at
//! least (m/4)/(4mq) − 1 = 2 ln(1/δ)/ε − 1; the threshold is at most ln(1/δ)/ε, and noise of at most
//! −ln(1/δ)/ε + 1 has probability at most e^ε·δ. ∎ Privacy needs none of it.
//!
//! - n is the declared number of rows. A part has about qn records: with q ≈ ε/(32 ln(1/δ)) that takes
//!   10⁴ rows and more.
//! - Parts are processed on all cores, independently: no state is carried from one to another.
//! - Tested by `tests/all/select.rs`.

use super::distance::{NO_ANSWER_NOTE, UNSTABLE, lead_needed, test};
use super::marginal::{self, Marginals};
use super::noisy_answer::{NoisyAnswer, SelectionSizes};

use super::election::{count_ballots, winner_of};
use super::{Decision, PlanInput, Selector, SingleQuery};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::note::Note;
use crate::release::registry::{FINITE_ARITHMETIC, Info};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::watch::StepWatch;
use privet_core::Range;
use privet_data::Dataset;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Private, Session};
use privet_dp::mechanism::{Stability, WithDistance, independent_sets};
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use std::sync::Arc;

/// Limits on the probability q with which a unit is in a part.
pub const RATE: Range = Range::from("rate", 1e-6, 0.5);
/// Limits on the number of parts, m.
pub const PARTS: Range = Range::from("parts", 1.0, 10_000_001.0);

/// Registry entry of `subsample`.
pub const INFO: Info = Info {
    name: "subsample",
    summary: "the columns that most random parts of the records choose, released if so many agree that no \
              one's records matter, and otherwise nothing; needs many rows",
    source: "Smith & Thakurta 2013; Thakurta 2013, Algorithm 6.1 with fewer parts",
    guarantee: FINITE_ARITHMETIC,
    settings: Subsample::SETTINGS,
    noisy: "the distance to another answer",
    private: true,
    covers: UNSTABLE,
    more: (),
};

settings! {
    /// Settings of `subsample`.
    #[derive(Copy)]
    pub struct Subsample {
        rate: f64 [RATE]
            "probability with which a record is in a part; epsilon / (32 ln(1/delta)) unless given";
        parts: u32 [PARTS] "random parts that vote; chosen from public facts unless given";
    }
}

/// Plans from public facts alone.
pub(crate) fn plan(input: &PlanInput<'_>, options: &Subsample) -> Result<Decision, LearnError> {
    let test = test(input)?;
    let (facts, budget) = (input.facts, &input.budget);
    let tail = (1.0 / budget.delta()).ln();
    let usual = (budget.epsilon() / (32.0 * tail)).clamp(1e-6, 0.49);
    let rate = RATE.check(options.rate.unwrap_or(usual))?;
    let usual = (3.0 * (tail + (facts.rows as f64).ln()) / rate).max(32.0 * tail).ceil();
    let parts = options.parts.unwrap_or(usual.min(1e7) as u32);
    PARTS.check(f64::from(parts))?;
    let voting = voting(test, rate, parts, SelectionSizes::of(facts, input.size));
    let mut notes = vec![NO_ANSWER_NOTE.into()];
    if lead_needed(&test, 2 * voting.most) > f64::from(parts) {
        notes.push(Note::expectation(
            "no answer can come out of so few parts but by chance: give more of them, or a smaller rate",
        ));
    }
    Ok(Decision {
        procedure: Arc::new(voting),
        settled: Selector::Subsample(Subsample { rate: Some(rate), parts: Some(parts) }),
        notes,
    })
}

/// Votes of `parts` random parts, with c = ⌊2mq⌋.
pub(super) fn voting(test: Stability, rate: f64, parts: u32, sizes: SelectionSizes) -> PartVotes {
    let most = ((2.0 * f64::from(parts) * rate).floor() as u64).max(1);
    PartVotes { test, rate, parts, most, sizes }
}

/// Random parts that vote, and the test of the winner.
#[derive(Debug, Clone)]
pub(super) struct PartVotes {
    test: Stability,
    rate: f64,
    parts: u32,
    /// Upper bound on the number of parts that contain a unit, c.
    most: u64,
    sizes: SelectionSizes,
}

impl PartVotes {
    pub(super) fn find_winner(
        &self,
        facts: &Facts,
        data: &Dataset,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<WithDistance<Vec<u32>>, LearnError> {
        let marginals = Marginals::new(facts, data, &marginal::terms(facts, None)?)?;
        let owners = admit::owners(facts.unit, data);
        let units = owners.iter().max().map_or(0, |last| last + 1);
        let drawn = independent_sets(units, self.parts, self.rate, self.most as usize, session);
        let mut ballots = vec![Vec::new(); self.parts as usize];
        for (row, owner) in owners.iter().enumerate() {
            drawn[*owner].iter().for_each(|part| ballots[*part as usize].push(row));
        }
        let vote = |rows: &[usize]| marginals.best(rows, self.sizes.size);
        let votes = count_ballots(&ballots, vote, || watch.step());
        let votes = votes.ok_or(LearnError::Solve(SolveError::Stopped))?;
        Ok(winner_of(votes, 2 * self.most, (0..self.sizes.size as u32).collect()))
    }
}

impl SingleQuery for PartVotes {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.test.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("size", self.sizes.size as f64),
            ("distance_noise", self.test.noise_scale),
            ("threshold", self.test.threshold() as f64),
            ("lead_needed", lead_needed(&self.test, 2 * self.most)),
            ("parts", f64::from(self.parts)),
            ("rate", self.rate),
        ])
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
