//! The largest, or the mean, of each square of pixels.

use super::Window;

/// The largest of each window, a channel at a time, and which of the window's pixels it was (the first of equals).
pub(crate) fn largest(window: &Window, input: &[f32], output: &mut [f32], chosen: &mut [u32]) {
    let channels = window.channels;
    for place in 0..window.places() {
        let out = &mut output[place * channels..(place + 1) * channels];
        let which = &mut chosen[place * channels..(place + 1) * channels];
        for pixel in 0..window.size * window.size {
            let at = corner(window, place, pixel);
            let values = &input[at..at + channels];
            if pixel == 0 {
                out.copy_from_slice(values);
                which.fill(0);
                continue;
            }
            for ((best, index), &value) in out.iter_mut().zip(which.iter_mut()).zip(values) {
                let better = value > *best;
                *best = if better { value } else { *best };
                *index = if better { pixel as u32 } else { *index };
            }
        }
    }
}

/// Slopes at the input: each goes to the pixel that was the largest.
pub(crate) fn largest_back(window: &Window, chosen: &[u32], slopes: &[f32], out: &mut [f32]) {
    let channels = window.channels;
    out.fill(0.0);
    for place in 0..window.places() {
        let slope = &slopes[place * channels..(place + 1) * channels];
        let which = &chosen[place * channels..(place + 1) * channels];
        for pixel in 0..window.size * window.size {
            let at = corner(window, place, pixel);
            for ((back, &slope), &index) in out[at..at + channels].iter_mut().zip(slope).zip(which)
            {
                *back += if index == pixel as u32 { slope } else { 0.0 };
            }
        }
    }
}

/// The mean of each window.
pub(crate) fn average(window: &Window, input: &[f32], output: &mut [f32]) {
    let (channels, pixels) = (window.channels, window.size * window.size);
    let share = 1.0 / pixels as f32;
    output.fill(0.0);
    for place in 0..window.places() {
        let out = &mut output[place * channels..(place + 1) * channels];
        for pixel in 0..pixels {
            let at = corner(window, place, pixel);
            for (total, value) in out.iter_mut().zip(&input[at..at + channels]) {
                *total += share * value;
            }
        }
    }
}

/// Slopes at the input of [`average`].
pub(crate) fn average_back(window: &Window, slopes: &[f32], out: &mut [f32]) {
    let (channels, pixels) = (window.channels, window.size * window.size);
    let share = 1.0 / pixels as f32;
    out.fill(0.0);
    for place in 0..window.places() {
        let slope = &slopes[place * channels..(place + 1) * channels];
        for pixel in 0..pixels {
            let at = corner(window, place, pixel);
            for (back, slope) in out[at..at + channels].iter_mut().zip(slope) {
                *back += share * slope;
            }
        }
    }
}

/// Where in the image a window's pixel begins; pooling has no padding.
#[inline(always)]
fn corner(window: &Window, place: usize, pixel: usize) -> usize {
    let row = place / window.out_width * window.stride + pixel / window.size;
    let column = place % window.out_width * window.stride + pixel % window.size;
    (row * window.width + column) * window.channels
}
