//! Vector registers, in which a tile of a product is computed.

/// A vector register.
///
/// # Safety
/// Call the methods only if the processor has the type's instructions, with pointers valid for the
/// values they access.
pub(super) trait Lanes: Copy {
    /// Values per register.
    const WIDTH: usize;
    unsafe fn zero() -> Self;
    /// One value in every lane.
    unsafe fn spread(from: *const f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    /// The first `count` values; the other lanes are 0 and their values are not read.
    unsafe fn load_part(from: *const f32, count: usize) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// The first `count` values; the others are not written.
    unsafe fn store_part(self, to: *mut f32, count: usize);
    /// self·factor + sum.
    unsafe fn multiply_add(self, factor: Self, sum: Self) -> Self;
}

/// Any processor: multiplication and addition are rounded separately.
#[derive(Clone, Copy)]
pub(super) struct Plain([f32; 8]);

impl Lanes for Plain {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([0.0; 8])
    }

    #[inline(always)]
    unsafe fn spread(from: *const f32) -> Self {
        // SAFETY: the caller's pointer is valid for one value.
        Self([unsafe { *from }; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's pointer is valid for eight values.
        Self(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        let mut lanes = [0.0; 8];
        for (index, lane) in lanes.iter_mut().enumerate().take(count) {
            // SAFETY: the caller's pointer is valid for `count` values.
            *lane = unsafe { *from.add(index) };
        }
        Self(lanes)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's pointer is valid for eight values.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        for (index, lane) in self.0.into_iter().enumerate().take(count) {
            // SAFETY: the caller's pointer is valid for `count` values.
            unsafe { *to.add(index) = lane }
        }
    }

    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, sum: Self) -> Self {
        let mut result = sum.0;
        for (total, (left, right)) in result.iter_mut().zip(self.0.iter().zip(&factor.0)) {
            *total += left * right;
        }
        Self(result)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::Lanes;
    use core::arch::x86_64::*;

    /// AVX2 with fused multiply-add.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Eight(__m256);

    /// AVX-512.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Sixteen(__m512);

    impl Eight {
        #[inline(always)]
        unsafe fn mask(count: usize) -> __m256i {
            const LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
            // SAFETY: `count` is at most 8, so eight values follow the address read from.
            unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - count.min(8)).cast()) }
        }
    }

    // SAFETY of both: the trait's callers guarantee the instructions and the pointers.
    impl Lanes for Eight {
        const WIDTH: usize = 8;

        #[inline(always)]
        unsafe fn zero() -> Self {
            Self(unsafe { _mm256_setzero_ps() })
        }

        #[inline(always)]
        unsafe fn spread(from: *const f32) -> Self {
            Self(unsafe { _mm256_set1_ps(_mm_cvtss_f32(_mm_load_ss(from))) })
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            Self(unsafe { _mm256_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn load_part(from: *const f32, count: usize) -> Self {
            Self(unsafe { _mm256_maskload_ps(from, Self::mask(count)) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm256_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut f32, count: usize) {
            unsafe { _mm256_maskstore_ps(to, Self::mask(count), self.0) }
        }

        #[inline(always)]
        unsafe fn multiply_add(self, factor: Self, sum: Self) -> Self {
            Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, sum.0) })
        }
    }

    impl Lanes for Sixteen {
        const WIDTH: usize = 16;

        #[inline(always)]
        unsafe fn zero() -> Self {
            Self(unsafe { _mm512_setzero_ps() })
        }

        #[inline(always)]
        unsafe fn spread(from: *const f32) -> Self {
            Self(unsafe { _mm512_set1_ps(_mm_cvtss_f32(_mm_load_ss(from))) })
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            Self(unsafe { _mm512_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn load_part(from: *const f32, count: usize) -> Self {
            Self(unsafe { _mm512_maskz_loadu_ps(((1_u32 << count) - 1) as u16, from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut f32, count: usize) {
            unsafe { _mm512_mask_storeu_ps(to, ((1_u32 << count) - 1) as u16, self.0) }
        }

        #[inline(always)]
        unsafe fn multiply_add(self, factor: Self, sum: Self) -> Self {
            Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, sum.0) })
        }
    }
}
