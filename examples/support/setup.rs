//! What has to be there before anybody can ask for anything: an organization, its owner, networks, hosts, and a key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::io::AsyncRead;
use toposcope::access::{RandomSource, SystemRandom};
use toposcope::inventory::{Import, Inventory, NewUser, NewUserApiKey};
use toposcope::model::Permission;
use toposcope::store::{MemoryStore, Store};
use uuid::Uuid;

use super::args::{Content, Input, Place};
use super::failure::Failure;
use super::{demo, note};

const EMAIL: &str = "owner@example.net";

/// What the owner proves to be the owner by. The store has only digests of it.
pub(crate) struct Credentials {
    pub(crate) email: &'static str,
    pub(crate) password: String,
    pub(crate) key: String,
}

/// The backend. A further one is a further arm; one that outlives the program is filled only when it is new.
pub(crate) fn open(place: &Place) -> Arc<dyn Store> {
    match place {
        Place::Memory => Arc::new(MemoryStore::new()),
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

/// Fills an empty store.
pub(crate) async fn fill(inventory: &Inventory, source: Source) -> Result<Credentials, Failure> {
    let organization = inventory.create_organization("Example", true).await?;
    let password = generate_password()?;
    let mut owner = NewUser::new(organization.id, EMAIL, Permission::Owner);
    owner.password = Some(password.clone());
    let owner = inventory.create_user(owner).await?;
    // A key reaches the networks that it names and no others: it has to come after them.
    let mut key = NewUserApiKey::new(owner.id, "first key", Permission::Owner);
    match source {
        Source::Demo(count) => make_up(inventory, organization.id, count).await?,
        Source::Import { name, reader } => import(inventory, organization.id, &name, reader).await?,
    }
    key.network_ids = inventory.networks(organization.id).await?.iter().map(|network| network.id).collect();
    let key = inventory.create_user_api_key(key).await?;
    Ok(Credentials { email: EMAIL, password, key: key.plaintext().to_owned() })
}

/// Puts made-up hosts into the inventory.
async fn make_up(inventory: &Inventory, organization: Uuid, count: u32) -> Result<(), Failure> {
    for (id, name) in demo::networks(count) {
        inventory.create_network_with_id(organization, id, name).await?;
    }
    let mut progress = Progress::begin();
    for (done, host) in demo::hosts(count).enumerate() {
        let host = host.map_err(|error| Failure::because("The made-up hosts are wrong", &*error))?;
        inventory.put_host(organization, host).await?;
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
