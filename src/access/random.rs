use std::error::Error;
use std::fmt;

use uuid::{Builder, Uuid};

use crate::model::Timestamp;

/// Where keys, session ids, salts and record ids get their random bits from.
///
/// Whoever can foretell these can forge a session: outside tests it is [`SystemRandom`], or another generator that is
/// fit for cryptography.
pub trait RandomSource: fmt::Debug + Send + Sync {
    /// Fills all of `bytes`.
    ///
    /// # Errors
    /// When the source has no random bits to give; what `bytes` then holds must not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// There are no random bits to be had.
#[derive(Debug, thiserror::Error)]
#[error("the random source failed")]
pub struct RandomError(#[source] Box<dyn Error + Send + Sync>);

impl RandomError {
    /// For whoever implements a [`RandomSource`]: the failure, from an error or from its description.
    #[must_use]
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// The generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl RandomSource for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(RandomError::new)
    }
}

/// A random UUID, of version 4 (RFC 9562, section 5.4).
///
/// # Errors
/// When the source fails.
pub fn uuid_v4(source: &dyn RandomSource) -> Result<Uuid, RandomError> {
    let mut random = [0; 16];
    source.fill(&mut random)?;
    Ok(Builder::from_random_bytes(random).into_uuid())
}

/// A UUID of version 7 (RFC 9562, section 5.7): the milliseconds since 1970, then 74 random bits, so that later ones sort
/// behind earlier ones. Times before 1970 count as its beginning.
///
/// # Errors
/// When the source fails.
pub fn uuid_v7(source: &dyn RandomSource, time: Timestamp) -> Result<Uuid, RandomError> {
    let mut random = [0; 10];
    source.fill(&mut random)?;
    let millis = u64::try_from(time.unix_micros() / 1000).unwrap_or_default();
    Ok(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
}
