use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{Error as HashError, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, RECOMMENDED_SALT_LEN, Version};
use tokio::sync::Semaphore;
use tokio::task;

use super::random::{RandomError, RandomSource, SystemRandom};

/// The cost of one password hash: memory, and passes over it.
///
/// The default is 19,456 KiB and 2 passes, the minimum that OWASP's Password Storage Cheat Sheet recommends for
/// Argon2id. Use lower costs only in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    memory_kib: u32,
    passes: u32,
}

impl PasswordCost {
    const MEMORY_KIB: RangeInclusive<u32> = Params::MIN_M_COST..=1 << 20;
    const PASSES: RangeInclusive<u32> = Params::MIN_T_COST..=100;

    /// Creates a cost from the memory in KiB and the number of passes.
    ///
    /// The memory must be 8 (Argon2's minimum) to 1,048,576 KiB (1 GiB), and the passes 1 to 100.
    ///
    /// # Errors
    /// [`PasswordError::InvalidCost`] if either is out of range.
    pub fn new(memory_kib: u32, passes: u32) -> Result<Self, PasswordError> {
        if Self::MEMORY_KIB.contains(&memory_kib) && Self::PASSES.contains(&passes) {
            Ok(Self { memory_kib, passes })
        } else {
            Err(PasswordError::InvalidCost)
        }
    }

    /// Uses one lane: several lanes would run one after the other, not in parallel.
    fn hasher(self) -> Result<Argon2<'static>, PasswordError> {
        let params = Params::new(self.memory_kib, self.passes, 1, None).map_err(PasswordError::failed)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// Returns a well-formed hash of this cost that matches no known password.
    fn dummy(self) -> String {
        let (salt, hash) = ("A".repeat(22), "A".repeat(43));
        format!("$argon2id$v=19$m={},t={},p=1${salt}${hash}", self.memory_kib, self.passes)
    }
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory_kib: Params::DEFAULT_M_COST, passes: Params::DEFAULT_T_COST }
    }
}

/// An error of hashing or verifying a password. Its text contains neither passwords nor hashes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PasswordError {
    /// The new password has fewer characters than [`PasswordHasher::MIN_LENGTH`].
    #[error("a password must have at least {min} characters")]
    TooShort {
        /// The minimum number of characters.
        min: usize,
    },
    /// The new password has more characters than [`PasswordHasher::MAX_LENGTH`].
    #[error("a password must have at most {max} characters")]
    TooLong {
        /// The maximum number of characters.
        max: usize,
    },
    /// The memory or the passes of a [`PasswordCost`] are out of range.
    #[error("a password cost must be 8 to 1048576 KiB of memory and 1 to 100 passes")]
    InvalidCost,
    /// The stored hash is not an Argon2 hash with a valid [`PasswordCost`].
    #[error("the stored password hash is invalid")]
    MalformedHash,
    /// The random source failed to supply a salt.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Hashing failed: memory ran out, or the runtime is shutting down.
    #[error("the password could not be hashed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl PasswordError {
    fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

/// Hashes passwords with Argon2id on blocking threads, with bounded concurrency.
///
/// The bound protects the server, because each hash takes memory and a processor and unauthenticated clients may log
/// in. Clones share the bound. All methods must be called within a tokio runtime. If a future is dropped, work that
/// has started runs to its end and counts towards the bound until then; work that has not started is cancelled.
///
/// ```
/// use toposcope::access::PasswordHasher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::access::PasswordError> {
/// let hasher = PasswordHasher::new();
/// let hash = hasher.hash("correct horse".to_owned()).await?;
/// assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
/// assert!(hasher.verify("correct horse".to_owned(), hash.clone()).await?);
/// assert!(!hasher.verify("battery staple".to_owned(), hash).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PasswordHasher {
    cost: PasswordCost,
    random: Arc<dyn RandomSource>,
    permits: Arc<Semaphore>,
}

impl PasswordHasher {
    /// The minimum number of characters (Unicode scalar values) of a new password.
    pub const MIN_LENGTH: usize = 10;
    /// The maximum number of characters (Unicode scalar values) of a new password.
    pub const MAX_LENGTH: usize = 1000;

    const DEFAULT_CONCURRENCY: usize = 2;

    /// Creates a hasher with the default cost, a concurrency of 2, and [`SystemRandom`] salts.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cost: PasswordCost::default(),
            random: Arc::new(SystemRandom),
            permits: Arc::new(Semaphore::new(Self::DEFAULT_CONCURRENCY)),
        }
    }

    /// Sets the cost of new hashes. Existing hashes state their own cost and stay valid.
    #[must_use]
    pub fn with_cost(self, cost: PasswordCost) -> Self {
        Self { cost, ..self }
    }

    /// Sets the maximum number of concurrent hashes; further ones wait in order of arrival.
    ///
    /// The new bound is not shared with earlier clones.
    #[must_use]
    pub fn with_concurrency(self, max: NonZeroUsize) -> Self {
        Self { permits: Arc::new(Semaphore::new(max.get().min(Semaphore::MAX_PERMITS))), ..self }
    }

    /// Sets the source of salts.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random, ..self }
    }

    /// Hashes a new password. Returns a PHC string, which contains the salt and the cost.
    ///
    /// # Errors
    /// [`TooShort`](PasswordError::TooShort) or [`TooLong`](PasswordError::TooLong), both before any hashing;
    /// [`Random`](PasswordError::Random) or [`Failed`](PasswordError::Failed).
    pub async fn hash(&self, password: String) -> Result<String, PasswordError> {
        let length = password.chars().count();
        if length < Self::MIN_LENGTH {
            return Err(PasswordError::TooShort { min: Self::MIN_LENGTH });
        }
        if length > Self::MAX_LENGTH {
            return Err(PasswordError::TooLong { max: Self::MAX_LENGTH });
        }
        let hasher = self.cost.hasher()?;
        let random = Arc::clone(&self.random);
        self.work(move || {
            let mut salt = [0; RECOMMENDED_SALT_LEN];
            random.fill(&mut salt)?;
            let hash =
                hasher.hash_password_with_salt(password.as_bytes(), &salt).map_err(PasswordError::failed)?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Returns whether a password matches a PHC string.
    ///
    /// The length limits are not checked, so that existing passwords stay valid if the limits change.
    ///
    /// # Errors
    /// [`MalformedHash`](PasswordError::MalformedHash) or [`Failed`](PasswordError::Failed).
    pub async fn verify(&self, password: String, hash: String) -> Result<bool, PasswordError> {
        self.work(move || verify(&password, &hash)).await
    }

    /// Returns whether a PHC string has the cost of new hashes.
    pub(crate) fn is_current(&self, hash: &str) -> bool {
        let params = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_some_and(|params| {
            (params.m_cost(), params.t_cost()) == (self.cost.memory_kib, self.cost.passes)
        })
    }

    /// Does the work of [`verify`](Self::verify) for a user that does not exist.
    ///
    /// It takes as long as verifying a wrong password against a hash of the current cost.
    ///
    /// # Errors
    /// [`Failed`](PasswordError::Failed).
    pub async fn verify_absent(&self, password: String) -> Result<(), PasswordError> {
        self.verify(password, self.cost.dummy()).await.map(drop)
    }

    /// Runs work on a blocking thread, with a permit.
    ///
    /// The work holds the permit, not the future: a client that disconnects must not free capacity for its next
    /// attempt.
    async fn work<T, F>(&self, work: F) -> Result<T, PasswordError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, PasswordError> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(PasswordError::failed)?;
        let task = task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        task.await.map_err(PasswordError::failed)?
    }
}

impl Default for PasswordHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for PasswordHasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PasswordHasher").field("cost", &self.cost).finish_non_exhaustive()
    }
}

fn verify(password: &str, hash: &str) -> Result<bool, PasswordError> {
    let hash = PasswordHash::new(hash).map_err(|_| PasswordError::MalformedHash)?;
    let params = Params::try_from(&hash).map_err(|_| PasswordError::MalformedHash)?;
    PasswordCost::new(params.m_cost(), params.t_cost()).map_err(|_| PasswordError::MalformedHash)?;
    if hash.salt.is_none() || hash.hash.is_none() {
        return Err(PasswordError::MalformedHash);
    }
    match Argon2::default().verify_password(password.as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(HashError::PasswordInvalid) => Ok(false),
        Err(error @ HashError::OutOfMemory) => Err(PasswordError::failed(error)),
        Err(_) => Err(PasswordError::MalformedHash),
    }
}
