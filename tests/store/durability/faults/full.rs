use std::path::Path;
use std::sync::Arc;
use std::thread;

use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{Network, Permission};
use toposcope::service::Api;
use toposcope::store::{Batch, Facets, Precondition, SledStore, Store, StoreError, StoreErrorKind};
use tower::ServiceExt;

use super::Ballast;
use crate::child::{Child, TIMEOUT, say};
use crate::contents::chain;
use crate::durability::workload::{Progress, Workload};
use crate::fixture::{assert_error, key};

/// Number of batches that exceeds the preallocated part of the log.
const BATCHES: usize = 30;

pub(super) async fn while_committing(folder: &Path) {
    let disk = folder.join("disk");
    let mut workload = Workload::new(&disk.join("store")).await;
    workload.write_all(6).await;
    workload.assert_sound().await;
    for _ in 0..2 {
        let ballast = Ballast::fill(&disk);
        let tally = workload.write(BATCHES).await;
        assert!(tally.refused > 0, "{tally:?}");
        workload.assert_read().await;
        drop(ballast);
        workload.write_all(2).await;
        workload.assert_sound().await;
    }
    let workload = Workload::open(&disk.join("store"), workload.close().await).await;
    workload.assert_sound().await;
    serve(&disk).await;
}

/// Asserts that the API refuses writes with 503 and serves reads on a full disk.
async fn serve(disk: &Path) {
    let workload = Workload::new(&disk.join("served")).await;
    let served = Served::new(&workload.store).await;
    let ballast = Ballast::fill(disk);
    // Fills most of the preallocated part of the log faster than requests do.
    for number in 0.. {
        let mut batch = Batch::new();
        batch.put(key(number), Precondition::Absent, Facets::default(), vec![7; 16 << 10]);
        if workload.store.commit(batch).await.is_err() {
            break;
        }
    }
    let mut answers = Vec::new();
    for _ in 0..2000 {
        answers.push(served.write().await);
        assert_eq!(served.read().await, (200, Value::Null));
        if answers.last().is_some_and(|(status, _)| *status == 503) {
            break;
        }
    }
    assert_eq!(answers.pop(), Some((503, Value::from("store_unavailable"))));
    assert!(answers.iter().all(|answer| *answer == (200, Value::Null)), "{answers:?}");
    drop(ballast);
    assert_eq!(served.write().await, (200, Value::Null));
    assert_eq!(served.read().await, (200, Value::Null));
}

pub(super) async fn at_a_checkpoint(folder: &Path) {
    let disk = folder.join("disk");
    let mut workload = Workload::new(&disk.join("store")).await;
    workload.write_all(4).await;
    // Even preallocation fails at first; then a little more space is free each time, until there is enough.
    let ballast = Ballast::fill(&disk);
    let mut refusals = 0;
    loop {
        match workload.store.verify().await {
            Ok(found) => {
                assert!(found.is_sound(), "{found}");
                break;
            }
            Err(error) => assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error)),
        }
        refusals += 1;
        workload.assert_read().await;
        ballast.give_back(4 << 20);
    }
    assert!(refusals > 0);
    drop(ballast);
    workload.write_all(1).await;
    workload.assert_sound().await;
    let workload = Workload::open(&disk.join("store"), workload.close().await).await;
    workload.assert_sound().await;
}

/// Space is taken and freed at any moment, also in the middle of sled's writes.
pub(super) async fn now_and_then(folder: &Path) {
    let disk = folder.join("disk");
    let mut workload = Workload::new(&disk.join("store")).await;
    let go_on = Arc::new(());
    let (is_wanted, filled) = (Arc::downgrade(&go_on), disk.clone());
    let filling = thread::spawn(move || {
        while is_wanted.strong_count() > 0 {
            drop(Ballast::fill(&filled));
        }
    });
    let (mut refused, mut unsound) = (0, 0);
    for _ in 0..6 {
        refused += workload.write(2).await.refused;
        workload.assert_read_or_told().await;
        unsound += usize::from(workload.store.verify().await.is_err());
    }
    say(&format!("{refused} batches and {unsound} checkpoints refused"));
    drop(go_on);
    filling.join().unwrap();
    workload.write_all(1).await;
    workload.assert_sound().await;
    let workload = Workload::open(&disk.join("store"), workload.close().await).await;
    workload.assert_sound().await;
}

pub(super) async fn when_opened(folder: &Path) {
    let disk = folder.join("disk");
    let path = disk.join("store");
    let mut workload = Workload::new(&path).await;
    workload.write_all(2).await;
    let mut progress = workload.close().await;
    for _ in 0..3 {
        let ballast = Ballast::fill(&disk);
        match Workload::try_to_open(&path, progress.clone()).await {
            Ok(workload) => progress = workload.close().await,
            Err(error) => assert_unavailable(&error, &path),
        }
        drop(ballast);
        let mut workload = Workload::open(&path, progress).await;
        workload.assert_sound().await;
        workload.write_all(1).await;
        progress = workload.close().await;
    }
    let _ballast = Ballast::fill(&disk);
    let new = disk.join("new");
    if let Err(error) = SledStore::open(&new).await {
        assert_unavailable(&error, &new);
    }
}

pub(super) fn assert_unavailable(error: &StoreError, folder: &Path) {
    assert_error(error, &StoreErrorKind::Unavailable, folder);
}

pub(super) async fn when_killed(folder: &Path) {
    let disk = folder.join("disk");
    for _ in 0..3 {
        let store = TempDir::new_in(&disk).unwrap();
        let child = Child::start("fault", &["write on", store.path().to_str().unwrap()]);
        let (mut ballast, mut progress) = (None, Progress::new());
        while let Some(line) = child.next(TIMEOUT) {
            match line.as_str() {
                "ready" if ballast.is_none() => ballast = Some(Ballast::fill(&disk)),
                "ready" => {}
                "refused" => break,
                line => progress = said(line),
            }
        }
        let ended = child.kill();
        assert!(ended.status.code().is_none(), "{ended:?}");
        progress = said_last(&ended.lines).unwrap_or(progress);
        if let Ok(workload) = Workload::try_to_open(store.path(), progress.clone()).await {
            progress = workload.progress.clone();
        }
        drop(ballast);
        let mut workload = Workload::open(store.path(), progress).await;
        workload.assert_sound().await;
        workload.write_all(1).await;
        workload.close().await;
    }
}

/// Progress that a child reported before it began another round.
pub(super) fn said(line: &str) -> Progress {
    serde_json::from_str::<Progress>(line).unwrap().with_all_begun()
}

/// Returns the last progress that a child reported and that was not read yet. The child continues until it is killed.
pub(super) fn said_last(lines: &[String]) -> Option<Progress> {
    lines.iter().rfind(|line| !["ready", "refused"].contains(&line.as_str())).map(|line| said(line))
}

/// Runs in a child process, and writes until it is killed. It reports the progress of every writer and each refusal.
pub(super) async fn write_on(folder: &Path) {
    let mut workload = Workload::new(folder).await;
    workload.write_all(2).await;
    let mut refused = 0;
    loop {
        say(&serde_json::to_string(&workload.progress).unwrap());
        say(if refused > 0 { "refused" } else { "ready" });
        refused = workload.write(1).await.refused;
    }
}

/// The API on such a store. Its own records are not the writers', and are removed in the end.
struct Served {
    api: Api,
    caller: Caller,
    key: String,
    network: String,
}

impl Served {
    async fn new(store: &Arc<SledStore>) -> Self {
        let inventory = Inventory::new(Arc::clone(store));
        let organization = inventory.organizations().create("Example").await.unwrap();
        let network = inventory
            .networks()
            .create(&Caller::system(organization.id), Network::new("Office"))
            .await
            .unwrap();
        let user = NewUser::new("owner@example.net", Permission::Owner);
        let user = inventory.users().create(&Caller::system(organization.id), user).await.unwrap();
        let key = NewUserApiKey::new(user.id, "laptop", Permission::Owner);
        let key = inventory
            .user_api_keys()
            .create(&Caller::system(user.organization_id), key)
            .await
            .unwrap()
            .plaintext()
            .to_string();
        let scope = Scope::granted(user.permissions, vec![network.id]);
        let caller = Caller::new(organization.id, user.id, user.permissions, scope);
        Self {
            api: Api::builder(inventory).rate_limit(None).build(),
            caller,
            key,
            network: network.id.to_string(),
        }
    }

    /// Returns the status and the code of a request that only reads. The request may record the use of the key.
    async fn read(&self) -> (u16, Value) {
        let request = Request::get("/api/v1/hosts").header(AUTHORIZATION, format!("Bearer {}", self.key));
        self.send(request.body(String::new()).unwrap()).await
    }

    /// Returns the status and the code of a request that writes.
    async fn write(&self) -> (u16, Value) {
        let key = json!({"name": "scanner", "network_id": self.network, "tags": []});
        let request = Request::post("/api/v1/auth/daemon").header(CONTENT_TYPE, "application/json");
        self.send(request.extension(self.caller.clone()).body(key.to_string()).unwrap()).await
    }

    async fn send(&self, request: Request<String>) -> (u16, Value) {
        let response = self.api.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        (status, answer["code"].clone())
    }
}
