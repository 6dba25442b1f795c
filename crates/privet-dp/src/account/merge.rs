//! Merging many different parts into few, to bound the work.
//!
//! Composing takes a transform for each *different* part; a file that lists thousands of them could keep
//! a verifier busy for hours. Beyond [`MOST_PARTS`] parts, parameters are therefore rounded *up* to powers of
//! 2^{1/64}, or of 2^{1/32} and so on until few enough are different. **Lemma.** That only raises
//! every curve, so what is composed still dominates. *Proof.* An ε-DP, Laplace, bounded-range or
//! zCDP part has a curve that grows with its parameter, see their formulas; discrete Laplace noise is
//! ε-DP with ε = shift·step/scale. Sampled releases: H_e = sup_T of the weights of
//! [`super::sampled`]'s Lemma, and at the best T, a half-line, its derivative in q is
//! N(μ)(T)−N(0)(T) ≥ 0 (Theorem 1, forward; e^e(N(0)(T)−N(μ)(T)) ≥ 0 backward) or
//! N(μ)(T)−N(0)(T)+e^e(N(0)(T)−N(−μ)(T)) ≥ 0 (Theorem 2), and in μ by the Lemma itself. ∎
//! Perturbed objectives are left as they are.

use super::parts::Part;
use super::sampled::Sampled;

/// Largest number of parts without rounding.
pub const MOST_PARTS: usize = 128;

/// At most [`MOST_PARTS`] parts that dominate these, or `None` if there are too many that cannot be merged.
pub fn merge_parts(parts: Vec<(Part, u64)>) -> Option<Vec<(Part, u64)>> {
    if parts.len() <= MOST_PARTS {
        return Some(parts);
    }
    (0..14).map(|k| libm::ldexp(1.0, k - 6)).find_map(|octaves| round_parts(&parts, octaves))
}

fn round_parts(parts: &[(Part, u64)], octaves: f64) -> Option<Vec<(Part, u64)>> {
    let up = |value: f64| {
        let power = libm::ceil(libm::log2(value) / octaves) * octaves;
        libm::exp2(power).max(value)
    };
    let mut few: Vec<(Part, u64)> = Vec::new();
    for (part, count) in parts {
        let part = match *part {
            Part::Response(epsilon) => Part::Response(up(epsilon)),
            Part::DiscreteLaplace(shift, unit) => {
                Part::Response(up(shift * unit * (1.0 + f64::EPSILON)))
            }
            Part::Laplace(epsilon) => Part::Laplace(up(epsilon)),
            Part::BoundedRange(range) => Part::BoundedRange(up(range)),
            Part::Concentrated(rho) => Part::Concentrated(up(rho)),
            Part::Sampled(Sampled { sampler, rate, shift }) => {
                // A rate of 1 is another kind of part; the next number below is used.
                let rate = up(rate).min(rate.max(1.0 - f64::EPSILON));
                Part::Sampled(Sampled { sampler, rate, shift: up(shift) })
            }
            Part::Objective(objective) => Part::Objective(objective),
        };
        match few.iter().position(|(known, _)| *known == part) {
            Some(place) => few[place].1 = few[place].1.saturating_add(*count),
            None if few.len() == MOST_PARTS => return None,
            None => few.push((part, *count)),
        }
    }
    Some(few)
}

#[cfg(test)]
mod tests {
    use super::super::sampled::Sampler;
    use super::*;

    #[test]
    fn merged_parts_are_few_and_dominate() {
        let parts: Vec<(Part, u64)> = (1..=5_000_u32)
            .map(f64::from)
            .map(|k| match k as u32 % 4 {
                0 => (Part::Laplace(1e-4 * k), 1),
                1 => (Part::Response(1e-5 * k), 2),
                2 => (Part::DiscreteLaplace(k, 1e-5), 1),
                _ => {
                    let sampler = Sampler::PoissonReplaced;
                    (Part::Sampled(Sampled { sampler, rate: 1e-4 * k, shift: 5.0 / k }), 1)
                }
            })
            .collect();
        let few = merge_parts(parts.clone()).unwrap();
        assert!(few.len() <= MOST_PARTS);
        let uses = |parts: &[(Part, u64)]| parts.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(uses(&parts), uses(&few));
        // Every part is below one that it was merged into: the sums of curves say so, too.
        for e in [0.0, 0.01, 0.3] {
            let total = |parts: &[(Part, u64)]| {
                parts.iter().map(|(part, count)| part.delta(e) * *count as f64).sum::<f64>()
            };
            assert!(total(&few) >= total(&parts), "{e}");
        }
        let short = parts[..MOST_PARTS].to_vec();
        assert_eq!(merge_parts(short.clone()).unwrap(), short);
    }
}
