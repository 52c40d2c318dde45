/// 32 MiB.
const HOST_BYTES: usize = 32 * 1024 * 1024;

/// Sessions of a user by default.
const SESSIONS: u64 = 100;

/// Limits on how much an organization may store.
///
/// `None` means unlimited. Every limit is `None` by default, except [`sessions_per_user`](Self::sessions_per_user) and
/// [`host_bytes`](Self::host_bytes). Records stored before a limit was set remain; further ones are refused with
/// [`QuotaExceeded`](super::ErrorKind::QuotaExceeded). Sessions are not refused: a login ends the oldest ones.
///
/// Creations under a quota wait for each other, per owner, so a limit is exact among all clones of one
/// [`Inventory`](super::Inventory). When several inventories or processes write to one store at the same time, each may
/// exceed a limit by the number of creations the others have in progress.
///
/// ```
/// # use toposcope::model::Tag;
/// # use toposcope::access::Caller;
/// use toposcope::inventory::{ErrorKind, Inventory, Quotas};
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let mut quotas = Quotas::default();
/// quotas.tags_per_organization = Some(1);
/// let inventory = Inventory::new(MemoryStore::new()).with_quotas(quotas);
/// let organization = inventory.organizations().create("Example").await?;
/// inventory.tags().create(&Caller::system(organization.id), Tag::new("first")).await?;
/// let refused = inventory.tags().create(&Caller::system(organization.id), Tag::new("second")).await;
/// assert!(refused.is_err_and(|error| matches!(error.kind(), ErrorKind::QuotaExceeded { limit: 1, .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quotas {
    /// Sessions of one user. A login beyond the limit ends the oldest one; 0 refuses every login. Default: 100.
    pub sessions_per_user: Option<u64>,
    /// API keys of one user, disabled and expired ones included.
    pub user_api_keys_per_user: Option<u64>,
    /// Daemon API keys of one network, disabled and expired ones included.
    pub daemon_api_keys_per_network: Option<u64>,
    /// Tags of one organization.
    pub tags_per_organization: Option<u64>,
    /// Hosts of one organization.
    pub hosts_per_organization: Option<u64>,
    /// Records of one kind of the host application in one organization.
    pub application_records_per_kind: Option<u64>,
    /// Bytes of one host's JSON as the API serves it. Default: 32 MiB (33,554,432).
    pub host_bytes: Option<usize>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            sessions_per_user: Some(SESSIONS),
            user_api_keys_per_user: None,
            daemon_api_keys_per_network: None,
            tags_per_organization: None,
            hosts_per_organization: None,
            application_records_per_kind: None,
            host_bytes: Some(HOST_BYTES),
        }
    }
}
