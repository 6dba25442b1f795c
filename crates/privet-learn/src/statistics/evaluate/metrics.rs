//! Metrics of a model from the sums of an evaluation: a function of them and of public facts alone.
//!
//! An interval contains the same number without the noise in at least 95 of 100 releases; for the area
//! under the ROC curve in about 95, by linearising. Two combine two intervals, by the union bound: R²
//! holds in at least 90 of 100, and `majority` in at least 92 if the number of rows is private.
//! Intervals do not cover sampling error. Without noise they have no width.

use super::form::{BINS, Form, OutputKind, probability_at};
use super::judgements::{Judgements, largest_log_loss};
use super::{Evaluate, Evaluation};
use crate::Request;
use crate::release::task::Task;
use crate::statistics::count::Law;
use crate::statistics::describe::Estimate;
use crate::statistics::describe::estimate::{Moments, Noise, Sum};
use crate::statistics::describe::histogram::{consistent, quantile};
use crate::statistics::sums::noise_of;
use serde::Serialize;

/// Upper bound on the number of groups of records in a calibration.
const GROUPS: f64 = 10.0;

/// The metrics of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    /// True if all metrics come from a noisy release.
    pub private: bool,
    /// The number of records judged; exact if it is public.
    pub rows: Estimate,
    /// The metrics of classes or of a number.
    #[serde(flatten)]
    pub measures: Measures,
}

/// The metrics of classes or of a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measures {
    /// For a target with classes.
    Classes(Box<ClassMetrics>),
    /// For a numeric target.
    Number(NumberMetrics),
}

/// The metrics of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassMetrics {
    /// The share of correct predictions.
    pub accuracy: Estimate,
    /// The largest class.
    pub majority_class: String,
    /// The accuracy of always predicting that class; if the number of rows is private its interval holds
    /// in at least 92 of 100 releases.
    pub majority: Estimate,
    /// The metrics of each class.
    pub classes: Vec<OneClass>,
    /// Records by class (rows) and prediction (columns); may be below 0 where few or no records are.
    pub confusion: Vec<Vec<f64>>,
    /// Margin of error of each entry of `confusion`.
    pub confusion_margin: f64,
    /// Classes predicted for no record, or for so few that the noise hides them.
    pub never_predicted: Vec<String>,
    /// Area under the ROC curve, of two classes.
    pub auc: Option<Estimate>,
    /// Mean log loss; a probability below 1 % counts as 1 %.
    pub log_loss: Option<Estimate>,
    /// The log loss of predicting each class with its share of the records.
    pub log_loss_of_shares: Option<f64>,
    /// Mean of half the squared distance of the probabilities from the truth.
    pub brier: Option<Estimate>,
    /// The same of predicting each class with its share of the records.
    pub brier_of_shares: Option<f64>,
    /// Predicted probabilities and observed shares: of the second class of two, of a correct prediction
    /// for more.
    pub calibration: Vec<Calibrated>,
    /// The noisy counts of the scores' bins: records of the first class (or wrong), then of the second
    /// (or right).
    #[serde(skip)]
    ranked: Option<(Vec<f64>, Vec<f64>)>,
    #[serde(skip)]
    noise: f64,
    #[serde(skip)]
    law: Law,
}

/// The metrics of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneClass {
    /// Its name.
    pub class: String,
    /// Its share of the records.
    pub share: Estimate,
    /// The share of its records that are predicted to be of it.
    pub recall: Estimate,
    /// The share of the records predicted to be of it that are.
    pub precision: Estimate,
}

/// A group of records with similar predicted probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibrated {
    /// The least predicted probability.
    pub from: f64,
    /// The largest predicted probability.
    pub to: f64,
    /// The mean predicted probability, approximately.
    pub predicted: f64,
    /// The observed share.
    pub observed: Estimate,
    /// Noisy number of records.
    pub records: f64,
}

/// The metrics of a numeric prediction, in the target's unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberMetrics {
    /// Root mean square error.
    pub rmse: Estimate,
    /// The root mean square error of always predicting the mean.
    pub rmse_of_mean: Estimate,
    /// Mean absolute error.
    pub mae: Estimate,
    /// The share of the variance that is explained; its interval holds in at least 90 of 100 releases.
    /// `None` if the noise leaves no variance.
    pub r2: Option<Estimate>,
    /// The mean of the target.
    pub mean: Estimate,
}

impl Metrics {
    /// Computes the metrics; `None` if the request is not settled or the sums do not fit it.
    pub fn of(request: &Request<Evaluate>, evaluation: &Evaluation) -> Option<Self> {
        let form = Evaluate::facts(request).ok()?;
        Evaluate::fits(request, evaluation).ok()?;
        let noise = noise_of(request)?;
        Some(SumReader { form: &form, noise, sums: &evaluation.sums }.metrics(true))
    }

    /// The same without noise, by [`Form::exact`]: not private.
    pub fn exact(form: &Form, judgements: &Judgements) -> Self {
        let sums = judgements.exact_sums(form);
        let noise = Noise { law: Law::Gaussian, scale: 0.0 };
        let mut metrics = SumReader { form, noise, sums: &sums }.metrics(false);
        if let (Measures::Classes(own), 2) = (&mut metrics.measures, form.classes.len()) {
            own.auc = judgements.exact_area().map(known);
        }
        metrics
    }

    /// The probability above which about this share of records lies, with the interval of the bins that
    /// it may be in; `None` unless there are two classes with probabilities. Post-processing of the
    /// release, at no further cost.
    pub fn threshold_by_share(&self, share: f64) -> Option<Estimate> {
        let Measures::Classes(own) = &self.measures else { return None };
        let (first, second) = own.ranked.as_ref().filter(|_| own.classes.len() == 2)?;
        own.log_loss?;
        let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        // Each bin has the noise of two counts.
        let noise = Noise { law: own.law, scale: own.noise * std::f64::consts::SQRT_2 };
        let found = quantile(1.0 - share, &all, &consistent(&all), (0.0, BINS as f64), noise);
        let at = |place: f64| probability_at(place);
        Some(Estimate { value: at(found.value), low: at(found.low), high: at(found.high) })
    }
}

fn known(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

/// Reads the noisy sums.
struct SumReader<'a> {
    form: &'a Form,
    noise: Noise,
    sums: &'a [f64],
}

impl<'a> SumReader<'a> {
    fn metrics(&self, private: bool) -> Metrics {
        let (rows, rest) = match self.form.query.rows {
            true => (Sum::noisy(self.sums[0]), &self.sums[1..]),
            false => (Sum::known(self.form.rows as f64), self.sums),
        };
        let measures = match self.form.says {
            OutputKind::Number => Measures::Number(self.number(rest, rows)),
            _ => Measures::Classes(Box::new(self.classes(rest, rows))),
        };
        Metrics { private, rows: self.noise.count(rows), measures }
    }

    fn number(&self, sums: &[f64], rows: Sum) -> NumberMetrics {
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
        let share = |sum: f64| noise.share(Sum::noisy(sum), rows);
        let spread = noise.spread(&Moments { count: rows, sum: sums[2], squares: sums[3] });
        let squares = share(sums[1]);
        let r2 = (spread.low > 0.0).then(|| Estimate {
            value: 1.0 - squares.value / spread.value.powi(2),
            low: 1.0 - squares.high / spread.low.powi(2),
            high: 1.0 - squares.low / spread.high.powi(2),
        });
        NumberMetrics {
            rmse: scaled(rooted(squares), span, 0.0),
            rmse_of_mean: scaled(spread, span, 0.0),
            mae: scaled(share(sums[0]), span, 0.0),
            r2,
            mean: scaled(share(sums[2]), span, low),
        }
    }

    fn classes(&self, sums: &[f64], rows: Sum) -> ClassMetrics {
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
        // The largest share is no less than any, and no more than the largest of the upper ends.
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
            recall: noise.share(Sum::noisy(cell(class, class)), of_class(class)),
            precision: noise.share(Sum::noisy(cell(class, class)), predicted(class)),
        };
        let never = (0..count).filter(|class| predicted(*class).value <= among);
        let ranked = (self.form.says != OutputKind::Classes).then(|| {
            let (first, second) = rest[..2 * BINS].split_at(BINS);
            (first.to_vec(), second.to_vec())
        });
        let shares: Vec<f64> = (0..count).map(|class| one(class).share.value).collect();
        let losses = (self.form.says == OutputKind::Probabilities).then(|| &rest[2 * BINS..]);
        let scaled = |estimate: Estimate, by: f64| Estimate {
            value: by * estimate.value,
            low: by * estimate.low,
            high: by * estimate.high,
        };
        let loss_of = |p: &f64| if *p > 0.0 { p * (-p.ln()).min(largest_log_loss()) } else { 0.0 };
        ClassMetrics {
            accuracy: noise.share(right, rows),
            majority_class: names[largest].clone(),
            majority,
            classes: (0..count).map(one).collect(),
            confusion: outcomes.chunks(count).map(<[f64]>::to_vec).collect(),
            confusion_margin: noise.margin(1.0),
            never_predicted: never.map(|class| names[class].clone()).collect(),
            auc: ranked.as_ref().filter(|_| count == 2).map(|ranked| self.area(ranked)),
            log_loss: losses
                .map(|losses| scaled(noise.share(Sum::noisy(losses[0]), rows), largest_log_loss())),
            log_loss_of_shares: losses.map(|_| shares.iter().map(loss_of).sum()),
            brier: losses.map(|losses| noise.share(Sum::noisy(losses[1]), rows)),
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

    /// Σ_b p_b(Σ_{c<b} q_c + q_b/2) over the product of the totals, p records of the second class and q
    /// of the first. By linearising, its noise has the variance Σ(∂/∂p_b)² + Σ(∂/∂q_b)² in units of one
    /// count's noise variance; ties within a bin may be ranked either way, so the interval is widened by
    /// their share.
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

    /// Merges bins until each group has enough records to stand out from the noise.
    fn calibration(&self, (first, second): &(Vec<f64>, Vec<f64>)) -> Vec<Calibrated> {
        let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        let counts = consistent(&all);
        let even = counts.iter().sum::<f64>() / GROUPS;
        // Four times the margin of the noise of so many bins.
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
        // The remaining bins join the last group.
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
