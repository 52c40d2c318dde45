use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The SHA-256 of a secret's text: all that is kept of a key or a session id.
///
/// A plain hash suffices where a password would need a slow one: the secrets have 190 bits and more, nobody tries them
/// all.
///
/// It is used in two halves. A store's index compares bytes until the first that differs, which over many tries could
/// tell somebody how near a guess came; so a record is found under the first half only, and the second is compared in
/// constant time.
#[derive(Clone, Copy)]
pub struct SecretDigest {
    lookup: [u8; 16],
    verifier: [u8; 16],
}

impl SecretDigest {
    pub(super) fn of(text: &str) -> Self {
        let (mut lookup, mut verifier) = ([0; 16], [0; 16]);
        for (half, byte) in lookup.iter_mut().chain(&mut verifier).zip(Sha256::digest(text)) {
            *half = byte;
        }
        Self { lookup, verifier }
    }

    /// The first half, under which the record is found in a store.
    #[must_use]
    pub const fn lookup(&self) -> [u8; 16] {
        self.lookup
    }

    /// The second half, by which the record that was found is verified.
    #[must_use]
    pub const fn verifier(&self) -> Verifier {
        Verifier(self.verifier)
    }
}

impl fmt::Debug for SecretDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretDigest(..)")
    }
}

/// The half of a [`SecretDigest`] that is compared in constant time, and therefore has no `==`.
///
/// In serde it is its 16 bytes.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Verifier([u8; 16]);

impl Verifier {
    /// Whether both are of the same secret, in a time that does not depend on the answer.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Verifier(..)")
    }
}
