//! What has to be there before anybody can ask for anything: a store, an organization with its owner, networks, a tag,
//! hosts, a key and a share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::io::AsyncRead;
use tokio::task::yield_now;
use toposcope::access::{Caller, RandomSource, Scope, SystemRandom};
use toposcope::inventory::{
    Import, Inventory, IssuedKey, NewShare, NewUser, NewUserApiKey, UserApiKeyUpdate,
};
use toposcope::model::{Permission, UserApiKey};
use toposcope::store::{MemoryStore, SledStore, Store};
use uuid::Uuid;

use super::args::{Content, Input, Place};
use super::failure::Failure;
use super::{demo, note};

const EMAIL: &str = "owner@example.net";

/// The name by which a start finds the key of the start before.
const KEY_NAME: &str = "key of the example server";

/// What whoever starts the server is given to begin with. Of the key and the password the store has only digests.
pub(crate) struct Given {
    pub(crate) key: String,
    pub(crate) key_id: Uuid,
    pub(crate) email: &'static str,
    /// Known only when the owner is new.
    pub(crate) password: Option<String>,
    /// One that the key reaches.
    pub(crate) network: Uuid,
    pub(crate) tag: Uuid,
    /// A share of the network.
    pub(crate) share: Uuid,
}

/// The backend. A further one is a further arm.
#[derive(Clone)]
pub(crate) enum Backend {
    Memory(Arc<MemoryStore>),
    Folder(Arc<SledStore>),
}

impl Backend {
    pub(crate) async fn open(place: &Place) -> Result<Self, Failure> {
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
        }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as _,
            Self::Folder(store) => Arc::clone(store) as _,
        }
    }

    /// Returns when the folder is free again. What was acknowledged is kept with or without it.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Folder(store) => store.close().await.map_err(|error| {
                Failure::because("The folder was not closed in order; nothing is lost", &error)
            }),
        }
    }
}

/// Where the hosts come from, opened, so that a missing file is told before anything else is done.
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

/// Sees to it that everything is there that is told of, and puts the hosts in. What an earlier start has made is found
/// again, however far it came.
pub(crate) async fn fill(inventory: &Inventory, source: Source) -> Result<Given, Failure> {
    let (organization, is_new) = match inventory.organizations().await?.first() {
        Some(organization) => (organization.id, false),
        None => (inventory.create_organization("Example", true).await?.id, true),
    };
    let (owner, password) = owner(inventory, organization).await?;
    let tag = match inventory.tags(organization).await?.iter().find(|tag| tag.name == demo::TAG) {
        Some(tag) => tag.id,
        None => inventory.create_tag(organization, demo::TAG).await?.id,
    };
    match source {
        Source::Demo(count) if is_new => make_up(inventory, organization, tag, count).await?,
        Source::Demo(_) => note("The inventory is not new: no hosts are made up."),
        Source::Import { name, reader } => import(inventory, organization, &name, reader).await?,
    }
    let (network, networks) = networks(inventory, organization).await?;
    // A key reaches the networks that it names and no others, so it comes after them.
    let key = key(inventory, organization, owner, networks).await?;
    let share = share(inventory, organization, network).await?;
    let (key, key_id) = (key.plaintext().to_owned(), key.record().id);
    Ok(Given { key, key_id, email: EMAIL, password, network, tag, share })
}

/// The owner, and the password if it has just been set.
async fn owner(inventory: &Inventory, organization: Uuid) -> Result<(Uuid, Option<String>), Failure> {
    if let Some(user) = inventory.users(organization).await?.iter().find(|user| user.email == EMAIL) {
        return Ok((user.id, None));
    }
    let password = generate_password()?;
    let mut owner = NewUser::new(organization, EMAIL, Permission::Owner);
    owner.password = Some(password.clone());
    Ok((inventory.create_user(owner).await?.id, Some(password)))
}

/// Returns the one key of the example server: a new one, or that of an earlier start with another plaintext.
///
/// The store has no plaintexts, so a start cannot print the key of the start before. It replaces it: otherwise every start
/// would leave one more key behind that never expires.
async fn key(
    inventory: &Inventory,
    organization: Uuid,
    owner: Uuid,
    networks: Vec<Uuid>,
) -> Result<IssuedKey<UserApiKey>, Failure> {
    let keys = inventory.user_api_keys(owner).await?;
    let mut earlier = keys.into_iter().filter(|key| key.name == KEY_NAME);
    let Some(first) = earlier.next() else {
        let mut key = NewUserApiKey::new(owner, KEY_NAME, Permission::Owner);
        key.network_ids = networks;
        return Ok(inventory.create_user_api_key(key).await?);
    };
    for surplus in earlier {
        inventory.delete_user_api_key(surplus.id).await?;
    }
    let key = inventory.rotate_user_api_key(first.id).await?;
    // An import may have brought further networks, and the owner may have restricted the key.
    let caller = Caller::new(organization, owner, Permission::Owner, Scope::all());
    let mut update = UserApiKeyUpdate::new(organization, owner, KEY_NAME, first.tags);
    update.network_ids = Some(networks);
    update.permissions = Some(Permission::Owner);
    update.is_enabled = Some(true);
    update.expires_at = Some(None);
    inventory.update_user_api_key_as(&caller, first.id, &update).await?;
    Ok(key)
}

async fn share(inventory: &Inventory, organization: Uuid, network: Uuid) -> Result<Uuid, Failure> {
    let shares = inventory.shares(organization).await?;
    if let Some(share) = shares.iter().find(|share| share.network_id == Some(network)) {
        return Ok(share.id);
    }
    let mut share = NewShare::new(organization, "first share");
    share.network_id = Some(network);
    Ok(inventory.create_share(share).await?.id)
}

/// The first network by name, and all of them. Where nothing came with one, there is one to begin with.
async fn networks(inventory: &Inventory, organization: Uuid) -> Result<(Uuid, Vec<Uuid>), Failure> {
    let all: Vec<Uuid> = inventory.networks(organization).await?.iter().map(|network| network.id).collect();
    if let Some(first) = all.first() {
        return Ok((*first, all));
    }
    let office = inventory.create_network(organization, "Office").await?.id;
    Ok((office, vec![office]))
}

/// Puts made-up hosts into the inventory.
pub(crate) async fn make_up(
    inventory: &Inventory,
    organization: Uuid,
    tag: Uuid,
    count: u32,
) -> Result<(), Failure> {
    for (id, name) in demo::networks(count) {
        inventory.create_network_with_id(organization, id, name).await?;
    }
    let mut progress = Progress::begin();
    for (done, host) in demo::hosts(count).enumerate() {
        let mut host = host.map_err(|error| Failure::because("The made-up hosts are wrong", &*error))?;
        if demo::is_monitored(&host) {
            host.tags.push(tag);
        }
        inventory.put_host(organization, host).await?;
        // A store in memory keeps nobody waiting: without this Ctrl-C would not be heard of before the last host.
        yield_now().await;
        if progress.is_due() {
            note(format_args!("{} of {count} hosts made up …", done + 1));
        }
    }
    note(format_args!("Hosts made up: {count}."));
    Ok(())
}

/// Puts the hosts of JSON lines into the inventory.
async fn import(
    inventory: &Inventory,
    organization: Uuid,
    name: &str,
    reader: Box<dyn AsyncRead + Send + Unpin>,
) -> Result<(), Failure> {
    note(format_args!("Importing {name} …"));
    let mut progress = Progress::begin();
    let import = Import::new().create_networks(true).on_progress(|report| {
        if progress.is_due() {
            note(format_args!("{} lines read, {} hosts imported …", report.lines, report.imported));
        }
    });
    let report = inventory.import_hosts(organization, reader, import).await;
    let report =
        report.map_err(|error| Failure::because(format_args!("{name} cannot be imported"), &error))?;
    note(report.to_string().trim_end());
    Ok(())
}

/// Tells once a second that it is time to tell something.
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

/// 128 random bits, in digits that no shell and no URL minds.
fn generate_password() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    SystemRandom
        .fill(&mut bytes)
        .map_err(|error| Failure::because("There is no password to be had", &error))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
