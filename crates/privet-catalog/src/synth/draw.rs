//! The random numbers of generated tables: ChaCha20, the same on every machine.

use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

/// Uniform and normal numbers.
pub(super) struct Draw {
    rng: ChaCha20Rng,
    spare: Option<f64>,
}

impl Draw {
    /// All draws follow from the seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform on [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on [−1, 1).
    pub(super) fn symmetric(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    /// Uniform on 0 … bound − 1, by rejection.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let last = u64::MAX - u64::MAX % bound;
        loop {
            let value = self.rng.next_u64();
            if value < last {
                return value % bound;
            }
        }
    }

    /// Standard normal, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }

    /// A uniformly random order.
    pub(super) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last as u64 + 1) as usize);
        }
        order
    }
}
