use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::model::{NetworkId, Permission, uuids};

/// The networks of an organization that a caller may reach.
///
/// A scope contains either all networks, including future ones, or a list. It does not contain its organization. Code
/// that checks a record against a scope must also compare the record's organization with
/// [`Caller::organization_id`](super::Caller::organization_id).
///
/// ```
/// use toposcope::access::Scope;
/// use toposcope::model::NetworkId;
///
/// let (office, lab) = (NetworkId::from_u128(1), NetworkId::from_u128(2));
/// let scope = Scope::only([office]);
/// assert!(scope.allows(office) && !scope.allows(lab));
/// assert_eq!(Scope::all().intersect(&scope), scope);
/// assert_eq!(scope.narrowed_to(lab), Scope::only([]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Option<Arc<Networks>>);

/// Network ids in ascending order, without duplicates.
#[derive(Debug)]
struct Networks {
    ids: Vec<NetworkId>,
    /// Computed on first use, because a scope may be long.
    digest: OnceLock<Sha256>,
}

impl Networks {
    const fn new(ids: Vec<NetworkId>) -> Self {
        Self { ids, digest: OnceLock::new() }
    }
}

impl PartialEq for Networks {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
    }
}

impl Eq for Networks {}

impl Scope {
    /// Creates a scope of all networks of the organization.
    #[must_use]
    pub const fn all() -> Self {
        Self(None)
    }

    /// Creates a scope of these networks, given in any order. An empty list allows none.
    #[must_use]
    pub fn only(networks: impl IntoIterator<Item = NetworkId>) -> Self {
        let mut networks: Vec<NetworkId> = networks.into_iter().collect();
        networks.sort_unstable();
        networks.dedup();
        Self(Some(Arc::new(Networks::new(networks))))
    }

    /// Creates the scope of a user with this level and these granted networks.
    ///
    /// An Owner or an Admin reaches all networks, a Member or a Viewer only the granted ones.
    #[must_use]
    pub fn granted(permission: Permission, networks: impl IntoIterator<Item = NetworkId>) -> Self {
        if permission.sees_every_network() { Self::all() } else { Self::only(networks) }
    }

    /// Returns whether the scope contains a network.
    #[must_use]
    pub fn allows(&self, network: NetworkId) -> bool {
        self.0.as_ref().is_none_or(|networks| networks.ids.binary_search(&network).is_ok())
    }

    /// Returns the networks that are in both scopes.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(networks), Some(_)) => {
                let both = networks.ids.iter().copied().filter(|network| other.allows(*network));
                Self(Some(Arc::new(Networks::new(both.collect()))))
            }
        }
    }

    /// Returns the scope of a list filtered by a network.
    ///
    /// It contains that network if this scope allows it, and otherwise none.
    #[must_use]
    pub fn narrowed_to(&self, network: NetworkId) -> Self {
        Self::only(self.allows(network).then_some(network))
    }

    /// Returns the network ids in ascending order, without duplicates; `None` if all are allowed.
    #[must_use]
    pub fn networks(&self) -> Option<&[NetworkId]> {
        self.0.as_ref().map(|networks| networks.ids.as_slice())
    }

    /// Returns the networks as a query of the store takes them.
    pub(crate) fn network_filter(&self) -> Option<Vec<Uuid>> {
        self.networks().map(uuids)
    }

    /// Returns a digest that has begun with the list of networks, to be continued.
    ///
    /// It is kept with the scope after a whole block of the hash, so that only the text after it has to be hashed.
    pub(crate) fn begin_digest(&self) -> Sha256 {
        static ALL: OnceLock<Sha256> = OnceLock::new();
        match &self.0 {
            // No list of networks has the digest of zeros.
            None => ALL.get_or_init(|| in_one_block([0; 32])).clone(),
            Some(networks) => {
                let Networks { ids, digest } = &**networks;
                let add = |digest: Sha256, id: &NetworkId| digest.chain_update(id.as_bytes());
                let of_list = || ids.iter().fold(Sha256::new(), add).finalize();
                digest.get_or_init(|| in_one_block(of_list().into())).clone()
            }
        }
    }
}

/// Begins a digest with another one, padded to a block of the hash.
fn in_one_block(digest: [u8; 32]) -> Sha256 {
    Sha256::new().chain_update(digest).chain_update([0; 32])
}
