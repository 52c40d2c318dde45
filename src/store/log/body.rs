//! The stored form of bodies, and references to it.

use bytes::Bytes;

/// Identifies a body and verifies its stored form. A body number is never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct BodyRef {
    pub(crate) id: u64,
    /// Length of the stored form in bytes, with the flag [`IS_COMPRESSED`].
    pub(super) length: u32,
    pub(super) checksum: u32,
}

const IS_COMPRESSED: u32 = 1 << 31;

/// Maximum length of a body in bytes: a length has 31 bits.
pub(crate) const MAX_BODY: usize = (IS_COMPRESSED - 1) as usize;

impl BodyRef {
    /// Stores a body as it is.
    pub(crate) fn plain(id: u64, body: &Bytes) -> (Self, Bytes) {
        (Self::to(id, body, 0), body.clone())
    }

    fn to(id: u64, stored: &[u8], flag: u32) -> Self {
        Self { id, length: stored.len() as u32 | flag, checksum: crc32fast::hash(stored) }
    }

    /// Returns the length of the stored form, in bytes.
    pub(crate) const fn length(self) -> usize {
        (self.length & !IS_COMPRESSED) as usize
    }

    /// Returns whether this is the stored form, unchanged.
    pub(crate) fn verify(self, stored: &[u8]) -> bool {
        stored.len() == self.length() && crc32fast::hash(stored) == self.checksum
    }
}

#[cfg(feature = "sled")]
mod compressed {
    use bytes::Bytes;
    use lz4_flex::block::{compress_prepend_size, decompress, uncompressed_size};

    use super::{BodyRef, IS_COMPRESSED};

    /// Length of the shortest body that is compressed, in bytes. Shorter ones rarely become smaller.
    const MIN_COMPRESSED: usize = 256;

    /// Maximum ratio between a body and its compressed form. One compressed byte stands for at most 255 bytes.
    const MAX_RATIO: usize = 255;

    impl BodyRef {
        /// Compresses a body, unless that makes it no smaller. Returns its stored form with the reference to it.
        pub(crate) fn compressed(id: u64, body: &Bytes) -> (Self, Bytes) {
            if body.len() >= MIN_COMPRESSED {
                let stored = compress_prepend_size(body);
                if stored.len() < body.len() {
                    // The capacity is that of the longest possible form.
                    let stored: Bytes = stored.into_boxed_slice().into();
                    return (Self::to(id, &stored, IS_COMPRESSED), stored);
                }
            }
            Self::plain(id, body)
        }

        /// Returns the body of a stored form; `None` if that is damaged.
        pub(crate) fn open(self, stored: Bytes) -> Option<Bytes> {
            if self.length & IS_COMPRESSED == 0 {
                return Some(stored);
            }
            let (length, compressed) = uncompressed_size(&stored).ok()?;
            if length > compressed.len().saturating_mul(MAX_RATIO) {
                return None;
            }
            decompress(compressed, length).ok().map(Bytes::from)
        }

        /// Encodes the length of the stored form.
        pub(crate) const fn encoded_length(self) -> [u8; 4] {
            self.length.to_le_bytes()
        }

        /// Returns a reference that finds a body and cannot verify it.
        pub(crate) const fn without_checksum(id: u64, encoded_length: [u8; 4]) -> Self {
            Self { id, length: u32::from_le_bytes(encoded_length), checksum: 0 }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn bodies_come_back_whether_they_are_compressed_or_not() {
            let mut random = fastrand::Rng::with_seed(7);
            let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(10_000).collect();
            let text = b"{\"name\":\"switch\"},".repeat(1_000);
            let zeros = vec![0; 1_000_000];
            for (content, is_smaller) in
                [(&b""[..], false), (b"short", false), (&noise, false), (&text, true), (&zeros, true)]
            {
                let body = Bytes::copy_from_slice(content);
                let (body_ref, stored) = BodyRef::compressed(3, &body);
                assert_eq!(stored.len() < body.len() / 2, is_smaller);
                assert!(body_ref.verify(&stored) && body_ref.length() == stored.len());
                assert_eq!(body_ref.open(stored), Some(body.clone()));
                let (body_ref, stored) = BodyRef::plain(3, &body);
                assert!(body_ref.verify(&stored));
                assert_eq!(body_ref.open(stored), Some(body));
            }
        }

        #[test]
        fn damaged_stored_form_is_refused_and_takes_no_memory_beyond_its_ratio() {
            let (body_ref, stored) = BodyRef::compressed(3, &b"{\"name\":\"switch\"},".repeat(100).into());
            for place in 0..stored.len() {
                let mut damaged = stored.to_vec();
                damaged[place] ^= 0x80;
                assert!(!body_ref.verify(&damaged));
                // It may return anything, but it ends, and without a panic.
                _ = body_ref.open(damaged.into());
                assert!(!body_ref.verify(&stored[..place]));
                _ = body_ref.open(stored.slice(..place));
            }
            assert_eq!(body_ref.open(vec![u8::MAX; 64].into()), None);
        }
    }
}
