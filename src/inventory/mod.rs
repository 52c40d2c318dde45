//! The typed inventory API over a store, with all rules. It is usable without HTTP.
//!
//! [`Inventory`] decides which records may be stored, which callers may see them, and by which facets they are
//! found. Host applications use it to create organizations, users, networks, keys and hosts. The HTTP service is a
//! thin adapter on top of it.

mod addresses;
mod api_keys;
mod application;
mod application_error;
mod authentication;
mod background;
mod bootstrap;
mod caches;
mod changed_records;
mod collections;
mod custom;
#[cfg(feature = "discovery")]
mod daemons;
#[cfg(feature = "discovery")]
mod discovery;
mod effects;
mod email;
mod error;
mod error_code;
mod existing_organizations;
mod figures;
mod history;
mod hosts;
mod idempotency;
mod import;
mod measured_store;
mod natural;
#[cfg(feature = "topology")]
mod network_changes;
mod networks;
mod options;
mod organizations;
mod policy;
mod queues;
mod quotas;
mod records;
mod revocations;
#[cfg_attr(
    not(feature = "topology"),
    allow(dead_code, reason = "a store may have the records of features that are disabled")
)]
mod schema;
mod security_log;
mod sessions;
mod shared_emails;
mod shares;
mod store_access;
mod subnets;
mod tags;
#[cfg(feature = "topology")]
mod topology;
mod transaction;
mod users;
mod validate;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use uuid::Uuid;

pub use crate::wire::{
    ActorFilter, Alteration, Atomicity, ChangePage, ChangeQuery, DiffQuery, DroppedPort, HostQuery,
    ImportReport, ListOrderField, ListQuery, Moment, MomentError, NewDaemonApiKey, NewShare, NewUser,
    NewUserApiKey, PageCursor, PageCursorError, PortFilter, PortFilterError, PortUpdate, Reassignment,
    Refusal, ShareToken, SummaryQuery,
};
#[cfg(feature = "topology")]
pub use crate::wire::{
    AddressClaim, AddressDoubt, AddressDoubtError, AddressList, AddressQuery, AddressState,
    AddressStateError, GraphMoments, SubnetAddress,
};
#[cfg(feature = "topology")]
pub use addresses::Addresses;
#[cfg(feature = "topology")]
pub(crate) use addresses::{MAX_RELEASED, MAX_RESERVED};
pub use api_keys::{DaemonApiKeys, IssuedKey, UserApiKeys};
pub use application::{
    ApplicationRecord, ApplicationRecords, RecordFacets, RecordRevision, RecordRevisionError,
    ReferenceTarget, Stored,
};
pub use application_error::{ApplicationCode, ApplicationError};
pub use bootstrap::{Bootstrap, Bootstrapped};
pub(crate) use changed_records::{ChangedRecords, begin_of};
pub use collections::{
    BulkDeletable, Collection, Creatable, Deletable, ListPage, Resource, Revertable, Switchable,
};
pub(crate) use collections::{DocumentPages, Documents, MAX_BULK, PendingDocuments, Requirement};
pub(crate) use custom::{
    CUSTOM_FILTER_EXAMPLE, CUSTOM_ORDER_EXAMPLE, CUSTOM_PREFIX, MAX_CUSTOM_FIELDS, is_custom_name,
};
#[cfg(feature = "discovery")]
pub(crate) use daemons::MAX_SUBNETS;
pub use error::{Entity, Error, ErrorKind, OrganizationChoice, Problem};
pub use figures::{InventoryFigures, LoginFigures, QueueFigures, StoreCallFigures};
pub(crate) use history::ChangeReader;
pub use history::{ChangeWatch, HistoryLimits};
use history::{KnownHistory, Recording};
pub use hosts::{BulkChange, BulkHost, BulkResult, HostPage, HostParts, Hosts, Part, Written};
pub(crate) use hosts::{parse_host, parse_host_changes, parse_part, without_comma};
pub(crate) use idempotency::{Begun, KeyedRequest, RequestAnswer};
pub use import::Import;
pub use networks::Networks;
pub use organizations::{NewOrganization, Organizations};
pub use policy::{Actor, ChangeKind, Policy, ProposedChange};
pub use quotas::Quotas;
pub(crate) use revocations::Revocation;
pub use sessions::IssuedSession;
pub use shares::{PasswordChange, Shares};
pub use subnets::Subnets;
pub use tags::Tags;
#[cfg(feature = "topology")]
pub use topology::{TopologyLinks, TopologyRecords};
pub use users::Users;
pub(crate) use validate::{check_expected_time, dotted, invalid_json};
#[cfg(feature = "discovery")]
pub use {
    crate::discovery::{Claim, ClaimRows, MissingRows, SeenPart},
    crate::wire::{
        DaemonStatus, DiscoveredHost, DiscoveredSubnet, DiscoveredTable, DiscoveryOutcome, DiscoveryReport,
        DiscoveryUpdate, HostSplit, NewDaemon, NewDiscovery, StaleDeletion,
    },
    daemons::{Daemons, DiscoveryJobs, Work},
    discovery::{DiscoverOptions, ReconcileAllError, Reconciliation},
};
#[cfg(feature = "topology")]
pub(crate) use {
    history::{LinkTimes, PastMoment, PastNetwork},
    network_changes::{KnownNetwork, NetworkChanges, TopologyRevision},
    shares::OpenShare,
    topology::{KeptLayout, KeptPicture, MAX_POSITIONS, StoredLayout},
};

#[cfg(feature = "topology")]
use self::addresses::NetworkAddresses;
use self::api_keys::UnwrittenUses;
use self::background::{BackgroundTasks, Offload};
use self::caches::AuthenticationCache;
use self::custom::CustomIndex;
use self::hosts::{HostEffect, HostTerms, PartLists};
use self::idempotency::{PendingAnswer, RunningRequests};
use self::measured_store::StoreCounters;
use self::policy::Review;
use self::queues::UpdateQueues;
use self::security_log::SecurityLog;
use self::sessions::Decoys;
use crate::access::{Caller, Clock, LoginAttempts, PasswordHasher, RandomSource, uuid_v4, uuid_v7};
#[cfg(feature = "discovery")]
use crate::discovery::reconcile::PortNames;
use crate::figures::Counter;
#[cfg(feature = "topology")]
use crate::model::ServiceRoles;
use crate::model::{OrganizationId, Permission, Timestamp};
#[cfg(feature = "topology")]
use crate::recent_networks::RecentNetworks;
use crate::store::{Name, Precondition, Record, Store};

/// A network inventory in a [`Store`].
///
/// Cloning is cheap, and clones share all state.
///
/// The operations are methods of handles, one for each capability: `inventory.hosts()`, `inventory.tags()` and so on. They
/// take the [`Caller`] for whom they act, and check what the caller may do. The host application acts for itself with
/// [`Caller::system`].
///
/// # Concurrency
/// Every change reads records, decides, and commits on the condition that the records have not changed since. Changes
/// of the same record through clones of one inventory wait for each other in arrival order. When another process
/// changes the record in between, the change is decided again, up to 16 times, and then fails with `Conflict`. A
/// change also fails with `Conflict` when 1,024 changes of the record are in progress or waiting.
///
/// # Errors
/// In addition to the errors listed for a method, every method may fail with `StoreUnavailable`, with `Internal` when
/// the store contains an unreadable record, and, if it changes data, with `Conflict`.
///
/// # Runtime
/// Methods that hash a password and the import must be called within a tokio runtime. Hosts of more than 256 KiB are
/// decoded and encoded on the runtime's blocking threads. Without a runtime, large hosts are decoded in place and the
/// use of API keys is not recorded.
///
/// ```
/// use toposcope::inventory::Bootstrap;
/// use toposcope::{Inventory, MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
/// let key = start.issued_key.expect("the first start issues a key");
/// let caller = inventory.authenticate_user_key(key.plaintext()).await?;
/// assert_eq!(caller.user_id(), start.owner.id);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Inventory {
    store: Arc<dyn Store>,
    store_counters: Arc<StoreCounters>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn RandomSource>,
    passwords: PasswordHasher,
    quotas: Quotas,
    host_terms: HostTerms,
    host_effects: &'static [&'static dyn HostEffect],
    session_lifetime: Duration,
    /// Whether users of several organizations may have the same e-mail address.
    shares_emails: bool,
    attempts: Arc<LoginAttempts>,
    share_attempts: Arc<LoginAttempts>,
    /// The answer that the next commit stores, of a request with an idempotency key.
    pending_answer: Option<Arc<PendingAnswer>>,
    /// The rules of the host application.
    policy: Option<Review>,
    /// The custom fields by which hosts and networks are found.
    custom_index: CustomIndex,
    /// Whether changes are recorded.
    recording: Recording,
    /// The kinds of records that wrappers of the store add.
    wrapper_kinds: Arc<BTreeSet<Name>>,
    history_limits: HistoryLimits,
    #[cfg(feature = "discovery")]
    port_names: PortNames,
    /// The roles of hosts by their services, with their digest.
    #[cfg(feature = "topology")]
    service_roles: (ServiceRoles, u128),
    state: Arc<State>,
}

/// State kept in memory in addition to the store. Losing it costs time or resets a counter.
#[derive(Default)]
struct State {
    authentication: AuthenticationCache,
    decoys: Decoys,
    tasks: Arc<BackgroundTasks>,
    queues: UpdateQueues,
    history: Arc<KnownHistory>,
    /// Queues per owner for creations under a quota.
    creations: UpdateQueues,
    /// Queues per record for changes about which the policy must be asked again.
    repeated: UpdateQueues,
    offload: Offload,
    running_requests: Arc<RunningRequests>,
    /// Uses of API keys that the store did not take.
    unwritten_uses: Arc<UnwrittenUses>,
    #[cfg(feature = "discovery")]
    credentials: Arc<daemons::HeldCredentials>,
    #[cfg(feature = "discovery")]
    neighbor_caches: Arc<discovery::NeighborCaches>,
    /// Cache of the most recently read lists of host parts.
    part_lists: PartLists,
    /// Queues per organization for reading such lists.
    part_readers: UpdateQueues,
    /// When expired sessions were last purged, in microseconds of Unix time.
    purged_at: AtomicI64,
    /// The addresses of the networks that were asked for last.
    #[cfg(feature = "topology")]
    addresses: RecentNetworks<NetworkAddresses>,
    security_log: SecurityLog,
    sessions_begun: Counter,
    sessions_ended: Counter,
    /// Records that lists have left out because they could not be decoded.
    unreadable_records: Counter,
}

/// Shows the store and the lengths of the queues, but no cached record.
impl fmt::Debug for Inventory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Inventory");
        debug.field("store", &self.store).field("queues", &self.state.queues).finish_non_exhaustive()
    }
}

impl Inventory {
    /// Returns the inventory for a background task.
    ///
    /// It shares only the state of the history and the credentials with the other clones, so that the task is aborted
    /// when the last of them is dropped.
    fn with_own_state(&self) -> Self {
        self.state.history.note_tasks(&self.state.tasks);
        let state = State {
            #[cfg(feature = "discovery")]
            credentials: Arc::clone(&self.state.credentials),
            history: Arc::clone(&self.state.history),
            ..State::default()
        };
        Self { state: Arc::new(state), ..self.beside_answer() }
    }

    /// Returns an inventory whose writes are no part of the request, so that they are not stored with its answer.
    fn beside_answer(&self) -> Self {
        let store =
            self.pending_answer.as_ref().map_or_else(|| Arc::clone(&self.store), |pending| pending.store());
        Self { store, pending_answer: None, ..self.clone() }
    }
}

impl Inventory {
    /// Returns the inventory's clock.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Returns the rules by which names of ports are matched.
    #[cfg(feature = "topology")]
    pub(crate) const fn port_names(&self) -> &PortNames {
        &self.port_names
    }

    /// Returns the roles of hosts by their services.
    #[cfg(feature = "topology")]
    pub(crate) const fn service_roles(&self) -> &ServiceRoles {
        &self.service_roles.0
    }

    /// Runs an organization's work on bodies, on a blocking thread if the work is large.
    ///
    /// It concerns about `bytes` bytes.
    pub(crate) async fn offload<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.state.offload.run_on_bodies(organization, bytes, work).await
    }

    /// Runs an organization's long work on a blocking thread. Short work never waits for its end.
    #[cfg(feature = "discovery")]
    pub(crate) async fn offload_long<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.state.offload.run_long(organization, work).await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the time since an arbitrary start, for rate limits and lockouts.
    pub(crate) fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    fn new_id<I: From<Uuid>>(&self) -> Result<I, Error> {
        Ok(uuid_v7(&*self.random, self.now())?.into())
    }

    /// Creates a random id, which cannot be guessed from other ids.
    fn new_random_id<I: From<Uuid>>(&self) -> Result<I, Error> {
        Ok(uuid_v4(&*self.random)?.into())
    }
}

/// Returns the precondition that a record is still at the version read, or still absent.
fn unchanged(record: Option<&Record>) -> Precondition {
    record.map_or(Precondition::Absent, |record| Precondition::Version(record.version))
}

/// Requires that the caller has this level or a higher one.
pub(crate) fn require_level(caller: &Caller, level: Permission) -> Result<(), Error> {
    if caller.permission() >= level { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// Requires that the caller is the host application itself.
fn require_system(caller: &Caller) -> Result<(), Error> {
    if caller.is_system() { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// Requires that the caller is authenticated by a session.
fn require_session(caller: &Caller) -> Result<(), Error> {
    if caller.credential().is_session() { Ok(()) } else { Err(ErrorKind::SessionRequired.into()) }
}
