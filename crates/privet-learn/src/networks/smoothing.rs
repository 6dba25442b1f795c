//! Laplacian smoothing: A_σ⁻¹v, A_σ = I − σL with L the periodic second difference.
//!
//! After Wang 2021, §5.2 (Osher et al. 2018). A_σ is circulant with eigenvalues 1 + 2σ − 2σ·cos(2πk/d), so
//! that A_σ⁻¹v = ifft(fft(v)/(those)). It also factors: with ω = (1 + 2σ − √(1 + 4σ))/(2σ),
//!
//! 1 + 2σ − σ(z + 1/z) = (σ/ω)·(1 − ωz)(1 − ω/z),
//!
//! hence a recursive filter forth and one back, each periodic, in O(d) and without tables: yᵢ = vᵢ + ω·yᵢ₋₁,
//! xᵢ = yᵢ + ω·xᵢ₊₁, times ω/σ. The filter is what learners use ([`smooth`]); [`spectral`] is the other
//! way, and the two agree to 1e-12 (`the_filter_is_the_transform`).
//!
//! **Privacy.** A_σ⁻¹ is applied to noised gradients: post-processing, which costs nothing and gains nothing.
//! Remark 5.5.6 in print, by which smoothing shrinks the sensitivity and so gives stronger privacy, is
//! wrong: A_σ is invertible and public, so that the smoothed answer tells exactly what the other tells
//! (`smoothing_changes_no_privacy`).
//!
//! **What it does to noise.** Of white noise a share γ(σ, d) is left in the A_σ-norm and β(σ, d) in ℓ2,
//! squared, per coordinate ([`gamma`], [`beta`]): Propositions 5.3.5 and 5.3.8 and Tables 5.3 and 5.4,
//! reproduced by tests. As d grows γ → 1/√(1 + 4σ), not 0 as is printed.

use realfft::RealFftPlanner;

/// ω for a σ above 0.
fn pole(strength: f64) -> f64 {
    // (1 + 2σ − √(1 + 4σ))/(2σ) without cancellation: the product of the two roots is 1.
    2.0 * strength / (1.0 + 2.0 * strength + (1.0 + 4.0 * strength).sqrt())
}

/// Replaces v by A_σ⁻¹v, by the recursive filter. σ = 0 changes nothing.
pub fn smooth(values: &mut [f64], strength: f64) {
    if values.is_empty() || strength <= 0.0 {
        return;
    }
    let pole = pole(strength);
    // y₀ of the periodic recursion: Σ ω^k·v₋ₖ over one period, over 1 − ω^d.
    let whole = 1.0 - pole.powf(values.len() as f64);
    let mut carried = values.iter().fold(0.0, |carried: f64, value| pole * carried + value) / whole;
    // `carried` is y₋₁ now.
    for value in values.iter_mut() {
        carried = *value + pole * carried;
        *value = carried;
    }
    let mut carried =
        values.iter().rev().fold(0.0, |carried: f64, value| pole * carried + value) / whole;
    let scale = pole / strength;
    for value in values.iter_mut().rev() {
        carried = *value + pole * carried;
        *value = scale * carried;
    }
}

/// The same by the discrete Fourier transform.
pub fn spectral(values: &mut [f64], strength: f64) {
    let length = values.len();
    if length == 0 || strength <= 0.0 {
        return;
    }
    let mut planner = RealFftPlanner::<f64>::new();
    let (forth, back) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let mut spectrum = forth.make_output_vec();
    let mut input = values.to_vec();
    // Buffers are of the planned lengths, so that neither can fail.
    if forth.process(&mut input, &mut spectrum).is_err() {
        return;
    }
    for (place, entry) in spectrum.iter_mut().enumerate() {
        *entry /= eigenvalue(strength, place, length) * length as f64;
    }
    let _ = back.process(&mut spectrum, values);
}

/// 1 + 2σ − 2σ·cos(2πk/d).
fn eigenvalue(strength: f64, place: usize, length: usize) -> f64 {
    let angle = std::f64::consts::TAU * place as f64 / length as f64;
    1.0 + 2.0 * strength * (1.0 - angle.cos())
}

/// γ(σ, d) = (1/d)·Σ 1/λₖ = (1 + ω^d)/((1 − ω^d)·√(4σ + 1)) (Proposition 5.3.5).
pub fn gamma(strength: f64, length: usize) -> f64 {
    if strength <= 0.0 {
        return 1.0;
    }
    let power = pole(strength).powf(length as f64);
    (1.0 + power) / ((1.0 - power) * (4.0 * strength + 1.0).sqrt())
}

/// β(σ, d) = (1/d)·Σ 1/λₖ² = (2ω^{2d+1} − ξω^{2d} + 2ξdω^d − 2ω + ξ)/(σ²ξ³(1 − ω^d)²), ξ = −√(1 + 4σ)/σ
/// (Proposition 5.3.8).
pub fn beta(strength: f64, length: usize) -> f64 {
    if strength <= 0.0 {
        return 1.0;
    }
    let (pole, count) = (pole(strength), length as f64);
    let xi = -(1.0 + 4.0 * strength).sqrt() / strength;
    let power = pole.powf(count);
    let top = 2.0 * power * power * pole - xi * power * power + 2.0 * xi * count * power
        - 2.0 * pole
        + xi;
    top / (strength * strength * xi.powi(3) * (1.0 - power).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A_σx.
    fn roughen(x: &[f64], strength: f64) -> Vec<f64> {
        let length = x.len();
        let at = |place: usize| x[place % length];
        (0..length)
            .map(|place| {
                let beside = at(place + 1) + at(place + length - 1);
                (1.0 + 2.0 * strength) * at(place) - strength * beside
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_filter_is_the_transform(
            values in proptest::collection::vec(-1.0..1.0_f64, 1..200), strength in 0.001..100.0_f64
        ) {
            let (mut filtered, mut transformed) = (values.clone(), values.clone());
            smooth(&mut filtered, strength);
            spectral(&mut transformed, strength);
            for (one, other) in filtered.iter().zip(&transformed) {
                prop_assert!((one - other).abs() <= 1e-12, "{} {}", one, other);
            }
            for (back, value) in roughen(&filtered, strength).iter().zip(&values) {
                prop_assert!((back - value).abs() <= 1e-10 * (1.0 + strength), "{back} {value}");
            }
        }

        /// Erratum to Remark 5.5.6: what is known of the smoothed answer is known of the other, since A_σ
        /// takes it back; and ‖A_σd‖² = ‖d‖² + 2σ‖D₊d‖² + σ²‖Ld‖², so that noise shrinks as much as any
        /// signal does.
        #[test]
        fn smoothing_changes_no_privacy(
            difference in proptest::collection::vec(-1.0..1.0_f64, 3..50), strength in 0.1..5.0_f64
        ) {
            let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            let length = difference.len();
            let ahead: Vec<f64> =
                (0..length).map(|i| difference[(i + 1) % length] - difference[i]).collect();
            let second: Vec<f64> =
                (0..length).map(|i| ahead[i] - ahead[(i + length - 1) % length]).collect();
            let rough = roughen(&difference, strength);
            let printed = squares(&difference)
                + 2.0 * strength * squares(&ahead)
                + strength * strength * squares(&second);
            prop_assert!((squares(&rough) / printed - 1.0).abs() < 1e-9);
            // In the norm of the smoothed noise's covariance A⁻², the smoothed difference is as far as before.
            let mut smoothed = difference.clone();
            smooth(&mut smoothed, strength);
            let whitened = roughen(&smoothed, strength);
            prop_assert!((squares(&whitened) / squares(&difference) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_closed_forms_are_the_sums() {
        for strength in [0.01, 0.5, 1.0, 3.0, 10.0] {
            for length in [1, 2, 3, 5, 8, 1000] {
                let sum = |power: i32| {
                    let terms = (0..length).map(|k| eigenvalue(strength, k, length).powi(-power));
                    terms.sum::<f64>() / length as f64
                };
                assert!(
                    (gamma(strength, length) / sum(1) - 1.0).abs() < 1e-9,
                    "{strength} {length}"
                );
                assert!(
                    (beta(strength, length) / sum(2) - 1.0).abs() < 1e-6,
                    "{strength} {length}"
                );
            }
        }
    }

    /// Tables 5.3 and 5.4, and the limits that print gives as 0.
    #[test]
    fn the_printed_tables_come_out() {
        let printed = [
            (1.0, 0.447, 0.268),
            (2.0, 0.333, 0.185),
            (3.0, 0.277, 0.149),
            (4.0, 0.243, 0.128),
            (5.0, 0.218, 0.114),
        ];
        for (strength, of_gamma, of_beta) in printed {
            for length in [1_000, 10_000, 100_000] {
                assert!((gamma(strength, length) - of_gamma).abs() <= 6e-4, "{strength}");
                assert!((beta(strength, length) - of_beta).abs() <= 6e-4, "{strength}");
            }
            let root = (1.0 + 4.0 * strength).sqrt();
            assert!((gamma(strength, 1_000_000) - 1.0 / root).abs() < 1e-12, "it does not go to 0");
            let limit = (1.0 + 2.0 * strength) / root.powi(3);
            assert!((beta(strength, 1_000_000) - limit).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_is_done_without_strength_and_constants_stay() {
        let mut values = [1.0, -2.0, 3.0];
        smooth(&mut values, 0.0);
        assert_eq!(values, [1.0, -2.0, 3.0]);
        let mut flat = [0.7; 9];
        smooth(&mut flat, 4.0);
        assert!(flat.iter().all(|x| (x - 0.7).abs() < 1e-14));
    }
}
