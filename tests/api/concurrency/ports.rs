//! Many writers change the ports of a few hosts.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;
use toposcope::model::{Host, Port, Protocol, Timestamp};
use uuid::Uuid;

use super::bystanders::{self, check_page, check_whole};
use super::outcome::{
    Outcome, access_denied, conflict, not_found, permission_denied, reference_invalid, succeeded_or,
};
use super::stage::{
    FLEETING, LASTING, SHARED, Stage, WRITERS, fleeting_port, is_bound, own_port, shared_port,
};
use super::{STORES, join_all};
use crate::backend::Backend;
use crate::common::{LAB, OFFICE, SplitMix64, VAULT, send_json, with_key};

/// Number of changes that each writer makes.
fn changes() -> usize {
    Backend::current().effort(4, 150)
}

/// A change that a writer requests.
#[derive(Clone, Copy, Debug)]
struct Change {
    port: Uuid,
    host: Uuid,
    network: Uuid,
    number: u16,
    protocol: Protocol,
}

/// An applied change: the port that the answer contained, and when the request was sent.
struct Made {
    port: Port,
    sent_at: Timestamp,
}

struct Writer {
    stage: Arc<Stage>,
    number: usize,
    random: SplitMix64,
    /// The writer's own port as it is now; no other writer changes it.
    own: Port,
    made: Vec<Made>,
    /// Number of changes that concurrent writers prevented.
    given_up: usize,
}

impl Writer {
    /// Returns whether the writer is the Member, whose grants change.
    const fn is_member(&self) -> bool {
        self.number % 4 == 1
    }

    async fn write(mut self) -> Self {
        for _ in 0..changes() {
            match self.random.below(8) {
                0 => self.change_fleeting().await,
                1..=3 => self.change_shared().await,
                _ => self.change_own().await,
            }
        }
        self
    }

    fn change_of(&mut self, port: Uuid) -> Change {
        let (host, network) = self.random.choose(&LASTING);
        let is_wrong = self.random.once_in(8);
        let network = if is_wrong { self.random.choose(&[OFFICE, LAB, VAULT]) } else { network };
        let number = u16::try_from(1 + self.random.below(60)).unwrap();
        let protocol = self.random.choose(&[Protocol::Tcp, Protocol::Udp]);
        Change { port, host, network, number, protocol }
    }

    async fn change_own(&mut self) {
        let change = self.change_of(self.own.id);
        let mut refusals = self.refusals(change, self.own.network_id);
        if !LASTING.contains(&(change.host, change.network)) {
            refusals.push(network_mismatch());
            assert_eq!(self.send(change, &refusals).await, None, "{change:?}");
        } else if is_bound(self.number) && change.host != self.own.host_id {
            let name = name(self.own.number.get(), self.own.protocol);
            refusals.push((
                409,
                "entity_in_use",
                json!({"entity": "Port", "name": name, "used_by": "Service"}),
            ));
            assert_eq!(self.send(change, &refusals).await, None, "{change:?}");
        } else {
            refusals.push(already_exists(change));
            if let Some(port) = self.send(change, &refusals).await {
                assert_eq!(port.created_at, self.own.created_at);
                self.own = port;
            }
        }
    }

    async fn change_shared(&mut self) {
        let place = self.random.below(SHARED);
        let change = self.change_of(shared_port(place));
        // The port may be on any host now, perhaps on one that the Member cannot see.
        let mut refusals = self.refusals(change, VAULT);
        if LASTING.contains(&(change.host, change.network)) {
            refusals.push(already_exists(change));
            self.send(change, &refusals).await;
        } else {
            refusals.push(network_mismatch());
            assert_eq!(self.send(change, &refusals).await, None, "{change:?}");
        }
    }

    async fn change_fleeting(&mut self) {
        let port = fleeting_port(self.random.below(FLEETING.len()), self.random.below(2));
        let change = Change { host: self.random.choose(&FLEETING), ..self.change_of(port) };
        let mut refusals = self.refusals(change, VAULT);
        refusals.extend([
            not_found("Port", port),
            reference_invalid("Host", "host_id"),
            network_mismatch(),
            already_exists(change),
        ]);
        self.send(change, &refusals).await;
    }

    /// Returns the possible refusals of any change of a port on this network: conflicts with concurrent
    /// writers, or missing access of the Member at this moment.
    fn refusals(&self, change: Change, network: Uuid) -> Vec<Outcome> {
        let mut refusals = vec![conflict("Port", change.port)];
        if self.is_member() {
            refusals.push(permission_denied());
            if network == VAULT || change.network == VAULT {
                refusals.push(access_denied(VAULT));
            }
        }
        refusals
    }

    /// Sends a change. Returns the changed port, or `None` if the change was refused in one of these ways.
    async fn send(&mut self, change: Change, refusals: &[Outcome]) -> Option<Port> {
        let sent_at = self.stage.tick();
        let key = if self.is_member() { &self.stage.member_key } else { &self.stage.world.key };
        let body = json!({
            "host_id": change.host,
            "network_id": change.network,
            "number": change.number,
            "protocol": change.protocol,
        });
        let request = send_json("PUT", &format!("/api/v1/ports/{}", change.port), &body);
        let reply = self.stage.server.send(with_key(request, key)).await;
        if !succeeded_or(&reply, refusals) {
            self.given_up += usize::from(reply.json["code"] == "entity_conflict");
            return None;
        }
        let port: Port = serde_json::from_value(reply.data().clone()).unwrap();
        let told = (port.id, port.host_id, port.network_id, port.number.get(), port.protocol);
        assert_eq!(told, (change.port, change.host, change.network, change.number, change.protocol));
        assert!(port.updated_at >= sent_at);
        self.made.push(Made { port: port.clone(), sent_at });
        Some(port)
    }
}

fn name(number: u16, protocol: Protocol) -> String {
    format!("{number}/{protocol}")
}

fn already_exists(change: Change) -> Outcome {
    let name = name(change.number, change.protocol);
    (409, "entity_already_exists", json!({"entity": "Port", "name": name}))
}

fn network_mismatch() -> Outcome {
    (400, "entity_network_mismatch", json!({"entity": "Host"}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_change_of_a_port_is_lost_and_none_is_seen_by_half() {
    for store in STORES {
        let stage = Arc::new(Stage::with_ports(store).await);
        let before = ports(&lasting_hosts(&stage).await);
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let writer = Writer {
                stage: stage.clone(),
                number,
                random: SplitMix64(number as u64),
                own: before[&own_port(number)].clone(),
                made: Vec::new(),
                given_up: 0,
            };
            writers.spawn(writer.write());
        }
        let bystanders = bystanders::spawn(&stage);
        let writers = join_all(writers).await;
        bystanders.stop().await;
        check_aftermath(&stage, &before, &writers).await;
    }
}

/// Reads the hosts that are never deleted, one by one.
async fn lasting_hosts(stage: &Stage) -> Vec<Host> {
    let mut hosts = Vec::new();
    for (id, _) in LASTING {
        hosts.push(stage.inventory.host(stage.organization(), id).await.unwrap());
    }
    hosts
}

fn ports(hosts: &[Host]) -> HashMap<Uuid, Port> {
    hosts.iter().flat_map(|host| &host.ports).map(|port| (port.id, port.clone())).collect()
}

async fn check_aftermath(stage: &Stage, before: &HashMap<Uuid, Port>, writers: &[Writer]) {
    check_whole(&check_page(&stage.world.list("limit=0").await));
    let hosts = lasting_hosts(stage).await;
    let after = ports(&hosts);
    assert_eq!(after.len(), WRITERS + SHARED);
    for writer in writers {
        assert_eq!(after[&writer.own.id], writer.own, "the last change of writer {}", writer.number);
    }
    let made = || writers.iter().flat_map(|writer| &writer.made);
    for id in (0..SHARED).map(shared_port) {
        let latest = made().filter(|made| made.port.id == id).map(|made| made.port.updated_at).max();
        assert_eq!(after[&id].created_at, before[&id].created_at);
        assert_eq!(after[&id].updated_at, latest.unwrap_or(before[&id].updated_at));
        assert!(made().any(|made| made.port == after[&id]) || after[&id] == before[&id]);
    }
    for host in &hosts {
        let times = made().filter(|made| made.port.host_id == host.id).map(|made| made.port.updated_at);
        assert!(times.max().is_none_or(|time| host.updated_at >= time));
    }
    check_effort(writers);
    stage.world.store.verify().await;
}

/// Asserts that the writers changed enough, and that enough of their changes met conflicts.
fn check_effort(writers: &[Writer]) {
    let made = || writers.iter().flat_map(|writer| &writer.made);
    let overtaken = made().filter(|made| made.port.updated_at > made.sent_at).count();
    let given_up: usize = writers.iter().map(|writer| writer.given_up).sum();
    println!("{} changes made, {overtaken} of them overtaken, {given_up} given up", made().count());
    assert!(made().count() > WRITERS * changes() / 8);
}
