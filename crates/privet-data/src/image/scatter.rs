//! The scattering transform of one image: averages of moduli of wavelet coefficients, orders 0 to 2.
//!
//! S₀ = x ⋆ φ,  S₁ = |x ⋆ ψ₁| ⋆ φ,  S₂ = ||x ⋆ ψ₁| ⋆ ψ₂| ⋆ φ,
//!
//! at J = 2 scales and L = 8 angles, ψ₂ at the coarser scale only: 1 + 16 + 64 = 81 maps, each averaged
//! over squares of 4 × 4 pixels. The image lies in the middle of a blank grid whose sides are powers of
//! two; beyond it the grid repeats. At the coarser scale every second grid point is kept; in
//! frequencies this adds up the four that alias: in bit-reversed order they lie side by side.
//!
//! A 28 × 28 image takes 1 + 8 + 4 transforms of 32 × 32 and 72 of 16 × 16, about two million
//! operations. All angles are transformed side by side; their moduli, being real, are packed two in one
//! complex transform.

use super::ANGLES;
use super::fourier::{Lanes, Plane, place};
use super::wavelets::{Angles, Averages, morlets};

/// The number of maps of an image.
pub(super) const MAPS: usize = 1 + 2 * ANGLES + ANGLES * ANGLES;

/// The number of complex transforms of all angles' moduli, packed in pairs.
const PAIRS: usize = ANGLES / 2;

/// The transform for images of one size.
#[derive(Debug, Clone)]
pub(super) struct Scattering {
    height: usize,
    width: usize,
    /// Sides of the grid.
    rows: usize,
    columns: usize,
    fine: Plane,
    coarse: Plane,
    /// Wavelets of both scales; they include the factor that the inverse transforms leave out.
    fine_wavelets: Vec<Angles>,
    coarse_wavelets: Vec<Angles>,
    /// The index of −k for each index of a frequency k.
    opposite: Vec<u32>,
    /// Means down the rows and along them.
    fine_averages: [Averages; 2],
    coarse_averages: [Averages; 2],
}

/// Scratch memory for one image's transform.
pub(super) struct ScatterBuffers {
    image: Vec<Lanes<1>>,
    fine: Vec<Lanes<ANGLES>>,
    coarse: Vec<Lanes<ANGLES>>,
    moduli: Vec<Angles>,
    packed: Vec<Lanes<PAIRS>>,
    /// Spectra of the moduli at the finer scale.
    spectra: Vec<Lanes<ANGLES>>,
    averaged: Vec<Angles>,
}

impl Scattering {
    pub(super) fn new(height: usize, width: usize) -> Self {
        let (rows, columns) = (height.next_power_of_two(), width.next_power_of_two());
        let points = (rows * columns) as f64;
        let opposite = |at: usize| {
            // Reversing bits is its own inverse.
            let (row, column) = (place(at / columns, rows), place(at % columns, columns));
            let (row, column) = ((rows - row) % rows, (columns - column) % columns);
            (place(row, rows) * columns + place(column, columns)) as u32
        };
        let (top, left) = ((rows - height) / 2, (columns - width) / 2);
        let averages = |spacing| {
            [
                Averages::new(height, top, rows, spacing),
                Averages::new(width, left, columns, spacing),
            ]
        };
        Self {
            height,
            width,
            rows,
            columns,
            fine: Plane::new(rows, columns),
            coarse: Plane::new(rows / 2, columns / 2),
            fine_wavelets: morlets(0, rows, columns, 1.0 / points),
            // A quarter for the frequencies that alias, and four times fewer points.
            coarse_wavelets: morlets(1, rows, columns, 1.0 / points),
            opposite: (0..rows * columns).map(opposite).collect(),
            fine_averages: averages(1),
            coarse_averages: averages(2),
        }
    }

    /// The number of averages of a map.
    pub(super) fn places(&self) -> usize {
        self.fine_averages.iter().map(|axis| axis.means.len()).product()
    }

    pub(super) fn room(&self) -> ScatterBuffers {
        let points = self.rows * self.columns;
        let half_averaged = self.fine_averages[0].means.len() * self.columns;
        ScatterBuffers {
            image: vec![Lanes::ZERO; points],
            fine: vec![Lanes::ZERO; points],
            coarse: vec![Lanes::ZERO; points / 4],
            moduli: vec![[0.0; ANGLES]; points],
            packed: vec![Lanes::ZERO; points],
            spectra: vec![Lanes::ZERO; points],
            averaged: vec![[0.0; ANGLES]; half_averaged],
        }
    }

    /// Writes the [`MAPS`] maps of `pixels`, which lie `apart` from one another, row after row.
    pub(super) fn maps(
        &self,
        pixels: &[f32],
        apart: usize,
        room: &mut ScatterBuffers,
        maps: &mut [f32],
    ) {
        let places = self.places();
        let (top, left) = ((self.rows - self.height) / 2, (self.columns - self.width) / 2);
        room.image.fill(Lanes::ZERO);
        room.moduli.fill([0.0; ANGLES]);
        let mut pixels = pixels.iter().step_by(apart);
        for row in top..top + self.height {
            for column in left..left + self.width {
                let pixel = pixels.next().copied().unwrap_or(0.0);
                let at = row * self.columns + column;
                room.image[at].real[0] = pixel;
                room.moduli[at][0] = pixel;
            }
        }
        let (zeroth, others) = maps.split_at_mut(places);
        average(
            &self.fine_averages,
            &room.moduli,
            self.columns,
            &mut room.averaged,
            |at, means| {
                zeroth[at] = means[0];
            },
        );
        self.fine.forward(&mut room.image);
        for ((into, x), wavelets) in room.fine.iter_mut().zip(&room.image).zip(&self.fine_wavelets)
        {
            *into = product(x.real[0], x.imaginary[0], wavelets);
        }
        self.fine.inverse(&mut room.fine);
        moduli(&room.fine, &mut room.moduli);
        let mut groups = others.chunks_exact_mut(ANGLES * places);
        let mut write = |averages: &[Averages; 2], moduli: &[Angles], columns, averaged: &mut _| {
            let Some(group) = groups.next() else { return };
            average(averages, moduli, columns, averaged, |at, means| {
                (0..ANGLES).for_each(|angle| group[angle * places + at] = means[angle]);
            });
        };
        write(&self.fine_averages, &room.moduli, self.columns, &mut room.averaged);
        self.spectra(&room.moduli, &mut room.packed, &mut room.spectra);
        let (quarter, columns) = (room.coarse.len(), self.columns / 2);
        for source in 0..=ANGLES {
            match source.checked_sub(1) {
                None => self.coarser(&room.image, 0, &mut room.coarse),
                Some(angle) => self.coarser(&room.spectra, angle, &mut room.coarse),
            }
            self.coarse.inverse(&mut room.coarse);
            moduli(&room.coarse, &mut room.moduli[..quarter]);
            write(&self.coarse_averages, &room.moduli[..quarter], columns, &mut room.averaged);
        }
    }

    /// The spectra of real images, two of them in one transform: for z = a + ib,
    /// â(k) = (ẑ(k) + ẑ(−k)*)/2 and b̂(k) = (ẑ(k) − ẑ(−k)*)/2i.
    fn spectra(
        &self,
        images: &[Angles],
        packed: &mut [Lanes<PAIRS>],
        spectra: &mut [Lanes<ANGLES>],
    ) {
        for (into, image) in packed.iter_mut().zip(images) {
            into.real.copy_from_slice(&image[..PAIRS]);
            into.imaginary.copy_from_slice(&image[PAIRS..]);
        }
        self.fine.forward(packed);
        for ((into, z), opposite) in spectra.iter_mut().zip(&*packed).zip(&self.opposite) {
            let w = &packed[*opposite as usize];
            for lane in 0..PAIRS {
                into.real[lane] = 0.5 * (z.real[lane] + w.real[lane]);
                into.imaginary[lane] = 0.5 * (z.imaginary[lane] - w.imaginary[lane]);
                into.real[PAIRS + lane] = 0.5 * (z.imaginary[lane] + w.imaginary[lane]);
                into.imaginary[PAIRS + lane] = 0.5 * (w.real[lane] - z.real[lane]);
            }
        }
    }

    /// One spectrum times the coarser wavelets, on every second grid point.
    fn coarser<const L: usize>(
        &self,
        spectrum: &[Lanes<L>],
        lane: usize,
        into: &mut [Lanes<ANGLES>],
    ) {
        let pairs = spectrum
            .chunks_exact(2 * self.columns)
            .zip(self.coarse_wavelets.chunks_exact(2 * self.columns));
        for ((spectrum, wavelets), into) in pairs.zip(into.chunks_exact_mut(self.columns / 2)) {
            for (column, into) in into.iter_mut().enumerate() {
                *into = Lanes::ZERO;
                for at in [0, 1, self.columns, self.columns + 1] {
                    let at = at + 2 * column;
                    let x = &spectrum[at];
                    let term = product(x.real[lane], x.imaginary[lane], &wavelets[at]);
                    for angle in 0..ANGLES {
                        into.real[angle] += term.real[angle];
                        into.imaginary[angle] += term.imaginary[angle];
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn product(real: f32, imaginary: f32, wavelets: &Angles) -> Lanes<ANGLES> {
    Lanes { real: wavelets.map(|w| real * w), imaginary: wavelets.map(|w| imaginary * w) }
}

fn moduli(values: &[Lanes<ANGLES>], moduli: &mut [Angles]) {
    for (modulus, value) in moduli.iter_mut().zip(values) {
        let parts = value.real.iter().zip(&value.imaginary);
        modulus.iter_mut().zip(parts).for_each(|(m, (a, b))| *m = (a * a + b * b).sqrt());
    }
}

/// Passes each position's averages to `write`, in order.
fn average(
    [down, along]: &[Averages; 2],
    image: &[Angles],
    columns: usize,
    room: &mut [Angles],
    mut write: impl FnMut(usize, Angles),
) {
    for ((from, weights), sums) in down.means.iter().zip(room.chunks_exact_mut(columns)) {
        sums.fill([0.0; ANGLES]);
        for (weight, row) in weights.iter().zip(image.chunks_exact(columns).skip(*from)) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| add(sum, *weight, x));
        }
    }
    let rows = room.chunks_exact(columns).take(down.means.len());
    let each = rows.flat_map(|row| along.means.iter().map(move |mean| (row, mean)));
    for (at, (row, (from, weights))) in each.enumerate() {
        let mut sum = [0.0; ANGLES];
        weights.iter().zip(&row[*from..]).for_each(|(weight, x)| add(&mut sum, *weight, x));
        write(at, sum);
    }
}

#[inline(always)]
fn add(sum: &mut Angles, weight: f32, x: &Angles) {
    for angle in 0..ANGLES {
        sum[angle] += weight * x[angle];
    }
}
