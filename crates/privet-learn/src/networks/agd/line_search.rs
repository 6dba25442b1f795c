//! The public walk of DP-AGD: public numbers and noisy answers alone.
//!
//! With a the noisy sum of gradients, n the declared number of rows and r the public penalty, the
//! direction is (a/n + ∇r(θ)) over its norm. Lengths are evenly spaced from 0 to the longest; every ten
//! steps the longest becomes 1.1 times the longest one taken of them (Lee & Kifer's α_max).

use super::super::tensors::{Layout, Tensors};
use super::super::update::Penalty;
use super::budget::{GradientBudget, GradientPrices};
use crate::linear::keep_within;
use privet_dp::gate::{Next, Walk};
use serde::{Deserialize, Serialize};

/// Number of steps after which the longest length is set anew.
const STEPS_PER_RESET: usize = 10;
/// Factor of the new longest length over the longest one taken.
const LONGER: f64 = 1.1;
/// Upper bound on handicaps, so that scores are integers of 64 bits.
const MOST_HANDICAP: f64 = (1_u64 << 60) as f64;

/// Start of the walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub prices: GradientPrices,
    /// All weights: trained ones first, then frozen ones.
    pub weights: Vec<f32>,
    pub layout: Layout,
    /// Declared number of rows, n.
    pub rows: f64,
    pub penalty: Penalty,
    /// The longest length at first.
    pub longest: f64,
    /// Number of lengths tried, 0 included.
    pub lengths: usize,
    /// Unit of clipped losses.
    pub loss_step: f64,
    /// Radius of the ball onto which trained weights are projected.
    pub ball: f64,
}

/// A query of the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Query {
    /// The sum of clipped gradients at all these weights.
    Gradient { at: Vec<f32>, price: f64 },
    /// The length along a direction with the least clipped loss, a public handicap added to each.
    Choice { from: Vec<f64>, along: Vec<f64>, lengths: Vec<f64>, handicaps: Vec<i64> },
}

/// Answer that the walk waits for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Waiting {
    /// None: it has not begun.
    Begin,
    /// A gradient of this price.
    Gradient(f64),
    /// A length.
    Choice,
    /// None: it has ended.
    End,
}

/// State of a descent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Descent {
    start: Start,
    books: GradientBudget,
    waiting: Waiting,
    /// Trained weights, at full precision.
    point: Vec<f64>,
    /// Noisy sum of gradients there, and its total price.
    gradient: Vec<f64>,
    spent: f64,
    /// Direction of the line search.
    along: Vec<f64>,
    longest: f64,
    /// Lengths taken since the longest was set.
    taken: Vec<f64>,
}

/// Point at a length along a direction.
pub(super) fn point_along(from: &[f64], along: &[f64], length: f64) -> Vec<f64> {
    from.iter().zip(along).map(|(x, step)| x - length * step).collect()
}

impl Walk for Descent {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = Tensors;

    fn begin(start: Start) -> Self {
        let trained = &start.weights[..start.layout.trained];
        let point: Vec<f64> = trained.iter().map(|x| f64::from(*x)).collect();
        Self {
            books: GradientBudget::new(start.prices),
            waiting: Waiting::Begin,
            gradient: vec![0.0; point.len()],
            along: vec![0.0; point.len()],
            point,
            spent: 0.0,
            longest: start.longest,
            taken: Vec::new(),
            start,
        }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, Tensors> {
        match (self.waiting, answer) {
            (Waiting::Begin, _) => self.measure(self.books.buy_gradient()),
            (Waiting::Gradient(price), Some(sum)) => {
                let all = self.spent + price;
                for (mean, new) in self.gradient.iter_mut().zip(&sum) {
                    *mean += (new - *mean) * (price / all);
                }
                self.spent = all;
                self.choose()
            }
            (Waiting::Choice, Some(chosen)) => match chosen.first() {
                Some(place) if *place > 0.0 => {
                    self.take(*place as usize);
                    self.measure(self.books.buy_gradient())
                }
                _ => self.measure(self.books.buy_remeasurement()),
            },
            _ => {
                self.waiting = Waiting::End;
                Next::End
            }
        }
    }
}

impl Descent {
    /// All weights, with `trained` as the trained ones.
    fn all(&self, trained: &[f64]) -> Vec<f32> {
        let frozen = &self.start.weights[trained.len()..];
        trained.iter().map(|weight| *weight as f32).chain(frozen.iter().copied()).collect()
    }

    /// Queries a gradient if there is room for it; otherwise ends.
    fn measure(&mut self, room: Option<(f64, GradientBudget)>) -> Next<Query, Tensors> {
        let at = self.all(&self.point);
        match room {
            Some((price, books)) => {
                (self.books, self.waiting) = (books, Waiting::Gradient(price));
                Next::Ask(Query::Gradient { at, price })
            }
            None => {
                self.waiting = Waiting::End;
                Next::Release(self.start.layout.cut(&at))
            }
        }
    }

    fn choose(&mut self) -> Next<Query, Tensors> {
        let (rows, penalty) = (self.start.rows, self.start.penalty);
        let slope = |(sum, x): (&f64, &f64)| sum / rows + penalty.slope(*x);
        self.along = self.gradient.iter().zip(&self.point).map(slope).collect();
        let length = self.along.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if length.is_normal() { 1.0 / length } else { 0.0 };
        self.along.iter_mut().for_each(|x| *x *= scale);
        let lengths = self.lengths();
        let handicap = |length: &f64| {
            let penalty = penalty.of(&point_along(&self.point, &self.along, *length));
            let steps = rows * penalty / self.start.loss_step;
            steps.clamp(-MOST_HANDICAP, MOST_HANDICAP) as i64
        };
        let handicaps = lengths.iter().map(handicap).collect();
        self.waiting = Waiting::Choice;
        let (from, along) = (self.point.clone(), self.along.clone());
        Next::Ask(Query::Choice { from, along, lengths, handicaps })
    }

    /// Evenly spaced from 0 to the longest.
    fn lengths(&self) -> Vec<f64> {
        let most = (self.start.lengths.max(2) - 1) as f64;
        (0..self.start.lengths).map(|place| self.longest * place as f64 / most).collect()
    }

    /// Makes a step of one of the lengths.
    fn take(&mut self, place: usize) {
        let length = self.lengths().get(place).copied().unwrap_or(0.0);
        self.point = point_along(&self.point, &self.along, length);
        keep_within(&mut self.point, self.start.ball);
        self.gradient.fill(0.0);
        self.spent = 0.0;
        self.taken.push(length);
        if self.taken.len() == STEPS_PER_RESET {
            self.longest = LONGER * self.taken.iter().copied().fold(0.0, f64::max);
            self.taken.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tensors::Place;
    use super::*;

    /// One trained weight at 3 and one frozen weight; room for three gradients, each with a choice.
    fn descent() -> Descent {
        let place = |name: &str, range| Place { name: name.into(), shape: vec![1], range };
        let layout = Layout { places: vec![place("a", 0..1), place("b", 1..2)], trained: 1 };
        Descent::begin(Start {
            prices: GradientPrices::for_steps(3.0, 3),
            weights: vec![3.0, 7.0],
            layout,
            rows: 10.0,
            penalty: Penalty { ridge: 0.0, nonconvex: 0.5 },
            longest: 2.0,
            lengths: 5,
            loss_step: 0.25,
            ball: 100.0,
        })
    }

    fn price(next: &Next<Query, Tensors>) -> f64 {
        match next {
            Next::Ask(Query::Gradient { price, at }) if at[1] == 7.0 => *price,
            other => panic!("{other:?}"),
        }
    }

    /// Two steps by hand: a direction of norm 1, lengths from 0, penalties as handicaps, and an end
    /// without budget left.
    #[test]
    fn steps_are_taken_along_unit_directions_until_there_is_no_room() {
        let mut walk = descent();
        let first = price(&walk.next(None));
        assert!((first - 0.8).abs() < 1e-6);
        let Next::Ask(Query::Choice { from, along, lengths, handicaps }) =
            walk.next(Some(vec![-40.0]))
        else {
            panic!("no choice")
        };
        assert_eq!((from[0], along[0]), (3.0, -1.0));
        assert_eq!(lengths, [0.0, 0.5, 1.0, 1.5, 2.0]);
        // 10·0.5·9/10 over a step of 0.25 is 18.
        assert_eq!(handicaps[0], 18);
        let text = serde_json::to_string(&walk).unwrap();
        let mut walk: Descent = serde_json::from_str(&text).unwrap();
        let Next::Ask(Query::Gradient { at, .. }) = walk.next(Some(vec![2.0])) else {
            panic!("no gradient")
        };
        assert_eq!(at, [4.0, 7.0]);
        for _ in 0..2 {
            walk.next(Some(vec![1.0]));
            match walk.next(Some(vec![1.0])) {
                Next::Ask(_) => {}
                Next::Release(found) => {
                    assert_eq!(found.tensors[0].values, [3.0]);
                    assert_eq!(walk.next(None), Next::End);
                    return;
                }
                Next::End => panic!("nothing released"),
            }
        }
        panic!("it goes on");
    }

    /// If no length is better than 0, the gradient is measured again for a tenth of its price, averaged
    /// weighted by prices, and later ones cost a tenth more.
    #[test]
    fn a_noisy_direction_is_measured_again_and_averaged() {
        let mut walk = descent();
        let first = price(&walk.next(None));
        walk.next(Some(vec![11.0]));
        let again = walk.next(Some(vec![0.0]));
        assert!((price(&again) - 0.1 * first).abs() < 1e-12);
        walk.next(Some(vec![-11.0]));
        // (11 − 0.1·11)/1.1.
        assert!((walk.gradient[0] - 9.0).abs() < 1e-9);
        let later = walk.next(Some(vec![1.0]));
        assert!((price(&later) - 1.1 * first).abs() < 1e-12);
        assert_eq!(walk.gradient, [0.0]);
    }

    #[test]
    fn the_longest_length_follows_those_taken() {
        let mut walk = descent();
        for _ in 0..STEPS_PER_RESET {
            walk.take(2);
        }
        assert!((walk.longest - 1.1).abs() < 1e-12 && walk.taken.is_empty());
    }
}
