//! The noise of Wang 2021, chapters 4 and 5, as printed, with the conditions under which print proves it.
//!
//! No guarantee depends on this module: learners are calibrated by the accountant. It is kept so that
//! the errata (`docs/errata.md`) are tests, and so that the guarantee of a published noise can be
//! computed.
//!
//! Symbols: τ = b/n the fraction of a sample drawn without replacement, s = σ/Δ the noise in units of
//! the sensitivity of the sum that is not sampled (Δ = 2G/b for means), α the Rényi order.

/// A condition of print that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmetCondition {
    /// The noise s² is too small.
    Noise,
    /// The order α is too large.
    Order,
}

/// Lemma 4.3.7: ρ(α) ≤ 3.5τ²α/s², provided s² ≥ 0.7 and α ≤ 1 + (2/3)s²·ln(1/(τα(1 + s²))).
pub fn lemma_4_3_7(share: f64, squared: f64, order: f64) -> Result<f64, UnmetCondition> {
    if squared < 0.7 {
        return Err(UnmetCondition::Noise);
    }
    if order > 1.0 + 2.0 / 3.0 * squared * (1.0 / (share * order * (1.0 + squared))).ln() {
        return Err(UnmetCondition::Order);
    }
    Ok(3.5 * share * share * order / squared)
}

/// Lemma 5.5.3: ρ(α) ≤ 5τ²α/s², provided s² ≥ 1.5 and α ≤ ln(1/(τ(1 + s²))).
pub fn lemma_5_5_3(share: f64, squared: f64, order: f64) -> Result<f64, UnmetCondition> {
    if squared < 1.5 {
        return Err(UnmetCondition::Noise);
    }
    if order > (1.0 / (share * (1.0 + squared))).ln() {
        return Err(UnmetCondition::Order);
    }
    Ok(5.0 * share * share * order / squared)
}

/// (4.10.1), the sum that both lemmas bound, for an integer order of at least 2.
pub fn renyi_of_sample(share: f64, squared: f64, order: u32) -> f64 {
    let two = 1.0 / squared;
    let first = (4.0 * (two.exp() - 1.0)).min(2.0 * two.exp());
    let mut choose = f64::from(order) * (f64::from(order) - 1.0) / 2.0;
    let mut terms = vec![(share * share * choose * first).ln()];
    for j in 3..=order {
        choose *= f64::from(order - j + 1) / f64::from(j);
        let exponent = f64::from(j - 1) * f64::from(j) / (2.0 * squared);
        terms.push(f64::from(j) * share.ln() + choose.ln() + 2_f64.ln() + exponent);
    }
    let largest = terms.iter().fold(0.0, |a: f64, b| a.max(*b));
    let sum = (-largest).exp() + terms.iter().map(|term| (term - largest).exp()).sum::<f64>();
    (largest + sum.ln()) / (f64::from(order) - 1.0)
}

/// The ε by (4.10.1) for `steps` steps, at the best integer order up to 1,000.
pub fn epsilon_of_samples(share: f64, squared: f64, steps: f64, delta: f64) -> f64 {
    let at = |order: u32| {
        steps * renyi_of_sample(share, squared, order) - delta.ln() / (f64::from(order) - 1.0)
    };
    (2..=1000).map(at).fold(f64::INFINITY, f64::min)
}

/// Rényi order α of both theorems for a split β (or μ) of the budget.
pub fn order(epsilon: f64, delta: f64, split: f64) -> f64 {
    -delta.ln() / ((1.0 - split) * epsilon) + 1.0
}

/// A training of print.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Number of rows, n.
    pub rows: f64,
    /// Size of a batch, b.
    pub batch: f64,
    /// Number of steps, T.
    pub steps: f64,
    /// Claimed ε.
    pub epsilon: f64,
    /// Claimed δ.
    pub delta: f64,
}

impl Run {
    /// Noise scale σ of Theorem 4.5.1 on a *mean* whose terms are at most `bound`:
    /// σ² = 14T·bound²·α/(βn²ε).
    pub fn srm_noise(&self, bound: f64, split: f64) -> f64 {
        let order = order(self.epsilon, self.delta, split);
        (14.0 * self.steps * bound * bound * order / (split * self.rows.powi(2) * self.epsilon))
            .sqrt()
    }

    /// s² of that noise: σ²/(2·bound/b)² = b²σ²/(4·bound²). Print has b₀σ₀²/(4G²) for the first step: the
    /// square is missing.
    pub fn srm_squared(&self, split: f64) -> f64 {
        (self.batch * self.srm_noise(1.0, split)).powi(2) / 4.0
    }

    /// Noise scale ν of Theorem 5.3.2: ν² = 20TαG²/(μn²ε).
    pub fn smoothed_noise(&self, bound: f64, split: f64) -> f64 {
        let order = order(self.epsilon, self.delta, split);
        (20.0 * self.steps * order * bound * bound / (split * self.rows.powi(2) * self.epsilon))
            .sqrt()
    }

    /// s² of that noise.
    pub fn smoothed_squared(&self, split: f64) -> f64 {
        (self.batch * self.smoothed_noise(1.0, split)).powi(2) / 4.0
    }

    /// Fraction of a sample, τ = b/n.
    pub fn share(&self) -> f64 {
        self.batch / self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_core::{Neighbours, Unit};
    use privet_dp::account::{self, Cost, Event};

    fn a9a(epsilon: f64, batch: f64, passes: f64) -> Run {
        let rows = 32_561.0;
        Run { rows, batch, steps: passes * rows / batch, epsilon, delta: 1e-5 }
    }

    fn splits() -> impl Iterator<Item = f64> {
        (1..1000).map(|part| f64::from(part) / 1000.0)
    }

    /// True if some split β of the budget meets the condition of Lemma 4.3.7 at the noise of Theorem
    /// 4.5.1.
    fn some_split_meets_lemma_4_3_7(run: &Run) -> bool {
        splits().any(|split| {
            let order = order(run.epsilon, run.delta, split);
            lemma_4_3_7(run.share(), run.srm_squared(split), order).is_ok()
        })
    }

    /// The condition also fails on ijcnn1 (Table 4.3; print does not state the number of passes), on
    /// MNIST at ε = 1.2, and at ε = 3 with batches of 1,024; at ε = 3 and 7 with smaller ones some split
    /// meets it.
    #[test]
    fn the_side_condition_of_lemma_4_3_7_fails_on_ijcnn1_and_mnist() {
        let run = |rows: f64, batch: f64, passes: f64, epsilon: f64| Run {
            rows,
            batch,
            steps: passes * rows / batch,
            epsilon,
            delta: 1e-5,
        };
        for batch in [50.0, 100.0, 200.0] {
            for passes in 1..=20 {
                for epsilon in [0.2, 0.5] {
                    let run = run(49_990.0, batch, f64::from(passes), epsilon);
                    assert!(!some_split_meets_lemma_4_3_7(&run), "{run:?}");
                }
            }
        }
        for passes in [5.0, 20.0, 60.0] {
            let mnist = |batch: f64, epsilon: f64| {
                some_split_meets_lemma_4_3_7(&run(60_000.0, batch, passes, epsilon))
            };
            assert!(![256.0, 512.0, 1024.0].into_iter().any(|batch| mnist(batch, 1.2)), "{passes}");
            assert!(!mnist(1024.0, 3.0) && mnist(256.0, 3.0) && mnist(1024.0, 7.0), "{passes}");
        }
    }

    /// Theorem 4.5.1 depends on Lemma 4.3.7, whose side condition no split β meets at any setting of
    /// Table 4.2.
    #[test]
    fn the_side_condition_of_lemma_4_3_7_fails_at_the_published_settings() {
        for (epsilon, passes) in [(0.2, 4.0), (0.5, 5.0)] {
            for batch in [50.0, 100.0, 200.0] {
                let run = a9a(epsilon, batch, passes);
                let met = some_split_meets_lemma_4_3_7(&run);
                assert!(!met, "epsilon {epsilon}, batch {batch}");
            }
        }
        // Some settings do meet it.
        let run = Run {
            rows: 60_000.0,
            batch: 256.0,
            steps: 20.0 * 60_000.0 / 256.0,
            epsilon: 7.0,
            delta: 1e-5,
        };
        assert!(some_split_meets_lemma_4_3_7(&run));
    }

    /// The sum in the lemma proves a larger ε of that noise than requested: 0.203, 0.269 and 0.390 for
    /// 0.2.
    #[test]
    fn the_printed_noise_is_not_certified_by_its_own_bound() {
        for (batch, proved) in [(50.0, 0.2025), (100.0, 0.2686), (200.0, 0.3904)] {
            let run = a9a(0.2, batch, 4.0);
            let found = epsilon_of_samples(run.share(), run.srm_squared(0.5), run.steps, 1e-5);
            // A tight accountant proves less than the requested ε: the noise is enough, by another
            // argument.
            let cost = Cost::WithoutReplacementGaussian {
                population: 32_561,
                batch: batch as u64,
                sensitivity: 2.0,
                noise_scale: run.srm_noise(1.0, 0.5) * batch,
                grid: None,
            };
            let (neighbours, unit) = (Neighbours::ReplaceOne, Unit::Record);
            let event = Box::new(Event::Use { neighbours, unit, cost });
            let event = Event::Repeat { count: run.steps.ceil() as u32, event };
            let tight = account::epsilon(&event, 1e-5).unwrap();
            assert!(tight < 0.15, "batch {batch}: {tight}");
            assert!(found > 0.2 && (found / proved - 1.0).abs() < 0.001, "batch {batch}: {found}");
        }
    }

    /// Theorem 5.3.2 depends on Lemma 5.5.3, whose side condition no split μ meets at any setting of
    /// Table 5.2.
    #[test]
    fn the_side_condition_of_lemma_5_5_3_fails_at_the_published_settings() {
        for epsilon in [0.1, 0.15, 0.2, 0.25, 0.3] {
            let run = Run { rows: 60_000.0, batch: 128.0, steps: 23_450.0, epsilon, delta: 1e-5 };
            let met = splits().any(|split| {
                let order = order(epsilon, 1e-5, split);
                lemma_5_5_3(run.share(), run.smoothed_squared(split), order).is_ok()
            });
            assert!(!met, "epsilon {epsilon}");
        }
    }

    /// The lemmas bound the sum where their conditions hold.
    #[test]
    fn the_lemmas_bound_the_sum_where_they_may() {
        let mut bounded = 0;
        for share in [1e-4, 1e-3, 5e-3] {
            for squared in [0.8, 2.0, 10.0, 50.0] {
                for order in 2..40 {
                    let sum = renyi_of_sample(share, squared, order);
                    let order = f64::from(order);
                    let (one, other) =
                        (lemma_4_3_7(share, squared, order), lemma_5_5_3(share, squared, order));
                    bounded += usize::from(one.is_ok()) + usize::from(other.is_ok());
                    assert!(one.is_err() || sum <= one.unwrap(), "{share} {squared} {order}");
                    assert!(other.is_err() || sum <= other.unwrap(), "{share} {squared} {order}");
                }
            }
        }
        assert!(bounded > 50, "{bounded}");
    }

    /// Theorem 4.5.1's first condition: the sensitivity of a mean of b₀ terms is 2G/b₀, so that s² has
    /// b₀², as in the proof; with the printed b₀ it would shrink by b₀ for any noise.
    #[test]
    fn the_square_of_the_first_batch_is_missing() {
        let run = a9a(0.5, 100.0, 5.0);
        let (noise, bound) = (run.srm_noise(1.3, 0.5), 1.3);
        let sensitivity = 2.0 * bound / run.batch;
        let squared = (noise / sensitivity).powi(2);
        assert!((squared / run.srm_squared(0.5) - 1.0).abs() < 1e-12);
        let as_printed = run.batch * noise * noise / (4.0 * bound * bound);
        assert!((squared / as_printed - run.batch).abs() < 1e-9);
        assert!(as_printed < 0.7 && squared > 0.7, "{as_printed} {squared}");
    }

    /// The script of chapter 5 adds noise √5 below its theorem: 0.1162 … 0.3471 where the theorem
    /// requires 0.2599 … 0.7762.
    #[test]
    fn the_noise_of_the_script_is_the_root_of_five_too_small() {
        let scripted =
            [(0.3, 0.1162), (0.25, 0.1393), (0.2, 0.1739), (0.15, 0.2316), (0.1, 0.3471)];
        for (epsilon, used) in scripted {
            let run = Run { rows: 60_000.0, batch: 128.0, steps: 23_450.0, epsilon, delta: 1e-5 };
            let asked = run.smoothed_noise(1.0, 0.5);
            assert!((asked / used / 5_f64.sqrt() - 1.0).abs() < 1e-3, "{epsilon}: {asked}");
        }
    }

    /// The script also clips the mean of a batch: one record moves that by 2C, b times its allowance.
    #[test]
    fn clipping_a_mean_bounds_no_record() {
        let clip = |v: [f64; 2]| {
            let norm = v[0].hypot(v[1]);
            v.map(|x| x / norm.max(1.0))
        };
        let batch = 128.0;
        let mean = |odd: f64| clip([odd / batch, 0.3]);
        let (one, other) = (mean(1e6), mean(-1e6));
        let moved = (one[0] - other[0]).hypot(one[1] - other[1]);
        assert!(moved > 1.999 && moved > 100.0 * 2.0 / batch);
    }

    /// §4.7.1 prints 2((1 − γ)C₁ + γC₂) for 2((1 − γ)C₂ + γC₁)/b: two records with opposite gradients of
    /// norm C₁ and differences of norm C₂ move the estimate by more than print allows where γ is above
    /// ½.
    #[test]
    fn the_clips_are_swapped_in_print() {
        let (gamma, clip, difference) = (0.99, 1.5, 0.99);
        let term = |sign: f64| sign * (gamma * clip + (1.0 - gamma) * difference);
        let moved = term(1.0) - term(-1.0);
        let printed = 2.0 * ((1.0 - gamma) * clip + gamma * difference);
        assert!(moved > 1.49 * printed, "{moved} {printed}");
        let sound = 2.0 * super::super::srm::contribution(gamma, clip, difference);
        assert!(moved <= sound && sound < moved * (1.0 + 1e-12));
    }
}
