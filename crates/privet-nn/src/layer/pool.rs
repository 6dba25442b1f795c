//! The largest, or the mean, of each square of pixels.

use super::Window;
use crate::kernel::for_each_level;

for_each_level! {
    /// The largest of each window, a channel at a time, and which of the window's pixels it was (the first of
    /// equals).
    pub(crate) fn largest(window: &Window, input: &[f32], output: &mut [f32], chosen: &mut [u32]) {
        segments(window, |out, first, length| {
            let output = &mut output[out..out + length];
            let chosen = &mut chosen[out..out + length];
            output.copy_from_slice(&input[first..first + length]);
            chosen.fill(0);
            pixels(window, |pixel, shift| {
                let values = &input[first + shift..first + shift + length];
                for ((best, index), &value) in output.iter_mut().zip(chosen.iter_mut()).zip(values) {
                    let better = value > *best;
                    *best = if better { value } else { *best };
                    *index = if better { pixel } else { *index };
                }
            });
        });
    }
}

for_each_level! {
    /// Slopes at the input: each goes to the pixel that was the largest.
    pub(crate) fn largest_back(window: &Window, chosen: &[u32], slopes: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        segments(window, |from, first, length| {
            let (slopes, chosen) = (&slopes[from..from + length], &chosen[from..from + length]);
            pixels(window, |pixel, shift| {
                let back = &mut out[first + shift..first + shift + length];
                for ((back, &slope), &index) in back.iter_mut().zip(slopes).zip(chosen) {
                    *back += if index == pixel { slope } else { 0.0 };
                }
            });
        });
    }
}

for_each_level! {
    /// The mean of each window.
    pub(crate) fn average(window: &Window, input: &[f32], output: &mut [f32]) {
        let share = 1.0 / (window.size * window.size) as f32;
        output.fill(0.0);
        segments(window, |out, first, length| {
            pixels(window, |_, shift| {
                let values = &input[first + shift..first + shift + length];
                for (total, value) in output[out..out + length].iter_mut().zip(values) {
                    *total += share * value;
                }
            });
        });
    }
}

for_each_level! {
    /// Slopes at the input of [`average`].
    pub(crate) fn average_back(window: &Window, slopes: &[f32], out: &mut [f32]) {
        let share = 1.0 / (window.size * window.size) as f32;
        out.fill(0.0);
        segments(window, |from, first, length| {
            pixels(window, |_, shift| {
                let back = &mut out[first + shift..first + shift + length];
                for (back, slope) in back.iter_mut().zip(&slopes[from..from + length]) {
                    *back += share * slope;
                }
            });
        });
    }
}

/// Calls with (place in the output, place of the first pixel in the input, numbers) for runs of outputs whose
/// inputs lie together: a whole line where the stride is 1, else one window.
#[inline(always)]
fn segments(window: &Window, mut each: impl FnMut(usize, usize, usize)) {
    let (across, runs) =
        if window.stride == 1 { (window.out_width, 1) } else { (1, window.out_width) };
    let length = across * window.channels;
    for row in 0..window.out_height {
        for run in 0..runs {
            let out = (row * window.out_width + run) * window.channels;
            let first =
                (row * window.stride * window.width + run * window.stride) * window.channels;
            each(out, first, length);
        }
    }
}

/// Calls with (number of the pixel, how far it is from the window's first) for every pixel of a window.
#[inline(always)]
fn pixels(window: &Window, mut each: impl FnMut(u32, usize)) {
    let mut number = 0;
    for row in 0..window.size {
        for column in 0..window.size {
            each(number, (row * window.width + column) * window.channels);
            number += 1;
        }
    }
}
