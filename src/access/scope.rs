use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::model::Permission;

/// Which networks of an organization somebody may reach: all of them, those of tomorrow included, or only some.
///
/// A scope does not know of which organization. Whoever checks a record against it checks the record's organization
/// against [`Caller::organization_id`](super::Caller::organization_id) as well.
///
/// ```
/// use toposcope::access::Scope;
/// use uuid::Uuid;
///
/// let (office, lab) = (Uuid::from_u128(1), Uuid::from_u128(2));
/// let scope = Scope::only([office]);
/// assert!(scope.allows(office) && !scope.allows(lab));
/// assert_eq!(Scope::all().intersect(&scope), scope);
/// assert_eq!(scope.narrowed_to(lab), Scope::only([]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Option<Arc<Networks>>);

/// Ids in ascending order, each once.
#[derive(Debug)]
struct Networks {
    ids: Vec<Uuid>,
    digest: OnceLock<[u8; 32]>,
}

impl Networks {
    const fn new(ids: Vec<Uuid>) -> Self {
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
    /// Every network of the organization.
    #[must_use]
    pub const fn all() -> Self {
        Self(None)
    }

    /// Only these networks, in any order; from an empty list, none.
    #[must_use]
    pub fn only(networks: impl IntoIterator<Item = Uuid>) -> Self {
        let mut networks: Vec<Uuid> = networks.into_iter().collect();
        networks.sort_unstable();
        networks.dedup();
        Self(Some(Arc::new(Networks::new(networks))))
    }

    /// What a user of this level reaches who was granted these networks: an Owner or an Admin all of them, whatever was
    /// granted, a Member or a Viewer only those.
    #[must_use]
    pub fn granted(permission: Permission, networks: impl IntoIterator<Item = Uuid>) -> Self {
        if permission.sees_every_network() { Self::all() } else { Self::only(networks) }
    }

    /// Whether the network is within the scope.
    #[must_use]
    pub fn allows(&self, network: Uuid) -> bool {
        self.0.as_ref().is_none_or(|networks| networks.ids.binary_search(&network).is_ok())
    }

    /// The networks that both scopes allow.
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

    /// Only this one network if the scope allows it, otherwise none: what becomes of a list that is filtered by it.
    #[must_use]
    pub fn narrowed_to(&self, network: Uuid) -> Self {
        Self::only(self.allows(network).then_some(network))
    }

    /// The networks, ascending, each once; `None` when it is every one.
    #[must_use]
    pub fn networks(&self) -> Option<&[Uuid]> {
        self.0.as_ref().map(|networks| networks.ids.as_slice())
    }

    /// What tells this scope from all others; `None` where it is every network. Computed once, for a scope may be long.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        let networks = self.0.as_ref()?;
        let digest = || networks.ids.iter().fold(Sha256::new(), Digest::chain_update).finalize().into();
        Some(*networks.digest.get_or_init(digest))
    }
}
