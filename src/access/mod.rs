//! Who asks and what they may reach, and the secrets by which they prove it.
//!
//! Nothing here knows of HTTP or of a store. A host application that authenticates its users itself needs [`Caller`] and
//! [`Scope`] and may leave the rest alone.

mod attempts;
mod caller;
mod client_prefix;
mod clock;
mod daemon;
mod digest;
mod key;
mod login_places;
mod password;
mod random;
mod scope;
mod secret;
mod tally;

pub(crate) use attempts::LoginAttempts;
pub use caller::{Caller, Credential};
pub use client_prefix::{ClientPrefix, PrefixLengths};
pub use clock::{Clock, ManualClock, SystemClock};
pub use daemon::Daemon;
pub use digest::{SecretDigest, Verifier};
pub use key::{KeyKind, KeyText};
pub use password::{PasswordCost, PasswordError, PasswordHasher};
pub use random::{RandomError, RandomSource, SystemRandom, uuid_v4, uuid_v7};
pub use scope::Scope;
pub use secret::SessionId;
pub(crate) use tally::Tally;
