use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::random::{RandomError, RandomSource};
use crate::model::{ShareId, Timestamp};

/// The secret under which the tokens of one share are issued.
///
/// A token consists of its expiry and an HMAC-SHA-256 of share and expiry, in base64url without padding. Nothing is
/// stored for a token; replacing the secret ends all tokens.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ShareSecret([u8; 32]);

/// Length of a token in bytes: 8 of the expiry, 32 of the code.
const TOKEN_BYTES: usize = 40;

impl ShareSecret {
    /// Generates a random secret.
    pub(crate) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Issues a token.
    pub(crate) fn issue(&self, share: ShareId, expires_at: Timestamp) -> String {
        let expiry = expires_at.unix_micros().to_be_bytes();
        let code = self.code(share, expiry).finalize().into_bytes();
        Base64UrlUnpadded::encode_string(&[expiry.as_slice(), &code].concat())
    }

    /// Returns whether a token was issued for the share under this secret and is unexpired.
    ///
    /// The code is compared in constant time.
    pub(crate) fn verifies(&self, share: ShareId, token: &str, now: Timestamp) -> bool {
        let mut bytes = [0; TOKEN_BYTES];
        let Ok(token) = Base64UrlUnpadded::decode(token, &mut bytes) else { return false };
        let Some((expiry, code)) = token.split_first_chunk::<8>() else { return false };
        self.code(share, *expiry).verify_slice(code).is_ok()
            && now.unix_micros() < i64::from_be_bytes(*expiry)
    }

    fn code(&self, share: ShareId, expiry: [u8; 8]) -> Hmac<Sha256> {
        // A short key is padded with zeros to a block.
        let mut key = [0; 64];
        for (padded, byte) in key.iter_mut().zip(self.0) {
            *padded = byte;
        }
        Hmac::new(&key.into()).chain_update(share.as_bytes()).chain_update(expiry)
    }
}

impl fmt::Debug for ShareSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ShareSecret(..)")
    }
}
