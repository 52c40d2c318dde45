//! The rules: what may be stored, who may see it, and how it is found. Usable without HTTP.
//!
//! [`Inventory`] is the typed façade over a [`Store`]. A host application uses it to
//! create organizations, users, networks, keys and hosts; the HTTP service is a thin adapter on it.

mod credentials;
mod decoded;
mod error;
mod hosts;
mod import;
mod networks;
mod organizations;
mod records;
mod references;
mod tags;
mod text;
mod user_keys;
mod users;

use std::sync::Arc;

use uuid::Uuid;

pub use error::{Entity, Error, ErrorKind, Problem};
pub use hosts::{HostPage, HostQuery, Written};
pub use import::{Alteration, DroppedPort, Import, ImportReport, Refusal};
pub use user_keys::{IssuedUserApiKey, NewUserApiKey};
pub use users::NewUser;

use self::credentials::Rights;
use crate::access::{Clock, PasswordHasher, RandomSource, SystemClock, SystemRandom, uuid_v7};
use crate::model::Timestamp;
use crate::store::{Key, Record, Store};

/// An inventory in a store.
///
/// Cheap to clone; clones are the same inventory. Methods that take no [`Caller`](crate::access::Caller) are for the host
/// application and ask nobody's leave.
///
/// Beside the errors that a method names, each may fail by `StoreUnavailable`, or by `Internal` where the store holds what
/// cannot be read. Methods that hash a password and the import must be called within a tokio runtime.
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
    rights: Arc<Rights>,
}

/// How often a change is tried again when others change the same records at the same time.
const ATTEMPTS: usize = 16;

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
            rights: Arc::default(),
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

    /// With another cost of passwords, or another bound on how many are hashed at once.
    #[must_use]
    pub fn with_passwords(self, passwords: PasswordHasher) -> Self {
        Self { passwords, ..self }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn new_id(&self) -> Result<Uuid, Error> {
        Ok(uuid_v7(&*self.random, self.now())?)
    }

    async fn get(&self, key: Key) -> Result<Option<Record>, Error> {
        Ok(self.store.get(&[key]).await?.pop().flatten())
    }
}
