//! The users who may see an entry.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::class::Class;
use crate::access::Caller;
use crate::inventory::schema::CHANGED_FOR;
use crate::model::{ChangedEntity, NetworkId, Permission, UserId};
use crate::store::{Term, TermFilter, TermRange};

/// The start of the terms of entries that a user and Admins may see.
const USERS: &[u8] = b"user.";

/// The users who may see an entry. With the class, it is a term of the record, by which pages of the history are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(in crate::inventory::history) enum Audience {
    /// All users of the organization.
    Everyone,
    /// Users with access to this network. Entries of deleted networks are for Admins.
    Network(NetworkId),
    /// This user, and Admins.
    User(UserId),
    /// Admins.
    Admins,
}

impl Audience {
    /// Returns who may see a record of this kind.
    pub(in crate::inventory::history) fn of(
        entity: ChangedEntity,
        id: Uuid,
        network: Option<NetworkId>,
        user: Option<UserId>,
    ) -> Self {
        match (entity, network) {
            (ChangedEntity::Network, _) => Self::Network(NetworkId::new(id)),
            (ChangedEntity::User, _) => Self::User(UserId::new(id)),
            (ChangedEntity::UserApiKey, _) => user.map_or(Self::Admins, Self::User),
            (ChangedEntity::DaemonApiKey | ChangedEntity::Share, _) => Self::Admins,
            (ChangedEntity::Tag | ChangedEntity::Organization, _) => Self::Everyone,
            (_, Some(network)) => Self::Network(network),
            // A record without a network must not be visible to users who see only some networks.
            (_, None) => Self::Admins,
        }
    }

    /// Returns the network, if it is one.
    pub(in crate::inventory::history) const fn network(self) -> Option<NetworkId> {
        match self {
            Self::Network(network) => Some(network),
            Self::Everyone | Self::User(_) | Self::Admins => None,
        }
    }

    /// Returns the term of records of a class. One term for both takes less time than two.
    pub(in crate::inventory::history) fn term(self, class: Class) -> Term {
        debug_assert!(self.classes().contains(&class), "no filter would find {class:?} for {self:?}");
        Term::new(CHANGED_FOR, self.value(class))
    }

    /// Returns the filter of its entries alone.
    pub(in crate::inventory::history) fn only(self) -> TermFilter {
        TermFilter::new(CHANGED_FOR, self.ranges().collect::<Vec<_>>())
    }

    /// Returns whether a filter finds its entries.
    pub(in crate::inventory::history) fn is_found_by(self, filter: &TermFilter) -> bool {
        let value = self.value(Class::Records);
        filter.ranges.iter().any(|range| range.contains(&value))
    }

    fn ranges(self) -> impl Iterator<Item = TermRange> {
        self.classes().iter().map(move |class| TermRange::exact(self.value(*class)))
    }

    /// Returns the classes of its entries. Security events are those of a user or, of shares and daemons, for Admins.
    const fn classes(self) -> &'static [Class] {
        match self {
            Self::Everyone | Self::Network(_) => &[Class::Records],
            Self::User(_) | Self::Admins => &Class::ALL,
        }
    }

    fn value(self, class: Class) -> Vec<u8> {
        let (kind, id): (&[u8], &[u8]) = match &self {
            Self::Everyone => (b"everyone", &[]),
            Self::Network(network) => (b"network.", network.as_bytes()),
            Self::User(user) => (USERS, user.as_bytes()),
            Self::Admins => (b"admins", &[]),
        };
        [class.prefix().as_slice(), kind, id].concat()
    }

    /// Returns the filter of the entries that a caller may see, on these networks. `None`: all.
    pub(in crate::inventory::history) fn filter(
        caller: &Caller,
        networks: &[NetworkId],
    ) -> Option<TermFilter> {
        if caller.permission() >= Permission::Admin && caller.scope().networks().is_none() {
            return None;
        }
        let mut seen = vec![Self::Everyone];
        seen.extend(networks.iter().copied().map(Self::Network));
        let is_admin = caller.permission() >= Permission::Admin;
        seen.push(if is_admin { Self::Admins } else { Self::User(caller.user_id()) });
        let ranges = seen.into_iter().flat_map(Self::ranges);
        // Also those whose key reaches only some networks see all users.
        let users = |class: Class| TermRange::prefix([class.prefix().as_slice(), USERS].concat());
        let users = Class::ALL.into_iter().filter(|_| is_admin).map(users);
        Some(TermFilter::new(CHANGED_FOR, ranges.chain(users).collect::<Vec<_>>()))
    }
}
