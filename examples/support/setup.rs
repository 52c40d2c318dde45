//! The store and the initial records of an example server.
//!
//! The records are an organization with its owner, networks, a tag, hosts, a key and a share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::io::AsyncRead;
use toposcope::access::{Caller, RandomSource, Scope, SystemRandom};
#[cfg(feature = "discovery")]
use toposcope::inventory::DiscoveryOutcome;
use toposcope::inventory::{Bootstrap, Import, NewShare};
use toposcope::model::{NetworkId, OrganizationId, Permission, ShareId, Tag, TagId, UserApiKeyId};
#[cfg(feature = "postgres")]
use toposcope::store::PostgresStore;
use toposcope::{Inventory, MemoryStore, SledStore, Store};

use super::args::{Content, Input, Place, ReportFile};
use super::failure::Failure;
#[cfg(feature = "discovery")]
use super::reports::{reconcile, warning_lines};
use super::{demo, note};

const EMAIL: &str = "owner@example.net";

/// The credentials and ids that a start prints. The store has only digests of the key and the password.
pub(crate) struct Given {
    /// API key of the owner. `None`: that of an earlier start is still valid.
    pub(crate) key: Option<String>,
    pub(crate) key_id: UserApiKeyId,
    pub(crate) email: &'static str,
    /// Password of the owner. `None`: the owner existed before this start.
    pub(crate) password: Option<String>,
    /// The first network by name.
    pub(crate) network: NetworkId,
    pub(crate) tag: TagId,
    /// A share of the network.
    pub(crate) share: ShareId,
}

/// The backend. A further one is a further arm.
#[derive(Clone)]
pub(crate) enum Backend {
    Memory(Arc<MemoryStore>),
    Folder(Arc<SledStore>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresStore>),
}

impl Backend {
    /// Opens the backend. Waits up to `open_timeout` for a database that is not available, such as during a failover.
    pub(crate) async fn open(place: &Place, open_timeout: Duration) -> Result<Self, Failure> {
        match place {
            Place::Memory => Ok(Self::Memory(Arc::default())),
            Place::Folder(folder) => {
                let store = SledStore::open(folder).await;
                let name = folder.display();
                let store = store
                    .map_err(|error| Failure::because(format_args!("{name} cannot be opened"), &error))?;
                note(format_args!("The inventory is kept in {name}."));
                Ok(Self::Folder(Arc::new(store)))
            }
            Place::Postgres(url) => Self::open_database(url, open_timeout).await,
        }
    }

    /// Opens a database. The URL may contain a password, so no message repeats it.
    #[cfg(feature = "postgres")]
    async fn open_database(url: &str, open_timeout: Duration) -> Result<Self, Failure> {
        let store = PostgresStore::builder(url).open_timeout(open_timeout).open().await;
        let store = store.map_err(|error| Failure::because("The database cannot be opened", &error))?;
        note("The inventory is kept in PostgreSQL.");
        Ok(Self::Postgres(Arc::new(store)))
    }

    #[cfg(not(feature = "postgres"))]
    async fn open_database(_: &str, _: Duration) -> Result<Self, Failure> {
        Err(Failure::new("PostgreSQL is not part of this build. Build the server with --features postgres."))
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as _,
            Self::Folder(store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => Arc::clone(store) as _,
        }
    }

    /// Closes the store, and returns once another process may open the folder. Acknowledged commits are kept without
    /// it, too.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Folder(store) => store.close().await.map_err(|error| {
                Failure::because("The folder was not closed in order; nothing is lost", &error)
            }),
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.close().await.map_err(|error| {
                Failure::because("The database was not closed in order; nothing is lost", &error)
            }),
        }
    }
}

/// The source of the hosts. It is opened first, so that a missing file is reported at once.
pub(crate) enum Source {
    Demo(u32),
    Import { name: String, reader: Box<dyn AsyncRead + Send + Unpin> },
}

impl Source {
    pub(crate) async fn open(content: Content) -> Result<Self, Failure> {
        Ok(match content {
            Content::Demo(count) => Self::Demo(count),
            Content::Import(Input::Stdin) => {
                Self::Import { name: "standard input".to_owned(), reader: Box::new(tokio::io::stdin()) }
            }
            Content::Import(Input::File(path)) => {
                let name = path.display().to_string();
                let file = File::open(&path).await;
                let file =
                    file.map_err(|error| Failure::because(format_args!("{name} cannot be opened"), &error))?;
                Self::Import { name, reader: Box::new(file) }
            }
        })
    }
}

/// Ensures that all records exist whose ids are printed, and stores the hosts. A later start finds the records again.
pub(crate) async fn fill(
    inventory: &Inventory,
    source: Source,
    reports: &[ReportFile],
    rotate_key: bool,
) -> Result<Given, Failure> {
    let password = generate_password()?;
    let bootstrap = Bootstrap::new("Example", EMAIL).network("Office").password(password.clone());
    let bootstrap = if rotate_key { bootstrap.rotate_key() } else { bootstrap };
    let start = inventory.bootstrap(bootstrap).await?;
    let organization = start.organization.id;
    let tag = match inventory
        .tags()
        .all(&Caller::system(organization))
        .await?
        .iter()
        .find(|tag| tag.name == demo::TAG)
    {
        Some(tag) => tag.id,
        None => inventory.tags().create(&Caller::system(organization), Tag::new(demo::TAG)).await?.id,
    };
    match source {
        Source::Demo(count) if start.is_new => make_up(inventory, organization, tag, count).await?,
        Source::Demo(_) => note("The inventory is not new: no hosts are generated."),
        Source::Import { name, reader } => import(inventory, organization, &name, reader).await?,
    }
    let networks = inventory.networks().all(&Caller::system(organization)).await?;
    let by_name = networks.iter().min_by_key(|network| network.name.to_lowercase());
    let network = by_name.map_or(start.network.id, |first| first.id);
    let owner = Caller::new(organization, start.owner.id, Permission::Owner, Scope::all());
    discover(inventory, &owner, network, reports).await?;
    let share = share(inventory, organization, network).await?;
    let key = start.issued_key.map(|issued| issued.plaintext().to_owned());
    let password = start.is_new.then_some(password);
    Ok(Given { key, key_id: start.key_id, email: EMAIL, password, network, tag, share })
}

async fn share(
    inventory: &Inventory,
    organization: OrganizationId,
    network: NetworkId,
) -> Result<ShareId, Failure> {
    let shares = inventory.shares().all(&Caller::system(organization)).await?;
    if let Some(share) = shares.iter().find(|share| share.network_id == Some(network)) {
        return Ok(share.id);
    }
    let mut share = NewShare::new("first share");
    share.network_id = Some(network);
    Ok(inventory.shares().create(&Caller::system(organization), share).await?.id)
}

/// Stores generated hosts and their subnets.
pub(crate) async fn make_up(
    inventory: &Inventory,
    organization: OrganizationId,
    tag: TagId,
    count: u32,
) -> Result<(), Failure> {
    let mut progress = Progress::begin();
    let on_host = |done| {
        if progress.is_due() {
            note(format_args!("{done} of {count} hosts generated …"));
        }
    };
    demo::store(inventory, organization, Some(tag), count, on_host).await?;
    note(format_args!("Hosts generated: {count}."));
    Ok(())
}

/// Imports hosts from JSON lines.
async fn import(
    inventory: &Inventory,
    organization: OrganizationId,
    name: &str,
    reader: Box<dyn AsyncRead + Send + Unpin>,
) -> Result<(), Failure> {
    note(format_args!("Importing {name} …"));
    let mut progress = Progress::begin();
    let import = Import::new().create_missing_networks().on_progress(|report| {
        if progress.is_due() {
            note(format_args!("{} lines read, {} hosts imported …", report.lines, report.imported));
        }
    });
    let report = inventory.hosts().import(&Caller::system(organization), reader, import).await;
    let report =
        report.map_err(|error| Failure::because(format_args!("{name} cannot be imported"), &error))?;
    note(report.to_string().trim_end());
    Ok(())
}

/// Reconciles reports with the hosts of a network.
#[cfg(feature = "discovery")]
async fn discover(
    inventory: &Inventory,
    caller: &Caller,
    network: NetworkId,
    reports: &[ReportFile],
) -> Result<(), Failure> {
    for (file, outcome) in reconcile(inventory, caller, network, reports, false, |_| ()).await? {
        let answer = outcome?;
        let [created, updated, ambiguous] =
            [DiscoveryOutcome::Created, DiscoveryOutcome::Updated, DiscoveryOutcome::Ambiguous]
                .map(|outcome| answer.count(outcome));
        note(format_args!(
            "{file}: {} devices, {created} of them new, {updated} updated, {ambiguous} ambiguous.",
            answer.host_count()
        ));
        for host in answer.hosts.iter().filter(|host| host.outcome == DiscoveryOutcome::Ignored) {
            note(format_args!("{file}: {}", host.reason.as_deref().unwrap_or("A device was ignored.")));
        }
        for line in warning_lines(&answer.warnings) {
            note(format_args!("{file}: {line}"));
        }
    }
    Ok(())
}

/// Does nothing, because there are no reports without the parsers.
#[cfg(not(feature = "discovery"))]
async fn discover(_: &Inventory, _: &Caller, _: NetworkId, _: &[ReportFile]) -> Result<(), Failure> {
    Ok(())
}

/// Limits progress messages to one a second.
struct Progress(Instant);

impl Progress {
    fn begin() -> Self {
        Self(Instant::now())
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.0.elapsed() >= Duration::from_secs(1);
        if is_due {
            self.0 = Instant::now();
        }
        is_due
    }
}

/// Returns 128 random bits as hexadecimal digits, which need no escaping in shells and URLs.
fn generate_password() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    SystemRandom
        .fill(&mut bytes)
        .map_err(|error| Failure::because("Failed to generate a password", &error))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
