//! Dot products of codes with the instruction VPDPBUSD, which multiplies unsigned by signed
//! bytes, 64 at a time.
//!
//! Both our sides are signed. With 128 added, one becomes unsigned, and what that adds to the
//! result is 128 times the sum of the other side, which an index holds with the codes:
//!
//! ```text
//! Σ a b  =  Σ (a + 128) b  -  128 Σ b
//! ```
//!
//! `benches/kernel.rs` runs it beside simsimd's kernel.

/// The dot product, where the processor has the instruction. `sum` is the sum of `b`.
#[cfg(target_arch = "x86_64")]
pub fn dot_i8(a: &[i8], b: &[i8], sum: i32) -> Option<i32> {
    let has_it = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni");
    // SAFETY: the processor has what the function is compiled for.
    has_it.then(|| unsafe { dot_with_vnni(a, b) }.wrapping_sub(sum.wrapping_mul(128)))
}

/// The processor does not have the instruction.
#[cfg(not(target_arch = "x86_64"))]
pub fn dot_i8(_a: &[i8], _b: &[i8], _sum: i32) -> Option<i32> {
    None
}

/// The sum of the codes whose bits are set, where the processor has the instruction: a product
/// with ones where the bits are set.
#[cfg(target_arch = "x86_64")]
pub fn sum_where(codes: &[i8], bits: &[u8]) -> Option<i32> {
    let has_it = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni");
    // SAFETY: the processor has what the function is compiled for.
    has_it.then(|| unsafe { sum_with_vnni(codes, bits) })
}

/// The processor does not have the instruction.
#[cfg(not(target_arch = "x86_64"))]
pub fn sum_where(_codes: &[i8], _bits: &[u8]) -> Option<i32> {
    None
}

/// # Safety
///
/// The processor has AVX-512 BW and VNNI.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn sum_with_vnni(codes: &[i8], bits: &[u8]) -> i32 {
    use core::arch::x86_64::{
        _mm512_dpbusd_epi32, _mm512_loadu_epi8, _mm512_maskz_set1_epi8, _mm512_reduce_add_epi32,
        _mm512_setzero_si512,
    };
    let mut sum = _mm512_setzero_si512();
    for (codes, bits) in codes.chunks_exact(64).zip(bits.chunks_exact(8)) {
        let mut mask = [0; 8];
        mask.copy_from_slice(bits);
        let ones = _mm512_maskz_set1_epi8(u64::from_le_bytes(mask), 1);
        // SAFETY: the chunk has as many codes as are read.
        sum = _mm512_dpbusd_epi32(sum, ones, unsafe { _mm512_loadu_epi8(codes.as_ptr()) });
    }
    _mm512_reduce_add_epi32(sum)
}

/// `Σ (a + 128) b`.
///
/// # Safety
///
/// The processor has AVX-512 BW and VNNI.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn dot_with_vnni(a: &[i8], b: &[i8]) -> i32 {
    use core::arch::x86_64::{
        __mmask64, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_loadu_epi8,
        _mm512_maskz_loadu_epi8, _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_setzero_si512,
        _mm512_xor_si512,
    };
    const LANES: usize = 64;
    let length = a.len().min(b.len());
    let add_128 = _mm512_set1_epi8(-128);
    // Two sums, because each step of one waits for the step before.
    let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut at = 0;
    // SAFETY: all reads lie within `length`.
    unsafe {
        let (a, b) = (a.as_ptr(), b.as_ptr());
        while at + 2 * LANES <= length {
            let unsigned = _mm512_xor_si512(_mm512_loadu_epi8(a.add(at)), add_128);
            even = _mm512_dpbusd_epi32(even, unsigned, _mm512_loadu_epi8(b.add(at)));
            let unsigned = _mm512_xor_si512(_mm512_loadu_epi8(a.add(at + LANES)), add_128);
            odd = _mm512_dpbusd_epi32(odd, unsigned, _mm512_loadu_epi8(b.add(at + LANES)));
            at += 2 * LANES;
        }
        while at < length {
            let mask: __mmask64 = u64::MAX >> (LANES - LANES.min(length - at));
            let unsigned = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a.add(at)), add_128);
            even = _mm512_dpbusd_epi32(even, unsigned, _mm512_maskz_loadu_epi8(mask, b.add(at)));
            at += LANES;
        }
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(even, odd))
}
