//! An import of a real inventory whose process is killed.
//!
//! All chunks that it reported as stored must be served as after an import into memory. Without the inventory there is
//! nothing to test.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use http::Request;
use http::header::COOKIE;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::OnceCell;
use toposcope::access::{Caller, PasswordCost, PasswordHasher, Scope};
use toposcope::inventory::{HostQuery, Import, ImportReport, Inventory, NewUser};
use toposcope::model::{HostId, OrganizationId, Permission, UserId};
use toposcope::service::Api;
use toposcope::store::{Durability, MemoryStore, SledStore};
use tower::ServiceExt;

use self::file::unpacked;
use super::fresh_generator;
use crate::child::{Child, TIMEOUT, say};
use crate::fixture::{Fixture, assert_sound};

#[path = "../../inventory/real/file.rs"]
mod file;

/// Number of imported lines: enough for several chunks.
const LINES: usize = 500;

/// Line of a child after each stored chunk.
const STORED: &str = "stored";

/// Prefix of the last line of a child.
const DONE: &str = "done: ";

/// Approximate time that a chunk takes, in microseconds.
const CHUNK_MICROS: u64 = 100_000;

const EMAIL: &str = "owner@example.net";
const PASSWORD: &str = "correct horse battery";

/// Size of the cache, so small that nearly every document is read from the disk.
const CACHE_SIZE: usize = 1 << 20;

/// Maximum number of hosts on a page.
const LIMIT: usize = 500;

/// Runs in the child: imports the file, and keeps the store open until killed.
pub(super) async fn import(arguments: &[&str]) {
    let [folder, input, organization, durability] = arguments else { panic!("{arguments:?}") };
    let durability = if *durability == "buffered" { Durability::Buffered } else { Durability::Durable };
    let store = SledStore::builder(folder).durability(durability).open().await.unwrap();
    let import = Import::new().create_missing_networks().on_progress(|_| say(STORED));
    let input = fs::read(input).unwrap();
    let organization = organization.parse().unwrap();
    let report = Inventory::new(store)
        .hosts()
        .import(&Caller::system(organization), &input[..], import)
        .await
        .unwrap();
    say(&format!("{DONE}{}", in_short(&report)));
    std::future::pending::<()>().await;
}

/// Summarizes the report of an import over an earlier, interrupted one.
fn in_short(report: &ImportReport) -> String {
    let ImportReport { lines, imported, refused, replaced, alterations, .. } = report;
    format!("{lines} lines, {imported} imported, {refused} refused, {alterations:?}, {replaced} replaced")
}

/// The result of an uninterrupted import.
struct Expected {
    input: Vec<u8>,
    /// The hosts that are stored together, in the order of the lines.
    chunks: Vec<Vec<HostId>>,
    documents: HashMap<HostId, Bytes>,
    report: ImportReport,
}

impl Expected {
    /// Returns `None` if there is no inventory.
    async fn get() -> Option<&'static Self> {
        static EXPECTED: OnceCell<Option<Expected>> = OnceCell::const_new();
        EXPECTED.get_or_init(async || Some(Self::of(&unpacked()?).await)).await.as_ref()
    }

    async fn of(inventory: &[u8]) -> Self {
        let lines: Vec<&[u8]> = inventory.split_inclusive(|byte| *byte == b'\n').take(LINES).collect();
        let input = lines.concat();
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Real").await.unwrap().id;
        let mut ends = vec![0];
        let import = Import::new().create_missing_networks();
        let import = import.on_progress(|report| ends.push(usize::try_from(report.lines).unwrap()));
        let report =
            inventory.hosts().import(&Caller::system(organization), &input[..], import).await.unwrap();
        assert_eq!((report.refused, report.imported), (0, report.lines), "{report}");
        let caller = Caller::new(organization, UserId::nil(), Permission::Owner, Scope::all());
        let page = inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap();
        let documents = page.documents.into_iter().map(|document| (id_of(&document), document)).collect();
        let chunk = |ends: &[usize]| lines[ends[0]..ends[1]].iter().map(|line| id_of(line)).collect();
        let chunks: Vec<_> = ends.windows(2).map(chunk).collect();
        assert!(chunks.len() > 4, "only {} chunks", chunks.len());
        Self { input, chunks, documents, report }
    }
}

#[derive(Deserialize)]
struct Identified {
    id: HostId,
}

fn id_of(document: &[u8]) -> HostId {
    serde_json::from_slice::<Identified>(document).unwrap().id
}

/// The parts of a page that are checked.
#[derive(Deserialize)]
struct Page<'p> {
    #[serde(borrow)]
    data: Vec<&'p RawValue>,
}

/// A folder with an organization and its Owner, into which the inventory is imported.
struct Target {
    fixture: Fixture,
    durability: Durability,
    organization: OrganizationId,
    session: String,
}

impl Target {
    async fn new(input: &[u8], durability: Durability) -> Self {
        let fixture = Fixture::new();
        fs::write(fixture.beside("input"), input).unwrap();
        let store = Arc::new(fixture.open().await);
        let cheap = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
        let inventory = Inventory::new(store.clone()).with_passwords(cheap);
        let organization = inventory.organizations().create("Real").await.unwrap().id;
        let mut owner = NewUser::new(EMAIL, Permission::Owner);
        owner.password = Some(PASSWORD.to_owned());
        inventory.users().create(&Caller::system(organization), owner).await.unwrap();
        let session = inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
        store.close().await.unwrap();
        Self { fixture, durability, organization, session: session.plaintext().to_owned() }
    }

    fn start_import(&self) -> Child {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (folder, input) = (text(self.fixture.path()), text(&self.fixture.beside("input")));
        let durability = if self.durability == Durability::Buffered { "buffered" } else { "durable" };
        Child::start("import", &[&folder, &input, &self.organization.to_string(), durability])
    }

    /// Kills an import some time after it has stored this many chunks. Returns how many it reported.
    fn kill_import_after(&self, chunks: usize, random: &mut Rng) -> usize {
        let child = self.start_import();
        for _ in 0..chunks {
            assert_eq!(child.next(TIMEOUT).as_deref(), Some(STORED));
        }
        let pause = Duration::from_micros(random.u64(..CHUNK_MICROS));
        let next = child.next(pause);
        let rest = child.kill().lines;
        chunks + next.iter().chain(&rest).filter(|line| *line == STORED).count()
    }

    /// Kills imports at random times, one after the other. Returns the final number of chunks.
    async fn survives(&self, expected: &Expected, kills: usize) -> usize {
        let mut random = fresh_generator();
        let chunks = expected.chunks.len();
        let mut present = 0;
        for _ in 0..kills {
            let reported = self.kill_import_after(random.usize(..chunks), &mut random);
            let served = self.check(expected).await;
            println!("killed after {reported} of {chunks} chunks: {served} are there, {present} were before");
            assert!(served >= reported.max(present));
            present = served;
        }
        present
    }

    /// Checks the stored part of an import, and returns the number of chunks.
    ///
    /// Each chunk must be served completely or not at all, no chunk may be present without its predecessors, and every
    /// host must be right.
    async fn check(&self, expected: &Expected) -> usize {
        let store =
            self.fixture.open_with(|builder| builder.cache_size(CACHE_SIZE).durability(self.durability));
        let store = Arc::new(store.await);
        assert_sound(&store).await;
        let api = Api::builder(Inventory::new(store.clone())).rate_limit(None).build();
        let served = self.served(&api).await;
        for (id, document) in &served {
            assert!(document.as_bytes() == expected.documents[id], "{id} is {document}");
        }
        let count = |chunk: &Vec<HostId>| chunk.iter().filter(|id| served.contains_key(id)).count();
        let whole = expected.chunks.iter().take_while(|chunk| count(chunk) == chunk.len()).count();
        let hosts: usize = expected.chunks[..whole].iter().map(Vec::len).sum();
        assert_eq!(served.len(), hosts, "{whole} chunks are there, and others in part");
        store.close().await.unwrap();
        whole
    }

    /// Returns all hosts that the API lists, page by page.
    async fn served(&self, api: &Api) -> HashMap<HostId, String> {
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

#[tokio::test]
async fn killed_import_keeps_its_stored_chunks_and_another_import_completes_it() {
    let Some(expected) = Expected::get().await else { return };
    let target = Target::new(&expected.input, Durability::Durable).await;
    let present = target.survives(expected, 2).await;
    let mut report = expected.report.clone();
    report.replaced = expected.chunks[..present].iter().map(|chunk| chunk.len() as u64).sum();
    let child = target.start_import();
    let done =
        std::iter::from_fn(|| child.next(TIMEOUT)).find_map(|line| Some(line.strip_prefix(DONE)?.to_owned()));
    child.kill();
    assert_eq!(done, Some(in_short(&report)));
    assert_eq!(target.check(expected).await, expected.chunks.len());
}

#[tokio::test]
async fn killed_import_that_does_not_wait_for_the_disk_keeps_its_stored_chunks() {
    let Some(expected) = Expected::get().await else { return };
    let target = Target::new(&expected.input, Durability::Buffered).await;
    target.survives(expected, 1).await;
}
