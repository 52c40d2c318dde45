//! The rules: what may be stored, who may see it, and how it is found. Usable without HTTP.
//!
//! [`Inventory`] is the typed façade over a [`Store`]. A host application uses it to
//! create organizations, users, networks, keys and hosts; the HTTP service is a thin adapter on it.

mod authentication;
mod change;
mod daemon_keys;
mod decoded;
mod entity;
mod error;
mod field_path;
mod hosts;
mod import;
mod issued;
mod key_uses;
mod networks;
mod offload;
mod organizations;
mod quotas;
mod records;
mod references;
mod referrals;
mod secrets;
mod sessions;
mod shares;
mod tags;
mod tasks;
mod text;
mod transaction;
mod update_queues;
mod user_keys;
mod users;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use uuid::Uuid;

pub use daemon_keys::NewDaemonApiKey;
pub(crate) use daemon_keys::may_create_daemon_api_keys;
pub use entity::Entity;
pub use error::{Error, ErrorKind, Problem};
pub(crate) use field_path::dotted;
pub use hosts::{HostPage, HostQuery, PortUpdate, Written};
pub(crate) use hosts::{HostPages, may_update_ports, without_comma};
pub use import::{Alteration, DroppedPort, Import, ImportReport, Refusal};
pub use issued::IssuedKey;
pub use quotas::Quotas;
pub(crate) use referrals::may_submit_referrals;
pub use sessions::IssuedSession;
pub use shares::NewShare;
pub(crate) use user_keys::may_manage_user_api_keys;
pub use user_keys::{NewUserApiKey, UserApiKeyUpdate};
pub use users::NewUser;

use self::authentication::Rights;
use self::change::{ATTEMPTS, as_read, conflict};
use self::offload::Offload;
use self::sessions::Decoys;
use self::tasks::Tasks;
use self::update_queues::UpdateQueues;
use crate::access::{
    Caller, Clock, LoginAttempts, PasswordHasher, RandomSource, SystemClock, SystemRandom, uuid_v4, uuid_v7,
};
use crate::model::{Permission, Timestamp};
use crate::store::Store;

/// An inventory in a store.
///
/// Cheap to clone; clones are the same inventory. Methods that take no [`Caller`] are for the host application and ask
/// nobody's leave; of what there is both ways, the one that asks is named `…_as`.
///
/// Every change is decided on the records as they were read and committed on the condition that they have not changed
/// since. Changes of the same record through clones of one inventory wait for each other, in the order in which they came.
/// When another process changes the record meanwhile, the change is decided again, up to 16 times, and then fails with
/// `Conflict`. It also fails with `Conflict` when 1,024 changes of the record are under way or waiting.
///
/// Beside the errors that a method names, each may fail with `StoreUnavailable`, with `Conflict` where it changes something,
/// or with `Internal` where the store holds something unreadable. Hosts of more than 256 KiB are decoded and encoded on the
/// runtime's blocking threads. Methods that hash a password and the import must be called within a tokio runtime; outside
/// of one the use of a key is not noted, and large hosts are decoded in place.
///
/// ```
/// use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
/// use toposcope::model::Permission;
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.create_organization("Example", true).await?;
/// let network = inventory.create_network(organization.id, "Office").await?;
/// let owner = inventory.create_user(NewUser::new(organization.id, "owner@example.net", Permission::Owner)).await?;
/// let mut key = NewUserApiKey::new(owner.id, "laptop", Permission::Viewer);
/// key.network_ids = vec![network.id];
/// let issued = inventory.create_user_api_key(key).await?;
/// let caller = inventory.authenticate_user_key(issued.plaintext()).await?;
/// assert_eq!(caller.user_id(), owner.id);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Inventory {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn RandomSource>,
    passwords: PasswordHasher,
    quotas: Quotas,
    remembered: Arc<Remembered>,
}

/// What is known from earlier calls, beside what is in the store. Losing it costs time, or a count that begins anew.
#[derive(Debug, Default)]
struct Remembered {
    rights: Rights,
    attempts: LoginAttempts,
    decoys: Decoys,
    tasks: Tasks,
    queues: UpdateQueues,
    /// Queues of owners whose records are counted before one is created.
    creations: UpdateQueues,
    offload: Offload,
    /// When sessions that are over were last purged, in microseconds of Unix time.
    purged_at: AtomicI64,
}

impl Inventory {
    /// The inventory in this store, by the system's clock and randomness.
    #[must_use]
    pub fn new(store: impl Store) -> Self {
        Self::in_shared(Arc::new(store))
    }

    /// The inventory in a store that others hold as well.
    #[must_use]
    pub fn in_shared(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            passwords: PasswordHasher::new(),
            quotas: Quotas::default(),
            remembered: Arc::default(),
        }
    }

    /// With another clock: for tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// With another source of ids and secrets: for tests.
    #[must_use]
    pub fn with_random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random, ..self }
    }

    /// With another cost of passwords, or another bound on how many are hashed at once. Passwords of another cost are hashed
    /// anew by the next login with them.
    #[must_use]
    pub fn with_passwords(self, passwords: PasswordHasher) -> Self {
        Self { passwords, ..self }
    }

    /// Returns the clock that this inventory reads.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Sets limits on how much an organization may store. Default: [`Quotas::default`].
    #[must_use]
    pub fn with_quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the time elapsed since an arbitrary start: for rate limits and lock-outs.
    pub(crate) fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    fn new_id(&self) -> Result<Uuid, Error> {
        Ok(uuid_v7(&*self.random, self.now())?)
    }

    /// An id that knowing others does not help to guess.
    fn new_random_id(&self) -> Result<Uuid, Error> {
        Ok(uuid_v4(&*self.random)?)
    }
}

/// Whether a caller acts at this level or above.
fn require_level(caller: &Caller, level: Permission) -> Result<(), Error> {
    if caller.permission() >= level { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// Whether a caller is there in person.
fn require_session(caller: &Caller) -> Result<(), Error> {
    if caller.credential().is_session() { Ok(()) } else { Err(ErrorKind::UserContextRequired.into()) }
}
