//! Maximum and mean pooling over squares of pixels.

use super::Window;
use crate::kernel::for_each_level;

for_each_level! {
    /// The maximum of each window and channel, and the index of its pixel in the window (the first of
    /// equals).
    pub(crate) fn largest(window: &Window, input: &[f32], output: &mut [f32], chosen: &mut [u32]) {
        for number in 0..segments(window) {
            let (out, first, length) = segment(window, number);
            let output = &mut output[out..out + length];
            let chosen = &mut chosen[out..out + length];
            output.copy_from_slice(&input[first..first + length]);
            chosen.fill(0);
            for pixel in 1..window.size * window.size {
                let at = first + shift(window, pixel);
                let values = &input[at..at + length];
                for ((best, index), &value) in output.iter_mut().zip(chosen.iter_mut()).zip(values) {
                    let better = value > *best;
                    *best = if better { value } else { *best };
                    *index = if better { pixel as u32 } else { *index };
                }
            }
        }
    }
}

for_each_level! {
    /// Derivatives at the input: each goes to the pixel with the maximum.
    pub(crate) fn largest_back(window: &Window, chosen: &[u32], slopes: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        for number in 0..segments(window) {
            let (from, first, length) = segment(window, number);
            let (slopes, chosen) = (&slopes[from..from + length], &chosen[from..from + length]);
            for pixel in 0..window.size * window.size {
                let at = first + shift(window, pixel);
                for ((back, &derivative), &index) in out[at..at + length].iter_mut().zip(slopes).zip(chosen) {
                    *back += if index == pixel as u32 { derivative } else { 0.0 };
                }
            }
        }
    }
}

for_each_level! {
    /// The mean of each window.
    pub(crate) fn average(window: &Window, input: &[f32], output: &mut [f32]) {
        let share = 1.0 / (window.size * window.size) as f32;
        output.fill(0.0);
        for number in 0..segments(window) {
            let (out, first, length) = segment(window, number);
            for pixel in 0..window.size * window.size {
                let at = first + shift(window, pixel);
                for (total, value) in output[out..out + length].iter_mut().zip(&input[at..at + length]) {
                    *total += share * value;
                }
            }
        }
    }
}

for_each_level! {
    /// Derivatives at the input of [`average`].
    pub(crate) fn average_back(window: &Window, slopes: &[f32], out: &mut [f32]) {
        let share = 1.0 / (window.size * window.size) as f32;
        out.fill(0.0);
        for number in 0..segments(window) {
            let (from, first, length) = segment(window, number);
            for pixel in 0..window.size * window.size {
                let at = first + shift(window, pixel);
                for (back, derivative) in out[at..at + length].iter_mut().zip(&slopes[from..from + length]) {
                    *back += share * derivative;
                }
            }
        }
    }
}

/// The number of runs of outputs whose inputs are contiguous: a whole line if the stride is 1, else one
/// window.
#[inline(always)]
fn segments(window: &Window) -> usize {
    if window.stride == 1 { window.out_height } else { window.places() }
}

/// Offset of a run in the output, offset of its first pixels in the input, and its length.
#[inline(always)]
fn segment(window: &Window, number: usize) -> (usize, usize, usize) {
    if window.stride == 1 {
        let length = window.out_width * window.channels;
        return (number * length, number * window.width * window.channels, length);
    }
    let (row, column) = (number / window.out_width, number % window.out_width);
    let first = (row * window.width + column) * window.stride * window.channels;
    (number * window.channels, first, window.channels)
}

/// Offset of a pixel in a window from the first one.
#[inline(always)]
fn shift(window: &Window, pixel: usize) -> usize {
    (pixel / window.size * window.width + pixel % window.size) * window.channels
}
