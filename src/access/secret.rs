use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};

use super::{RandomError, RandomSource, SecretDigest};

/// The id of a session in plain text, as the browser's cookie holds it: 256 random bits in base64url without padding, 43
/// characters.
///
/// ```
/// use toposcope::access::{SessionId, SystemRandom};
///
/// let id = SessionId::generate(&SystemRandom)?;
/// assert_eq!(id.expose().len(), 43);
/// assert!(SessionId::parse(id.expose()).is_some());
/// assert!(SessionId::parse("guess").is_none());
/// # Ok::<(), toposcope::access::RandomError>(())
/// ```
pub struct SessionId(String);

impl SessionId {
    /// A new session's id.
    ///
    /// # Errors
    /// When the source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        Ok(Self(Base64UrlUnpadded::encode_string(&bytes)))
    }

    /// An id as it was presented, or `None` when the text is no encoding of 256 bits. Whether there is such a session is
    /// another question.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let decoded = Base64UrlUnpadded::decode(text, &mut bytes).ok()?;
        (decoded.len() == 32).then(|| Self(text.to_owned()))
    }

    /// The id itself: for the cookie, never for a log or a store.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is kept of the id.
    #[must_use]
    pub fn digest(&self) -> SecretDigest {
        SecretDigest::of(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId(..)")
    }
}
