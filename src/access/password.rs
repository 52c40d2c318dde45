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

use super::{RandomError, RandomSource, SystemRandom};

/// How much work one hash is: memory, and passes over it.
///
/// The default is 19,456 KiB and 2 passes, the least that OWASP's Password Storage Cheat Sheet advises for Argon2id. Less
/// is for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    memory_kib: u32,
    passes: u32,
}

impl PasswordCost {
    const MEMORY_KIB: RangeInclusive<u32> = Params::MIN_M_COST..=1 << 20;
    const PASSES: RangeInclusive<u32> = Params::MIN_T_COST..=100;

    /// So many KiB of memory, 8 (Argon2's own minimum) to 1,048,576 (1 GiB), and so many passes, 1 to 100.
    ///
    /// # Errors
    /// [`PasswordError::InvalidCost`] when one is out of range.
    pub fn new(memory_kib: u32, passes: u32) -> Result<Self, PasswordError> {
        if Self::MEMORY_KIB.contains(&memory_kib) && Self::PASSES.contains(&passes) {
            Ok(Self { memory_kib, passes })
        } else {
            Err(PasswordError::InvalidCost)
        }
    }

    /// One lane: more of them would take the same work in turn, not at once.
    fn hasher(self) -> Result<Argon2<'static>, PasswordError> {
        let params = Params::new(self.memory_kib, self.passes, 1, None).map_err(PasswordError::failed)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// A well-formed hash of this cost that belongs to no password.
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

/// Why a password was not hashed or verified. The texts hold neither passwords nor hashes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PasswordError {
    /// The new password has fewer characters than [`PasswordHasher::MIN_LENGTH`].
    #[error("a password has at least {min} characters")]
    TooShort {
        /// The least number of characters.
        min: usize,
    },
    /// The new password has more characters than [`PasswordHasher::MAX_LENGTH`].
    #[error("a password has at most {max} characters")]
    TooLong {
        /// The greatest number of characters.
        max: usize,
    },
    /// A [`PasswordCost`] out of range.
    #[error("a password costs 8 to 1048576 KiB of memory and 1 to 100 passes")]
    InvalidCost,
    /// What is to be compared with is no Argon2 hash, or one whose cost is beyond that of any [`PasswordCost`].
    #[error("the stored password hash cannot be used")]
    MalformedHash,
    /// There were no random bits for the salt.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The work could not be done: no memory, or the runtime is shutting down.
    #[error("the password could not be hashed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl PasswordError {
    fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

/// Hashes passwords with Argon2id, on threads where that holds up no other task, and only so many at once: each takes
/// memory and a processor for a while, and everybody may ask for a login.
///
/// Clones share the bound. All methods must be called within a tokio runtime. A future that is dropped gives its place
/// back when its work is done, not before; one that has not begun does no work.
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
    places: Arc<Semaphore>,
}

impl PasswordHasher {
    /// The least number of characters (Unicode scalar values) of a new password.
    pub const MIN_LENGTH: usize = 10;
    /// The greatest number of characters (Unicode scalar values) of a new password.
    pub const MAX_LENGTH: usize = 1000;

    const DEFAULT_PLACES: usize = 2;

    /// The default cost, two at once, salts from the operating system.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cost: PasswordCost::default(),
            random: Arc::new(SystemRandom),
            places: Arc::new(Semaphore::new(Self::DEFAULT_PLACES)),
        }
    }

    /// Hashes new passwords at this cost. Those hashed before keep theirs, which their hash names.
    #[must_use]
    pub fn with_cost(self, cost: PasswordCost) -> Self {
        Self { cost, ..self }
    }

    /// Works on so many passwords at once; the others wait, first come, first served. The bound is a new one, no longer
    /// shared with the clones made before.
    #[must_use]
    pub fn with_concurrency(self, at_once: NonZeroUsize) -> Self {
        Self { places: Arc::new(Semaphore::new(at_once.get().min(Semaphore::MAX_PERMITS))), ..self }
    }

    /// Takes salts from this source.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random, ..self }
    }

    /// Hashes a new password; gives a PHC string, the salt and the cost in it.
    ///
    /// # Errors
    /// [`TooShort`](PasswordError::TooShort) and [`TooLong`](PasswordError::TooLong), found before any work;
    /// [`Random`](PasswordError::Random) and [`Failed`](PasswordError::Failed).
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

    /// Whether a PHC string is this password's. The length rule is for new passwords and not asked here, so that those
    /// of an older rule still serve.
    ///
    /// # Errors
    /// [`MalformedHash`](PasswordError::MalformedHash) and [`Failed`](PasswordError::Failed).
    pub async fn verify(&self, password: String, hash: String) -> Result<bool, PasswordError> {
        self.work(move || verify(&password, &hash)).await
    }

    /// Whether a PHC string is of the cost at which new passwords are hashed.
    pub(crate) fn is_current(&self, hash: &str) -> bool {
        let params = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_some_and(|params| {
            (params.m_cost(), params.t_cost()) == (self.cost.memory_kib, self.cost.passes)
        })
    }

    /// Does the work of [`verify`](Self::verify) without a hash, for the login of a user who does not exist.
    ///
    /// It takes as long as verifying a wrong password against a hash of the present cost.
    ///
    /// # Errors
    /// [`Failed`](PasswordError::Failed).
    pub async fn verify_absent(&self, password: String) -> Result<(), PasswordError> {
        self.verify(password, self.cost.dummy()).await.map(drop)
    }

    /// The permit goes with the work, not with the future: a client that hangs up must not make room for its next try.
    async fn work<T, F>(&self, work: F) -> Result<T, PasswordError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, PasswordError> + Send + 'static,
    {
        let permit = Arc::clone(&self.places).acquire_owned().await.map_err(PasswordError::failed)?;
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
