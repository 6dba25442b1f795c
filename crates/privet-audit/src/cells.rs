//! Grid points of b in a cell of the result: why a rounded minimiser is not private enough.
//!
//! In one dimension, where the loss is linear or quadratic, the minimiser of Σℓ + (λ/2)θ² + bθ is θ =
//! (T − b)/Λ, with T and Λ functions of the records. b lies on a grid of step h = σ/s. If θ is rounded
//! to multiples of w, a cell of the result holds N = wΛ/h points of the grid *on average*, that is ⌊N⌋
//! or ⌈N⌉, and which of the two depends on T and Λ. The probability of a cell is proportional to that
//! count, so that up to ln(⌈N⌉/⌊N⌋), about 1/N, is added to the privacy loss of many cells; if ε is not
//! large against 1/N, the δ of the release is a multiple of the theorem's for real numbers.
//!
//! Version 0.1.0 rounded so: w about 2⁻³⁰ of σ/λ and s about 2⁴⁰, hence N between 500 and 2,000
//! ([`OLD_ROUNDING`]).
//!
//! - [`Line::pair`]: a record in the linear part of the loss, its label flipped: T = LR or −v·LR with v,
//!   the weight of the other class, just below 1, and Λ = λ. The theorem is then nearly tight, so that
//!   every excess is visible; v = 1 would put both T on the grid.
//! - [`rounded_delta`]: the exact counts of cells, visited at quantiles of b.
//! - [`noisy_delta`]: with noise on the result instead, exactly, on grids coarse enough to sum over.
//!
//! Tested by `tests/audit/cells.rs`.

/// Rounding of released minimisers in 0.1.0, relative to the power of two below σ/λ.
pub const OLD_ROUNDING: f64 = 1.0 / (1 << 30) as f64;

/// A minimiser as a function of the noise, θ = (T − b)/Λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// T, the intercept.
    pub pull: f64,
    /// Λ, the curvature.
    pub curvature: f64,
}

impl Line {
    /// Two neighbours for which objective perturbation is nearly tight, with L·R = 1.
    pub fn pair(weight: f64, ridge: f64) -> [Self; 2] {
        [1.0, -weight].map(|pull| Self { pull, curvature: ridge })
    }

    /// The noise b at a value of θ.
    fn noise_at(self, theta: f64) -> f64 {
        self.pull - theta * self.curvature
    }

    /// The number of points of step·ℤ in the k-th cell. Exact: steps and widths are powers of two.
    fn count(self, cell: i64, width: f64, step: f64) -> i64 {
        let fixed = |x: f64| (x * (1_u64 << 43) as f64) as i128;
        let (pull, side) = (fixed(self.pull / step), fixed(self.curvature * width / step));
        let below = |cell: i64| (pull - i128::from(cell) * side) >> 43;
        (below(cell) - below(cell + 1)) as i64
    }
}

/// Noise, grid and rounding of a released minimiser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounding {
    /// σ of the noise b.
    pub noise_scale: f64,
    /// h, the grid step of b, a power of two.
    pub step: f64,
    /// w, the rounding of θ, a power of two.
    pub width: f64,
}

impl Rounding {
    /// N, the average number of grid points in a cell.
    pub fn points(&self, line: Line) -> f64 {
        line.curvature * self.width / self.step
    }
}

/// δ at ε of the rounded minimiser, first neighbour against second, from `visits` cells; with `even`,
/// every cell is taken to hold N points, as if b were continuous.
pub fn rounded_delta(
    lines: [Line; 2],
    rounding: &Rounding,
    epsilon: f64,
    visits: u32,
    even: bool,
) -> f64 {
    const REACH: f64 = 9.0;
    let Rounding { noise_scale, step, width } = *rounding;
    let means = lines.map(|line| rounding.points(line));
    let golden = 0.618_033_988_749_894_9;
    let mut delta = 0.0;
    for visit in 0..visits {
        let visit = f64::from(visit);
        // One visit in each stratum, at a different position.
        let z = REACH * (2.0 * (visit + (visit * golden).fract()) / f64::from(visits) - 1.0);
        let theta = (lines[0].pull - z * noise_scale) / lines[0].curvature;
        let cell = libm::floor(theta / width) as i64;
        let shares = [0, 1].map(|neighbour| {
            let count = lines[neighbour].count(cell, width, step) as f64;
            if even { 1.0 } else { count / means[neighbour] }
        });
        let middle = (cell as f64 + 0.5) * width;
        let [own, other] = lines.map(|line| line.noise_at(middle) / noise_scale);
        // Densities of θ are those of b times Λ.
        let stretch = lines[1].curvature / lines[0].curvature;
        let ratio = stretch * shares[1] / shares[0] * libm::exp((own * own - other * other) / 2.0);
        let mass = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI) * shares[0];
        delta += mass * (1.0 - libm::exp(epsilon) * ratio).max(0.0);
    }
    delta * 2.0 * REACH / f64::from(visits)
}

/// Noise on the result: a discrete Gaussian with scale `spread` in units of `step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputGrid {
    /// Grid step of the output.
    pub step: f64,
    /// τ/step, the noise scale in steps.
    pub spread: f64,
}

/// δ at each ε of θ rounded to the output grid plus its noise, first neighbour against second: a sum
/// over all b = kh, |k| ≤ 8s, and all outputs.
pub fn noisy_delta(
    lines: [Line; 2],
    noise_scale: f64,
    step: f64,
    output: &OutputGrid,
    epsilons: &[f64],
) -> Vec<f64> {
    let spread = noise_scale / step;
    let weights = |spread: f64| {
        let reach = (8.0 * spread) as i64;
        let weight = |k: i64| libm::exp(-0.5 * (k as f64 / spread).powi(2));
        let all: Vec<f64> = (-reach..=reach).map(weight).collect();
        let total: f64 = all.iter().sum();
        (reach, all.into_iter().map(|w| w / total).collect::<Vec<f64>>())
    };
    let ((reach, inside), (around, kernel)) = (weights(spread), weights(output.spread));
    let place = |line: Line, k: i64| {
        libm::rint((line.pull - k as f64 * step) / line.curvature / output.step) as i64
    };
    let ends = lines.iter().flat_map(|line| [place(*line, -reach), place(*line, reach)]);
    let (low, high) =
        ends.fold((i64::MAX, i64::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let laws = lines.map(|line| {
        let mut law = vec![0.0; (high - low + 2 * around + 1) as usize];
        for (k, mass) in (-reach..=reach).zip(&inside) {
            let first = (place(line, k) - low) as usize;
            law[first..].iter_mut().zip(&kernel).for_each(|(p, w)| *p += mass * w);
        }
        law
    });
    let delta = |epsilon: &f64| {
        let factor = libm::exp(*epsilon);
        laws[0].iter().zip(&laws[1]).map(|(p, q)| (p - factor * q).max(0.0)).sum()
    };
    epsilons.iter().map(delta).collect()
}
