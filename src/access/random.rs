use std::error::Error;
use std::fmt;

use uuid::{Builder, Uuid};

use crate::model::Timestamp;

/// The source of random bits for keys, session ids, salts and record ids.
///
/// Predictable bits allow an attacker to forge sessions. Outside of tests, use [`SystemRandom`] or another
/// cryptographically secure generator.
pub trait RandomSource: fmt::Debug + Send + Sync {
    /// Fills `bytes` with random bits.
    ///
    /// # Errors
    /// If the source cannot supply random bits. The contents of `bytes` must then not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The random source failed.
#[derive(Debug, thiserror::Error)]
#[error("the random source failed")]
pub struct RandomError(#[source] Box<dyn Error + Send + Sync>);

impl RandomError {
    /// Creates the error of a [`RandomSource`] from its cause or a description.
    #[must_use]
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// The random number generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl RandomSource for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(RandomError::new)
    }
}

/// Generates a random UUID, version 4 (RFC 9562, section 5.4).
pub(crate) fn uuid_v4(source: &dyn RandomSource) -> Result<Uuid, RandomError> {
    let mut random = [0; 16];
    source.fill(&mut random)?;
    Ok(Builder::from_random_bytes(random).into_uuid())
}

/// Generates a time-ordered UUID, version 7 (RFC 9562, section 5.7). Times before 1970 count as the start of 1970.
pub(crate) fn uuid_v7(source: &dyn RandomSource, time: Timestamp) -> Result<Uuid, RandomError> {
    let mut random = [0; 10];
    source.fill(&mut random)?;
    let millis = u64::try_from(time.unix_micros() / 1000).unwrap_or(0);
    Ok(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
}
