//! Beginnings of keys, by which most comparisons are decided without reading the keys.

/// Returns the beginning of a key as a number in the same order. A short key reads as if zeros followed.
pub(in crate::store::index) fn prefix(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(bytes) => u128::from_be_bytes(*bytes),
        None => key.iter().rev().fold(0, |prefix, byte| prefix >> 8 | u128::from(*byte) << 120),
    }
}
