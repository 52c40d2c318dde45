//! The authenticated sender of a request, and which senders an endpoint admits.

pub(super) mod client_address;
pub(super) mod credentials;
pub(super) mod rate_limit;
pub(super) mod request_id;
pub(super) mod session_cookie;

use super::budget::Holder;
use crate::access::Caller;
#[cfg(feature = "discovery")]
use crate::access::DaemonCaller;
#[cfg(feature = "discovery")]
use crate::inventory::ErrorKind;
use crate::inventory::{Error, Requirement};

/// The authenticated sender of a request.
#[derive(Clone, Debug)]
pub(super) enum Sender {
    Caller(Caller),
    #[cfg(feature = "discovery")]
    Daemon(DaemonCaller),
}

impl Sender {
    /// Returns the user or the daemon key whose use of budgets is limited.
    pub(super) fn holder(&self) -> Holder {
        match self {
            Self::Caller(caller) => caller.into(),
            #[cfg(feature = "discovery")]
            Self::Daemon(daemon) => Holder { organization: daemon.organization_id, id: daemon.key_id.uuid() },
        }
    }

    /// # Errors
    /// `UserContextRequired` for a daemon.
    pub(super) fn into_caller(self) -> Result<Caller, Error> {
        match self {
            Self::Caller(caller) => Ok(caller),
            #[cfg(feature = "discovery")]
            Self::Daemon(_) => Err(ErrorKind::UserContextRequired.into()),
        }
    }
}

/// The senders that may use an endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum AllowedSenders {
    /// Anyone. Credentials are ignored.
    Public,
    /// Anyone, without a rate limit. Credentials are ignored.
    Unlimited,
    /// Anyone, for a share without a password; otherwise viewers with its token, which the endpoint checks.
    #[cfg(feature = "topology")]
    Share,
    /// Anyone. Of all credentials, only the session cookie is read.
    Session,
    /// A caller who meets the requirement.
    Caller(Requirement),
    /// A daemon, by its API key.
    #[cfg(feature = "discovery")]
    Daemon,
    /// A caller who meets the requirement, or a daemon.
    #[cfg(feature = "discovery")]
    CallerOrDaemon(Requirement),
}

impl AllowedSenders {
    /// Returns whether the endpoint has no authenticated sender.
    pub(super) const fn is_public(self) -> bool {
        match self {
            Self::Public | Self::Unlimited => true,
            #[cfg(feature = "topology")]
            Self::Share => true,
            _ => false,
        }
    }

    /// Returns the requirement of the endpoint on callers. `None` if they need not be authenticated or are not
    /// admitted.
    pub(super) const fn requirement(self) -> Option<Requirement> {
        match self {
            Self::Caller(requirement) => Some(requirement),
            #[cfg(feature = "discovery")]
            Self::CallerOrDaemon(requirement) => Some(requirement),
            _ => None,
        }
    }

    /// Checks that the endpoint admits the sender.
    pub(super) fn check(self, sender: &Sender) -> Result<(), Error> {
        match (self.requirement(), sender) {
            (Some(requirement), Sender::Caller(caller)) => requirement.check(caller),
            _ => Ok(()),
        }
    }
}
