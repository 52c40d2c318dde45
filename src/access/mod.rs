//! Callers with their rights, and the secrets that authenticate them.
//!
//! This module depends on neither HTTP nor stores. A host application that authenticates its users itself needs only
//! [`Caller`] and [`Scope`].

mod caller;
mod client_prefix;
mod clock;
mod code_secret;
mod login_attempts;
mod login_failures;
mod password;
mod password_lane;
mod random;
mod scope;
mod secret;
mod share_token;

pub use caller::{Caller, Credential, DaemonCaller};
pub use client_prefix::{ClientPrefix, PrefixLengths};
pub use clock::{Clock, ManualClock, SystemClock};
pub(crate) use code_secret::CodeSecret;
pub use login_attempts::LoginLimits;
pub(crate) use login_attempts::{CountMap, LoginAttempts, Turn};
pub use password::{PasswordCost, PasswordError, PasswordHasher};
pub use password_lane::PasswordFigures;
pub use random::{RandomError, RandomSource, SystemRandom};
pub(crate) use random::{uuid_v4, uuid_v7};
pub use scope::Scope;
pub(crate) use secret::{KeyKind, KeyText, SessionId, Verifier};
pub(crate) use share_token::ShareSecret;
