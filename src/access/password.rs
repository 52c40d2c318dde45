use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Block, Params, RECOMMENDED_SALT_LEN, Version};
use base64ct::{Base64Unpadded, Encoding};
use ctutils::CtEq;

use super::password_lane::{PasswordFigures, PasswordLane};
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
        self.encode(&[0; RECOMMENDED_SALT_LEN], &[0; Params::DEFAULT_OUTPUT_LEN])
    }

    /// Returns a PHC string.
    fn encode(self, salt: &[u8], hash: &[u8]) -> String {
        let [salt, hash] = [salt, hash].map(Base64Unpadded::encode_string);
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
    pub(super) fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

/// Hashes passwords with Argon2id on blocking threads, with bounded concurrency.
///
/// The bound protects the server, because each hash takes memory and a processor and unauthenticated clients may log
/// in. Clones share the bound. All methods must be called within a tokio runtime. If a future is dropped, work that
/// has started runs to its end and counts towards the bound until then; work that has not started is cancelled.
///
/// The passwords of shares have a bound of their own, half as large, so that neither they nor logins delay the other.
/// The memory of a hash is kept for the next one: at most as many times the memory of the cost as hashes may run.
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
    lane: PasswordLane,
    share_lane: PasswordLane,
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
            lane: PasswordLane::new(Self::DEFAULT_CONCURRENCY),
            share_lane: PasswordLane::new(Self::DEFAULT_CONCURRENCY.div_ceil(2)),
        }
    }

    /// Returns the hasher for the passwords of shares.
    pub(crate) fn of_shares(&self) -> Self {
        Self { lane: self.share_lane.clone(), ..self.clone() }
    }

    /// Returns the figures of the hashes of users' passwords, and of those of shares.
    pub(crate) fn figures(&self) -> [PasswordFigures; 2] {
        [self.lane.figures(), self.share_lane.figures()]
    }

    /// Sets the cost of new hashes. Existing hashes state their own cost and stay valid.
    #[must_use]
    pub fn with_cost(self, cost: PasswordCost) -> Self {
        Self { cost, ..self }
    }

    /// Sets the maximum number of concurrent hashes; further ones wait in order of arrival. Default: 2.
    ///
    /// Half as many, rounded up, may run for passwords of shares in addition. The new bound is not shared with earlier clones.
    #[must_use]
    pub fn with_concurrency(self, max: NonZeroUsize) -> Self {
        let (lane, share_lane) = (PasswordLane::new(max.get()), PasswordLane::new(max.get().div_ceil(2)));
        Self { lane, share_lane, ..self }
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
        let (cost, hasher) = (self.cost, self.cost.hasher()?);
        let random = Arc::clone(&self.random);
        let work = move |blocks: &mut Vec<Block>| {
            let mut salt = [0; RECOMMENDED_SALT_LEN];
            random.fill(&mut salt)?;
            let mut hash = [0; Params::DEFAULT_OUTPUT_LEN];
            compute(&hasher, &password, &salt, &mut hash, blocks)?;
            Ok(cost.encode(&salt, &hash))
        };
        self.lane.run(self.cost.memory_kib as usize, work).await
    }

    /// Returns whether a password matches a PHC string.
    ///
    /// The length limits are not checked, so that existing passwords stay valid if the limits change.
    ///
    /// # Errors
    /// [`MalformedHash`](PasswordError::MalformedHash) or [`Failed`](PasswordError::Failed).
    pub async fn verify(&self, password: String, hash: String) -> Result<bool, PasswordError> {
        self.lane.run(self.cost.memory_kib as usize, move |blocks| verify(&password, &hash, blocks)).await
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

fn verify(password: &str, hash: &str, blocks: &mut Vec<Block>) -> Result<bool, PasswordError> {
    let malformed = |_| PasswordError::MalformedHash;
    let hash = PasswordHash::new(hash).map_err(|_| PasswordError::MalformedHash)?;
    let params = Params::try_from(&hash).map_err(|_| PasswordError::MalformedHash)?;
    PasswordCost::new(params.m_cost(), params.t_cost()).map_err(malformed)?;
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else {
        return Err(PasswordError::MalformedHash);
    };
    let algorithm = Algorithm::try_from(hash.algorithm.as_str()).map_err(|_| PasswordError::MalformedHash)?;
    let version =
        hash.version.map(Version::try_from).transpose().map_err(|_| PasswordError::MalformedHash)?;
    let hasher = Argon2::new(algorithm, version.unwrap_or_default(), params);
    let mut actual = vec![0; expected.len()];
    compute(&hasher, password, salt, &mut actual, blocks)?;
    Ok(expected.as_bytes().ct_eq(&actual).into())
}

/// Hashes a password with a salt, in memory that grows as necessary.
fn compute(
    hasher: &Argon2<'_>,
    password: &str,
    salt: &[u8],
    hash: &mut [u8],
    blocks: &mut Vec<Block>,
) -> Result<(), PasswordError> {
    let count = hasher.params().block_count();
    if let Some(missing) = count.checked_sub(blocks.len()) {
        blocks.try_reserve_exact(missing).map_err(PasswordError::failed)?;
        blocks.resize(count, Block::default());
    }
    hasher.hash_password_into_with_memory(password.as_bytes(), salt, hash, blocks).map_err(
        |error| match error {
            argon2::Error::OutOfMemory => PasswordError::failed(error),
            _ => PasswordError::MalformedHash,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn passwords_of_shares_and_logins_do_not_wait_for_each_other() {
        let cost = PasswordCost::new(8, 1).unwrap();
        let hasher = PasswordHasher::new().with_cost(cost).with_concurrency(NonZeroUsize::MIN);
        for (busy, other) in [(hasher.clone(), hasher.of_shares()), (hasher.of_shares(), hasher.clone())] {
            let (release, released) = mpsc::channel::<()>();
            let blocked = tokio::spawn(async move { busy.lane.run(8, move |_| Ok(released.recv())).await });
            tokio::task::yield_now().await;
            other.verify_absent("a password".to_owned()).await.unwrap();
            assert!(!blocked.is_finished());
            drop(release);
            blocked.await.unwrap().unwrap().unwrap_err();
        }
    }
}
