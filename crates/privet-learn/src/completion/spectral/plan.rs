//! The three methods: settings, sizes, events, and the walk that everyone could watch.

use super::eigen::{Triangle, orthonormal, unit};
use super::path::{Direction, Path, Subspace};
use super::question::{Question, Residuals};
use crate::LearnError;
use crate::completion::factors::Factors;
use crate::completion::local::total;
use crate::completion::method::{Decision, Method, Settling};
use crate::completion::{Complete, Shape, going_on};
use crate::near::near;
use crate::settings::{SettingInfo, Shown};
use crate::task::Procedure;
use privet_core::{Neighbours, Range, Relation};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{GateError, Next, Noised, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// Limits on T.
const ROUNDS: Range = Range::from("rounds", 1.0, 201.0);
/// Limits on Γ.
const STEPS: Range = Range::from("steps", 1.0, 201.0);
/// Limits on the dimensions of the subspace.
const RANK: Range = Range::from("rank", 1.0, 65.0);
/// Limits on k.
const NUCLEAR: Range = Range::open("nuclear", 0.0, 1e12);
/// Limits on Δ.
const CLIP: Range = Range::open("clip", 1e-3, 1e6);
/// The most items whose covariance is kept whole.
const MOST_ITEMS: usize = 16_384;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $setting:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $setting: Option<$kind>,)*
        }
    )*};
}

settings! {
    /// Settings of `frank-wolfe`.
    FrankWolfe {
        /// T.
        rounds: u32,
        /// k.
        nuclear: f64,
        /// Δ.
        clip: f64,
    }
    /// Settings of `oja`.
    Oja {
        /// T.
        rounds: u32,
        /// Γ.
        steps: u32,
        /// k.
        nuclear: f64,
        /// Δ.
        clip: f64,
    }
    /// Settings of `svd`.
    Svd {
        /// r.
        rank: u32,
        /// Δ.
        clip: f64,
    }
}

const ROUNDS_INFO: SettingInfo =
    SettingInfo::whole(ROUNDS, "directions, one a round; 10 unless given");
const NUCLEAR_INFO: SettingInfo = SettingInfo::number(
    NUCLEAR,
    "bound on the nuclear norm, in quarters of the bounds' distance; √(users × items)/4 unless given",
);
const CLIP_INFO: SettingInfo = SettingInfo::number(
    CLIP,
    "radius that a user's row around its mean is scaled into; the root of the cap on ratings, at most √80, unless given",
);

/// What a plan has settled, and what the walk begins from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    way: Way,
    items: usize,
    relation: Relation,
    clip: f64,
    nuclear: f64,
    rounds: u32,
    noise: f64,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    FrankWolfe,
    Oja { steps: u32 },
    Svd { rank: usize },
}

impl Sizes {
    /// Δ₂ of a covariance (`true`), or of a power step or an energy.
    pub(super) fn shift(&self, covariance: bool) -> f64 {
        let radius = match self.way {
            Way::Svd { .. } => self.clip,
            _ => 2.0 * self.clip,
        };
        let factor = match (covariance, self.relation.neighbours) {
            (true, Neighbours::AddRemove) => 1.125_f64.sqrt(),
            (true, Neighbours::ReplaceOne) => 1.5,
            (false, Neighbours::AddRemove) => 1.0,
            // Truncation to units of at most R²/2³⁸ can part two vectors by one unit a coordinate.
            (false, Neighbours::ReplaceOne) => 1.0 + (self.items as f64).sqrt() * 2_f64.powi(-38),
        };
        radius * radius * factor * (1.0 + 8.0 * f64::EPSILON)
    }

    fn mechanism(&self, question: Asked) -> Gaussian {
        let coordinates = match question {
            Asked::Covariance => self.items * (self.items + 1) / 2,
            Asked::Power => self.items,
            Asked::Energy => 1,
        };
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: self.shift(question == Asked::Covariance),
            noise_scale: self.noise,
            coordinates,
        }
    }

    fn events(&self) -> Result<Event, GateError> {
        let event = |question| self.mechanism(question).event();
        let rounds = |event| Event::Repeat { count: self.rounds, event: Box::new(event) };
        Ok(match self.way {
            Way::Svd { .. } => event(Asked::Covariance)?,
            Way::FrankWolfe => rounds(event(Asked::Covariance)?),
            Way::Oja { steps } => {
                let power = Event::Repeat { count: steps, event: Box::new(event(Asked::Power)?) };
                rounds(Event::All(vec![power, event(Asked::Energy)?]))
            }
        })
    }

    /// How many releases of this shift there are.
    fn releases(&self) -> f64 {
        f64::from(match self.way {
            Way::Svd { .. } => 1,
            Way::FrankWolfe => self.rounds,
            Way::Oja { steps } => self.rounds * (steps + 1),
        })
    }
}

/// A kind of question.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Covariance,
    Power,
    Energy,
}

impl Question {
    fn asked(&self) -> Asked {
        match self {
            Self::Covariance { .. } => Asked::Covariance,
            Self::Power { .. } => Asked::Power,
            Self::Energy { .. } => Asked::Energy,
        }
    }
}

/// Calibrates sizes whose noise is still open.
fn decided(
    open: Sizes,
    settling: &Settling<'_>,
    settled: impl FnOnce(&Sizes) -> Method,
) -> Result<Decision, LearnError> {
    if !matches!(open.way, Way::Oja { .. }) && open.items > MOST_ITEMS {
        return Err(LearnError::NotCovered {
            what: format!("the covariance of {} items takes too much memory", open.items),
            instead: "list at most 16384 items, or take method oja or moments",
        });
    }
    let allowance = settling.gaussian()?;
    let mu = gaussian::mu(allowance.epsilon(), allowance.delta());
    let covariance = !matches!(open.way, Way::Oja { .. });
    let floor = open.shift(covariance) * open.releases().sqrt() / mu;
    let at = |noise| Sizes { noise, ..open.clone() };
    let noise = allowance.least(floor, |noise| at(noise).events())?;
    let settled = settled(&open);
    Ok(Decision::new(at(noise), settled))
}

fn clip(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    Ok(CLIP.check(given.unwrap_or(f64::from(shape.most.min(80)).sqrt()))?)
}

fn nuclear(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    let by_rule = 0.25 * (shape.users as f64 * shape.items as f64).sqrt();
    Ok(NUCLEAR.check(given.unwrap_or(by_rule))?)
}

fn rounds(given: Option<u32>) -> Result<u32, LearnError> {
    Ok(ROUNDS.check(f64::from(given.unwrap_or(10)))? as u32)
}

/// Frank–Wolfe by the noised covariance.
pub(in crate::completion) mod frank_wolfe {
    use super::*;
    pub(in crate::completion) const SETTINGS: &[SettingInfo] =
        &[ROUNDS_INFO, NUCLEAR_INFO, CLIP_INFO];

    pub(in crate::completion) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &FrankWolfe,
    ) -> Result<Decision, LearnError> {
        let open = Sizes {
            way: Way::FrankWolfe,
            items: shape.items,
            relation: shape.relation,
            clip: clip(own.clip, shape)?,
            nuclear: nuclear(own.nuclear, shape)?,
            rounds: rounds(own.rounds)?,
            noise: 1.0,
        };
        decided(open, settling, |sizes| {
            let (rounds, nuclear) = (Some(sizes.rounds), Some(sizes.nuclear));
            Method::FrankWolfe(FrankWolfe { rounds, nuclear, clip: Some(sizes.clip) })
        })
    }
}

/// Frank–Wolfe by Oja's rule.
pub(in crate::completion) mod oja {
    use super::*;
    pub(in crate::completion) const SETTINGS: &[SettingInfo] = &[
        ROUNDS_INFO,
        SettingInfo::whole(STEPS, "noised steps to each direction; 5 unless given"),
        NUCLEAR_INFO,
        CLIP_INFO,
    ];

    pub(in crate::completion) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Oja,
    ) -> Result<Decision, LearnError> {
        let steps = STEPS.check(f64::from(own.steps.unwrap_or(5)))? as u32;
        let open = Sizes {
            way: Way::Oja { steps },
            items: shape.items,
            relation: shape.relation,
            clip: clip(own.clip, shape)?,
            nuclear: nuclear(own.nuclear, shape)?,
            rounds: rounds(own.rounds)?,
            noise: 1.0,
        };
        decided(open, settling, |sizes| {
            let (rounds, nuclear) = (Some(sizes.rounds), Some(sizes.nuclear));
            Method::Oja(Oja { rounds, steps: Some(steps), nuclear, clip: Some(sizes.clip) })
        })
    }
}

/// One singular subspace.
pub(in crate::completion) mod svd {
    use super::*;
    pub(in crate::completion) const SETTINGS: &[SettingInfo] =
        &[SettingInfo::whole(RANK, "dimensions of the subspace; 3 unless given"), CLIP_INFO];

    pub(in crate::completion) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Svd,
    ) -> Result<Decision, LearnError> {
        let rank = RANK.check(f64::from(own.rank.unwrap_or(3)))? as u32;
        if rank as usize > shape.items {
            return Err(LearnError::NotCovered {
                what: "the subspace has more dimensions than there are items".into(),
                instead: "give a rank up to the number of items",
            });
        }
        let open = Sizes {
            way: Way::Svd { rank: rank as usize },
            items: shape.items,
            relation: shape.relation,
            clip: clip(own.clip, shape)?,
            nuclear: 0.0,
            rounds: 1,
            noise: 1.0,
        };
        decided(open, settling, |sizes| {
            Method::Svd(Svd { rank: Some(rank), clip: Some(sizes.clip) })
        })
    }
}

impl Procedure<Complete> for Sizes {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.events()?)
    }

    fn settings(&self) -> Shown {
        let shown = Shown::of([("clip", self.clip), ("sum_noise", self.noise)]);
        match self.way {
            Way::Svd { rank } => shown.and("rank", Some(rank as f64)),
            Way::FrankWolfe => {
                shown.and("rounds", Some(f64::from(self.rounds))).and("nuclear", Some(self.nuclear))
            }
            Way::Oja { steps } => shown
                .and("rounds", Some(f64::from(self.rounds)))
                .and("steps", Some(f64::from(steps)))
                .and("nuclear", Some(self.nuclear)),
        }
    }

    fn refuses(&self, found: &Factors) -> Option<&'static str> {
        let same = |a: f64, b: f64| near(a, b, 1e-12);
        let fits = match (found, self.way) {
            (Factors::Subspace(Subspace { clip, vectors }), Way::Svd { rank }) => {
                same(*clip, self.clip) && vectors.len() == rank
            }
            (Factors::Directions(path), Way::FrankWolfe | Way::Oja { .. }) => {
                same(path.clip, self.clip)
                    && same(path.nuclear, self.nuclear)
                    && path.directions.len() == self.rounds as usize
            }
            _ => false,
        };
        (!fits).then_some("its radii or the number of its vectors are not the plan's")
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }

    fn run(
        &self,
        _shape: &Shape,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Factors>, LearnError> {
        let mut walk = session.begin::<Following>()?;
        let mut asked = 0;
        let found = session.walk(&mut walk, |question: &Question, session| {
            asked += 1;
            going_on(monitor, asked)?;
            let sums = total(question, table)?;
            Ok::<_, LearnError>(self.mechanism(question.asked()).run_units(sums, session)?)
        })?;
        Ok(found.ok_or(GateError::NotAsPlanned)?)
    }
}

/// Directions found so far, and the one that is being looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Following {
    sizes: Sizes,
    path: Path,
    vector: Vec<f64>,
    taken: u32,
}

impl Walk for Following {
    type Start = Sizes;
    type Question = Question;
    type Answer = Vec<f64>;
    type Artefact = Factors;

    fn begin(sizes: Sizes) -> Self {
        let path = Path { clip: sizes.clip, nuclear: sizes.nuclear, directions: Vec::new() };
        Self { vector: start(sizes.items), sizes, path, taken: 0 }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Question, Factors> {
        let (items, noise) = (self.sizes.items, self.sizes.noise);
        match (self.sizes.way, answer) {
            (Way::Svd { .. }, None) => Next::Ask(Question::Covariance {
                residuals: Residuals::Rows { clip: self.sizes.clip },
                items,
            }),
            (Way::Svd { rank }, Some(answer)) => {
                let found = largest(answer, items, rank, noise);
                let mut vectors: Vec<Vec<f64>> =
                    found.into_iter().map(|(_, vector)| vector).collect();
                orthonormal(&mut vectors);
                Next::Release(Factors::Subspace(Subspace { clip: self.sizes.clip, vectors }))
            }
            (Way::FrankWolfe, answer) => {
                if let Some(answer) = answer
                    && let Some((value, mut vector)) = largest(answer, items, 1, noise).pop()
                {
                    unit(&mut vector);
                    let size = (value.max(0.0) + edge(items, noise)).sqrt();
                    self.path.directions.push(Direction { size, vector });
                }
                self.asked_or_done(|residuals| Question::Covariance { residuals, items })
            }
            (Way::Oja { steps }, answer) => {
                if let Some(answer) = answer {
                    self.oja(steps, &answer);
                }
                let (taken, vector) = (self.taken, self.vector.clone());
                self.asked_or_done(|residuals| match taken < steps {
                    true => Question::Power { residuals, vector },
                    false => Question::Energy { residuals, vector },
                })
            }
        }
    }
}

impl Following {
    fn asked_or_done(
        &self,
        question: impl FnOnce(Residuals) -> Question,
    ) -> Next<Question, Factors> {
        if self.path.directions.len() < self.sizes.rounds as usize {
            Next::Ask(question(Residuals::Path(self.path.clone())))
        } else {
            Next::Release(Factors::Directions(self.path.clone()))
        }
    }

    fn oja(&mut self, steps: u32, answer: &[f64]) {
        let far = self.sizes.noise * (self.sizes.items as f64).sqrt();
        if self.taken < steps {
            self.vector.iter_mut().zip(answer).for_each(|(v, told)| *v += told / far);
            unit(&mut self.vector);
            self.taken += 1;
            return;
        }
        let energy = answer.first().copied().unwrap_or(0.0).max(0.0);
        let vector = std::mem::replace(&mut self.vector, start(self.sizes.items));
        self.path.directions.push(Direction { size: (energy + far).sqrt(), vector });
        self.taken = 0;
    }
}

/// A fixed unit vector with nothing in common with any axis.
fn start(items: usize) -> Vec<f64> {
    let mut vector: Vec<f64> =
        (0..items).map(|j| ((j as f64 + 0.5) * 0.618_034).sin() + 0.01).collect();
    unit(&mut vector);
    vector
}

/// Where the spectrum of the noise alone ends: entries off the diagonal have σ/(3/2).
fn edge(items: usize, noise: f64) -> f64 {
    2.0 * noise / 1.5 * (items as f64).sqrt()
}

fn largest(answer: Vec<f64>, items: usize, count: usize, noise: f64) -> Vec<(f64, Vec<f64>)> {
    let mut entries = answer;
    let mut place = 0;
    for i in 0..items {
        entries[place..place + i].iter_mut().for_each(|entry| *entry /= 1.5);
        place += i + 1;
    }
    Triangle::new(entries, items).largest(count, edge(items, noise))
}
