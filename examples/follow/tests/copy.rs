//! The copy equals the inventory, regardless of interruptions.

mod support;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::task::yield_now;
use toposcope::access::{Caller, Scope};
use toposcope::client::Client;
use toposcope::inventory::{Bootstrap, Bootstrapped};
use toposcope::model::{ChangedEntity, Host, Interface, Network, Permission, Tag, UserId};
use toposcope::{Api, Inventory, MemoryStore};
use toposcope_follow::{Database, follow};

use self::support::changes::Changes;
use self::support::{EMAIL, PASSWORD, assert_equal, copy, newest, soon, source};

/// An inventory in this process, and the file of its copy.
struct Site {
    store: Arc<MemoryStore>,
    inventory: Inventory,
    start: Bootstrapped,
    key: String,
    folder: TempDir,
}

impl Site {
    async fn new() -> Self {
        Self::of("Example").await
    }

    async fn of(organization: &str) -> Self {
        let store = Arc::new(MemoryStore::new());
        let inventory = Inventory::new(Arc::clone(&store));
        let owner = Bootstrap::new(organization, EMAIL).password(PASSWORD);
        let start = inventory.bootstrap(owner).await.unwrap();
        let key = start.issued_key.as_ref().unwrap().plaintext().to_owned();
        Self { store, inventory, start, key, folder: TempDir::new().unwrap() }
    }

    fn api(&self) -> Api {
        Api::builder(self.inventory.clone()).rate_limit(None).insecure_cookies().build()
    }

    fn client(&self) -> Client<Api> {
        Client::new(self.api()).with_api_key(&self.key).unwrap()
    }

    async fn session(&self) -> Client<Api> {
        let mut client = Client::new(self.api());
        client.log_in(EMAIL, PASSWORD).await.unwrap();
        client
    }

    fn caller(&self) -> Caller {
        Caller::system(self.start.organization.id)
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("copy.sqlite")
    }

    /// Follows until the copy has all changes.
    async fn follow_to_the_end(&self) {
        let (client, database) = (self.client(), Database::open(&self.database(), false).unwrap());
        soon(async {
            tokio::select! {
                outcome = follow(&client, &database) => panic!("{outcome:?}"),
                () = until_newest(&client, &database) => {}
            }
        })
        .await;
    }

    async fn assert_copied(&self, what: &str) {
        assert_equal(&copy(&self.database()).unwrap().1, &source(&self.client()).await, what);
    }
}

/// Waits until the copy includes the newest change.
async fn until_newest(client: &Client<Api>, database: &Database) {
    let newest = newest(client).await;
    while database.position().unwrap().is_none_or(|position| position.as_str() != newest) {
        yield_now().await;
    }
}

#[tokio::test]
async fn copy_equals_the_inventory_after_random_changes() {
    let site = Site::new().await;
    let mut changes = Changes::new(site.session().await, 20_261_127);
    for _ in 0..40 {
        changes.step().await.unwrap();
    }
    for round in 0..8 {
        let (client, database) = (site.client(), Database::open(&site.database(), false).unwrap());
        // The first round copies while the inventory changes; all others go on from the position.
        soon(async {
            tokio::select! {
                outcome = follow(&client, &database) => panic!("{outcome:?}"),
                () = async {
                    for _ in 0..60 {
                        changes.step().await.unwrap();
                    }
                    until_newest(&client, &database).await;
                } => {}
            }
        })
        .await;
        drop(database);
        site.assert_copied(&format!("round {round}")).await;
        // Changes while no follower runs.
        for _ in 0..20 {
            changes.step().await.unwrap();
        }
    }
    changes.assert_made_all();
}

#[tokio::test]
async fn copy_is_made_anew_when_its_position_is_gone() {
    let mut site = Site::new().await;
    let caller = site.caller();
    let kept = site.inventory.tags().create(&caller, Tag::new("kept")).await.unwrap();
    let gone = site.inventory.tags().create(&caller, Tag::new("gone")).await.unwrap();
    site.follow_to_the_end().await;
    // Without a history no client learns of this change, and the next history is another one.
    let silent = Inventory::new(Arc::clone(&site.store)).without_history();
    silent.tags().delete(&caller, gone.id).await.unwrap();
    site.inventory = Inventory::new(Arc::clone(&site.store));
    let new = site.inventory.tags().create(&caller, Tag::new("new")).await.unwrap();
    site.follow_to_the_end().await;
    site.assert_copied("made anew").await;
    let (_, documents) = copy(&site.database()).unwrap();
    let has = |tag: &Tag| documents.contains_key(&("Tag".to_owned(), tag.id.to_string()));
    assert_eq!([&kept, &gone, &new].map(has), [true, false, true]);
}

#[tokio::test]
async fn erased_changes_are_replaced_by_the_record() {
    let site = Site::new().await;
    let caller = site.caller();
    site.follow_to_the_end().await;
    let hosts = site.inventory.hosts();
    let host = hosts.create(&caller, Host::new(site.start.network.id, "secret")).await.unwrap();
    let other = hosts.create(&caller, Host::new(site.start.network.id, "other")).await.unwrap();
    hosts
        .update(&caller, host.id, |host| {
            host.name = "public".to_owned();
            Ok(())
        })
        .await
        .unwrap();
    hosts.delete(&caller, other.id).await.unwrap();
    let owner = Caller::new(site.start.organization.id, UserId::nil(), Permission::Owner, Scope::all());
    for id in [host.id, other.id] {
        let owner = owner.clone().through_session();
        site.inventory.erase_history(&owner, ChangedEntity::Host, id.uuid()).await.unwrap();
    }
    site.follow_to_the_end().await;
    site.assert_copied("erased").await;
}

#[tokio::test]
async fn host_on_another_network_stays_one_record() {
    let site = Site::new().await;
    let caller = site.caller();
    let other = site.inventory.networks().create(&caller, Network::new("Other")).await.unwrap();
    let mut host = Host::new(site.start.network.id, "moved");
    host.interfaces.push(Interface::new(&host, [192, 0, 2, 1].into()));
    site.inventory.hosts().put(&caller, host.clone()).await.unwrap();
    site.follow_to_the_end().await;
    host.network_id = other.id;
    host.interfaces[0].network_id = other.id;
    site.inventory.hosts().put(&caller, host.clone()).await.unwrap();
    site.follow_to_the_end().await;
    site.assert_copied("moved").await;
    let (_, documents) = copy(&site.database()).unwrap();
    assert_eq!(documents[&("Host".to_owned(), host.id.to_string())]["network_id"], other.id.to_string());
}

#[tokio::test]
async fn copy_of_another_organization_is_refused_and_kept() {
    let (site, other) = (Site::new().await, Site::of("Other").await);
    site.follow_to_the_end().await;
    let database = Database::open(&site.database(), false).unwrap();
    let error = soon(follow(&other.client(), &database)).await.unwrap_err();
    assert!(error.to_string().contains("Name another file with --database"), "{error}");
    drop(database);
    site.assert_copied("kept").await;
}

#[tokio::test]
async fn two_processes_do_not_follow_into_one_file() {
    let site = Site::new().await;
    let _first = Database::open(&site.database(), false).unwrap();
    let error = Database::open(&site.database(), false).unwrap_err();
    assert!(error.to_string().contains("Another process follows"), "{error}");
}

#[tokio::test]
async fn keys_that_are_not_valid_or_do_not_see_all_end_it_with_advice() {
    let site = Site::new().await;
    let database = Database::open(&site.database(), false).unwrap();
    let stranger = Client::new(site.api()).with_api_key("topo_u_unknown").unwrap();
    let error = soon(follow(&stranger, &database)).await.unwrap_err();
    assert!(error.to_string().contains("Write a valid API key"), "{error}");
}
