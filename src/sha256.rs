//! The SHA-256 digest of a text.
//!
//! Builds with the service have the crate `sha2`, which uses the instructions of processors. Other builds digest only
//! ids that follow from names: this implementation spares them `sha2` and the seven crates that it depends on.

/// Returns the SHA-256 digest of a text.
#[cfg(feature = "service")]
pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};

    Sha256::digest(text).into()
}

#[cfg(not(feature = "service"))]
pub(crate) use portable::sha256;

/// The algorithm of FIPS 180-4 as its section 6.2 describes it.
#[cfg(any(test, not(feature = "service")))]
mod portable {
    /// The first 32 bits of the fractional parts of the square roots of the first 8 prime numbers.
    #[rustfmt::skip]
    const START: [u32; 8] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ];

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 prime numbers.
    #[rustfmt::skip]
    const ROUNDS: [u32; 64] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ];

    /// Returns the SHA-256 digest of a text.
    pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
        let mut padded = text.to_vec();
        padded.push(0x80);
        let length = (padded.len() + 8).next_multiple_of(64);
        padded.resize(length - 8, 0);
        padded.extend((text.len() as u64 * 8).to_be_bytes());
        let state = padded.as_chunks().0.iter().fold(START, compress);
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
        digest
    }

    /// Returns the state after a block.
    fn compress(state: [u32; 8], block: &[u8; 64]) -> [u32; 8] {
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        let mut next = state;
        for constant in ROUNDS {
            next = round(next, constant.wrapping_add(words[0]));
            // The word that follows the 16 known ones.
            words[0] = words[0]
                .wrapping_add(words[1].rotate_right(7) ^ words[1].rotate_right(18) ^ (words[1] >> 3))
                .wrapping_add(words[9])
                .wrapping_add(words[14].rotate_right(17) ^ words[14].rotate_right(19) ^ (words[14] >> 10));
            words.rotate_left(1);
        }
        for (word, before) in next.iter_mut().zip(state) {
            *word = word.wrapping_add(before);
        }
        next
    }

    const fn round([a, b, c, d, e, f, g, h]: [u32; 8], word: u32) -> [u32; 8] {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h.wrapping_add(sum).wrapping_add((e & f) ^ (!e & g)).wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        [first.wrapping_add(second), a, b, c, d.wrapping_add(first), e, f, g]
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn digests_are_those_of_the_standard() {
        let digest =
            |text: &str| super::portable::sha256(text.as_bytes()).map(|byte| format!("{byte:02x}")).concat();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((digest(""), digest("abc")), (empty.to_owned(), abc.to_owned()));
    }

    #[test]
    fn both_implementations_agree_on_texts_of_every_length() {
        let text: Vec<u8> = (0..=u8::MAX).collect();
        for length in 0..=text.len() {
            let text = text.get(..length).unwrap();
            assert_eq!(super::portable::sha256(text), super::sha256(text), "{length} bytes");
        }
    }
}
