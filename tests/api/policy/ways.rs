//! Every way in which callers change records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Request;
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::inventory::{ChangeKind, ChangeQuery, Import, NewDaemonApiKey};
use toposcope::model::{ChangePosition, Host, HostId, Permission};
use uuid::Uuid;

use super::{Observer, Seen};
use crate::backend::run_with;
use crate::common::{
    Fixture, HOSTS, OFFICE, PASSWORD, Server, ample, get, host, send_json, with_header, with_key,
    with_session,
};
use crate::requests::routes::{route, routes};

/// Endpoints that change no record about which a policy is asked.
const EXEMPT: &[&str] = &[
    "POST /api/auth/login",
    "POST /api/auth/logout",
    "POST /api/auth/me",
    "POST /api/v1/organizations/referral-source",
    "POST /api/v1/shares/public/{id}/verify",
    "POST /api/v1/shares/public/{id}/topology",
    "POST /api/v1/topology/layouts/{id}/{view}/tidy",
    "POST /api/daemons/{id}/startup",
    "POST /api/daemons/{id}/request-work",
    "POST /api/daemons/{id}/heartbeat",
    "POST /api/daemons/{id}/update-capabilities",
    "POST /api/v1/vlans/discovery",
    "POST /api/v1/discovery/{id}/update",
];

const DAEMON: Uuid = Uuid::from_u128(0xdae1);

/// A server whose policy is observed.
struct Scene {
    fixture: Fixture,
    server: Server,
    observer: Arc<Observer>,
    /// The session of an Owner.
    session: String,
    /// The records that exist, by kind and id, as last read.
    known: BTreeMap<(&'static str, Uuid), Value>,
    /// The endpoints that were called.
    tried: BTreeSet<String>,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let observer = Arc::new(Observer::default());
        let server = Server::new(fixture.inventory.clone().with_policy(Arc::clone(&observer)), ample());
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let mut known =
            BTreeMap::from([(("Organization", fixture.home.organization.id.uuid()), Value::Null)]);
        known.insert(("User", owner.id.uuid()), Value::Null);
        Self { fixture, server, observer, session, known, tried: BTreeSet::new() }
    }

    /// Reads a record. `None`: it does not exist.
    async fn read(&self, entity: &str, id: Uuid) -> Option<Value> {
        let collection = match entity {
            "Host" => "hosts",
            "Network" => "networks",
            "Subnet" => "subnets",
            "Tag" => "tags",
            "User" => "users",
            "User API Key" => "auth/keys",
            "Daemon API Key" => "auth/daemon",
            "Share" => "shares",
            "Organization" => "organizations",
            "Daemon" => "daemons",
            "Discovery" => "discoveries",
            "Topology Layout" => return self.get(&format!("/api/v1/topology/layouts/{id}/l2")).await,
            "Address Reservation" => {
                // Reservations have no endpoint of their own: the history has each whole.
                let entries = self.get(&format!("/api/v1/changes?id={id}&order_direction=desc")).await?;
                let newest =
                    entries.as_array().unwrap().first().filter(|entry| entry["action"] == "created")?;
                let fields = newest["fields"].as_object().unwrap().iter();
                return Some(fields.map(|(name, field)| (name.clone(), field["after"].clone())).collect());
            }
            "Topology Link" => {
                let links = self.get(&format!("/api/v1/topology/links?network_id={OFFICE}&limit=0")).await?;
                let links = links.as_array().unwrap().clone();
                return links.into_iter().find(|link| link["id"] == json!(id));
            }
            other => panic!("no collection has records of the kind {other}"),
        };
        self.get(&format!("/api/v1/{collection}/{id}")).await
    }

    async fn get(&self, target: &str) -> Option<Value> {
        let reply = self.server.send(with_session(get(target), &self.session)).await;
        (reply.status == 200).then(|| reply.data().clone())
    }

    /// Reads all known records again, which may have changed as a consequence of others.
    async fn refresh(&mut self) {
        for (entity, id) in self.known.keys().copied().collect::<Vec<_>>() {
            match self.read(entity, id).await {
                Some(record) => self.known.insert((entity, id), record),
                None => self.known.remove(&(entity, id)),
            };
        }
    }

    /// Sends a request of the Owner, and asserts that the policy sees these changes. Returns the `data` of the answer.
    async fn send(&mut self, method: &str, path: &str, body: Value, expected: &[&str]) -> Value {
        let request = with_session(send_json(method, path, &body), &self.session);
        self.send_request(request, expected).await
    }

    async fn send_request(&mut self, request: Request<String>, expected: &[&str]) -> Value {
        self.refresh().await;
        self.tried.insert(route(request.method().as_str(), request.uri().path()).unwrap().name());
        let data = self.server.send(request).await.data().clone();
        self.assert_seen(expected).await;
        data
    }

    /// Asserts that the policy has seen these changes, each record once, with its values before and after.
    async fn assert_seen(&mut self, expected: &[&str]) {
        let seen = self.observer.take();
        let mut names: Vec<String> = seen.iter().map(Seen::name).collect();
        names.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let records: BTreeSet<(&str, Uuid)> = seen.iter().map(|seen| (seen.entity, seen.id)).collect();
        assert_eq!(records.len(), seen.len(), "{seen:#?}");
        for seen in seen {
            let home = self.fixture.home.organization.id.uuid();
            assert_eq!((seen.organization, seen.is_dry_run), (home, false));
            self.assert_values(seen).await;
        }
    }

    async fn assert_values(&mut self, seen: Seen) {
        let key = (seen.entity, seen.id);
        let known = self.known.get(&key).cloned().unwrap_or_default();
        assert_eq!(seen.before, known, "{seen:#?}");
        let stored = self.read(seen.entity, seen.id).await;
        match seen.kind {
            ChangeKind::Deletion => {
                assert_eq!((seen.after, stored), (Value::Null, None));
                self.known.remove(&key);
            }
            _ => {
                let stored = stored.expect("the record is stored");
                assert_eq!(seen.after, stored, "{key:?}");
                self.known.insert(key, stored);
            }
        }
    }

    /// Creates a record as the Owner, and returns its path.
    /// Returns the newest position of the history.
    async fn position(&self) -> ChangePosition {
        let mut newest = ChangeQuery::default();
        newest.limit = Some(0);
        let system = self.fixture.system();
        self.fixture.inventory.changes(&system, &newest).await.unwrap().next
    }

    async fn create(&mut self, collection: &str, body: Value, expected: &str) -> String {
        let record = self.send("POST", collection, body, &[expected]).await;
        format!("{collection}/{}", text(&record["id"]))
    }

    /// Updates, patches and deletes a record, about which the policy is asked each time.
    async fn change(&mut self, path: &str, update: Value, patch: Value, expected: [&str; 2]) {
        let [updated, deleted] = expected;
        self.send("PUT", path, update, &[updated]).await;
        self.send("PATCH", path, patch, &[updated]).await;
        self.send("DELETE", path, Value::Null, &[deleted]).await;
    }

    async fn upload(&mut self, target: &str, content_type: &str, body: String, expected: &[&str]) -> Value {
        let request = with_session(send_json("POST", target, &Value::Null), &self.session);
        let request = with_header(request, "content-type", content_type).map(|_| body);
        self.send_request(request, expected).await
    }

    async fn report(&mut self, devices: Value, at: &str, expected: &[&str]) -> Value {
        let report = json!({"reporter": {"name": "c"}, "observed_at": at, "devices": devices});
        let target = format!("/api/v1/discovery/import?network_id={OFFICE}&format=report");
        self.upload(&target, "application/octet-stream", report.to_string(), expected).await
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn every_endpoint_that_changes_records_asks_once_about_each() {
    run_with(Scene::new, async |mut scene| {
        hosts(&mut scene).await;
        parts(&mut scene).await;
        reversions(&mut scene).await;
        many_hosts(&mut scene).await;
        places(&mut scene).await;
        accounts(&mut scene).await;
        topologies(&mut scene).await;
        daemons(&mut scene).await;
        reports(&mut scene).await;
        let changing = routes().iter().filter(|route| route.method != "GET").map(|route| route.name());
        let untried: Vec<String> = changing.filter(|name| !scene.tried.contains(name)).collect();
        let mut exempt: Vec<&str> = EXEMPT.to_vec();
        exempt.sort_unstable();
        let mut untried: Vec<&str> = untried.iter().map(String::as_str).collect();
        untried.sort_unstable();
        assert_eq!(untried, exempt);
    });
}

const HOST_CHANGES: [&str; 2] = ["Update Host", "Deletion Host"];

fn draft(name: &str) -> Value {
    json!({"network_id": OFFICE, "name": name, "ports": [{"number": 443, "protocol": "Tcp"}]})
}

async fn hosts(scene: &mut Scene) {
    for collection in [HOSTS, "/api/hosts"] {
        let record = scene.send("POST", collection, draft("a"), &["Creation Host"]).await;
        let path = format!("{HOSTS}/{}", text(&record["id"]));
        scene.change(&path, draft("b"), json!({"description": "d"}), HOST_CHANGES).await;
    }
}

async fn parts(scene: &mut Scene) {
    let [first, second] = [scene.create(HOSTS, draft("a"), "Creation Host").await, {
        scene.create(HOSTS, json!({"network_id": OFFICE, "name": "b"}), "Creation Host").await
    }];
    let [first, second] = [&first, &second].map(|path| path.rsplit('/').next().unwrap().to_owned());
    let update = "Update Host";
    for (collection, part, patch) in [
        ("/api/v1/interfaces", json!({"ip_address": "192.0.2.1"}), json!({"name": "eth0"})),
        ("/api/v1/ports", json!({"number": 22, "protocol": "Tcp"}), json!({"number": 23})),
        (
            "/api/v1/services",
            json!({"name": "web", "service_definition": "nginx"}),
            json!({"name": "the web"}),
        ),
        ("/api/v1/if-entries", json!({"if_index": 1, "if_descr": "one"}), json!({"if_descr": "two"})),
    ] {
        let mut part = part;
        (part["host_id"], part["network_id"]) = (json!(first), json!(OFFICE));
        let path = scene.create(collection, part.clone(), update).await;
        if collection == "/api/v1/ports" {
            // It moves to the other host and back.
            let mut moved = part.clone();
            moved["host_id"] = json!(second);
            scene.send("PUT", &path, moved, &[update, update]).await;
            scene.send("PUT", &path, part.clone(), &[update, update]).await;
        }
        let name = if collection == "/api/v1/ports" { "number" } else { "position" };
        part[name] = json!(7);
        for field in ["if_descr", "name"] {
            if part.get(field).is_some() {
                part[field] = json!("other");
            }
        }
        part["mac_address"] = json!("02:00:00:00:00:01");
        scene.change(&path, part, patch, [update, update]).await;
    }
    scene.send("POST", "/api/v1/hosts/bulk-delete", json!([first, second]), &["Deletion Host"; 2]).await;
}

/// Reverts changed and deleted records.
async fn reversions(scene: &mut Scene) {
    let subnet = json!({"network_id": OFFICE, "name": "one", "cidr": "10.9.0.0/16"});
    for (collection, body, entity) in [
        (HOSTS, draft("a"), "Host"),
        ("/api/v1/subnets", subnet, "Subnet"),
        ("/api/v1/tags", json!({"name": "blue"}), "Tag"),
    ] {
        let [created, updated, deleted] =
            ["Creation", "Update", "Deletion"].map(|kind| format!("{kind} {entity}"));
        let path = scene.create(collection, body, &created).await;
        let revert = (format!("{path}/revert"), json!({"position": scene.position().await}));
        scene.send("PATCH", &path, json!({"name": "other"}), &[&updated]).await;
        scene.send("POST", &revert.0, revert.1.clone(), &[&updated]).await;
        scene.send("DELETE", &path, Value::Null, &[&deleted]).await;
        scene.send("POST", &revert.0, revert.1, &[&created]).await;
        scene.send("DELETE", &path, Value::Null, &[&deleted]).await;
    }
}

async fn many_hosts(scene: &mut Scene) {
    let path = scene.create(HOSTS, draft("a"), "Creation Host").await;
    let id = path.rsplit('/').next().unwrap();
    for (is_atomic, name) in [(true, "c"), (false, "d")] {
        let mut replaced = json!({"network_id": OFFICE, "name": name});
        replaced["id"] = json!(id);
        let hosts = json!([replaced, draft("new")]);
        let body = json!({"hosts": hosts, "atomic": is_atomic});
        scene.send("POST", "/api/v1/hosts/bulk", body.clone(), &["Update Host", "Creation Host"]).await;
        // The first host stays as it is, and nothing is written.
        let unchanged = json!({"hosts": [hosts[0]], "atomic": is_atomic});
        scene.send("POST", "/api/v1/hosts/bulk", unchanged, &[]).await;
    }
    let mut replaced = draft("e");
    replaced["id"] = json!(id);
    let lines = format!("{replaced}\n{}\n", draft("f"));
    let expected = ["Update Host", "Creation Host"];
    let target = "/api/v1/hosts/import";
    let report = scene.upload(target, "application/x-ndjson", lines, &expected).await;
    assert_eq!((&report["imported"], &report["refused"]), (&json!(2), &json!(0)));
}

async fn places(scene: &mut Scene) {
    let network = json!({"name": "Annex"});
    let path = scene.create("/api/v1/networks", network, "Creation Network").await;
    let [update, patch] = [json!({"name": "Annex 2"}), json!({"name": "Annex 3"})];
    scene.change(&path, update, patch, ["Update Network", "Deletion Network"]).await;

    let subnet = |name: &str, cidr: &str| json!({"network_id": OFFICE, "name": name, "cidr": cidr});
    let subnets = "/api/v1/subnets";
    let path = scene.create(subnets, subnet("one", "10.1.0.0/16"), "Creation Subnet").await;
    let update = subnet("two", "10.1.0.0/16");
    scene.change(&path, update, json!({"description": "d"}), ["Update Subnet", "Deletion Subnet"]).await;
    let mut ids = Vec::new();
    for cidr in ["10.2.0.0/16", "10.3.0.0/16"] {
        let path = scene.create(subnets, subnet(cidr, cidr), "Creation Subnet").await;
        ids.push(path.rsplit('/').next().unwrap().to_owned());
    }
    scene.send("POST", "/api/v1/subnets/bulk-delete", json!(ids), &["Deletion Subnet"; 2]).await;

    let tag = scene.create("/api/v1/tags", json!({"name": "red", "color": "#ff0000"}), "Creation Tag").await;
    let update = json!({"name": "green", "color": "#00ff00"});
    scene.change(&tag, update, json!({"description": "d"}), ["Update Tag", "Deletion Tag"]).await;
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let body = json!({"name": name, "color": "#ff0000"});
        let path = scene.create("/api/v1/tags", body, "Creation Tag").await;
        ids.push(path.rsplit('/').next().unwrap().to_owned());
    }
    scene.send("POST", "/api/v1/tags/bulk-delete", json!(ids), &["Deletion Tag"; 2]).await;

    let organization = format!("/api/v1/organizations/{}", scene.fixture.home.organization.id);
    for method in ["PUT", "PATCH"] {
        let body = json!({"name": format!("Home by {method}")});
        scene.send(method, &organization, body, &["Update Organization"]).await;
    }
}

async fn accounts(scene: &mut Scene) {
    let user = json!({"email": "new@example.net", "permissions": "Member", "network_ids": [OFFICE]});
    let path = scene.create("/api/v1/users", user.clone(), "Creation User").await;
    let mut update = user;
    update["permissions"] = json!("Viewer");
    let changes = ["Update User", "Deletion User"];
    scene.change(&path, update, json!({"is_enabled": false}), changes).await;

    let owner = scene.known.keys().find(|(entity, _)| *entity == "User").unwrap().1;
    let user_key = json!({
        "name": "a", "organization_id": scene.fixture.home.organization.id, "user_id": owner,
        "permissions": "Viewer", "network_ids": [OFFICE], "tags": [],
    });
    keys(scene, "/api/v1/auth/keys", &user_key, "User API Key").await;
    let daemon_key = json!({"name": "a", "network_id": OFFICE, "tags": []});
    keys(scene, "/api/v1/auth/daemon", &daemon_key, "Daemon API Key").await;

    let share = json!({"name": "a", "network_id": OFFICE});
    let path = scene.create("/api/v1/shares", share.clone(), "Creation Share").await;
    let mut update = share.clone();
    update["password"] = json!(PASSWORD);
    let changes = ["Update Share", "Deletion Share"];
    scene.change(&path, update, json!({"name": "b"}), changes).await;
    let path = scene.create("/api/v1/shares", share, "Creation Share").await;
    let ids = json!([path.rsplit('/').next().unwrap()]);
    scene.send("POST", "/api/v1/shares/bulk-delete", ids, &["Deletion Share"]).await;

    let body = json!({"current_password": PASSWORD, "new_password": "battery staple"});
    scene.send("POST", "/api/auth/password", body, &["Update User"]).await;
}

/// Creates, updates, rotates and deletes keys.
async fn keys(scene: &mut Scene, collection: &str, body: &Value, entity: &str) {
    let [created, updated, deleted] =
        ["Creation", "Update", "Deletion"].map(|kind| format!("{kind} {entity}"));
    let mut paths = Vec::new();
    for _ in 0..2 {
        let issued = scene.send("POST", collection, body.clone(), &[&created]).await;
        let id = issued.get("id").or_else(|| issued["api_key"].get("id")).unwrap();
        paths.push(format!("{collection}/{}", text(id)));
    }
    let mut update = body.clone();
    update["name"] = json!("b");
    scene.send("POST", &format!("{}/rotate", paths[0]), Value::Null, &[&updated]).await;
    scene.change(&paths[0], update, json!({"name": "c"}), [&updated, &deleted]).await;
    let ids = json!([paths[1].rsplit('/').next().unwrap()]);
    scene.send("POST", &format!("{collection}/bulk-delete"), ids, &[&deleted]).await;
}

async fn topologies(scene: &mut Scene) {
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let path = scene.create(HOSTS, draft(name), "Creation Host").await;
        ids.push(path.rsplit('/').next().unwrap().to_owned());
    }
    let link = json!({"network_id": OFFICE, "source": {"host_id": ids[0]}, "target": {"host_id": ids[1]}});
    let links = "/api/v1/topology/links";
    let path = scene.create(links, link.clone(), "Creation Topology Link").await;
    let position = json!({"position": scene.position().await});
    scene.send("DELETE", &path, Value::Null, &["Deletion Topology Link"]).await;
    let reverted = format!("{path}/revert");
    scene.send("POST", &reverted, position, &["Creation Topology Link"]).await;
    scene.send("DELETE", &path, Value::Null, &["Deletion Topology Link"]).await;
    let layout = format!("/api/v1/topology/layouts/{OFFICE}/l2");
    let positions = |x: f64| json!({"positions": [{"id": ids[0], "x": x, "y": 1.0}]});
    scene.send("PUT", &layout, positions(1.0), &["Creation Topology Layout"]).await;
    scene.send("PATCH", &layout, positions(2.0), &["Update Topology Layout"]).await;
    let subnet = json!({"network_id": OFFICE, "name": "racks", "cidr": "10.8.0.0/29"});
    let subnet = scene.create("/api/v1/subnets", subnet, "Creation Subnet").await;
    let reservation = json!({"count": 2, "name": "a rack"});
    let created = ["Creation Address Reservation"; 2];
    scene.send("POST", &format!("{subnet}/addresses/reserve"), reservation.clone(), &created).await;
    let released = json!({"addresses": ["10.8.0.1", "10.8.0.2", "10.8.0.3"]});
    let deleted = ["Deletion Address Reservation"; 2];
    scene.send("POST", &format!("{subnet}/addresses/release"), released, &deleted).await;
    scene.send("POST", &format!("{subnet}/addresses/reserve"), reservation, &created).await;
    scene.send("DELETE", &subnet, Value::Null, &["Deletion Subnet"]).await;
    // The link and the position go with their host, and are not asked about.
    scene.create(links, link, "Creation Topology Link").await;
    scene.send("DELETE", &format!("{HOSTS}/{}", ids[0]), Value::Null, &["Deletion Host"]).await;
}

async fn daemons(scene: &mut Scene) {
    let key = NewDaemonApiKey::new(OFFICE, "a daemon");
    let key = scene.fixture.inventory.daemon_api_keys().create(&scene.fixture.system(), key).await.unwrap();
    let key = key.plaintext().to_owned();
    let post = |path: &str, body: Value| with_key(send_json("POST", path, &body), &key);
    let registration = json!({"daemon_id": DAEMON, "name": "scanner", "mode": "daemon_poll"});
    let register = post("/api/daemons/register", registration);
    scene.send_request(register, &["Creation Host", "Creation Daemon"]).await;
    let report = json!({
        "host": {"name": "found", "network_id": OFFICE},
        "interfaces": [{"ip_address": "198.51.100.7", "mac_address": "02:00:00:00:00:09"}],
    });
    let reported = post("/api/v1/hosts/discovery", report.clone());
    scene.send_request(reported, &["Creation Host"]).await;
    scene.send_request(post("/api/v1/hosts/discovery", report), &[]).await;
    let subnet = json!({"network_id": OFFICE, "name": "s", "cidr": "203.0.113.0/24"});
    scene.send_request(post("/api/v1/subnets", subnet), &["Creation Subnet"]).await;

    let queued = json!({"network_id": OFFICE, "type": "Network"});
    let path = scene.create("/api/v1/discoveries", queued, "Creation Discovery").await;
    scene.send("POST", &format!("{path}/cancel"), Value::Null, &["Update Discovery"]).await;
    scene.refresh().await;
    scene.send("DELETE", &format!("/api/v1/daemons/{DAEMON}"), Value::Null, &["Deletion Daemon"]).await;
}

fn device(number: u8, ports: &[u16]) -> Value {
    let rows: Vec<Value> = ports.iter().map(|port| json!({"number": port, "protocol": "Tcp"})).collect();
    json!({
        "sys_name": format!("switch-{number}"),
        "serial_number": format!("SN-{number:04}"),
        "tables": {
            "addresses": {"complete": true, "rows": [{"ip_address": format!("192.0.2.{number}")}]},
            "ports": {"complete": true, "rows": rows},
        },
    })
}

async fn reports(scene: &mut Scene) {
    let both = json!([device(1, &[22, 80]), device(2, &[22])]);
    let report = scene.report(both.clone(), "2026-08-01T12:00:00Z", &["Creation Host"; 2]).await;
    let [first, second] = [0, 1].map(|index| text(&report["hosts"][index]["id"]).to_owned());
    scene.report(both, "2026-08-01T12:00:00Z", &[]).await;
    for day in 2..5 {
        let seen = json!([device(1, &[22])]);
        scene.report(seen, &format!("2026-08-0{day}T12:00:00Z"), &["Update Host"]).await;
    }
    let stale = json!({"network_id": OFFICE});
    let deleted = scene.send("POST", "/api/v1/hosts/delete-stale", stale, &["Update Host"]).await;
    assert_eq!(deleted["ports"], 1);

    let interface = &scene.read("Host", first.parse().unwrap()).await.unwrap()["interfaces"][0]["id"];
    let split = json!({"interfaces": [interface], "name": "part"});
    let expected = ["Update Host", "Creation Host"];
    let part = scene.send("POST", &format!("{HOSTS}/{first}/split"), split, &expected).await;
    let expected = ["Update Host", "Deletion Host"];
    for (method, other) in [("POST", text(&part["id"])), ("PUT", second.as_str())] {
        let path = format!("{HOSTS}/{first}/consolidate/{other}");
        scene.send(method, &path, Value::Null, &expected).await;
    }
}

#[test]
fn changes_without_http_are_asked_about() {
    run_with(Scene::new, async |mut scene| {
        let inventory = scene.server.api.inventory().clone();
        let system = scene.fixture.system();
        let stored = Host { name: "a".to_owned(), ..host(1, OFFICE) };
        inventory.hosts().put(&system, stored.clone()).await.unwrap();
        scene.assert_seen(&["Creation Host"]).await;
        inventory.hosts().put(&system, Host { name: "b".to_owned(), ..stored }).await.unwrap();
        scene.assert_seen(&["Update Host"]).await;
        let rename = |host: &mut Host| {
            host.name = "c".to_owned();
            Ok(())
        };
        inventory.hosts().update(&system, HostId::from_u128(1), rename).await.unwrap();
        scene.assert_seen(&["Update Host"]).await;
        let user = scene.known.keys().find(|(entity, _)| *entity == "User").unwrap().1;
        scene.refresh().await;
        inventory
            .users()
            .set_password(&system, user.into(), Some("battery staple".to_owned()))
            .await
            .unwrap();
        // The session has ended, so that the values cannot be read.
        assert_eq!(scene.observer.take().iter().map(Seen::name).collect::<Vec<_>>(), ["Update User"]);
    });
}

#[test]
fn import_asks_about_networks_that_it_creates_and_dry_runs_say_what_they_are() {
    run_with(Scene::new, async |scene| {
        let inventory = scene.server.api.inventory();
        let system: Caller = scene.fixture.system();
        let network = Uuid::from_u128(0x777);
        let line = json!({"network_id": network, "name": "a"}).to_string();
        let import = Import::new().create_missing_networks();
        inventory.hosts().import(&system, line.as_bytes(), import.dry_run()).await.unwrap();
        let seen = scene.observer.take();
        assert!(seen.iter().all(|seen| seen.is_dry_run), "{seen:#?}");
        let names: Vec<String> = seen.iter().map(Seen::name).collect();
        assert_eq!(names, ["Creation Network", "Creation Host"]);
        let import = Import::new().create_missing_networks();
        inventory.hosts().import(&system, line.as_bytes(), import).await.unwrap();
        let seen = scene.observer.take();
        assert!(seen.iter().all(|seen| !seen.is_dry_run && !seen.is_by_daemon), "{seen:#?}");
        assert_eq!(seen.iter().map(Seen::name).collect::<Vec<_>>(), names);
    });
}
