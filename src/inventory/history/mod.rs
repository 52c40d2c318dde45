//! The history of an organization: its changes, their actors, and past states of records.
//!
//! | Room | Contents |
//! |---|---|
//! | `log` | entries, the records of commits and the runs that hold them, their order, and readers of them |
//! | `recording` | a commit's entries, which `recorder` adds to its batch, and security events |
//! | `feed` | reads in the order of the log: pages, one record's entries, counts, streams |
//! | `past` | past states of hosts, lists and networks, and the differences between two moments |
//! | `links` | the links of a network, which follow from changes, and how they are recorded |
//! | `maintenance` | joining, deleting, erasing and restoring entries |
//!
//! `mark` has the settings that all instances with one store agree on, and `known` the state of one instance.
//!
//! Decision 17 states why entries are records, and how they are ordered.

mod feed;
mod known;
mod limits;
mod links;
mod log;
mod maintenance;
mod mark;
mod past;
mod recording;

pub(crate) use self::feed::watch::ChangeReader;
pub use self::feed::watch::ChangeWatch;
pub(in crate::inventory) use self::known::KnownHistory;
pub use self::limits::HistoryLimits;
pub(in crate::inventory) use self::maintenance::restored::RestoredHistory;
pub(in crate::inventory) use self::past::past_hosts::PastHosts;
#[cfg(feature = "topology")]
pub(crate) use self::past::{link_times::LinkTimes, past_network::PastNetwork, past_records::PastMoment};
use uuid::Uuid;

use crate::access::{Caller, Credential, DaemonCaller};
use crate::inventory::policy::Actor;
use crate::model::{ChangeActor, OrganizationId, UserId};

/// Whether changes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::inventory) enum Recording {
    On,
    Off,
    /// Nothing is stored: neither changes nor the state of the history.
    DryRun,
}

impl Recording {
    pub(in crate::inventory) const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

/// The actor of a change, and its organization.
#[derive(Clone, Debug)]
pub(in crate::inventory) struct Author {
    organization: OrganizationId,
    actor: ChangeActor,
    request_id: Option<String>,
    /// The records from whose last changes this one follows.
    led_by: Vec<Uuid>,
}

impl Author {
    /// Returns the inventory itself, which does the work that follows from changes of others.
    pub(in crate::inventory) const fn system(organization: OrganizationId) -> Self {
        Self { organization, actor: ChangeActor::System, request_id: None, led_by: Vec::new() }
    }

    /// Returns the inventory itself, for work that follows from the last change of these records.
    pub(in crate::inventory) fn following(
        organization: OrganizationId,
        records: impl IntoIterator<Item = Uuid>,
    ) -> Self {
        Self { led_by: records.into_iter().collect(), ..Self::system(organization) }
    }

    /// Returns a user who acts without being a caller, as in a login.
    pub(in crate::inventory) const fn user(organization: OrganizationId, id: UserId) -> Self {
        let actor = ChangeActor::User { id, email: None, key_id: None };
        Self { organization, actor, request_id: None, led_by: Vec::new() }
    }

    pub(in crate::inventory) const fn organization(&self) -> OrganizationId {
        self.organization
    }
}

impl From<&Caller> for Author {
    fn from(caller: &Caller) -> Self {
        let actor = match caller.credential() {
            Credential::System => match caller.name() {
                Some(name) => ChangeActor::Application { name: name.to_owned() },
                None => ChangeActor::System,
            },
            Credential::UserApiKey { id } => {
                ChangeActor::User { id: caller.user_id(), email: None, key_id: Some(id) }
            }
            Credential::HostApplication | Credential::Session => {
                ChangeActor::User { id: caller.user_id(), email: None, key_id: None }
            }
        };
        let request_id = caller.request_id().map(str::to_owned);
        Self { organization: caller.organization_id(), actor, request_id, led_by: Vec::new() }
    }
}

impl From<&Self> for Author {
    fn from(author: &Self) -> Self {
        author.clone()
    }
}

impl From<&DaemonCaller> for Author {
    fn from(daemon: &DaemonCaller) -> Self {
        let (organization, actor) = (daemon.organization_id, ChangeActor::Daemon { id: daemon.key_id });
        Self { organization, actor, request_id: None, led_by: Vec::new() }
    }
}

impl From<Actor<'_>> for Author {
    fn from(actor: Actor<'_>) -> Self {
        match actor {
            Actor::Caller(caller) => caller.into(),
            Actor::Daemon(daemon) => daemon.into(),
        }
    }
}
