//! The loops that dominate the running time: matrix products, and operations on all values of a piece.
//!
//! **Claim.** Each element of a product is ((c + a₁b₁) + a₂b₂) + …, in the order of the inner index, for
//! all sizes and at any position. So the values computed for one example have the same bits alone, and
//! at any place of any batch. A product is fused with the sum where the processor can (AVX2, AVX-512),
//! so bits may differ between machines; they do not differ between examples, batches or threads of one.
//! *Proof.* A tile keeps one accumulator per element and goes through the inner index once (module
//! `tile`). ∎ Tested by `a_product_has_the_same_bits_in_any_company`.
//!
//! Matrix libraries choose blocks along the inner index by the sizes of the whole product, and with them
//! the order of additions: an example's low bits would then depend on the size of its batch.

mod lanes;
mod tile;

/// A matrix of any strides.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    pub values: &'a [f32],
    pub row: usize,
    pub column: usize,
}

/// Vector instructions of the processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// No vector instructions are assumed.
    Plain,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Eight,
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Sixteen,
}

/// Detected once by the standard library, then cached.
#[inline]
pub(crate) fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
        {
            return Level::Sixteen;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Level::Eight;
        }
    }
    Level::Plain
}

/// Compiles a function once for each [`Level`]. The compiler fuses and reorders nothing in it, so all
/// versions give the same bits.
macro_rules! for_each_level {
    ($(#[$about:meta])* $seen:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$about])*
        $seen fn $name($($argument: $kind),*) $(-> $result)? {
            #[inline(always)]
            fn body($($argument: $kind),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn eight($($argument: $kind),*) $(-> $result)? {
                body($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
            fn sixteen($($argument: $kind),*) $(-> $result)? {
                body($($argument),*)
            }
            match $crate::kernel::level() {
                // SAFETY: the processor has these instructions.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Level::Sixteen => unsafe { sixteen($($argument),*) },
                // SAFETY: the processor has these instructions.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Level::Eight => unsafe { eight($($argument),*) },
                $crate::kernel::Level::Plain => body($($argument),*),
            }
        }
    };
}
pub(crate) use for_each_level;

/// C = A·B, or C += A·B: A is (rows × inner) by its strides, B (inner × columns) and C (rows × columns)
/// are dense, row by row.
pub(crate) fn product(
    sizes: (usize, usize, usize),
    a: Strided,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    product_at(level(), sizes, a, b, c, accumulate);
}

fn product_at(
    level: Level,
    sizes: (usize, usize, usize),
    a: Strided,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    let (rows, columns, inner) = sizes;
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(b.len() >= inner * columns && c.len() >= rows * columns);
    assert!(inner == 0 || a.values.len() > (rows - 1) * a.row + (inner - 1) * a.column);
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn eight(
            sizes: (usize, usize, usize),
            a: Strided,
            b: &[f32],
            c: &mut [f32],
            accumulate: bool,
        ) {
            // SAFETY: the instructions are available, the lengths were checked.
            unsafe { tile::product::<lanes::x86::Eight, 6>(sizes, a, b, c, accumulate) }
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
        fn sixteen(
            sizes: (usize, usize, usize),
            a: Strided,
            b: &[f32],
            c: &mut [f32],
            accumulate: bool,
        ) {
            // SAFETY: the instructions are available, the lengths were checked.
            unsafe { tile::product::<lanes::x86::Sixteen, 12>(sizes, a, b, c, accumulate) }
        }
        match level {
            // SAFETY: a level is the result of detection.
            Level::Sixteen => return unsafe { sixteen(sizes, a, b, c, accumulate) },
            // SAFETY: a level is the result of detection.
            Level::Eight => return unsafe { eight(sizes, a, b, c, accumulate) },
            Level::Plain => {}
        }
    }
    let _ = level;
    // SAFETY: no special instructions are needed, the lengths were checked.
    unsafe { tile::product::<lanes::Plain, 4>(sizes, a, b, c, accumulate) }
}

/// Transposes a matrix.
pub(crate) fn transpose(rows: usize, columns: usize, from: &[f32], to: &mut [f32]) {
    for (i, row) in from[..rows * columns].chunks_exact(columns).enumerate() {
        for (j, value) in row.iter().enumerate() {
            to[j * rows + i] = *value;
        }
    }
}

for_each_level! {
    /// Σ xy, within N·2⁻⁵³·Σ|xy| for N terms: each product of two `f32` is exact in `f64`.
    pub(crate) fn dot(left: &[f32], right: &[f32]) -> f64 {
        let mut lanes = [0.0_f64; 32];
        let (left_whole, left_rest) = left.as_chunks::<32>();
        let (right_whole, right_rest) = right.as_chunks::<32>();
        for (left, right) in left_whole.iter().zip(right_whole) {
            for lane in 0..32 {
                lanes[lane] += f64::from(left[lane]) * f64::from(right[lane]);
            }
        }
        let rest: f64 = left_rest.iter().zip(right_rest).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
        lanes.iter().sum::<f64>() + rest
    }
}

for_each_level! {
    /// total += factor·value, elementwise.
    pub(crate) fn add_scaled(total: &mut [f32], factor: f32, values: &[f32]) {
        for (total, value) in total.iter_mut().zip(values) {
            *total += factor * value;
        }
    }
}

for_each_level! {
    /// total += value, elementwise.
    pub(crate) fn add_wide(total: &mut [f64], values: &[f32]) {
        for (total, &value) in total.iter_mut().zip(values) {
            *total += f64::from(value);
        }
    }
}

/// Maximum grid steps of one value; a term of an integer sum has at most half as many (Theorem 3).
const MOST_STEPS: f32 = 4_194_304.0;

/// Truncates toward zero; 0 for NaN and beyond [`MOST_STEPS`]. Otherwise equal to `as i32`, in three
/// instructions for a whole register, whereas the saturating cast takes one value at a time.
#[inline(always)]
fn steps(value: f32) -> i32 {
    let kept = if value.abs() <= MOST_STEPS { value } else { 0.0 };
    // SAFETY: a finite number within the range of `i32`.
    unsafe { kept.to_int_unchecked() }
}

/// Truncates an `f64` toward zero; 0 for NaN and beyond [`MOST_STEPS`].
#[inline(always)]
fn wide_steps(value: f64) -> i32 {
    let kept = if value.abs() <= f64::from(MOST_STEPS) { value } else { 0.0 };
    // SAFETY: a finite number within the range of `i32`.
    unsafe { kept.to_int_unchecked() }
}

for_each_level! {
    /// total += trunc(factor·value), elementwise ([`steps`]): 2⁸ such terms do not overflow.
    pub(crate) fn add_steps(total: &mut [i32], factor: f32, values: &[f32]) {
        for (total, value) in total.iter_mut().zip(values) {
            *total = total.wrapping_add(steps(factor * value));
        }
    }
}

for_each_level! {
    /// total += trunc(inputs ⊗ derivatives), one row per input: as [`add_steps`] of each row.
    pub(crate) fn add_outer_steps(total: &mut [i32], inputs: &[f32], slopes: &[f32]) {
        let (whole, rest) = slopes.as_chunks::<16>();
        for (row, &input) in total.chunks_exact_mut(slopes.len()).zip(inputs) {
            if input == 0.0 {
                continue;
            }
            let (row_whole, row_rest) = row.as_chunks_mut::<16>();
            for (row, slopes) in row_whole.iter_mut().zip(whole) {
                for lane in 0..16 {
                    row[lane] = row[lane].wrapping_add(steps(input * slopes[lane]));
                }
            }
            for (total, derivative) in row_rest.iter_mut().zip(rest) {
                *total = total.wrapping_add(steps(input * derivative));
            }
        }
    }
}

for_each_level! {
    /// total += trunc(a·x + b·y), elementwise in `f64`: within 2⁻⁵² of |a·x| + |b·y|.
    pub(crate) fn add_two_steps(total: &mut [i32], factors: [f64; 2], values: [&[f32]; 2]) {
        let [a, b] = factors;
        for (total, (x, y)) in total.iter_mut().zip(values[0].iter().zip(values[1])) {
            *total = total.wrapping_add(wide_steps(a * f64::from(*x) + b * f64::from(*y)));
        }
    }
}

for_each_level! {
    /// total += value, elementwise: 2⁴² examples of a batch do not overflow.
    pub(crate) fn add_whole(total: &mut [i64], values: &[i32]) {
        for (total, &value) in total.iter_mut().zip(values) {
            *total = total.wrapping_add(i64::from(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(length: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..length).map(next).collect()
    }

    /// Truncation agrees with `as i32` at every edge; NaN and values beyond any sum give 0.
    #[test]
    fn steps_are_those_of_a_cast() {
        let edges = [0.0, 0.5, 0.999_999_9, 1.0, 1.5, 2_097_151.9, 2_097_152.0, MOST_STEPS];
        for value in edges.into_iter().chain(numbers(1000, 3).into_iter().map(|x| x * 2e6)) {
            for value in [value, -value] {
                assert_eq!(steps(value), value as i32, "{value}");
                assert_eq!(wide_steps(f64::from(value)), value as i32, "{value}");
            }
        }
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, MOST_STEPS.next_up()] {
            assert_eq!((steps(value), wide_steps(f64::from(value))), (0, 0), "{value}");
        }
    }

    /// A row of an outer product has the same value as alone, for any length.
    #[test]
    fn outer_steps_are_those_of_their_rows() {
        for columns in [1, 7, 16, 33, 50] {
            let (inputs, slopes) = (numbers(5, 1), numbers(columns, 2));
            let slopes: Vec<f32> = slopes.iter().map(|derivative| derivative * 1e6).collect();
            let mut inputs = [&inputs[..], &[0.0, f32::NAN]].concat();
            inputs[1] = 0.0;
            let mut together = vec![1_i32; inputs.len() * columns];
            let mut alone = together.clone();
            add_outer_steps(&mut together, &inputs, &slopes);
            for (row, &input) in alone.chunks_exact_mut(columns).zip(&inputs) {
                add_steps(row, input, &slopes);
            }
            assert_eq!(together, alone, "{columns}");
        }
    }

    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if level() != Level::Plain {
                levels.push(Level::Eight);
            }
            if level() == Level::Sixteen {
                levels.push(Level::Sixteen);
            }
        }
        levels
    }

    /// Every size up to beyond a tile, both orders of A, against the definition in `f64`.
    #[test]
    fn a_product_is_the_product() {
        for level in levels() {
            for (rows, columns, inner) in (1..=14).flat_map(|rows| {
                [1, 2, 7, 8, 9, 16, 17, 31, 33, 50].map(|columns| (rows, columns, rows * 3))
            }) {
                let (a, b) = (numbers(rows * inner, 1), numbers(inner * columns, 2));
                for turned in [false, true] {
                    let (row, column) = if turned { (1, rows) } else { (inner, 1) };
                    let mut c = numbers(rows * columns, 3);
                    let before = c.clone();
                    product_at(
                        level,
                        (rows, columns, inner),
                        Strided { values: &a, row, column },
                        &b,
                        &mut c,
                        true,
                    );
                    for i in 0..rows {
                        for j in 0..columns {
                            let terms = (0..inner).map(|l| {
                                f64::from(a[i * row + l * column]) * f64::from(b[l * columns + j])
                            });
                            let wanted = terms.sum::<f64>() + f64::from(before[i * columns + j]);
                            assert!((f64::from(c[i * columns + j]) - wanted).abs() < 1e-5);
                        }
                    }
                }
            }
        }
    }

    /// The rows of a product have the same bits alone as among others, at any place.
    #[test]
    fn a_product_has_the_same_bits_in_any_company() {
        for level in levels() {
            for columns in [1, 10, 16, 32, 45] {
                let (rows, inner) = (29, 100);
                let (a, b) = (numbers(rows * inner, 4), numbers(inner * columns, 5));
                let mut together = vec![0.0; rows * columns];
                let strided = |values| Strided { values, row: inner, column: 1 };
                product_at(level, (rows, columns, inner), strided(&a), &b, &mut together, false);
                for row in 0..rows {
                    let mut alone = vec![0.0; columns];
                    let own = &a[row * inner..(row + 1) * inner];
                    product_at(level, (1, columns, inner), strided(own), &b, &mut alone, false);
                    assert_eq!(alone, together[row * columns..(row + 1) * columns]);
                }
            }
        }
    }
}
