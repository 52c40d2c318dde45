//! Variable-length integers (LEB128).
//!
//! Each byte holds seven bits of the number. Its highest bit is set if another byte follows.

/// Bits of a number in each of its bytes.
pub(super) const BITS: u32 = 7;

/// The bit that is set in each byte but the last.
pub(super) const CONTINUATION_BIT: u8 = 1 << BITS;

pub(super) fn write(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= u32::from(CONTINUATION_BIT) {
        bytes.push(number as u8 | CONTINUATION_BIT);
        number >>= BITS;
    }
    bytes.push(number as u8);
}

/// Reads a number from the front of bytes, and returns it with its length.
pub(super) fn read(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        number |= u32::from(byte & !CONTINUATION_BIT) << (BITS * place as u32);
        if *byte < CONTINUATION_BIT {
            return Some((number, place + 1));
        }
    }
    None
}

/// Reads a number from the front of bytes. Returns it with the bytes after it.
pub(super) fn split(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, length) = read(bytes)?;
    Some((number, bytes.get(length..)?))
}
