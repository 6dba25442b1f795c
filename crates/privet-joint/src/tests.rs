use super::*;

/// Random words for tests (SplitMix64, Steele, Lea & Flood 2014).
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// 64·words draws of the whole circuit in the clear, with only one server's bits random.
fn draws(law: &dyn Law, words: usize, honest: usize) -> Vec<i128> {
    let mut circuit = Circuit::new(2);
    let drawn = law.draw(&mut circuit);
    circuit.output(&drawn);
    let count = circuit.inputs()[honest] as usize;
    let mut source = Words(20 + honest as u64);
    let mut all = Vec::with_capacity(64 * words);
    for _ in 0..words {
        // The other server's bits are all ones.
        let mut inputs = vec![vec![u64::MAX; count]; 2];
        inputs[honest].fill_with(|| source.next());
        let out = circuit.eval(&inputs);
        for lane in 0..64 {
            let bits = out.iter().enumerate();
            let value: u128 = bits.map(|(bit, word)| u128::from(word >> lane & 1) << bit).sum();
            all.push(value as i128 - law.offset() as i128);
        }
    }
    all.sort_unstable();
    all
}

/// Fails with a probability of at most 2·e^(−2nd²) (Massart 1990): 10⁻⁹ at d = √(10.71/n).
fn follows(draws: &[i128], distribution: impl Fn(f64) -> f64, what: &str) {
    let count = draws.len() as f64;
    let allowed = (10.71 / count).sqrt();
    for (place, &value) in draws.iter().enumerate().filter(|(place, _)| place % 97 == 0) {
        let (from, to) = (place as f64 / count, (place + 1) as f64 / count);
        let at = distribution(value as f64);
        // Between equal draws the empirical distribution rises by a step's mass, which is negligible at
        // these scales.
        assert!(at > from - allowed - 1e-4 && at < to + allowed + 1e-4, "{what}: {value}");
    }
}

/// Φ by its series around 0 and continued fraction beyond.
fn normal(x: f64) -> f64 {
    let half = if x.abs() < 3.0 {
        let mut term = x.abs();
        let mut sum = term;
        for n in 1..200 {
            term *= x * x / f64::from(2 * n + 1);
            sum += term;
        }
        sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    } else {
        let tail = (1..60).rev().fold(x.abs(), |inner, n| x.abs() + f64::from(n) / inner);
        0.5 - (-x * x / 2.0).exp() / tail / (2.0 * std::f64::consts::PI).sqrt()
    };
    if x < 0.0 { 0.5 - half } else { 0.5 + half }
}

#[test]
fn gaussian_draws_follow_the_normal_law_on_the_product_s_own_grid() {
    for (steps, honest) in [(2_f64.powi(40), 0), (1.9 * 2_f64.powi(40), 1)] {
        let law = JointGaussian::new(steps).unwrap();
        follows(&draws(&law, 2000, honest), |x| normal(x / steps), "Gaussian");
    }
}

#[test]
fn laplace_draws_follow_the_laplace_law() {
    for (steps, honest) in [(2_f64.powi(27), 1), (1.9 * 2_f64.powi(27), 0)] {
        let law = JointLaplace::new(steps).unwrap();
        let distribution = |x: f64| {
            let tail = 0.5 * (-x.abs() / steps).exp();
            if x < 0.0 { tail } else { 1.0 - tail }
        };
        follows(&draws(&law, 4000, honest), distribution, "Laplace");
    }
}

/// The targets: at most 700 ANDs per Laplace and 3,300 per Gaussian coordinate, the sampler alone.
#[test]
fn samplers_keep_to_their_gates() {
    for mantissa in [1.0, 1.5, 1.999_999] {
        let laplace = gates(&JointLaplace::new(mantissa * 2_f64.powi(27)).unwrap(), 2);
        assert!(laplace.sampler <= 700, "{laplace:?}");
        let gaussian = gates(&JointGaussian::new(mantissa * 2_f64.powi(40)).unwrap(), 2);
        assert!(gaussian.sampler <= 3300, "{gaussian:?}");
        // A carry for every bit of a share but the last.
        assert_eq!((laplace.sharing, gaussian.sharing), (127, 127));
    }
    let three = gates(&JointLaplace::new(2_f64.powi(27)).unwrap(), 3);
    assert!(three.sharing <= 2 * 127, "{three:?}");
}

#[test]
fn shares_in_the_clear_add_up_to_the_draw() {
    let law = JointLaplace::new(40.0).unwrap();
    let circuit = circuit_for(&law, 3, 1);
    let mut alone = Circuit::new(3);
    let drawn = law.draw(&mut alone);
    alone.output(&drawn);
    let number = |bits: &[u64]| -> u128 {
        bits.iter().enumerate().map(|(place, word)| u128::from(word & 1) << place).sum()
    };
    let mut source = Words(9);
    for _ in 0..50 {
        let inputs: Vec<Vec<u64>> = circuit
            .inputs()
            .iter()
            .map(|&count| (0..count).map(|_| source.next() & 1).collect())
            .collect();
        let draw = number(&alone.eval(&inputs)).wrapping_sub(law.offset());
        let mask = |server: usize| number(&inputs[server][inputs[server].len() - 128..]);
        let last = number(&circuit.eval(&inputs)).wrapping_sub(law.offset());
        assert_eq!(last.wrapping_sub(mask(0)).wrapping_sub(mask(1)), draw);
        assert!((draw as i128).abs() < 1 << 12);
    }
}

#[test]
fn the_charge_grows_with_everything() {
    let one = charge(1, 1, 1, 0.0);
    assert!((one / (2.0 * (NOISE_LAW_DISTANCE + UNDETECTED_CHEATING)) - 1.0).abs() < 1e-9);
    assert!(charge(2, 1, 1, 0.0) > one && charge(1, 2, 1, 0.0) > one);
    assert!(charge(1, 1, 2, 0.0) > one && charge(1, 1, 1, 0.5) > one);
    assert_eq!(charge(1, u64::MAX, 1 << 60, 600.0), 1.0);
}
