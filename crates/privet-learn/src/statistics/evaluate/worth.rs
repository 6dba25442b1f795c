//! What the sums of an evaluation say of a model: a function of them and of public facts alone.
//!
//! An interval says where the same number without the noise lies, in at least 95 of 100 releases; of the area under the
//! ROC curve in about 95, by linearising. Two are made of two intervals, by the union bound: R² holds in at least 90 of 100,
//! and `majority` in at least 92 where the number of rows is private. It says nothing of how far these rows are from others.
//! Without noise it has no width.

use super::form::{BINS, Form, Says, probability_at};
use super::judged::{Judged, largest_log_loss};
use super::{Evaluate, Evaluation};
use crate::release::request::Request;
use crate::release::task::Task;
use crate::statistics::count::Law;
use crate::statistics::describe::Estimate;
use crate::statistics::describe::estimate::{Moments, Noise, Sum};
use crate::statistics::describe::histogram::{consistent, quantile};
use crate::statistics::sums::noise_of;
use serde::Serialize;

/// Calibration is told in at most so many groups of records.
const GROUPS: f64 = 10.0;

/// What a model is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    /// Whether all of it comes from a noised release.
    pub private: bool,
    /// How many records were judged; exact where that is public.
    pub rows: Estimate,
    /// The rest.
    #[serde(flatten)]
    pub measures: Measures,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measures {
    /// Of classes.
    Classes(Box<ClassWorth>),
    /// Of a number.
    Number(NumberWorth),
}

/// Of classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassWorth {
    /// How often the prediction is right.
    pub accuracy: Estimate,
    /// The largest class.
    pub majority_class: String,
    /// How often always saying that class is right; where the number of rows is private its interval holds in at least 92
    /// of 100 releases.
    pub majority: Estimate,
    /// Each class.
    pub classes: Vec<OneClass>,
    /// Records by class (rows) and prediction (columns); below 0 is noise around next to nobody.
    pub confusion: Vec<Vec<f64>>,
    /// How far each of those may be off.
    pub confusion_margin: f64,
    /// Classes that are predicted for nobody, or for so few that the noise hides them.
    pub never_predicted: Vec<String>,
    /// Area under the ROC curve, of two classes.
    pub auc: Option<Estimate>,
    /// Mean log loss; a probability below 1 % counts as 1 %.
    pub log_loss: Option<Estimate>,
    /// That of always saying how frequent each class is.
    pub log_loss_of_shares: Option<f64>,
    /// Mean of half the squared distance of the probabilities from the truth.
    pub brier: Option<Estimate>,
    /// That of always saying how frequent each class is.
    pub brier_of_shares: Option<f64>,
    /// Predicted probabilities beside what came true: of the second class of two, of being right for more.
    pub calibration: Vec<Calibrated>,
    /// The scores' bins: records of the first class (or wrong), then of the second (or right), as they were noised.
    #[serde(skip)]
    ranked: Option<(Vec<f64>, Vec<f64>)>,
    #[serde(skip)]
    noise: f64,
    #[serde(skip)]
    law: Law,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneClass {
    /// Its name.
    pub class: String,
    /// Its share of the records.
    pub share: Estimate,
    /// Of its records, how many are found.
    pub recall: Estimate,
    /// Of those predicted to be of it, how many are.
    pub precision: Estimate,
}

/// Records whose predicted probability is alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibrated {
    /// Predicted probabilities from here.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// About what is predicted on average.
    pub predicted: f64,
    /// What came true.
    pub observed: Estimate,
    /// About how many records.
    pub records: f64,
}

/// Of a number, in its own unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberWorth {
    /// Root mean square error.
    pub rmse: Estimate,
    /// That of always saying the mean.
    pub rmse_of_mean: Estimate,
    /// Mean absolute error.
    pub mae: Estimate,
    /// The share of the variance that is explained, its interval in at least 90 of 100 releases; `None` where the noise
    /// leaves no variance.
    pub r2: Option<Estimate>,
    /// The mean.
    pub mean: Estimate,
}

impl Worth {
    /// What was evaluated; `None` where the request is not settled or the sums are not its own.
    pub fn of(request: &Request<Evaluate>, found: &Evaluation) -> Option<Self> {
        let form = Evaluate::facts(request).ok()?;
        Evaluate::fits(request, found).ok()?;
        let noise = noise_of(request)?;
        Some(Reading { form: &form, noise, sums: &found.sums }.worth(true))
    }

    /// The same without noise, of the form of [`Form::exact`]: not private, for who may see the rows.
    pub fn exact(form: &Form, judged: &Judged) -> Self {
        let sums = judged.exact_sums(form);
        let noise = Noise { law: Law::Gaussian, scale: 0.0 };
        let mut worth = Reading { form, noise, sums: &sums }.worth(false);
        if let (Measures::Classes(own), 2) = (&mut worth.measures, form.classes.len()) {
            own.auc = judged.exact_area().map(known);
        }
        worth
    }

    /// The probability above which about this share of records lies, with the interval of the bins that it may be in;
    /// `None` unless there are two classes with probabilities. A quantile of a release that is paid for costs nothing
    /// more.
    pub fn threshold_by_share(&self, share: f64) -> Option<Estimate> {
        let Measures::Classes(own) = &self.measures else { return None };
        let (first, second) = own.ranked.as_ref().filter(|_| own.classes.len() == 2)?;
        own.log_loss?;
        let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        // Two noises a bin.
        let noise = Noise { law: own.law, scale: own.noise * std::f64::consts::SQRT_2 };
        let found = quantile(1.0 - share, &all, &consistent(&all), (0.0, BINS as f64), noise);
        let at = |place: f64| probability_at(place);
        Some(Estimate { value: at(found.value), low: at(found.low), high: at(found.high) })
    }
}

fn known(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

/// The noised sums.
struct Reading<'a> {
    form: &'a Form,
    noise: Noise,
    sums: &'a [f64],
}

impl<'a> Reading<'a> {
    fn worth(&self, private: bool) -> Worth {
        let (rows, rest) = match self.form.question.rows {
            true => (Sum::noised(self.sums[0]), &self.sums[1..]),
            false => (Sum::known(self.form.rows as f64), self.sums),
        };
        let measures = match self.form.says {
            Says::Number => Measures::Number(self.number(rest, rows)),
            _ => Measures::Classes(Box::new(self.classes(rest, rows))),
        };
        Worth { private, rows: self.noise.count(rows), measures }
    }

    fn number(&self, sums: &[f64], rows: Sum) -> NumberWorth {
        let (low, high) = self.form.bounds.unwrap_or((0.0, 1.0));
        let span = high - low;
        let noise = self.noise;
        let scaled = |estimate: Estimate, by: f64, from: f64| Estimate {
            value: from + by * estimate.value,
            low: from + by * estimate.low,
            high: from + by * estimate.high,
        };
        let rooted = |estimate: Estimate| Estimate {
            value: estimate.value.sqrt(),
            low: estimate.low.sqrt(),
            high: estimate.high.sqrt(),
        };
        let share = |sum: f64| noise.share(Sum::noised(sum), rows);
        let spread = noise.spread(&Moments { count: rows, sum: sums[2], squares: sums[3] });
        let squares = share(sums[1]);
        let r2 = (spread.low > 0.0).then(|| Estimate {
            value: 1.0 - squares.value / spread.value.powi(2),
            low: 1.0 - squares.high / spread.low.powi(2),
            high: 1.0 - squares.low / spread.high.powi(2),
        });
        NumberWorth {
            rmse: scaled(rooted(squares), span, 0.0),
            rmse_of_mean: scaled(spread, span, 0.0),
            mae: scaled(share(sums[0]), span, 0.0),
            r2,
            mean: scaled(share(sums[2]), span, low),
        }
    }

    fn classes(&self, sums: &[f64], rows: Sum) -> ClassWorth {
        let (noise, names) = (self.noise, &self.form.classes);
        let count = names.len();
        let (outcomes, rest) = sums.split_at(count * count);
        let cell = |own: usize, said: usize| outcomes[own * count + said];
        let several = |values: &mut dyn Iterator<Item = f64>, cells: usize| Sum {
            value: values.sum(),
            noises: cells as f64,
        };
        let of_class = |own| several(&mut (0..count).map(|said| cell(own, said)), count);
        let predicted = |said| several(&mut (0..count).map(|own| cell(own, said)), count);
        let right = several(&mut (0..count).map(|class| cell(class, class)), count);
        let largest = (0..count).fold(0, |best, class| {
            if of_class(class).value > of_class(best).value { class } else { best }
        });
        // Of the largest share: no less than any, and no more than the largest of the upper ends.
        let among = noise.margin_among(count as f64, count);
        let part = |value: f64| noise.share(Sum::known(value), rows);
        let majority = Estimate {
            value: noise.share(of_class(largest), rows).value,
            low: part(of_class(largest).value - among).low,
            high: part(of_class(largest).value + among).high,
        };
        let one = |class: usize| OneClass {
            class: names[class].clone(),
            share: noise.share(of_class(class), rows),
            recall: noise.share(Sum::noised(cell(class, class)), of_class(class)),
            precision: noise.share(Sum::noised(cell(class, class)), predicted(class)),
        };
        let never = (0..count).filter(|class| predicted(*class).value <= among);
        let ranked = (self.form.says != Says::Classes).then(|| {
            let (first, second) = rest[..2 * BINS].split_at(BINS);
            (first.to_vec(), second.to_vec())
        });
        let shares: Vec<f64> = (0..count).map(|class| one(class).share.value).collect();
        let losses = (self.form.says == Says::Probabilities).then(|| &rest[2 * BINS..]);
        let scaled = |estimate: Estimate, by: f64| Estimate {
            value: by * estimate.value,
            low: by * estimate.low,
            high: by * estimate.high,
        };
        let loss_of = |p: &f64| if *p > 0.0 { p * (-p.ln()).min(largest_log_loss()) } else { 0.0 };
        ClassWorth {
            accuracy: noise.share(right, rows),
            majority_class: names[largest].clone(),
            majority,
            classes: (0..count).map(one).collect(),
            confusion: outcomes.chunks(count).map(<[f64]>::to_vec).collect(),
            confusion_margin: noise.margin(1.0),
            never_predicted: never.map(|class| names[class].clone()).collect(),
            auc: ranked.as_ref().filter(|_| count == 2).map(|ranked| self.area(ranked)),
            log_loss: losses.map(|losses| {
                scaled(noise.share(Sum::noised(losses[0]), rows), largest_log_loss())
            }),
            log_loss_of_shares: losses.map(|_| shares.iter().map(loss_of).sum()),
            brier: losses.map(|losses| noise.share(Sum::noised(losses[1]), rows)),
            brier_of_shares: losses
                .map(|_| shares.iter().map(|share| share * (1.0 - share)).sum::<f64>() / 2.0),
            calibration: match (&ranked, losses) {
                (Some(ranked), Some(_)) => self.calibration(ranked),
                _ => Vec::new(),
            },
            ranked,
            noise: noise.scale,
            law: noise.law,
        }
    }

    /// Σ_b p_b(Σ_{c<b} q_c + q_b/2) over the product of the totals, p records of the second class and q of the first.
    /// By linearising, its noise has the variance Σ(∂/∂p_b)² + Σ(∂/∂q_b)² in that of one count; ties within a bin may
    /// be ranked either way, so that the interval of the area of uncut scores is as much wider.
    fn area(&self, (first, second): &(Vec<f64>, Vec<f64>)) -> Estimate {
        let total = |counts: &[f64]| counts.iter().sum::<f64>();
        let (others, positives) = (total(first), total(second));
        let unknown = Estimate { value: 0.5, low: 0.0, high: 1.0 };
        let least = 4.0 * self.noise.deviation() * (BINS as f64).sqrt();
        if others.min(positives) <= least.max(0.5) {
            return unknown;
        }
        let (mut below, mut wins, mut ties) = (0.0, 0.0, 0.0);
        let mut slopes = 0.0;
        let mut reached = Vec::with_capacity(BINS);
        for (q, p) in first.iter().zip(second) {
            reached.push(below + q / 2.0);
            wins += p * (below + q / 2.0);
            ties += (p * q).max(0.0) / 2.0;
            below += q;
        }
        let area = wins / (others * positives);
        let mut above = positives;
        for (place, p) in second.iter().enumerate() {
            above -= p;
            let of_second = (reached[place] / others - area) / positives;
            let of_first = ((above + p / 2.0) / positives - area) / others;
            slopes += of_second * of_second + of_first * of_first;
        }
        let margin = self.noise.margin(1.0) * slopes.sqrt() + ties / (others * positives);
        let within = |value: f64| value.clamp(0.0, 1.0);
        Estimate { value: within(area), low: within(area - margin), high: within(area + margin) }
    }

    /// Bins put together until each group has enough records to say something.
    fn calibration(&self, (first, second): &(Vec<f64>, Vec<f64>)) -> Vec<Calibrated> {
        let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        let counts = consistent(&all);
        let even = counts.iter().sum::<f64>() / GROUPS;
        // Four times what the noise of so many bins may be.
        let enough = |bins: usize| even.max(4.0 * self.noise.margin(2.0 * bins as f64));
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let (mut from, mut held) = (0, 0.0);
        for (place, count) in counts.iter().enumerate() {
            held += count;
            if held >= enough(place + 1 - from).max(f64::MIN_POSITIVE) {
                groups.push((from, place + 1));
                (from, held) = (place + 1, 0.0);
            }
        }
        // What is left over belongs to the last group.
        if let Some(last) = groups.last_mut() {
            last.1 = BINS;
        }
        groups.into_iter().map(|group| self.calibrated(group, second, &all, &counts)).collect()
    }

    fn calibrated(
        &self,
        (from, to): (usize, usize),
        second: &[f64],
        all: &[f64],
        counts: &[f64],
    ) -> Calibrated {
        let sum = |values: &[f64]| values[from..to].iter().sum::<f64>();
        let bins = (to - from) as f64;
        let middle = |place: usize| probability_at(place as f64 + 0.5) * counts[place];
        let weight = sum(counts).max(f64::MIN_POSITIVE);
        Calibrated {
            from: probability_at(from as f64),
            to: probability_at(to as f64),
            predicted: (from..to).map(middle).sum::<f64>() / weight,
            observed: self.noise.share(
                Sum { value: sum(second), noises: bins },
                Sum { value: sum(all), noises: 2.0 * bins },
            ),
            records: sum(all),
        }
    }
}
