//! Norms of single examples, never too small, and the factors that clip them.

use crate::kernel::dot;
use crate::layer::{self, Op, Rule};
use crate::net::Net;
use crate::tape::{Patches, Tape};

/// Slack for what is rounded to `f32` after the norm is known: the factor times a slope, and that times an input,
/// each within 2⁻²⁴ of the *term* that it belongs to. It is a share of the lengths of all terms, not of their sum: the
/// two terms of a difference may be far longer than the difference.
const ROUNDED: f64 = 1.0 / (1_u64 << 22) as f64;
/// Twice the smallest normal number of `f32`: a slope below that number is 0 once it is weighed.
const FLUSHED: f64 = 2.0 * f32::MIN_POSITIVE as f64;
/// 2⁻⁵², twice the unit of `f64`.
const UNIT: f64 = f64::EPSILON;

/// Σ x², within a relative N·2⁻⁵³ for N numbers: each square is exact.
pub(crate) fn square(values: &[f32]) -> f64 {
    dot(values, values)
}

/// What is known of the length of an example's vector.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    /// At least its norm, and what rounding relative to its terms adds to it.
    pub norm: f64,
    /// At least what slopes add to it that become 0 when they are weighed. A term by itself gets shorter by that;
    /// of several that cancel, what is left may get longer.
    pub flushed: f64,
}

/// An upper bound on ‖Σ_s (u_s, k_s) ⊗ h_s‖², k_s a constant appended to u_s (none where `constants` is empty):
/// Σ_{s,t} (⟨u_s, u_t⟩ + k_s·k_t)⟨h_s, h_t⟩, plus what rounding in `f64` may have taken.
///
/// Each inner product is within N·2⁻⁵³ of the product of lengths, N its numbers; so a term is within
/// (U + H + 8)·2⁻⁵²·‖u_s‖‖u_t‖‖h_s‖‖h_t‖, and the sum over terms of that is the square below. With it goes what the
/// lengths of the terms add up to, and what is lost of several where weighed slopes become 0: with H of them, each
/// below 2⁻¹²⁶, at most √H·2⁻¹²⁶·Σ_s ‖(u_s, k_s)‖.
fn outer_square(pairs: &[(&[f32], &[f32])], constants: &[f64]) -> (f64, f64, f64) {
    let constant = |index: usize| constants.get(index).copied().unwrap_or(0.0);
    let mut total = 0.0;
    let mut lengths = 0.0;
    let mut inputs_long = 0.0;
    for (s, (left, left_slopes)) in pairs.iter().enumerate() {
        let input = square(left) + constant(s) * constant(s);
        let own = input * square(left_slopes);
        total += own;
        inputs_long += input.sqrt();
        lengths += own.sqrt();
        for (t, (right, right_slopes)) in pairs.iter().enumerate().take(s) {
            let inputs = dot(left, right) + constant(s) * constant(t);
            total += 2.0 * inputs * dot(left_slopes, right_slopes);
        }
    }
    let Some((input, slopes)) = pairs.first() else { return (0.0, 0.0, 0.0) };
    let flushed = if pairs.len() < 2 { 0.0 } else { inputs_long * (slopes.len() as f64).sqrt() };
    let numbers = input.len() + slopes.len() + pairs.len() + 8;
    (total.max(0.0) + 2.0 * numbers as f64 * UNIT * lengths * lengths, lengths, FLUSHED * flushed)
}

/// For each example of a piece, a number that its gradient's norm does not exceed, the rounding that follows
/// included. `tapes` hold the factors of the gradient (two for a difference), `kept` what was formed of it. With
/// room to form what [`Rule::Factors`] leaves in factors, its norm is that of the numbers formed.
pub(crate) fn bounds(
    net: &Net,
    tapes: &[Tape],
    kept: &[f32],
    patches: &mut [Patches],
    count: usize,
    bounds: &mut [Bound],
    mut formed: Option<&mut Vec<f32>>,
) {
    for (example, bound) in bounds[..count].iter_mut().enumerate() {
        let mut total = square(&kept[example * net.kept..(example + 1) * net.kept]);
        let mut lengths = total.sqrt();
        let mut flushed = 0.0;
        for (index, op) in net.ops.iter().enumerate().skip(net.lowest).filter(|(_, op)| op.trains())
        {
            let narrow = example * net.sizes[index]..(example + 1) * net.sizes[index];
            let wide = example * net.sizes[index + 1]..(example + 1) * net.sizes[index + 1];
            let (own, length, lost) = match op {
                Op::Linear(_) => {
                    let pair = |tape| factors(net, tape, index, &narrow, &wide);
                    match tapes {
                        [tape] => outer_square(&[pair(tape)], &[tape.constant]),
                        [new, old] => {
                            outer_square(&[pair(new), pair(old)], &[new.constant, old.constant])
                        }
                        _ => unreachable!("a gradient or a difference of two"),
                    }
                }
                Op::Conv(conv) if conv.rule == Rule::Factors => {
                    for (tape, patches) in tapes.iter().zip(patches.iter_mut()) {
                        let image = &tape.values(net, index)[narrow.clone()];
                        layer::patches(&conv.window, image, &mut patches.seen[index]);
                    }
                    if let Some(formed) = &mut formed {
                        formed.resize(conv.weight.length, 0.0);
                        for (term, (tape, patches)) in tapes.iter().zip(patches.iter()).enumerate()
                        {
                            let slopes = &tape.slopes(net, index)[wide.clone()];
                            conv.weight_gradient(&patches.seen[index], slopes, formed, term > 0);
                        }
                        let own = square(formed) * (1.0 + conv.weight.length as f64 * UNIT);
                        total += own;
                        lengths += own.sqrt();
                        continue;
                    }
                    let mut pairs = Vec::with_capacity(2 * conv.window.places());
                    for (tape, patches) in tapes.iter().zip(patches.iter()) {
                        let seen = patches.seen[index].patches.chunks_exact(conv.window.patch());
                        pairs.extend(
                            seen.zip(
                                tape.slopes(net, index)[wide.clone()].chunks_exact(conv.outputs),
                            ),
                        );
                    }
                    outer_square(&pairs, &[])
                }
                _ => (0.0, 0.0, 0.0),
            };
            total += own;
            lengths += length;
            // Sums in whole numbers weigh no slopes of several terms.
            flushed += if formed.is_some() { 0.0 } else { lost };
        }
        let norm = total.sqrt() * (1.0 + net.kept as f64 * UNIT) + ROUNDED * lengths;
        *bound = Bound { norm, flushed };
    }
}

fn factors<'a>(
    net: &Net,
    tape: &'a Tape,
    index: usize,
    narrow: &std::ops::Range<usize>,
    wide: &std::ops::Range<usize>,
) -> (&'a [f32], &'a [f32]) {
    (&tape.values(net, index)[narrow.clone()], &tape.slopes(net, index)[wide.clone()])
}

/// min(1, (clip − flushed)/norm)·scale, rounded toward zero; 0 for a bound that is no number or leaves nothing, whose
/// example then contributes nothing.
pub(crate) fn factor(clip: f64, bound: Bound, scale: f64) -> f32 {
    let clip = clip - bound.flushed;
    // Also where `flushed` is no number.
    let some = clip > 0.0;
    if !(some && bound.norm.is_finite()) {
        return 0.0;
    }
    // The quotient is within a unit of the true one, which the slack of the bound covers.
    let exact = if bound.norm > clip { clip / bound.norm } else { 1.0 } * scale;
    let near = exact as f32;
    if f64::from(near) > exact { near.next_down() } else { near }
}
