use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use toposcope::access::Caller;

use http::{Request, StatusCode, header};
use tokio::task::JoinSet;
use toposcope::inventory::{Bootstrap, Bootstrapped, Entity, ErrorKind, NewUser, Problem};
use toposcope::model::{Host, Network, Permission};
use toposcope::{Api, Inventory, MemoryStore, Store};
use tower::ServiceExt;

use crate::support::{PASSWORD, already_exists, invalid, inventory_in, refusal};

fn bootstrap() -> Bootstrap {
    Bootstrap::new("Example", "Me@example.net").network("Office").password(PASSWORD)
}

fn in_memory() -> Inventory {
    inventory_in(Arc::new(MemoryStore::new()))
}

/// Returns the status and the number of hosts of a list requested with this key.
async fn hosts(inventory: &Inventory, key: &str) -> (StatusCode, usize) {
    let request = Request::get("/api/v1/hosts").header(header::AUTHORIZATION, format!("Bearer {key}"));
    let response =
        Api::builder(inventory.clone()).build().oneshot(request.body(String::new()).unwrap()).await.unwrap();
    let status = response.status();
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    (status, body["data"].as_array().map_or(0, Vec::len))
}

/// Asserts that two starts are equal except for the plaintext of the key.
fn assert_same(one: &Bootstrapped, other: &Bootstrapped) {
    assert_eq!(one.organization, other.organization);
    assert_eq!(one.owner, other.owner);
    assert_eq!(one.network, other.network);
    assert_eq!(one.key_id, other.key_id);
}

/// Runs two starts, each on the store that `open` returns.
async fn start_twice<F: Future<Output = Inventory>>(mut open: impl FnMut() -> F) {
    let inventory = open().await;
    let first = inventory.bootstrap(bootstrap()).await.unwrap();
    assert!(first.is_new);
    assert_eq!((first.organization.name.as_str(), first.network.name.as_str()), ("Example", "Office"));
    assert_eq!((first.owner.email.as_str(), first.owner.permissions), ("me@example.net", Permission::Owner));
    let key = first.issued_key.as_ref().unwrap().plaintext().to_owned();
    let host = Host::new(first.network.id, "printer");
    inventory.hosts().put(&Caller::system(first.organization.id), host).await.unwrap();
    assert_eq!(hosts(&inventory, &key).await, (StatusCode::OK, 1));
    inventory.log_in("me@example.net", PASSWORD.to_owned()).await.unwrap();
    drop(inventory);

    let inventory = open().await;
    let later = inventory.bootstrap(bootstrap().password("another password")).await.unwrap();
    assert_same(&first, &later);
    assert!(!later.is_new && later.issued_key.is_none());
    assert_eq!(hosts(&inventory, &key).await, (StatusCode::OK, 1));
    inventory.log_in("me@example.net", PASSWORD.to_owned()).await.unwrap();
    assert_eq!(inventory.organizations().all().await.unwrap(), [later.organization]);
}

#[tokio::test]
async fn second_start_in_memory_finds_what_the_first_created() {
    let store = Arc::new(MemoryStore::new());
    start_twice(|| std::future::ready(inventory_in(store.clone()))).await;
}

#[cfg(feature = "sled")]
#[tokio::test]
async fn second_start_in_a_folder_finds_what_the_first_created() {
    let folder = tempfile::TempDir::new().unwrap();
    let opened = std::sync::Mutex::new(None::<Arc<toposcope::SledStore>>);
    start_twice(|| async {
        let earlier = opened.lock().unwrap().take();
        if let Some(earlier) = earlier {
            earlier.close().await.unwrap();
        }
        let store = Arc::new(toposcope::SledStore::open(folder.path().join("data")).await.unwrap());
        *opened.lock().unwrap() = Some(store.clone());
        inventory_in(store)
    })
    .await;
    let last = opened.lock().unwrap().take().unwrap();
    last.close().await.unwrap();
}

/// Starts eight times at once, each time with an inventory of its own. This is how separate processes start.
async fn race(store: Arc<dyn Store>, bootstrap: &Bootstrap) -> Vec<Bootstrapped> {
    let mut starts = JoinSet::new();
    for _ in 0..8 {
        let (inventory, bootstrap) = (inventory_in(store.clone()), bootstrap.clone());
        starts.spawn(async move { inventory.bootstrap(bootstrap).await.unwrap() });
    }
    starts.join_all().await
}

async fn assert_one_of_each(inventory: &Inventory, started: &Bootstrapped) {
    let id = started.organization.id;
    assert_eq!(inventory.organizations().all().await.unwrap().len(), 1);
    assert_eq!(inventory.users().all(&Caller::system(id)).await.unwrap().len(), 1);
    assert_eq!(inventory.networks().all(&Caller::system(id)).await.unwrap().len(), 1);
    assert_eq!(
        inventory
            .user_api_keys()
            .of_user(&Caller::system(started.owner.organization_id), started.owner.id)
            .await
            .unwrap()
            .len(),
        1
    );
}

async fn first_starts_at_once_create_everything_once(store: Arc<dyn Store>) {
    let started = race(store.clone(), &bootstrap()).await;
    for other in &started {
        assert_same(&started[0], other);
    }
    assert_eq!(started.iter().filter(|start| start.is_new).count(), 1);
    let issued: Vec<_> = started.iter().filter_map(|start| start.issued_key.as_ref()).collect();
    assert_eq!(issued.len(), 1);
    let inventory = inventory_in(store);
    assert_one_of_each(&inventory, &started[0]).await;
    assert_eq!(hosts(&inventory, issued[0].plaintext()).await, (StatusCode::OK, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_first_starts_at_once_in_memory_create_everything_once() {
    for _ in 0..20 {
        first_starts_at_once_create_everything_once(Arc::new(MemoryStore::new())).await;
    }
}

#[cfg(feature = "sled")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_first_starts_at_once_in_a_folder_create_everything_once() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = Arc::new(toposcope::SledStore::open(folder.path()).await.unwrap());
    first_starts_at_once_create_everything_once(store.clone()).await;
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_rotations_at_once_leave_one_valid_key() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let started = race(store.clone(), &bootstrap().rotate_key()).await;
    let inventory = inventory_in(store);
    assert_one_of_each(&inventory, &started[0]).await;
    let keys: HashSet<&str> =
        started.iter().map(|start| start.issued_key.as_ref().unwrap().plaintext()).collect();
    assert_eq!(keys.len(), 8);
    let mut valid = 0;
    for key in keys {
        valid += usize::from(inventory.authenticate_user_key(key).await.is_ok());
    }
    assert_eq!(valid, 1);
}

#[tokio::test]
async fn rotated_key_keeps_its_id_and_regains_its_rights() {
    let inventory = in_memory();
    let first = inventory.bootstrap(bootstrap()).await.unwrap();
    let old = first.issued_key.unwrap();
    inventory.user_api_keys().disable(&Caller::system(first.organization.id), first.key_id).await.unwrap();
    let added = inventory
        .networks()
        .create(&Caller::system(first.organization.id), Network::new("Added"))
        .await
        .unwrap();

    let later =
        inventory.bootstrap(bootstrap().key_permissions(Permission::Viewer).rotate_key()).await.unwrap();
    let new = later.issued_key.unwrap();
    assert_eq!((later.key_id, new.record().id), (first.key_id, first.key_id));
    let caller = inventory.authenticate_user_key(new.plaintext()).await.unwrap();
    assert_eq!(caller.permission(), Permission::Viewer);
    assert!(caller.scope().allows(added.id) && caller.scope().allows(first.network.id));
    let refused = inventory.authenticate_user_key(old.plaintext()).await.unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::NotAuthenticated);
    assert_eq!(
        inventory.user_api_keys().get(&Caller::system(first.organization.id), first.key_id).await.unwrap(),
        *new.record()
    );
}

#[tokio::test]
async fn later_start_keeps_what_was_changed_since() {
    let inventory = in_memory();
    let first = inventory.bootstrap(bootstrap()).await.unwrap();
    inventory.user_api_keys().disable(&Caller::system(first.organization.id), first.key_id).await.unwrap();
    inventory
        .users()
        .set_rights(
            &Caller::system(first.owner.organization_id),
            first.owner.id,
            Permission::Member,
            Vec::new(),
        )
        .await
        .unwrap();
    inventory.organizations().disable_api_access(first.organization.id).await.unwrap();

    let later = inventory.bootstrap(bootstrap()).await.unwrap();
    assert!(later.issued_key.is_none());
    assert_eq!((later.owner.permissions, later.organization.api_access), (Permission::Member, false));
    assert!(
        !inventory
            .user_api_keys()
            .get(&Caller::system(first.organization.id), first.key_id)
            .await
            .unwrap()
            .is_enabled
    );
}

#[tokio::test]
async fn later_start_creates_again_what_was_deleted() {
    let inventory = in_memory();
    let first = inventory.bootstrap(bootstrap()).await.unwrap();
    let key = first.issued_key.as_ref().unwrap().plaintext();
    inventory
        .networks()
        .delete(&Caller::system(first.network.organization_id), first.network.id)
        .await
        .unwrap();
    let later = inventory.bootstrap(bootstrap()).await.unwrap();
    assert_eq!(later.network.id, first.network.id);
    assert!(later.issued_key.is_none());
    let caller = inventory.authenticate_user_key(key).await.unwrap();
    assert!(caller.scope().allows(later.network.id));

    inventory.user_api_keys().delete(&Caller::system(first.organization.id), first.key_id).await.unwrap();
    let later = inventory.bootstrap(bootstrap()).await.unwrap();
    assert_eq!(hosts(&inventory, later.issued_key.unwrap().plaintext()).await.0, StatusCode::OK);

    inventory.users().delete(&Caller::system(first.owner.organization_id), first.owner.id).await.unwrap();
    let later = inventory.bootstrap(bootstrap()).await.unwrap();
    assert_ne!(later.owner.id, first.owner.id);
    assert_eq!(later.organization.id, first.organization.id);
    assert_eq!(hosts(&inventory, later.issued_key.as_ref().unwrap().plaintext()).await.0, StatusCode::OK);
    assert_one_of_each(&inventory, &later).await;
}

#[tokio::test]
async fn another_network_name_adds_a_network_that_the_key_reaches() {
    let inventory = in_memory();
    let first = inventory.bootstrap(bootstrap()).await.unwrap();
    let second = inventory.bootstrap(bootstrap().network("Laboratory")).await.unwrap();
    assert_ne!(first.network.id, second.network.id);
    let caller = inventory.authenticate_user_key(first.issued_key.unwrap().plaintext()).await.unwrap();
    assert!([first.network.id, second.network.id].iter().all(|id| caller.scope().allows(*id)));
}

#[tokio::test]
async fn unacceptable_input_is_refused_and_creates_nothing() {
    let inventory = in_memory();
    let empty = |field| invalid(field, Problem::Empty);
    let cases = [
        (Bootstrap::new(" ", "me@example.net"), empty("organization")),
        (bootstrap().network(""), empty("network")),
        (Bootstrap::new("Example", "me"), invalid("email", Problem::MinLength { min: 3 })),
        (bootstrap().password("short"), invalid("password", Problem::MinLength { min: 10 })),
    ];
    for (bootstrap, expected) in cases {
        assert_eq!(refusal(inventory.bootstrap(bootstrap).await), expected);
    }
    assert_eq!(inventory.organizations().all().await.unwrap(), []);
}

#[tokio::test]
async fn address_of_another_organization_is_refused() {
    let inventory = in_memory();
    let other = inventory.organizations().create("Other").await.unwrap().id;
    let user = NewUser::new("me@example.net", Permission::Viewer);
    inventory.users().create(&Caller::system(other), user).await.unwrap();
    let expected = already_exists(Entity::User, "me@example.net");
    assert_eq!(refusal(inventory.bootstrap(bootstrap()).await), expected);
}

#[test]
fn debug_output_omits_the_password() {
    assert!(!format!("{:?}", bootstrap()).contains(PASSWORD));
}
