//! Upper bounds on the norms of single examples' gradients, and the factors that clip them.

use crate::kernel::dot;
use crate::layer::{self, NormMethod, Op};
use crate::net::Net;
use crate::tape::{Patches, Tape};

/// Slack for rounding to `f32` after the norm is known: the factor times a derivative, and that times an
/// input, each within 2⁻²⁴ of the *term* that it belongs to. It is relative to the norms of all terms,
/// not to that of their sum: the two terms of a difference may be far longer than the difference.
const CLIP_ROUNDING: f64 = 1.0 / (1_u64 << 22) as f64;
/// Twice the smallest normal number of `f32`, for slack: a weighted derivative below the smallest normal
/// number becomes 0.
const FLUSHED: f64 = 2.0 * f32::MIN_POSITIVE as f64;
/// 2⁻⁵², twice the unit roundoff of `f64`.
const UNIT: f64 = f64::EPSILON;

/// Σ x², within a relative N·2⁻⁵³ for N numbers: each square is exact.
pub(crate) fn square(values: &[f32]) -> f64 {
    dot(values, values)
}

/// Bound on the norm of an example's vector.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    /// Upper bound on its norm, including rounding relative to its terms.
    pub norm: f64,
    /// Upper bound on the change from weighted derivatives that become 0. A single term only gets
    /// shorter by it; a sum of terms that cancel may get longer.
    pub flushed: f64,
}

/// An upper bound on ‖Σ_s (u_s, k_s) ⊗ h_s‖², k_s a constant appended to u_s (none where `constants` is
/// empty): Σ_{s,t} (⟨u_s, u_t⟩ + k_s·k_t)⟨h_s, h_t⟩, plus a bound on the rounding in `f64`. u are a
/// layer's inputs, h the derivatives at its outputs.
///
/// Each inner product is within N·2⁻⁵³ of the product of norms, N its length; so a term is within (U +
/// H + 8)·2⁻⁵²·‖u_s‖‖u_t‖‖h_s‖‖h_t‖, and the sum over terms of that is the square below. Also returned
/// are the sum of the terms' norms, and the loss when weighted derivatives of several terms become 0:
/// with H of them, each below 2⁻¹²⁶, at most √H·2⁻¹²⁶·Σ_s ‖(u_s, k_s)‖.
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

/// For each example of a piece an upper bound on its gradient's norm, including the rounding that
/// follows. `tapes` hold the factors of the gradient (two for a difference), `kept` the parts already
/// multiplied out. With a buffer `formed`, the gradients that [`NormMethod::Factors`] leaves in factors are
/// multiplied out in it, and their norms computed from the values.
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
                Op::Conv(conv) if conv.rule == NormMethod::Factors => {
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
            // Sums in integers weight no derivatives of several terms.
            flushed += if formed.is_some() { 0.0 } else { lost };
        }
        let norm = total.sqrt() * (1.0 + net.kept as f64 * UNIT) + CLIP_ROUNDING * lengths;
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

/// min(1, (clip − flushed)/norm)·scale, rounded toward zero. It is 0 if the bound is not finite or
/// `flushed` uses up the clip; such an example contributes nothing.
pub(crate) fn factor(clip: f64, bound: Bound, scale: f64) -> f32 {
    let clip = clip - bound.flushed;
    // False for NaN, too.
    let some = clip > 0.0;
    if !(some && bound.norm.is_finite()) {
        return 0.0;
    }
    // The quotient is within one unit in the last place of the true one, which the slack of the bound
    // covers.
    let exact = if bound.norm > clip { clip / bound.norm } else { 1.0 } * scale;
    let near = exact as f32;
    if f64::from(near) > exact { near.next_down() } else { near }
}
