use std::fmt;

use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::random::{RandomError, RandomSource};

/// The secret under which a share replaces ids and names by pseudonyms.
///
/// A pseudonym stays the same within a share, and reveals nothing about the pseudonyms of other shares.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CodeSecret([u8; 32]);

impl CodeSecret {
    /// Generates a random secret.
    pub(crate) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Returns the HMAC-SHA-256 of a value.
    pub(crate) fn code(&self, value: &[u8]) -> [u8; 32] {
        // A short key is padded with zeros to a block.
        let mut key = [0; 64];
        for (padded, byte) in key.iter_mut().zip(self.0) {
            *padded = byte;
        }
        let mac: Hmac<Sha256> = Hmac::new(&key.into());
        mac.chain_update(value).finalize().into_bytes().into()
    }
}

impl fmt::Debug for CodeSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CodeSecret(..)")
    }
}
