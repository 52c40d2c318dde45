//! The users who may see an entry.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::schema::CHANGED_FOR;
use crate::model::{ChangedEntity, NetworkId, Permission, UserId};
use crate::store::{Term, TermFilter, TermRange};

/// The start of the terms of entries that a user and Admins may see.
const USERS: &[u8] = b"user.";

/// The users who may see an entry. It is a term of the record, by which pages of the history are filtered.
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

    pub(in crate::inventory::history) fn term(self) -> Term {
        Term::new(CHANGED_FOR, self.value())
    }

    /// Returns the filter of its entries alone.
    pub(in crate::inventory::history) fn only(self) -> TermFilter {
        TermFilter::new(CHANGED_FOR, [TermRange::exact(self.value())])
    }

    fn value(self) -> Vec<u8> {
        match self {
            Self::Everyone => b"everyone".to_vec(),
            Self::Network(network) => [b"network.", network.as_bytes().as_slice()].concat(),
            Self::User(user) => [USERS, user.as_bytes().as_slice()].concat(),
            Self::Admins => b"admins".to_vec(),
        }
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
        let ranges = seen.into_iter().map(|audience| TermRange::exact(audience.value()));
        // Also those whose key reaches only some networks see all users.
        let users = is_admin.then(|| TermRange::prefix(USERS));
        Some(TermFilter::new(CHANGED_FOR, ranges.chain(users).collect::<Vec<_>>()))
    }
}
