use std::fmt;
use std::pin::Pin;

use crate::access::Caller;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level, require_session};
use crate::model::NetworkId;
use crate::model::{OrganizationId, Permission};
use crate::wire::ImportReport;

/// The default maximum length of a line, in bytes.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// Maximum number of bytes by which a sent line may exceed the size quota of hosts. They are for white space and
/// unknown fields.
const LINE_MARGIN: usize = 1024 * 1024;

impl Inventory {
    /// Returns the maximum length of a line that a client sends, from the size quota of hosts.
    pub(crate) fn max_sent_line(&self) -> usize {
        let max_host = self.quotas.host_bytes;
        max_host.map_or(MAX_LINE, |bytes| bytes.saturating_add(LINE_MARGIN).min(MAX_LINE))
    }
}

/// Options of an import.
///
/// ```
/// # use toposcope::access::Caller;
/// use toposcope::inventory::{Import, Inventory};
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.organizations().create("Example").await?;
/// let lines = &b"{\"id\": \"not an id\"}\n"[..];
/// let import = Import::new().create_missing_networks().on_progress(|report| println!("{} lines", report.lines));
/// let report = inventory.hosts().import(&Caller::system(organization.id), lines, import).await?;
/// assert_eq!((report.imported, report.refused), (0, 1));
/// assert_eq!(report.refusals[0].field.as_deref(), Some("id"));
/// # Ok(())
/// # }
/// ```
pub struct Import<'p> {
    pub(super) network: Option<NetworkId>,
    pub(super) create_networks: bool,
    pub(super) dry_run: bool,
    pub(super) max_line: usize,
    #[cfg(feature = "csv")]
    pub(super) is_csv: bool,
    pub(super) on_progress: Box<dyn FnMut(&ImportReport) + Send + 'p>,
    /// `None`: the caller's rights last for the whole import.
    pub(super) identify: Option<Identify<'p>>,
}

/// Identifies the caller of an import again.
pub(super) type Identify<'p> =
    Box<dyn FnMut() -> Pin<Box<dyn Future<Output = Result<Caller, Error>> + Send + 'p>> + Send + 'p>;

impl Default for Import<'_> {
    fn default() -> Self {
        Self {
            network: None,
            create_networks: false,
            dry_run: false,
            max_line: MAX_LINE,
            #[cfg(feature = "csv")]
            is_csv: false,
            on_progress: Box::new(|_| {}),
            identify: None,
        }
    }
}

impl<'p> Import<'p> {
    /// Creates the default options.
    ///
    /// Hosts on unknown networks are refused, lines may have up to 64 MiB, and no progress is reported.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses hosts of other networks than this one, on which hosts without a network are imported. Default: every host
    /// is imported on its own network.
    #[must_use]
    pub fn only_network(self, id: NetworkId) -> Self {
        Self { network: Some(id), ..self }
    }

    /// Creates missing networks named by hosts, with the id as name. Default: such hosts are refused.
    ///
    /// A network is created even if its host is refused for another reason. On behalf of a caller, it requires a
    /// session of an Admin or Owner.
    #[must_use]
    pub fn create_missing_networks(self) -> Self {
        Self { create_networks: true, ..self }
    }

    /// Checks every line and stores nothing. The report is that of an import.
    ///
    /// Each group of a few hundred lines is checked against the store as it is. Therefore lines that depend on an
    /// earlier group count as if that group had not been imported: a repeated host is not counted as replaced, and a
    /// port that two groups claim is not refused. The ids in [`reassignments`](ImportReport::reassignments) are
    /// examples.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    /// Sets the maximum line length in bytes; longer lines are refused. Memory use is a few times this. It
    /// holds for a row of a CSV, and for its host as a line of JSON.
    #[must_use]
    pub fn max_line(self, bytes: usize) -> Self {
        Self { max_line: bytes, ..self }
    }

    /// Reads a CSV (RFC 4180, UTF-8) instead of JSON lines.
    ///
    /// Its header has the names of fields of hosts, and each row has one host. A stored host keeps the fields without a column.
    /// The inventory chooses the ids and times that a row leaves out, for a stored host those that it has. Lists of ids, addresses and ports are separated by semicolons,
    /// such as `443/Tcp;53/Udp`; other lists and objects are JSON. An apostrophe in front of `=`, `+`, `-`, `@`, a tab or a carriage return is taken away,
    /// at the beginning of a cell and after each semicolon, tab and line break in it. A header with an unknown field, or
    /// without a required one, fails the import with `Invalid`.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::Caller;
    /// use toposcope::inventory::Import;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let csv = &b"name,interfaces\r\nprinter,192.0.2.17;192.0.2.18\r\n"[..];
    /// let import = Import::new().csv().only_network(network.id);
    /// assert_eq!(inventory.hosts().import(&Caller::system(organization.id), csv, import).await?.imported, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "csv")]
    #[must_use]
    pub fn csv(self) -> Self {
        Self { is_csv: true, ..self }
    }

    /// Calls `progress` with the report so far after every few hundred lines.
    ///
    /// Also called before an import fails, with everything that it has stored.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&ImportReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call), ..self }
    }

    /// Identifies the caller again before each group of lines is stored.
    ///
    /// Input from a network may take any time to arrive, and the caller's rights may be withdrawn meanwhile.
    pub(crate) fn identify_again<F>(self, mut identify: impl FnMut() -> F + Send + 'p) -> Self
    where
        F: Future<Output = Result<Caller, Error>> + Send + 'p,
    {
        Self { identify: Some(Box::new(move || Box::pin(identify()))), ..self }
    }
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Import")
            .field("network", &self.network)
            .field("create_networks", &self.create_networks)
            .field("dry_run", &self.dry_run)
            .field("max_line", &self.max_line)
            .finish_non_exhaustive()
    }
}

/// The target of an import: an organization, and the caller on whose behalf it runs.
#[derive(Debug)]
pub(super) struct ImportTarget {
    pub(super) organization: OrganizationId,
    /// `None`: the host application, which may access all networks.
    pub(super) caller: Option<Caller>,
    /// The only network to be imported; `None`: any.
    pub(super) network: Option<NetworkId>,
    pub(super) create_networks: bool,
}

impl ImportTarget {
    /// Returns the caller on whose behalf hosts are stored.
    pub(super) fn importer(&self) -> Caller {
        self.caller.clone().unwrap_or_else(|| Caller::system(self.organization))
    }

    /// Identifies the caller again. The caller must still have the rights for the import.
    pub(super) async fn identify_again(&mut self, identify: &mut Option<Identify<'_>>) -> Result<(), Error> {
        let Some(identify) = identify else { return Ok(()) };
        let caller = identify().await?;
        if caller.organization_id() != self.organization {
            return Err(ErrorKind::NotAuthenticated.into());
        }
        require_importer(&caller, self.create_networks)?;
        if let Some(id) = self.network.filter(|id| !caller.scope().allows(*id)) {
            return Err(ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.into());
        }
        self.caller = Some(caller);
        Ok(())
    }
}

/// Checks that a caller may import hosts, and create networks if the import does.
pub(super) fn require_importer(caller: &Caller, create_networks: bool) -> Result<(), Error> {
    require_level(caller, Permission::Member)?;
    if create_networks {
        require_session(caller)?;
        require_level(caller, Permission::Admin)?;
    }
    Ok(())
}
