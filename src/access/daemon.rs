use uuid::Uuid;

/// A discovery daemon that has shown its key: for the endpoints that a host application has for daemons. It is no
/// [`Caller`](super::Caller), since no user stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Daemon {
    /// The id of the key's record.
    pub key_id: Uuid,
    /// The organization of its network.
    pub organization_id: Uuid,
    /// The one network that it reports on.
    pub network_id: Uuid,
}

impl Daemon {
    pub(crate) const fn new(key_id: Uuid, organization_id: Uuid, network_id: Uuid) -> Self {
        Self { key_id, organization_id, network_id }
    }
}
