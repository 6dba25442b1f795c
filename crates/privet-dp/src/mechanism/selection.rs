//! Adaptive selection of signed columns: each choice is made among scores that depend on the choices
//! before it.
//!
//! Column j of p has an integer score; the vertices are its two signs, (j, +) of score −score_j and
//! (j, −) of score +score_j, so that the *smallest* inner product ⟨s, gradient⟩ is the best.
//!
//! **Theorem.** Let every score, given the earlier choices, be a function of the data that changes by at
//! most Δ units between neighbours. T choices made one after the other have the curve of
//! - *exponential*: T mechanisms of bounded range **2Δ·rate**, if (j, s) is drawn with
//!   probability ∝ e^(−rate·s·score_j);
//! - *Laplace*: T mechanisms that are **(2Δ/b)-DP**, if the vertex with the largest sum of score and
//!   discrete Laplace noise of scale b is taken, of equal ones the first.
//!
//! So has everything computed from the choices. The set of candidates may shrink (`peeled`): the
//! remaining columns are a function of the choices before, the same for both tables, and the proof is
//! about any of them.
//!
//! *Proof.* Exponential: let u be the vertex's score; e^(rate·(u(D) − u(D′))) lies between e^(±rate·Δ),
//! and the normalising constants are the same for all vertices: the loss lies in an interval of length
//! 2Δ·rate (Durfee & Rogers 2019), whatever was chosen before. Laplace: fix the noise of all other
//! vertices. Vertex v is taken when its own noise N is at least (or above: ties) an integer threshold,
//! which changes by at most 2Δ between neighbours; Pr[N ≥ t] ≤ e^(k/b)·Pr[N ≥ t + k] for the two-sided
//! geometric law and integer k ≥ 0. Averaging over the noise of the others: the ratio of probabilities
//! is at most e^(2Δ/b). Adaptive composition keeps products of dominating pairs (Zhu, Dong & Wang 2022,
//! Theorem 10). ∎
//!
//! Scores are integers and the draws are exact ([`SignedChoice`], [`DiscreteLaplace`]): both hold for the
//! program as executed.
//!
//! The result is θ = Σ coefficientₜ·sₜe_{jₜ}, a fixed function of the choices.
//!
//! **Access.** A [`Scores`] keeps the scores up to date and receives every choice. It comes in as a
//! [`Private`] value and never leaves; no choice leaves before [`Session::settle`].
//!
//! - Δ `sensitivity`, T the number of `coefficients`
//! - Tested by `tests/all/selection.rs`.

use super::grid::round_up;
use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{DiscreteLaplace, LAPLACE_SCALE, NoiseError, RATE, SignedChoice, Source};
use privet_core::{Neighbours, Unit};

/// A column with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vertex {
    /// Index of the column.
    pub column: usize,
    /// True if the sign is −.
    pub negative: bool,
}

/// Scores that follow the choices. They must depend on the records and on the reported choices, and on
/// nothing else that is private; an implementation must keep neither after it is dropped.
pub trait Scores {
    /// Advances after a choice (`None`: the first step) and reports the score, in units, of every column
    /// whose score changed since the step before (at first: is not 0). `false` ends the run and releases
    /// nothing.
    fn advance(&mut self, chosen: Option<Vertex>, report: &mut dyn FnMut(usize, i64)) -> bool;
}

/// The law of a choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SelectionLaw {
    /// The exponential mechanism, at this rate per unit of score.
    Exponential(f64),
    /// The largest of the scores under discrete Laplace noise of this scale, in units of score.
    Laplace(f64),
}

/// A sequence of choices among ±columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The neighbour relation that the sensitivity was derived for.
    pub neighbours: Neighbours,
    /// The unit that the sensitivity was derived for.
    pub unit: Unit,
    /// Largest change Δ of a score between neighbours, in units of score.
    pub sensitivity: u64,
    /// The law of each choice.
    pub law: SelectionLaw,
    /// Number p of columns.
    pub columns: usize,
    /// The coefficient that each choice adds to θ, one for each choice.
    pub coefficients: Vec<f64>,
    /// `Some(m)`: a choice removes the chosen column and every column at a multiple of m from it from
    /// the candidates (the last one stays); `None`: all columns remain candidates.
    pub peeled: Option<usize>,
}

impl Selection {
    /// The event of one choice.
    fn leaf(&self) -> Event {
        let moves = 2.0 * self.sensitivity as f64;
        Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: match self.law {
                SelectionLaw::Exponential(rate) => {
                    Cost::BoundedRange { range: self.range_of_rate(rate) }
                }
                SelectionLaw::Laplace(scale) => Cost::Pure { epsilon: round_up(moves / scale) },
            },
        }
    }

    /// The event of one choice, its settings checked.
    pub fn choice(&self) -> Result<Event, GateError> {
        match self.law {
            SelectionLaw::Exponential(rate) => RATE.check(rate),
            SelectionLaw::Laplace(scale) => LAPLACE_SCALE.check(scale),
        }
        .map_err(NoiseError::Setting)?;
        Ok(self.leaf())
    }

    /// The event of all choices.
    pub fn event(&self) -> Result<Event, GateError> {
        let count = u32::try_from(self.coefficients.len()).map_err(|_| GateError::Malformed)?;
        Ok(Event::Repeat { count, event: Box::new(self.choice()?) })
    }

    /// The same selection under another law.
    pub fn with_law(&self, law: SelectionLaw) -> Self {
        Self { law, ..self.clone() }
    }

    /// The range charged for a choice at this rate.
    pub fn range_of_rate(&self, rate: f64) -> f64 {
        round_up(2.0 * self.sensitivity as f64 * rate)
    }

    /// The same selection by exponential weights, at the rate whose choice costs this range, up to
    /// rounding.
    pub fn with_range(&self, range: f64) -> Self {
        self.with_law(SelectionLaw::Exponential(range / self.range_of_rate(1.0)))
    }

    fn draws(&self) -> Result<Draws, GateError> {
        Ok(match self.law {
            SelectionLaw::Exponential(rate) => {
                Draws::Exponential(SignedChoice::new(self.columns, rate)?)
            }
            SelectionLaw::Laplace(scale) if self.columns > 0 => {
                Draws::Laplace(DiscreteLaplace::new(scale)?, vec![Some(0); self.columns])
            }
            SelectionLaw::Laplace(_) => return Err(NoiseError::NoCandidates.into()),
        })
    }

    /// Makes every choice and returns θ.
    ///
    /// The scores are private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::{Scores, Selection}};
    /// fn open<S: Scores>(selection: &Selection, scores: S, session: &mut Session<'_>) {
    ///     let _ = selection.run(scores, session);
    /// }
    /// ```
    pub fn run<S: Scores>(
        &self,
        scores: Private<S>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let mut scores = scores.open();
        let mut draws = self.draws()?;
        let mut point = vec![0.0; self.columns];
        let (mut chosen, mut beyond) = (None, false);
        for coefficient in &self.coefficients {
            let mut report = |column: usize, score: i64| {
                // A caller's bug; refused below.
                if column < self.columns { draws.set(column, score) } else { beyond = true }
            };
            if !scores.advance(chosen, &mut report) || beyond {
                return Err(GateError::Malformed);
            }
            let vertex = draws.choose(session.charge(self.leaf())?);
            point[vertex.column] += if vertex.negative { -coefficient } else { *coefficient };
            if let Some(apart) = self.peeled.filter(|apart| *apart > 0) {
                let same = (vertex.column % apart..self.columns).step_by(apart);
                same.for_each(|column| draws.remove(column));
            }
            chosen = Some(vertex);
        }
        Ok(session.mark_noisy(point))
    }
}

/// The reported scores, and the law of a choice among them.
enum Draws {
    Exponential(SignedChoice),
    /// `None` for removed columns.
    Laplace(DiscreteLaplace, Vec<Option<i64>>),
}

impl Draws {
    fn set(&mut self, column: usize, score: i64) {
        match self {
            Self::Exponential(choice) => choice.set(column, score),
            Self::Laplace(_, scores) => {
                if let Some(known) = &mut scores[column] {
                    *known = score;
                }
            }
        }
    }

    fn remove(&mut self, column: usize) {
        match self {
            Self::Exponential(choice) => choice.remove(column),
            Self::Laplace(_, scores) => {
                if scores.iter().filter(|score| score.is_some()).count() > 1 {
                    scores[column] = None;
                }
            }
        }
    }

    fn choose(&self, source: &mut dyn Source) -> Vertex {
        match self {
            Self::Exponential(choice) => {
                // Weights e^(rate·s·score): the vertex is the opposite.
                let (column, negative) = choice.draw(source);
                Vertex { column, negative: !negative }
            }
            Self::Laplace(noise, scores) => {
                let mut best = (i128::MIN, Vertex { column: 0, negative: false });
                let left = scores.iter().enumerate();
                for (column, score) in left.filter_map(|(column, score)| Some((column, (*score)?)))
                {
                    for negative in [false, true] {
                        let score = i128::from(score) * if negative { 1 } else { -1 };
                        let noisy = score + i128::from(noise.draw(source));
                        if noisy > best.0 {
                            best = (noisy, Vertex { column, negative });
                        }
                    }
                }
                best.1
            }
        }
    }
}
