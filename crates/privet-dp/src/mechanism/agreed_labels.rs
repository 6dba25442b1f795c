//! Labels of a batch of queries, released if a private test shows that the voters agree enough: propose,
//! test, release.
//!
//! The loss of a noisy plurality is small where voters agree ([`crate::account::agreement`]), but its
//! value is private. So a limit ε₁ on the labels' loss is *proposed* before any vote is read; the number
//! of voters that would have to change before the limit could be exceeded is *tested*, under noise;
//! labels are *released* if that number is large, otherwise ⊥. Either way the whole is spent, and the
//! certificate claims the budget, never the loss that was found. (An ε computed from the votes and
//! published afterwards is no guarantee, however it was sanitised.)
//!
//! **Theorem.** d is the distance of [`crate::account::agreement::Agreement::distance`] at (ε₁, δ), N
//! discrete Laplace of scale s, t the least integer with Pr\[N > t\] ≤ δ. Labels under fresh N(0, σ²)
//! noise if d + N > t, else ⊥, is **(1/s + ε₁, δ)**-DP.
//!
//! *Proof.* Take any ordered pair of neighbours D, D′; |d − d′| ≤ 1, so that the test's two outcomes
//! have probabilities within e^(1/s). If d ≥ 1, the labels satisfy M(S) ≤ e^ε₁·M′(S) + δ from D to D′,
//! so that for any S P(S) = Pr\[⊥\]·1\[⊥ ∈ S\] + Pr\[passes\]·M(S) ≤ e^(1/s)·Pr′\[⊥\]·1\[⊥ ∈ S\] +
//! e^(1/s)·Pr′\[passes\]·e^ε₁·M′(S) + δ ≤ e^(1/s + ε₁)·P′(S) + δ. If d = 0, the test passes with
//! probability at most δ, and P(S) ≤ Pr\[⊥\]·1\[⊥ ∈ S\] + δ ≤ e^(1/s)·P′(S) + δ. Each ordered pair is in
//! one of the cases, so δ counts once. ∎
//!
//! The labels' bound holds in one direction only (from a table that passes), so the charge is that of
//! the whole, an (ε, δ) event, and not of its parts. Noise on a grid replaces continuous noise in every
//! histogram: (1 + e^ε) times the total distance is added to δ.
//!
//! The batch is fixed before the first vote: its questions may not depend on its labels. Tested by
//! `tests/all/argmax.rs`.

use super::grid::{from_grid, round_up};
use super::noisy_argmax::{NoisyArgmax, Votes, exact, first_largest};
use super::stability::Stability;
use crate::account::agreement::{Agreement, Gaps};
use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{DiscreteLaplace, GridGaussian};
use zeroize::Zeroizing;

/// Labels of a batch, or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreedLabels {
    /// The mechanism that names each class, with its noise.
    pub argmax: NoisyArgmax,
    /// The number of voters.
    pub voters: u32,
    /// The largest number of queries.
    pub questions: u32,
    /// The scale s of the noise on the distance.
    pub test_scale: f64,
    /// The limit ε₁ on the labels' loss.
    pub label_epsilon: f64,
    /// The parameter δ of the test and of the labels.
    pub delta: f64,
}

impl AgreedLabels {
    fn test(&self) -> Stability {
        Stability {
            neighbours: self.argmax.neighbours,
            unit: self.argmax.unit,
            noise_scale: self.test_scale,
            delta: self.delta,
        }
    }

    /// The event, whether labels are released or not.
    pub fn event(&self) -> Result<Event, GateError> {
        self.test().event()?;
        Agreement::new(self.argmax.noise_scale, 1, self.delta)?;
        let epsilon = round_up(round_up(1.0 / self.test_scale) + self.label_epsilon);
        let grid = GridGaussian::new(self.argmax.noise_scale)?;
        let coordinates = u64::from(self.questions) * self.argmax.classes as u64;
        let apart = round_up((1.0 + libm::exp(epsilon)) * grid.distance(coordinates));
        let delta = round_up(self.delta + apart);
        let cost = Cost::Approximate { epsilon, delta };
        Ok(Event::Use { neighbours: self.argmax.neighbours, unit: self.argmax.unit, cost })
    }

    /// Returns the class of every histogram, counted from 0, or `None` if the test fails.
    pub fn run(
        &self,
        histograms: Private<Vec<Votes>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Option<Vec<usize>>>, GateError> {
        let histograms = histograms.open();
        let classes = self.argmax.classes;
        if histograms.len() > self.questions as usize
            || histograms.iter().any(|votes| votes.len() != classes || votes.is_empty())
        {
            return Err(GateError::Malformed);
        }
        let agreement = Agreement::new(self.argmax.noise_scale, self.voters, self.delta)?;
        let noise = GridGaussian::new(self.argmax.noise_scale)?;
        let law = DiscreteLaplace::new(self.test_scale)?;
        let source = session.charge(self.event()?)?;
        let gaps: Vec<Gaps> = histograms.iter().map(|votes| Gaps::of(votes)).collect();
        let distance = agreement.distance(&gaps, self.label_epsilon);
        let passes = distance.saturating_add(law.draw(source)) > self.test().threshold();
        let mut draws = Zeroizing::new(vec![0; classes]);
        let mut label = |votes: &Votes| {
            noise.fill_steps(&mut draws, source);
            let steps = exact(votes).to_grid(noise.step(), classes)?;
            first_largest(&from_grid(&steps, &draws, noise.step())).ok_or(GateError::Malformed)
        };
        let labels = match passes {
            true => Some(histograms.iter().map(&mut label).collect::<Result<Vec<_>, _>>()?),
            false => None,
        };
        Ok(session.mark_noisy(labels))
    }
}
