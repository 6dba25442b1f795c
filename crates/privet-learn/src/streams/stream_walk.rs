//! The public walk of every stream: turns noisy answers into models.

use super::Stream;
use privet_dp::continual::{Running, StreamAnswer};
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Rule by which an answer gives the next point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Rule {
    /// Answers are rows of C·g: θ = −ŝ/(`stiffness` + `ridge`·t), ŝ the running sum of gradients, or a
    /// moving average of the latest ones.
    Leader {
        /// Running sum of gradients, ŝ.
        running: Running,
        /// Inverse step size, 1/η.
        stiffness: f64,
        /// Ridge of one step, Ψ.
        ridge: f64,
        /// Decay of the moving average of sums at each step; 0 for the sums themselves.
        #[serde(default)]
        kept: f64,
        /// Moving average of the sums.
        #[serde(default)]
        mean: Vec<f64>,
        /// Largest η, for a stream that may end anywhere: 1/η and the width of the average then grow as
        /// √t towards their values at the last step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anytime: Option<f64>,
    },
    /// Answers are rows of C·g, and ŝ is released.
    Sums {
        /// Running sum, ŝ.
        running: Running,
    },
    /// Answers are (t + `ahead`) times the point after t steps: θ is that point, projected onto the
    /// ball.
    Points {
        /// Radius of the ball.
        radius: f64,
        /// Number added to t.
        ahead: u32,
    },
    /// Answers are column indices, with the number of columns added for a negative sign: θ is that
    /// signed column alone.
    Chosen,
}

/// A walk from model to model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamWalk {
    pub rule: Rule,
    pub steps: u32,
    pub taken: u32,
    pub theta: Vec<f64>,
    /// True if every model is released at its step; otherwise those of `keep` are released at the end.
    pub live: bool,
    /// True once a live walk has made its first, empty release.
    pub begun: bool,
    /// Steps after which models are kept, ascending.
    pub keep: Vec<u32>,
    pub kept: Stream,
}

impl StreamWalk {
    pub fn new(rule: Rule, steps: u32, columns: usize, keep: Vec<u32>) -> Self {
        let kept = Stream::NOTHING;
        Self {
            rule,
            steps,
            taken: 0,
            theta: vec![0.0; columns],
            live: false,
            begun: false,
            keep,
            kept,
        }
    }

    /// Counts a step whose answer was lost. Only streams whose running sums can continue are suspended.
    fn pass_over(&mut self) {
        self.taken += 1;
        if let Rule::Leader { running, .. } | Rule::Sums { running } = &mut self.rule {
            let _ = running.pass_over();
        }
    }

    fn begin_anew(&mut self) {
        if let Rule::Leader { running, .. } | Rule::Sums { running } = &mut self.rule {
            let _ = running.begin_anew();
        }
    }

    fn hear(&mut self, answer: &[f64]) {
        self.taken += 1;
        match &mut self.rule {
            Rule::Leader { running, stiffness, ridge, kept, mean, anytime } => {
                let taken = f64::from(self.taken);
                let (stiffness, new) = match anytime {
                    None => (*stiffness, 1.0 - *kept),
                    Some(most) => {
                        let share = (taken / f64::from(self.steps.max(1))).sqrt();
                        let new = ((1.0 - *kept) / share).min(1.0);
                        ((*stiffness * share).max(1.0 / *most), new)
                    }
                };
                let by = -1.0 / (stiffness + *ridge * taken);
                let sums = running.hear(answer);
                if *kept > 0.0 {
                    mean.iter_mut().zip(sums).for_each(|(mean, sum)| *mean += new * (sum - *mean));
                    self.theta.iter_mut().zip(&*mean).for_each(|(theta, mean)| *theta = by * mean);
                } else {
                    self.theta.iter_mut().zip(sums).for_each(|(theta, sum)| *theta = by * sum);
                }
            }
            Rule::Sums { running } => {
                self.theta.copy_from_slice(running.hear(answer));
            }
            Rule::Points { radius, ahead } => {
                let by = f64::from(self.taken) + f64::from(*ahead);
                self.theta.iter_mut().zip(answer).for_each(|(theta, y)| *theta = y / by);
                super::base::into_ball(&mut self.theta, *radius);
            }
            Rule::Chosen => {
                let place = answer.first().map_or(0, |place| *place as usize);
                let (columns, sign) = (self.theta.len().max(1), [1.0, -1.0]);
                self.theta.fill(0.0);
                if let Some(theta) = self.theta.get_mut(place % columns) {
                    *theta = sign[usize::from(place >= columns)];
                }
            }
        }
    }
}

impl Walk for StreamWalk {
    type Start = Self;
    type Query = Vec<f64>;
    type Answer = StreamAnswer;
    type Artefact = Stream;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<StreamAnswer>) -> Next<Vec<f64>, Stream> {
        if let Some(StreamAnswer::Row(answer)) = &answer {
            self.hear(answer);
            if self.live {
                return Next::Release(Stream {
                    after: vec![self.taken],
                    values: vec![self.theta.clone()],
                });
            }
            if self.keep.get(self.kept.after.len()) == Some(&self.taken) {
                self.kept.after.push(self.taken);
                self.kept.values.push(self.theta.clone());
            }
            if self.taken == self.steps {
                return Next::Release(std::mem::replace(&mut self.kept, Stream::NOTHING));
            }
        }
        match answer {
            Some(StreamAnswer::Lost) => self.pass_over(),
            Some(StreamAnswer::Anew) => self.begin_anew(),
            Some(StreamAnswer::Row(_)) | None => {}
        }
        if self.live && !self.begun {
            self.begun = true;
            return Next::Release(Stream::NOTHING);
        }
        if self.taken >= self.steps { Next::End } else { Next::Ask(self.theta.clone()) }
    }
}
