//! Tests of the encoder as a whole.

use super::*;
use crate::schema::{ClipFacts, Norm, Rows};
use proptest::prelude::*;

fn facts(height: u32, width: u32, channels: u32, features: u32) -> ImageFacts {
    ImageFacts { width, height, channels, features }
}

fn clip(radius: f64) -> Clip {
    Clip::new(ClipFacts { norm: Norm::L2, radius, rows: Rows::Clip })
}

/// Pixels from a small generator: noise, so that every frequency occurs.
fn pixels(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 16_777_216.0
    };
    (0..count).map(|_| next()).collect()
}

fn table(images: &[Vec<f32>]) -> Matrix {
    let width = images.first().map_or(0, Vec::len);
    Matrix::Dense(DenseMatrix::new(images.concat(), images.len(), width))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_row_has_the_same_bits_wherever_it_is(
        seed in any::<u64>(), count in 1_usize..70, place in any::<prop::sample::Index>(),
        threads in 1_usize..5, size in prop::sample::select(vec![(8, 8, 1), (28, 28, 1), (9, 20, 3)]),
    ) {
        let (height, width, channels) = size;
        let encoder = ImageEncoder::new(&facts(height, width, channels, 100));
        let length = (height * width * channels) as usize;
        let mut images: Vec<Vec<f32>> =
            (0..count as u64).map(|image| pixels(seed ^ (image << 20), length)).collect();
        let place = place.index(count);
        let alone = encoder.rows(&table(&images[place..=place]), &clip(1.0)).dense_row(0);
        // Extreme images as neighbours.
        for (other, image) in images.iter_mut().enumerate().filter(|(other, _)| *other != place) {
            match other % 4 {
                0 => image.fill(0.0),
                1 => image.fill(1.0),
                2 => image.iter_mut().enumerate().for_each(|(at, x)| *x = (at % 2) as f32),
                _ => {}
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let all = pool.install(|| encoder.rows(&table(&images), &clip(1.0)));
        let bits = |row: Vec<f32>| row.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        prop_assert_eq!(bits(all.dense_row(place)), bits(alone));
    }

    /// Rows reach the radius up to the grid, never beyond; only blank images are zero.
    #[test]
    fn rows_are_as_long_as_the_clip_allows(
        seed in any::<u64>(), radius in prop::sample::select(vec![0.3, 1.0, 7.5]),
        faint in prop::sample::select(vec![1.0_f32, 1e-3, 1e-6]),
    ) {
        let encoder = ImageEncoder::new(&facts(28, 28, 1, 600));
        let mut image = pixels(seed, 784);
        image.iter_mut().for_each(|x| *x *= faint);
        let rows = encoder.rows(&table(&[image, vec![0.0; 784]]), &clip(radius));
        let squares = |row: usize| rows.dense_row(row).iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        prop_assert!(squares(0) <= radius * radius && squares(0) >= radius * radius * (1.0 - 1e-4));
        prop_assert_eq!(squares(1), 0.0);
    }
}

/// Maps by the definition: sums over all pixels, with the wavelets' transforms inverted one by one.
#[test]
fn maps_agree_with_the_definition() {
    let vectors: Vec<(usize, usize, f32)> =
        serde_json::from_str(include_str!("vectors.json")).unwrap();
    let scattering = Scattering::new(28, 28);
    // The image of `scattering.py`, which made the numbers.
    let image: Vec<f32> =
        (0..784).map(|at| ((at / 28 * 7 + at % 28 * 3) % 29) as f32 / 28.0).collect();
    let mut maps = vec![0.0; MAPS * 49];
    scattering.maps(&image, 1, &mut scattering.room(), &mut maps);
    for (map, place, expected) in vectors {
        let actual = maps[map * 49 + place];
        assert!(
            (actual - expected).abs() < 2e-5,
            "map {map}, place {place}: {actual}, not {expected}"
        );
    }
}
