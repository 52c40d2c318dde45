//! The memory of a whole server whose clients of one organization do their worst at the same time.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, yield_now};
use toposcope::Inventory;
use toposcope::access::{Caller, Scope};
use toposcope::model::{Network, OrganizationId, Permission, UserId};
use toposcope::service::{Api, ResponseBody};
use toposcope::store::SledStore;
use tower::ServiceExt;

use super::measure::{Arriving, Pieces, forget_peak, memory};
use super::reports;
use crate::common::{ELSEWHERE, OFFICE, bare, get, host, of_length, send_json, with_caller};
use crate::place::Place;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Set in the process that measures.
const ALONE: &str = "TOPOSCOPE_WHOLE_SERVER_ALONE";

/// The size of a run.
struct Scale {
    /// Number of answers that are not read, and of bodies that stop arriving.
    clients: u128,
    imports: usize,
    /// Length of a report, which is the largest that the server accepts.
    report: usize,
    /// Memory for unread responses, of a user and in all.
    unread: (usize, usize),
    /// Memory that all of them may take.
    most: usize,
}

/// The default limits, with a tenth of their memory.
const SMALL_SCALE: Scale =
    Scale { clients: 200, imports: 16, report: 4 * MIB, unread: (6 * MIB, 19 * MIB), most: 100 * MIB };

/// The default limits.
const FULL: Scale = Scale {
    clients: 1_000,
    imports: 64,
    report: 64 * MIB - KIB,
    unread: (64 * MIB, 192 * MIB),
    most: 512 * MIB,
};

#[test]
fn memory_is_bounded_while_one_organization_does_its_worst() {
    if env::var_os(ALONE).is_none() {
        run_alone("budget::whole_server::measure_small");
    }
}

#[test]
#[ignore = "takes minutes unless it is built for release"]
fn memory_is_bounded_while_one_organization_does_its_worst_with_the_default_limits() {
    if env::var_os(ALONE).is_none() {
        run_alone("budget::whole_server::measure_full");
    }
}

fn run_alone(name: &str) {
    let output = Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--test-threads=1", "--nocapture", "--ignored"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"));
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn measure_small() {
    if env::var_os(ALONE).is_some() {
        measure(SMALL_SCALE).await;
    }
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn measure_full() {
    if env::var_os(ALONE).is_some() {
        measure(FULL).await;
    }
}

/// A server with an organization that attacks it and another one.
struct Scene {
    api: Api,
    home: OrganizationId,
    abroad: OrganizationId,
}

impl Scene {
    async fn new(place: &Place, scale: &Scale) -> Self {
        let store = Arc::new(SledStore::open(place.path()).await.unwrap());
        let inventory = Inventory::new(Arc::clone(&store));
        let home = inventory.organizations().create("Home").await.unwrap().id;
        let abroad = inventory.organizations().create("Abroad").await.unwrap().id;
        inventory
            .networks()
            .create_with_id(&Caller::system(home), OFFICE, Network::new("Office"))
            .await
            .unwrap();
        inventory
            .networks()
            .create_with_id(&Caller::system(abroad), ELSEWHERE, Network::new("Elsewhere"))
            .await
            .unwrap();
        for id in 1..=60 {
            inventory.hosts().put(&Caller::system(home), of_length(id, 500 * KIB)).await.unwrap();
            inventory.hosts().put(&Caller::system(abroad), host(1_000 + id, ELSEWHERE)).await.unwrap();
        }
        store.close().await.unwrap();
        // From now on, bodies are read from disk.
        let store = SledStore::builder(place.path()).cache_size(0).open().await.unwrap();
        let (per_user, total) = scale.unread;
        let builder = Api::builder(Inventory::new(store)).rate_limit(None).page_cache(0);
        let builder = builder.unread_responses(per_user, total).report_body_limit(scale.report + KIB);
        // On a slow machine, the bodies would otherwise end before they are counted.
        let builder = builder.stall_timeout(Duration::from_secs(3_600));
        let bulk = scale.report.min(16 * MIB);
        Self { api: builder.bulk_body_limit(bulk).build(), home, abroad }
    }

    /// Returns a request of one of fifty users of the organization that attacks.
    fn by_attacker<B>(&self, user: u128, request: Request<B>) -> Request<B> {
        let user = UserId::from_u128(user % 50);
        with_caller(request, Caller::new(self.home, user, Permission::Owner, Scope::all()))
    }

    async fn send<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.api.clone().oneshot(request).await.unwrap()
    }

    /// Requests a page and stores a host as the other organization.
    async fn serve_others(&self) {
        let caller = || Caller::new(self.abroad, UserId::from_u128(7), Permission::Owner, Scope::all());
        let page = self.send(with_caller(get("/api/v1/hosts?limit=50"), caller())).await;
        assert_eq!(page.status(), 200);
        let body = http_body_util::BodyExt::collect(page.into_body()).await.unwrap().to_bytes();
        assert!(body.len() > 50 * 100);
        let new = json!({"hosts": [{"network_id": ELSEWHERE, "name": "new"}]});
        let stored = self.send(with_caller(send_json("POST", "/api/v1/hosts/bulk", &new), caller())).await;
        assert_eq!(stored.status(), 200);
    }
}

/// Counts the answers that are successes, and checks that the others are refusals.
#[derive(Debug, Default)]
struct Tally {
    served: usize,
    refused: usize,
}

impl Tally {
    fn add(&mut self, status: u16) {
        match status {
            200 => self.served += 1,
            408 | 429 => self.refused += 1,
            other => panic!("{other}"),
        }
    }
}

async fn measure(scale: Scale) {
    let place = Place::new();
    let scene = Arc::new(Scene::new(&place, &scale).await);
    let heaviest = reports::heaviest(scale.report).map(Bytes::from);
    let drop_of_body = Bytes::from(" ".repeat(300 * KIB));
    forget_peak();
    let before = memory("VmRSS:");
    let more = || (memory("VmHWM:").saturating_sub(before)) / MIB as u64;
    let begun = Instant::now();

    let (mut unread, mut answers) = (Vec::new(), Tally::default());
    for user in 0..scale.clients {
        let response = scene.send(scene.by_attacker(user, get("/api/v1/hosts?limit=1000"))).await;
        answers.add(response.status().as_u16());
        unread.push(response);
    }
    println!("unread answers: {answers:?}, {} MiB, {:?}", more(), begun.elapsed());

    let imports: Vec<JoinHandle<u16>> = (0..scale.imports)
        .map(|number| {
            let (scene, body) = (Arc::clone(&scene), heaviest[number % heaviest.len()].clone());
            tokio::spawn(async move {
                let target = format!("/api/v1/discovery/import?format=report&network_id={OFFICE}");
                let request = bare("POST", &target).map(|_| Pieces::new(body, 64 * KIB));
                let request = crate::common::with_header(request, "content-type", "application/json");
                scene.send(scene.by_attacker(number as u128, request)).await.status().as_u16()
            })
        })
        .collect();
    let mut open = Vec::new();
    for number in 0..scale.clients {
        open.push(begin_body(&scene, number, drop_of_body.clone()));
    }
    scene.serve_others().await;
    println!("unfinished bodies: {} MiB, {:?}", more(), begun.elapsed());

    let mut rounds = 0;
    while rounds < 3 || !imports.iter().all(JoinHandle::is_finished) {
        scene.serve_others().await;
        rounds += 1;
        for _ in 0..1_000 {
            yield_now().await;
        }
    }
    let mut imported = Tally::default();
    for import in imports {
        imported.add(import.await.unwrap());
    }
    println!("imports: {imported:?}, {} MiB, {:?}; {rounds} rounds of others", more(), begun.elapsed());
    let mut bodies = Tally::default();
    for (sender, answer) in open {
        drop(sender);
        match answer.await.unwrap() {
            // The body that was sent is no valid request.
            400 => bodies.served += 1,
            other => bodies.add(other),
        }
    }
    println!("ended bodies: {bodies:?}, {} MiB, {:?}", more(), begun.elapsed());
    let all = [&answers, &bodies, &imported];
    assert!(all.iter().all(|tally| tally.served > 0 && tally.refused > 0), "{all:?}");
    drop(unread);
    let most = (scale.most / MIB) as u64;
    assert!(more() <= most, "{} MiB instead of {most}", more());
}

/// Sends a part of a body, and leaves the rest out.
fn begin_body(scene: &Arc<Scene>, number: u128, part: Bytes) -> (UnboundedSender<Bytes>, JoinHandle<u16>) {
    let (sender, parts) = unbounded_channel();
    sender.send(part).unwrap();
    let targets = [
        "/api/v1/hosts/bulk".to_owned(),
        "/api/v1/hosts".to_owned(),
        format!("/api/v1/discovery/import?format=report&network_id={OFFICE}"),
    ];
    let target = &targets[usize::try_from(number % 3).unwrap()];
    let request = bare("POST", target).map(|_| Arriving(parts));
    let request = crate::common::with_header(request, "content-type", "application/json");
    let (scene, request) = (Arc::clone(scene), scene.by_attacker(number, request));
    (sender, tokio::spawn(async move { scene.send(request).await.status().as_u16() }))
}
