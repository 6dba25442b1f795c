//! Encodes images as rows of a fixed norm: a scattering transform, group normalisation, a public
//! projection.
//!
//! Nothing is fitted and no ε is spent: the map from one image to its row is fixed before any record is
//! read, and depends on that image alone (Tramèr & Boneh 2021 found such features ahead of private
//! end-to-end learning). The row is then scaled to the clipping radius, and clipped as every row is.
//!
//! ```text
//!  pixels ──scatter──► 81 maps a channel ──normalise──► groups of length √size ──project──► features
//!         ──scale──► length R ──clip──► row
//! ```
//!
//! - Groups (module `normalise`): the coefficients of one order at one position. Floors are public, so
//!   a group that is blank stays near 0. A blank image is a row of zeros, like the null record.
//! - Rows are scaled up or down to R, and then go through [`Clip`], whose integers prove ‖row‖ ≤ R.
//!
//! **Claim.** The row of an image has the same bits alone and at any index of any table, on any number
//! of threads. *Proof.* Each image goes alone through the same operations in the same order; nothing is
//! carried from one to the next except scratch memory that is overwritten before it is read. ∎ Tested
//! by `a_row_has_the_same_bits_wherever_it_is`. There are no fused operations and no hardware
//! transcendental functions, so rows are the same on every machine.

mod fourier;
mod normalise;
mod project;
mod scatter;
mod wavelets;

use crate::bound::Clip;
use crate::matrix::{DenseMatrix, Matrix};
use crate::schema::ImageFacts;
use project::Projection;
use rayon::prelude::*;
use scatter::{MAPS, ScatterBuffers, Scattering};

/// The number of scales J.
const SCALES: u32 = 2;
/// The number of angles L.
const ANGLES: usize = 8;
/// Images that a thread processes at a time.
const IMAGES_PER_PIECE: usize = 16;

/// The number of coefficients of an image of this size, before projection.
pub fn coefficients(facts: &ImageFacts) -> u64 {
    let averages = |size: u32| u64::from(size >> SCALES);
    MAPS as u64 * u64::from(facts.channels) * averages(facts.width) * averages(facts.height)
}

/// The encoder of images of one size.
#[derive(Debug, Clone)]
pub struct ImageEncoder {
    channels: usize,
    features: usize,
    scattering: Scattering,
    projection: Projection,
}

/// Scratch memory of a thread.
struct ThreadBuffers {
    room: ScatterBuffers,
    maps: Vec<f32>,
    transformed: Vec<f32>,
    features: Vec<f64>,
}

impl ImageEncoder {
    /// The encoder for images of a checked schema.
    pub fn new(facts: &ImageFacts) -> Self {
        Self {
            channels: facts.channels as usize,
            features: facts.features as usize,
            scattering: Scattering::new(facts.height as usize, facts.width as usize),
            projection: Projection::new(coefficients(facts) as usize, facts.features as usize),
        }
    }

    /// The rows of a table of pixels, clipped. Pixels go row by row from the top, the channels of one
    /// side by side.
    pub fn rows(&self, pixels: &Matrix, clip: &Clip) -> Matrix {
        let (rows, width) = (pixels.rows(), self.features);
        let mut values = vec![0.0_f32; rows * width];
        values.par_chunks_mut((IMAGES_PER_PIECE * width).max(1)).enumerate().for_each(
            |(piece, values)| {
                let mut buffers = self.buffers();
                for (place, row) in values.chunks_exact_mut(width.max(1)).enumerate() {
                    self.row(
                        &pixels.dense_row(IMAGES_PER_PIECE * piece + place),
                        clip,
                        &mut buffers,
                        row,
                    );
                }
            },
        );
        Matrix::Dense(DenseMatrix::new(values, rows, width))
    }

    fn buffers(&self) -> ThreadBuffers {
        let maps = MAPS * self.scattering.places() * self.channels;
        ThreadBuffers {
            room: self.scattering.room(),
            maps: vec![0.0; maps],
            transformed: Vec::new(),
            features: vec![0.0; self.features],
        }
    }

    fn row(&self, pixels: &[f32], clip: &Clip, buffers: &mut ThreadBuffers, row: &mut [f32]) {
        let ThreadBuffers { room, maps, transformed, features } = buffers;
        let places = self.scattering.places();
        for (channel, maps) in maps.chunks_exact_mut(MAPS * places).enumerate() {
            self.scattering.maps(&pixels[channel..], self.channels, room, maps);
            normalise::normalise(maps, places);
        }
        self.projection.apply(maps, transformed, features);
        let length = features.iter().map(|x| x * x).sum::<f64>().sqrt();
        // A blank image stays blank.
        let factor = if length > 0.0 { clip.radius() / length } else { 0.0 };
        features.iter_mut().for_each(|x| *x *= factor);
        clip.apply(features);
        row.iter_mut().zip(features).for_each(|(stored, x)| *stored = *x as f32);
    }
}

#[cfg(test)]
mod tests;
