//! Many writers change the ports of a few hosts.

use std::collections::HashMap;
use std::sync::Arc;
use toposcope::access::Caller;

use fastrand::Rng;
use serde_json::json;
use tokio::task::JoinSet;
use toposcope::model::{Host, HostId, NetworkId, Port, PortId, Protocol, Timestamp};

use super::hosts::{
    Background, FLEETING, LASTING, SHARED, WRITERS, check_page, check_whole, fixture_with_ports,
    fleeting_port, is_bound, own_port, shared_port,
};
use super::{Fixture, conflict, join_all, on_each_store, succeeded_or, tcp_port};
use crate::backend::Backend;
use crate::common::{LAB, OFFICE, VAULT, at, host, send_json, with_key};
use crate::isolation::oracle::values::{
    Refusal, network_denied, not_found, permission_denied, reference_invalid, refusal,
};
use crate::requests::Choose;

/// A change that a writer requests.
#[derive(Clone, Copy, Debug)]
struct Change {
    port: PortId,
    host: HostId,
    network: NetworkId,
    number: u16,
    protocol: Protocol,
}

/// An applied change: the port that the answer contained, and when the request was sent.
struct Made {
    port: Port,
    sent_at: Timestamp,
}

struct Writer {
    fixture: Arc<Fixture>,
    number: usize,
    random: Rng,
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

    async fn write(mut self, changes: usize) -> Self {
        for _ in 0..changes {
            match self.random.usize(..8) {
                0 => self.change_fleeting().await,
                1..=3 => self.change_shared().await,
                _ => self.change_own().await,
            }
        }
        self
    }

    fn change_of(&mut self, port: PortId) -> Change {
        let (host, network) = self.random.choose(&LASTING);
        let is_wrong = self.random.once_in(8);
        let network = if is_wrong { self.random.choose(&[OFFICE, LAB, VAULT]) } else { network };
        let number = self.random.u16(1..=60);
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
            let params = json!({"entity": "Port", "name": name, "used_by": "Service"});
            refusals.push(refusal(409, "entity_in_use", params));
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
        let place = self.random.usize(..SHARED);
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
        let port = fleeting_port(self.random.usize(..FLEETING.len()), self.random.usize(..2));
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

    /// Returns the possible refusals of any change of a port on this network. They are conflicts with concurrent
    /// writers, and missing access of the Member at this moment.
    fn refusals(&self, change: Change, network: NetworkId) -> Vec<Refusal> {
        let mut refusals = vec![conflict("Port", change.port)];
        if self.is_member() {
            refusals.push(permission_denied());
            if network == VAULT || change.network == VAULT {
                refusals.push(network_denied(VAULT));
            }
        }
        refusals
    }

    /// Sends a change. Returns the changed port, or `None` if the change was refused in one of these ways.
    async fn send(&mut self, change: Change, refusals: &[Refusal]) -> Option<Port> {
        let sent_at = self.fixture.tick();
        let key = if self.is_member() { &self.fixture.member_key } else { &self.fixture.common.key };
        let body = json!({
            "host_id": change.host,
            "network_id": change.network,
            "number": change.number,
            "protocol": change.protocol,
        });
        let request = send_json("PUT", &format!("/api/v1/ports/{}", change.port), &body);
        let reply = self.fixture.server.send(with_key(request, key)).await;
        if !succeeded_or(&reply, refusals) {
            self.given_up += usize::from(reply.json["code"] == "entity_conflict");
            return None;
        }
        let port: Port = serde_json::from_value(reply.data().clone()).unwrap();
        let shown = (port.id, port.host_id, port.network_id, port.number.get(), port.protocol);
        assert_eq!(shown, (change.port, change.host, change.network, change.number, change.protocol));
        assert!(port.updated_at >= sent_at);
        self.made.push(Made { port: port.clone(), sent_at });
        Some(port)
    }
}

fn name(number: u16, protocol: Protocol) -> String {
    format!("{number}/{protocol}")
}

fn already_exists(change: Change) -> Refusal {
    let name = name(change.number, change.protocol);
    refusal(409, "entity_already_exists", json!({"entity": "Port", "name": name}))
}

fn network_mismatch() -> Refusal {
    refusal(400, "entity_network_mismatch", json!({"entity": "Host"}))
}

#[test]
fn concurrent_port_updates_are_atomic_and_none_is_lost() {
    on_each_store(async |wrap| {
        let fixture = Arc::new(fixture_with_ports(wrap).await);
        let before = ports(&lasting_hosts(&fixture).await);
        let changes = Backend::current().effort(4, 150);
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let writer = Writer {
                fixture: fixture.clone(),
                number,
                random: Rng::with_seed(number as u64),
                own: before[&own_port(number)].clone(),
                made: Vec::new(),
                given_up: 0,
            };
            writers.spawn(writer.write(changes));
        }
        let background = Background::spawn(&fixture);
        let writers = join_all(writers).await;
        background.stop().await;
        check_aftermath(&fixture, &before, &writers).await;
        check_effort(&writers, changes);
    });
}

#[test]
fn concurrent_updates_of_one_host_all_succeed() {
    const CLIENTS: usize = 140;
    on_each_store(async |wrap| {
        let fixture = Fixture::new(wrap).await;
        let mut only = host(1, OFFICE);
        let port_id = |number: usize| PortId::from_u128(0x1_0000 + number as u128);
        only.ports = (1..=CLIENTS).map(|number| tcp_port(port_id(number), &only, number, at(0))).collect();
        fixture.common.put([only]).await;
        let mut clients = JoinSet::new();
        for number in 1..=CLIENTS {
            let (server, key) = (fixture.server.clone(), fixture.common.key.clone());
            let target = format!("/api/v1/ports/{}", port_id(number));
            let body = json!({
                "host_id": HostId::from_u128(1), "network_id": OFFICE, "number": 1000 + number, "protocol": "Tcp",
            });
            clients.spawn(async move {
                let reply = server.send(with_key(send_json("PUT", &target, &body), &key)).await;
                assert_eq!(reply.status, 200, "{}", reply.json);
            });
        }
        join_all(clients).await;
        let host = fixture
            .inventory
            .hosts()
            .get(&Caller::system(fixture.organization()), HostId::from_u128(1))
            .await
            .unwrap();
        assert!(host.ports.iter().all(|port| port.number.get() > 1000));
    });
}

/// Reads the hosts that are never deleted, one by one.
async fn lasting_hosts(fixture: &Fixture) -> Vec<Host> {
    let mut hosts = Vec::new();
    for (id, _) in LASTING {
        hosts.push(fixture.inventory.hosts().get(&Caller::system(fixture.organization()), id).await.unwrap());
    }
    hosts
}

fn ports(hosts: &[Host]) -> HashMap<PortId, Port> {
    hosts.iter().flat_map(|host| &host.ports).map(|port| (port.id, port.clone())).collect()
}

async fn check_aftermath(fixture: &Fixture, before: &HashMap<PortId, Port>, writers: &[Writer]) {
    check_whole(&check_page(&fixture.common.list("limit=0").await));
    let hosts = lasting_hosts(fixture).await;
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
    fixture.common.store.hook().verify().await;
}

/// Asserts that the writers changed enough, and that enough of their changes met conflicts.
fn check_effort(writers: &[Writer], changes: usize) {
    let made = || writers.iter().flat_map(|writer| &writer.made);
    let overtaken = made().filter(|made| made.port.updated_at > made.sent_at).count();
    let given_up: usize = writers.iter().map(|writer| writer.given_up).sum();
    println!("{} changes made, {overtaken} of them overtaken, {given_up} given up", made().count());
    assert!(made().count() > WRITERS * changes / 8);
}
