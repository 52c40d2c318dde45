//! Records for the measured requests: many, large and densely linked ones.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toposcope::access::{RandomError, RandomSource, SystemRandom};
use toposcope::inventory::{ChangeQuery, NewDaemonApiKey};
use toposcope::model::{
    ChangePosition, Host, HostId, IfEntry, IfEntryId, LinkEnd, LinkId, LldpChassisId, LldpChassisIdSubtype,
    MacAddress, OrganizationId, Permission, PortId, Protocol, ShareId, TagId, TopologyLink, UserId,
};
use toposcope::service::Api;
use toposcope::testing::Interceptor;
use tower::ServiceExt;
use uuid::Uuid;

use super::measure::Counter;
use crate::common::{
    Fixture, LAB, OFFICE, guest, host, interface, port, send_json, service, with_key, with_session,
};

/// The number of small hosts of the office: more than one page has.
const SMALL_HOSTS: u128 = 1_200;
/// The number of parts of each kind of a large host.
const PARTS: u128 = 1_000;
/// The number of lab switches; each sees all others behind a single port.
const SWITCHES: u128 = 60;
/// The number of hosts that run on each other.
const NESTED: u128 = 200;

/// The large host, and two that are deleted.
pub(super) const LARGE_HOSTS: [HostId; 3] =
    [HostId::from_u128(1), HostId::from_u128(2), HostId::from_u128(3)];

/// The collections, with the query that lists them.
const COLLECTIONS: [(&str, &str); 15] = [
    ("organizations", ""),
    ("networks", ""),
    ("subnets", ""),
    ("tags", ""),
    ("users", ""),
    ("interfaces", "host_id=00000000-0000-0000-0000-000000000001"),
    ("ports", "host_id=00000000-0000-0000-0000-000000000001"),
    ("services", "host_id=00000000-0000-0000-0000-000000000001"),
    ("if-entries", "host_id=00000000-0000-0000-0000-000000000001"),
    ("auth/keys", ""),
    ("auth/daemon", ""),
    ("shares", ""),
    ("daemons", ""),
    ("discoveries", ""),
    ("topology/links", "network_id=00000000-0000-0000-0000-000000000101"),
];

/// Numbers commits so that none of them has older changes joined in the background, which no request costs.
#[derive(Debug)]
struct Unhurried;

impl RandomSource for Unhurried {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        SystemRandom.fill(bytes)?;
        if let [first, _, _, _, _, _, _, _] = bytes {
            *first |= 0x80;
        }
        Ok(())
    }
}

/// An organization, and the API that serves it.
pub(super) struct World {
    pub(super) api: Api,
    pub(super) counter: Arc<Counter>,
    pub(super) owner: UserId,
    pub(super) organization: OrganizationId,
    /// The session of an Owner.
    pub(super) session: String,
    pub(super) email: String,
    /// A key of daemons in the office.
    pub(super) daemon_key: String,
    /// Ids of records, by collection, in ascending order of their creation.
    pub(super) ids: BTreeMap<&'static str, Vec<Uuid>>,
    /// An edge of the lab.
    pub(super) edge: LinkId,
    /// A user with few rights, and a share with a password.
    pub(super) viewer: UserId,
    pub(super) locked: ShareId,
    /// The positions of the first and of the last change.
    pub(super) first_position: ChangePosition,
    pub(super) position: ChangePosition,
    /// A tag that all small hosts have.
    pub(super) common_tag: TagId,
    _fixture: Fixture,
}

impl World {
    pub(super) async fn new() -> Self {
        let mut fixture = Fixture::new().await;
        let counter = Arc::new(Counter::default());
        let store = Arc::new(Interceptor::new(fixture.store.clone(), Arc::clone(&counter)));
        fixture.inventory = fixture.inventory_in(store).with_random(Arc::new(Unhurried));
        let api = Api::builder(fixture.inventory.clone()).rate_limit(None).page_cache(0).build();
        fill_office(&fixture).await;
        fill_lab(&fixture).await;
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let viewer = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await.id;
        let session = fixture.sign_in(&owner).await;
        let key = NewDaemonApiKey::new(OFFICE, "a daemon");
        let daemon_key = fixture
            .inventory
            .daemon_api_keys()
            .create(&fixture.system(), key)
            .await
            .unwrap()
            .plaintext()
            .to_owned();
        let common_tag = fixture.home.tags[0];
        let mut world = Self {
            api,
            counter,
            owner: owner.id,
            organization: fixture.home.organization.id,
            session,
            email: owner.email,
            daemon_key,
            ids: BTreeMap::from([("hosts", LARGE_HOSTS.map(HostId::uuid).to_vec())]),
            edge: LinkId::nil(),
            viewer,
            locked: ShareId::nil(),
            first_position: ChangePosition::new(""),
            position: ChangePosition::new(""),
            common_tag,
            _fixture: fixture,
        };
        world.create_others().await;
        let locked = json!({"name": "locked", "network_id": LAB, "password": crate::common::PASSWORD});
        world.locked = world.create("shares", &locked).await.into();
        world.learn_ids().await;
        world.learn_positions().await;
        world
    }

    /// Creates records of the other kinds over HTTP.
    async fn create_others(&self) {
        for number in 0..1_001 {
            self.create("tags", &json!({"name": format!("tag {number}"), "color": "#00ff7f"})).await;
        }
        for number in 0..5 {
            let cidr = format!("10.{number}.0.0/16");
            self.create("subnets", &json!({"network_id": OFFICE, "name": cidr, "cidr": cidr})).await;
            self.create("networks", &json!({"name": format!("another {number}")})).await;
            let key = json!({"name": "key", "permissions": "Viewer", "all_networks": true});
            self.create("auth/keys", &key).await;
            self.create("auth/daemon", &json!({"name": "key", "network_id": LAB, "tags": []})).await;
            let mut share = json!({"name": "share", "network_id": LAB});
            share["redact"] = json!(["names", "addresses", "macs", "serials"]);
            self.create("shares", &share).await;
            self.create("discoveries", &json!({"network_id": OFFICE, "type": "Network"})).await;
            let id = Uuid::from_u128(0xdae1 + number);
            let daemon =
                json!({"daemon_id": id, "name": "scanner", "mode": "daemon_poll", "version": "0.14.8"});
            let request = with_key(send_json("POST", "/api/daemons/register", &daemon), &self.daemon_key);
            assert!(self.answer(request).await["success"] == true);
        }
    }

    async fn create(&self, collection: &str, fields: &Value) -> Uuid {
        let request = send_json("POST", &format!("/api/v1/{collection}"), fields);
        let answer = self.answer(with_session(request, &self.session)).await;
        assert!(answer["success"] == true, "{collection}: {answer}");
        let record =
            if answer["data"]["id"].is_string() { &answer["data"] } else { &answer["data"]["api_key"] };
        record["id"].as_str().unwrap_or_default().parse().unwrap_or_default()
    }

    async fn learn_positions(&mut self) {
        let (inventory, system) = (&self._fixture.inventory, self._fixture.system());
        let mut query = ChangeQuery::default();
        query.limit = Some(1);
        let first = inventory.changes(&system, &query).await.unwrap().changes.remove(0);
        query.limit = Some(0);
        let last = inventory.changes(&system, &query).await.unwrap().next;
        (self.first_position, self.position) = (first.position, last);
    }

    async fn learn_ids(&mut self) {
        for (collection, query) in COLLECTIONS {
            let order = if collection == "topology/links" { "" } else { "order_by=created_at&" };
            let answer = self.read(&format!("/api/v1/{collection}?{order}limit=1000&{query}")).await;
            let records = answer["data"].as_array().unwrap_or_else(|| panic!("{collection}: {answer}"));
            // Other networks, keys and shares are needed.
            let is_free = |record: &&Value| match collection {
                "networks" => record["name"].as_str().unwrap().starts_with("another"),
                "auth/daemon" => record["name"] == "key",
                "shares" => record["name"] == "share",
                _ => true,
            };
            let ids = records.iter().filter(is_free);
            let ids = ids.map(|record| record["id"].as_str().unwrap().parse().unwrap());
            self.ids.insert(collection, ids.collect());
        }
        let graph = self.read(&format!("/api/v1/topology/graph?network_id={LAB}")).await;
        let edge = graph["data"]["edges"][0]["id"].as_str().unwrap_or_else(|| panic!("no edge: {graph}"));
        self.edge = edge.parse().unwrap();
    }

    /// Returns the number of hosts, their length in bytes, and that of the largest one.
    pub(super) async fn sizes(&self) -> [u64; 3] {
        #[derive(serde::Deserialize)]
        struct Hosts<'a> {
            #[serde(borrow)]
            data: Vec<&'a RawValue>,
        }

        let request = with_session(crate::common::get("/api/v1/hosts?limit=0"), &self.session);
        let response = self.api.clone().oneshot(request).await.unwrap();
        let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        let hosts: Hosts<'_> = serde_json::from_slice(&body).unwrap();
        let lengths = || hosts.data.iter().map(|host| host.get().len() as u64);
        [hosts.data.len() as u64, lengths().sum(), lengths().max().unwrap_or_default()]
    }

    async fn read(&self, target: &str) -> Value {
        self.answer(with_session(crate::common::get(target), &self.session)).await
    }

    pub(super) async fn answer(&self, request: Request<String>) -> Value {
        let response = self.api.clone().oneshot(request).await.unwrap();
        let body: Bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }
}

/// Puts many small hosts and a few large ones into the office.
async fn fill_office(fixture: &Fixture) {
    for number in 0..SMALL_HOSTS {
        let mut small = host(1_000 + number, OFFICE);
        small.name = format!("small-{number}");
        small.tags = vec![fixture.home.tags[0]];
        small.ports = vec![port(PortId::from_u128((1_000 + number) << 64), &small, 443, Protocol::Tcp)];
        fixture.put([small]).await;
    }
    for (id, parts) in LARGE_HOSTS.into_iter().zip([PARTS, PARTS, 2]) {
        fixture.put([large(id, parts)]).await;
    }
}

/// Returns a host with this many parts of each kind, some of which have long texts.
fn large(id: HostId, parts: u128) -> Host {
    let mut large = host(id.as_u128(), OFFICE);
    large.description = Some("x".repeat(60_000));
    for number in 1..=parts {
        let part = |kind: u128| (id.as_u128() << 64) + (kind << 32) + number;
        let address = format!("10.0.{}.{}", number / 250, number % 250).parse().unwrap();
        large.interfaces.push(interface(part(1), &large, address, 0));
        let number = u16::try_from(number).unwrap();
        large.ports.push(port(PortId::from_u128(part(2)), &large, number, Protocol::Tcp));
        large.services.push(service(part(3), &large, "nginx"));
        let mut entry = IfEntry::new(&large, i64::from(number));
        entry.id = IfEntryId::from_u128(part(4));
        entry.if_alias = Some("y".repeat(200));
        large.if_entries.push(entry);
    }
    large
}

/// Fills the lab with switches that see each other behind one port, with hosts that run on each other, and with links.
async fn fill_lab(fixture: &Fixture) {
    for number in 0..SWITCHES {
        fixture.put([switch(number)]).await;
    }
    for number in 0..NESTED {
        let id = 0x2_0000 + number;
        let mut nested = if number == 0 { host(id, LAB) } else { guest(id, LAB, 0x3_0000 + number - 1) };
        nested.name = format!("nested-{number}");
        nested.services.push(service(0x3_0000 + number, &nested, "Proxmox VE"));
        fixture.put([nested]).await;
    }
    let owner = fixture.owner(&fixture.home);
    for number in 1..SWITCHES {
        let ends = [number / 3, number].map(|number| LinkEnd::at_host(HostId::from_u128(0x1_0000 + number)));
        if ends[0] != ends[1] {
            let [source, target] = ends;
            fixture.inventory.records().create(&owner, TopologyLink::new(LAB, source, target)).await.unwrap();
        }
    }
}

fn chassis(number: u128) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::LocallyAssigned, value: format!("chassis-{number}") }
}

fn switch(number: u128) -> Host {
    let mut switch = host(0x1_0000 + number, LAB);
    switch.name = format!("switch-{number}");
    switch.chassis_id = Some(chassis(number));
    switch.sys_location = Some("Basement".to_owned());
    for index in 1..=3 {
        let mut entry = IfEntry::new(&switch, i64::try_from(index).unwrap());
        entry.if_type = Some(6);
        entry.mac_address = Some(mac(number, index));
        entry.lldp_chassis_id = Some(chassis((number * 7 + index) % SWITCHES));
        switch.if_entries.push(entry);
    }
    switch
}

fn mac(number: u128, index: u128) -> MacAddress {
    format!("00:10:20:30:{number:02x}:{index:02x}").parse().unwrap()
}

/// Returns the forwarding tables of the switches: each has all others behind its first port.
pub(super) fn crowded_ports() -> String {
    let mut devices = String::new();
    for number in 0..SWITCHES {
        let separator = if number == 0 { "" } else { "," };
        write!(
            devices,
            r#"{separator}{{"sys_name":"switch-{number}","chassis_id":{{"subtype":"LocallyAssigned","value":"chassis-{number}"}},"tables":{{"fdb":{{"complete":true,"rows":["#
        )
        .unwrap();
        let others = (0..SWITCHES).filter(|other| *other != number);
        let rows: Vec<String> =
            others.map(|other| format!(r#"{{"if_index":1,"mac_address":"{}"}}"#, mac(other, 1))).collect();
        devices.push_str(&rows.join(","));
        devices.push_str("]}}}");
    }
    report(&devices)
}

/// Returns a report of these devices.
pub(super) fn report(devices: &str) -> String {
    format!(
        r#"{{"reporter":{{"name":"collector"}},"observed_at":"2026-08-01T12:00:00Z","devices":[{devices}]}}"#
    )
}
