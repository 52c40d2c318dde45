//! Damaged requests to every endpoint, from two organizations that know each other's ids.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use http::Request;
use serde_json::Value;
use toposcope::access::{Caller, ManualClock, Scope};
use toposcope::inventory::Inventory;
use toposcope::model::Permission;
use uuid::Uuid;

use super::damage::damaged;
use super::{REQUESTS, Tally, outcome};
use crate::common::{InProgress, Reply, Server, ample, at, cheap_passwords, get, limit, with_caller};
use crate::isolation::campus::{campus, manual_links, registrations, views};
use crate::isolation::{OnFailure, Seeded};
use crate::requests::Choose;
use crate::requests::author::Author;
use crate::requests::routes::route;
use crate::requests::tenant::Tenant;

pub(super) async fn run(round: u64) -> Tally {
    let (store, clock) = (InProgress::watched_store().await, ManualClock::new(at(0)));
    let inventory = Inventory::new(Arc::clone(&store))
        .with_clock(Arc::new(clock.clone()))
        .with_random(Arc::new(Seeded::new(round)))
        .with_passwords(cheap_passwords());
    let server = Server::new(inventory.clone(), limit(240, 12));
    let mut random = Rng::with_seed(round);
    let (mut own, mut other) = (Tenant::new(&inventory, 'a').await, Tenant::new(&inventory, 'b').await);
    for tenant in [&mut own, &mut other] {
        fill(&Server::new(inventory.clone(), ample()), tenant).await;
    }
    let mut succeeded = BTreeSet::new();
    let mut tally = Tally::default();
    let mut number = 0;
    while number < REQUESTS {
        std::mem::swap(&mut own, &mut other);
        let view = if random.once_in(16) { random.choice(views(&own)) } else { None };
        let mut author =
            Author { random: &mut random, own: &mut own, other: &other, foreign: 10, is_squatting: true };
        let (_, request) = match view {
            Some(view) => view,
            // Some endpoints succeed rarely.
            None if author.random.once_in(4) => author.request_to(|route| !succeeded.contains(&route.name())),
            None => author.request(),
        };
        let faults = author.random.usize(..4);
        let Some(damaged) = damaged(&request, faults, &mut author) else { continue };
        let (method, path) = (damaged.method().clone(), damaged.uri().path().to_owned());
        let on_failure = OnFailure(format!("round {round}: {damaged:?}"));
        let reply = server.send(damaged).await;
        assert!(!reply.status.is_server_error(), "{}", reply.json);
        drop(on_failure);
        *tally.entry(outcome(&method, &path, &reply)).or_default() += 1;
        if let Ok(route) = route(method.as_str(), &path) {
            own.learn(route, &request.sent(), &reply);
            if reply.status == 200 {
                succeeded.insert(route.name());
            }
        }
        clock.advance(Duration::from_millis(random.u64(..500)));
        number += 1;
    }
    let server = Server::new(inventory, ample());
    for tenant in [own, other] {
        check_consistency(&server, &tenant).await;
    }
    store.hook().verify().await;
    tally
}

/// Gives a tenant a network with links, and daemons, so that requests about them can succeed.
async fn fill(server: &Server, tenant: &mut Tenant) {
    for part in [campus, manual_links, registrations] {
        for (route, request) in part(tenant) {
            let reply = server.send(request.to_http()).await;
            assert_eq!(reply.status, 200, "{request:#?}: {}", reply.json);
            tenant.learn(route, &request.sent(), &reply);
        }
    }
}

/// Asserts that every listed record can be read by its id. The parts of each host must be equal to the parts that the
/// lists of parts contain.
async fn check_consistency(server: &Server, tenant: &Tenant) {
    let (owner, _) = tenant.users[0];
    let caller = Caller::new(tenant.organization, owner, Permission::Owner, Scope::all());
    let read = async |target: String| {
        let request: Request<String> = with_caller(get(&target), caller.clone());
        let reply: Reply = server.send(request).await;
        reply.data().clone()
    };
    let usual = ["networks", "subnets", "tags", "users", "hosts", "auth/keys", "auth/daemon", "shares"];
    let further = if cfg!(feature = "discovery") { &["daemons", "discoveries"][..] } else { &[] };
    for collection in usual.iter().chain(further).copied() {
        for record in read(format!("/api/v1/{collection}?limit=0")).await.as_array().unwrap() {
            let id: Uuid = record["id"].as_str().unwrap().parse().unwrap();
            assert_eq!(&read(format!("/api/v1/{collection}/{id}")).await, record);
            if collection == "hosts" {
                for (path, field) in [
                    ("interfaces", "interfaces"),
                    ("ports", "ports"),
                    ("services", "services"),
                    ("if-entries", "if_entries"),
                ] {
                    let listed = read(format!("/api/v1/{path}?limit=0&host_id={id}")).await;
                    assert_eq!(ids(&listed), ids(&record[field]), "{path} of {id}");
                }
            }
        }
    }
}

/// Returns the ids of records, sorted.
fn ids(records: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        records.as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}
