//! Signatures of webhooks, by the rules of [Standard Webhooks](https://www.standardwebhooks.com), which has libraries for many
//! languages.
//!
//! A receiver takes the body as received, before it parses it as JSON, and calls [`Secret::verify`]:
//!
//! ```
//! use std::time::SystemTime;
//! use toposcope_follow::signature::{Secret, Signed};
//!
//! let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=".parse()?;
//! let body = br#"{"action":"created"}"#;
//!
//! // The sender:
//! let signed = secret.sign("a position", SystemTime::now(), body);
//!
//! // The receiver, with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`:
//! let received = Signed { id: "a position", timestamp: &signed.timestamp, signature: &signed.signature };
//! assert!(secret.verify(&received, body, SystemTime::now()).is_ok());
//! assert!(secret.verify(&received, b"{}", SystemTime::now()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64ct::{Base64, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header with the id of a message, which all attempts have in common.
pub const ID: &str = "webhook-id";
/// The header with the time of an attempt, in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header with the signature.
pub const SIGNATURE: &str = "webhook-signature";

/// Maximum difference between the times of an attempt and of the receiver. An older message may be a replay.
pub const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The beginning of a secret as text.
const PREFIX: &str = "whsec_";

/// The beginning of a signature: its version.
const VERSION: &str = "v1,";

/// The secret that the sender and the receiver share.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

/// The timestamp and the signature of an attempt, as values of headers.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The value of [`TIMESTAMP`].
    pub timestamp: String,
    /// The value of [`SIGNATURE`].
    pub signature: String,
}

/// The headers of a message, as they were received.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'h> {
    /// The value of [`ID`].
    pub id: &'h str,
    /// The value of [`TIMESTAMP`].
    pub timestamp: &'h str,
    /// The value of [`SIGNATURE`]: one signature, or several with spaces in between while a secret is being replaced.
    pub signature: &'h str,
}

impl Secret {
    /// Signs a message.
    #[must_use]
    pub fn sign(&self, id: &str, at: SystemTime, body: &[u8]) -> Signature {
        let timestamp = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
        let code = self.code(id, &timestamp, body).finalize().into_bytes();
        Signature { timestamp, signature: format!("{VERSION}{}", Base64::encode_string(&code)) }
    }

    /// Verifies that the sender has the same secret, and that the message is not an old one. It takes the same time for
    /// each signature of the right length, so that the time reveals nothing about a valid one.
    ///
    /// # Errors
    /// If the message must not be trusted.
    pub fn verify(&self, headers: &Signed<'_>, body: &[u8], now: SystemTime) -> Result<(), VerifyError> {
        let seconds: u64 = headers.timestamp.parse().map_err(|_| VerifyError::Timestamp)?;
        let sent = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).ok_or(VerifyError::Timestamp)?;
        let distance = now.duration_since(sent).unwrap_or_else(|later| later.duration());
        if distance > TOLERANCE {
            return Err(VerifyError::Timestamp);
        }
        let code = self.code(headers.id, headers.timestamp, body);
        let codes = headers.signature.split(' ').filter_map(|text| text.strip_prefix(VERSION));
        let mut codes = codes.filter_map(|text| Base64::decode_vec(text).ok());
        // `verify_slice` compares in constant time. `==` would not.
        let is_valid = codes.any(|received| code.clone().verify_slice(&received).is_ok());
        if is_valid { Ok(()) } else { Err(VerifyError::Signature) }
    }

    /// Computes the code of the signed content: the id, the time and the body, separated by dots.
    fn code(&self, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            code.update(part);
        }
        code
    }
}

/// Reads `whsec_` and at least 24 bytes in Base64.
impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| Base64::decode_vec(text).ok());
        bytes.filter(|bytes| bytes.len() >= 24).map(Self).ok_or(SecretError)
    }
}

/// Omits the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secret").finish_non_exhaustive()
    }
}

/// The error for text that is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretError;

impl fmt::Display for SecretError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not \"whsec_\" and at least 24 bytes in Base64")
    }
}

impl StdError for SecretError {}

/// The reason why a message must not be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// The timestamp is not one, or too far from the present time.
    Timestamp,
    /// No signature is that of the message by this secret.
    Signature,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Timestamp => "the timestamp is missing or too far from the present time",
            Self::Signature => "the signature is not that of the message",
        })
    }
}

impl StdError for VerifyError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn signature_is_that_of_the_published_example() {
        let secret: Secret = SECRET.parse().unwrap();
        let signed =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at(1_614_265_330), br#"{"test": 2432232314}"#);
        assert_eq!(signed.timestamp, "1614265330");
        assert_eq!(signed.signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn messages_with_another_content_secret_or_time_are_refused() {
        let (secret, now): (Secret, u64) = (SECRET.parse().unwrap(), 1_800_000_000);
        let Signature { timestamp, signature } = secret.sign("1", at(now), b"body");
        let signed = Signed { id: "1", timestamp: &timestamp, signature: &signature };
        assert_eq!(secret.verify(&signed, b"body", at(now + 300)), Ok(()));
        assert_eq!(secret.verify(&signed, b"body", at(now - 300)), Ok(()));
        for late in [now + 301, now - 301] {
            assert_eq!(secret.verify(&signed, b"body", at(late)), Err(VerifyError::Timestamp));
        }
        let refused = |signed: Signed<'_>, body: &[u8]| {
            assert_eq!(secret.verify(&signed, body, at(now)), Err(VerifyError::Signature), "{signed:?}");
        };
        refused(signed, b"other body");
        refused(Signed { id: "2", ..signed }, b"body");
        refused(Signed { timestamp: "1800000001", ..signed }, b"body");
        for signature in ["", "v1,", "v1,AAAA", "v1,not Base64", &signature[3..]] {
            refused(Signed { signature, ..signed }, b"body");
        }
        let other: Secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".parse().unwrap();
        assert_eq!(other.verify(&signed, b"body", at(now)), Err(VerifyError::Signature));
        // While a secret is being replaced, there are two signatures.
        let both = format!("{} {signature}", other.sign("1", at(now), b"body").signature);
        for secret in [&secret, &other] {
            assert_eq!(secret.verify(&Signed { signature: &both, ..signed }, b"body", at(now)), Ok(()));
        }
    }

    #[test]
    fn short_and_unmarked_secrets_are_refused() {
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not Base64"] {
            assert!(text.parse::<Secret>().is_err(), "{text}");
        }
    }
}
