use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use http::Request;
use http::header::COOKIE;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tempfile::TempDir;
use toposcope::access::{PasswordCost, PasswordHasher};
use toposcope::inventory::{Inventory, NewUser};
use toposcope::model::Permission;
use toposcope::service::Api;
use toposcope::store::{Durability, SledStore};
use tower::ServiceExt;
use uuid::Uuid;

use crate::expected::{Expected, id_of};

const EMAIL: &str = "owner@example.net";
const PASSWORD: &str = "correct horse battery";

/// Size of the cache, so small that nearly every document is read from the disk.
const CACHE_SIZE: usize = 1 << 20;

/// Maximum number of hosts on a page.
const LIMIT: usize = 500;

/// A folder with an organization and its Owner, into which the inventory is imported.
pub(crate) struct Home {
    place: TempDir,
    pub(crate) durability: Durability,
    pub(crate) organization: Uuid,
    session: String,
}

/// The parts of a page that are checked.
#[derive(Deserialize)]
struct Page<'p> {
    #[serde(borrow)]
    data: Vec<&'p RawValue>,
}

impl Home {
    pub(crate) async fn new(input: &[u8], durability: Durability) -> Self {
        let place = TempDir::new().unwrap();
        fs::write(place.path().join("input"), input).unwrap();
        let mut home = Self { place, durability, organization: Uuid::nil(), session: String::new() };
        let store = home.open().await;
        let cheap = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
        let inventory = Inventory::new(store.clone()).with_passwords(cheap);
        home.organization = inventory.create_organization("Real").await.unwrap().id;
        let mut owner = NewUser::new(home.organization, EMAIL, Permission::Owner);
        owner.password = Some(PASSWORD.to_owned());
        inventory.create_user(owner).await.unwrap();
        let session = inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
        home.session = session.plaintext().to_owned();
        store.close().await.unwrap();
        home
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path().join("store")
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.place.path().join("input")
    }

    async fn open(&self) -> Arc<SledStore> {
        let builder = SledStore::builder(self.folder()).cache_size(CACHE_SIZE).durability(self.durability);
        Arc::new(builder.open().await.unwrap())
    }

    /// Checks that each chunk of the import is served completely or not at all, that no chunk is present
    /// without its predecessors, and that every host is right. Returns the number of chunks.
    pub(crate) async fn check(&self, expected: &Expected) -> usize {
        let store = self.open().await;
        let verification = store.verify().await.unwrap();
        assert!(verification.is_sound(), "{verification}");
        let api = Api::builder(Inventory::new(store.clone())).rate_limit(None).build();
        let served = self.served(&api).await;
        for (id, document) in &served {
            assert!(document.as_bytes() == expected.documents[id], "{id} is {document}");
        }
        let count = |chunk: &Vec<Uuid>| chunk.iter().filter(|id| served.contains_key(id)).count();
        let whole = expected.chunks.iter().take_while(|chunk| count(chunk) == chunk.len()).count();
        let hosts: usize = expected.chunks[..whole].iter().map(Vec::len).sum();
        assert_eq!(served.len(), hosts, "{whole} chunks are there, and others in part");
        store.close().await.unwrap();
        whole
    }

    /// Returns all hosts that the API lists, page by page.
    async fn served(&self, api: &Api) -> HashMap<Uuid, String> {
        let mut served = HashMap::new();
        loop {
            let target = format!("/api/v1/hosts?limit={LIMIT}&offset={}", served.len());
            let request = Request::get(target).header(COOKIE, format!("session_id={}", self.session));
            let response = api.clone().oneshot(request.body(String::new()).unwrap()).await.unwrap();
            assert_eq!(response.status(), 200);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let page: Page<'_> = serde_json::from_slice(&body).unwrap();
            for document in &page.data {
                let before = served.insert(id_of(document.get().as_bytes()), document.get().to_owned());
                assert_eq!(before, None, "a host is listed twice");
            }
            if page.data.len() < LIMIT {
                return served;
            }
        }
    }
}
