//! Concurrent updates of one host. None is lost.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::*;
use crate::backend::{Backend, run_on_threads};

const CLIENTS: usize = 64;

/// Each client adds to a count in the description. It reads again whenever another client was faster.
#[test]
fn updates_with_if_match_are_never_lost() {
    run_on_threads(async || {
        let fixture = Arc::new(Fixture::new().await);
        let host = fixture.post(HOSTS, &with(&host_body(), "description", "0")).await;
        let path = path_of(HOSTS, &host);
        let each = Backend::current().effort(1, 157);
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let (fixture, path) = (Arc::clone(&fixture), path.clone());
            clients.spawn(async move {
                let mut left = each;
                while left > 0 {
                    let read = fixture.ask(get(&path)).await;
                    let count: usize = read.data()["description"].as_str().unwrap().parse().unwrap();
                    let body = with(&host_body(), "description", (count + 1).to_string());
                    let put = with_header(send_json("PUT", &path, &body), "if-match", read.header("etag"));
                    let reply = fixture.ask(put).await;
                    match reply.status.as_u16() {
                        200 => left -= 1,
                        409 => drop(reply.refuses(409, "entity_conflict")),
                        _ => drop(reply.refuses(412, "precondition_failed")),
                    }
                }
            });
        }
        clients.join_all().await;
        assert_eq!(fixture.read(&path).await["description"], (CLIENTS * each).to_string());
    });
}

/// Each client changes its own port of the same host.
#[test]
fn updates_of_different_parts_survive_side_by_side() {
    run_on_threads(async || {
        let fixture = Arc::new(Fixture::new().await);
        let ports: Vec<Value> =
            (1..=CLIENTS).map(|number| json!({"number": number, "protocol": "Tcp"})).collect();
        let host = fixture.post(HOSTS, &with(&host_body(), "ports", ports)).await;
        let rounds = Backend::current().effort(3, 100);
        let mut clients = JoinSet::new();
        for (client, port) in host["ports"].as_array().unwrap().iter().cloned().enumerate() {
            let fixture = Arc::clone(&fixture);
            clients.spawn(async move {
                for round in 1..=rounds {
                    let body = with(&port, "number", round * CLIENTS + client + 1);
                    let put = send_json("PUT", &path_of("/api/v1/ports", &port), &body);
                    while fixture.ask(put.clone()).await.status != 200 {}
                }
            });
        }
        clients.join_all().await;
        let ports = fixture.read(&path_of(HOSTS, &host)).await["ports"].take();
        let numbers: Vec<u64> =
            ports.as_array().unwrap().iter().map(|port| port["number"].as_u64().unwrap()).collect();
        let first = (rounds * CLIENTS) as u64;
        assert_eq!(numbers, (1..=CLIENTS as u64).map(|client| first + client).collect::<Vec<_>>());
    });
}
