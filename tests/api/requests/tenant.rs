//! An organization whose users know every endpoint.
//!
//! Its clients learn ids, keys and entity tags from the answers.

use std::collections::BTreeMap;
use toposcope::access::Caller;

use serde_json::{Value, json};
use toposcope::inventory::{Inventory, NewDaemonApiKey, NewOrganization, NewShare, NewUser, NewUserApiKey};
use toposcope::model::{Network, NetworkId, OrganizationId, Permission, Tag, UserId};
use uuid::Uuid;

use super::routes::Route;
use crate::common::{LEVELS, PASSWORD, Reply};
use crate::isolation::session_of;

/// The collections, by their paths.
pub(super) const COLLECTIONS: [&str; 16] = [
    "organizations",
    "networks",
    "subnets",
    "tags",
    "users",
    "hosts",
    "interfaces",
    "ports",
    "services",
    "if-entries",
    "auth/keys",
    "auth/daemon",
    "shares",
    "daemons",
    "discoveries",
    "topology/links",
];

/// The maximum number of values of each kind that a client remembers.
const MEMORY: usize = 40;

/// The knowledge of the clients of an organization.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) organization: OrganizationId,
    /// A text that every text of these clients contains.
    pub(crate) marker: String,
    /// The ids of records that exist, by collection.
    pub(crate) ids: BTreeMap<&'static str, Vec<Uuid>>,
    /// The `host_id`, or null, and the `network_id` of the records that have one.
    pub(super) places: BTreeMap<Uuid, [Value; 2]>,
    /// Ids of deleted records.
    pub(crate) deleted: Vec<Uuid>,
    pub(crate) users: Vec<(UserId, Permission)>,
    pub(crate) emails: Vec<String>,
    /// User API keys and daemon API keys.
    pub(crate) keys: Vec<String>,
    pub(crate) daemon_keys: Vec<String>,
    pub(crate) sessions: Vec<String>,
    pub(super) share_tokens: Vec<String>,
    pub(super) cursors: Vec<String>,
    /// Positions in the history.
    pub(super) positions: Vec<String>,
    pub(super) entity_tags: Vec<String>,
    /// The number of the next text.
    pub(super) count: usize,
}

impl Tenant {
    /// Creates an organization with users of all levels, networks, tags, keys and a share.
    pub(crate) async fn new(inventory: &Inventory, letter: char) -> Self {
        let marker = format!("zqzq{letter}");
        let mut organization = NewOrganization::new(marker.as_str());
        organization.api_access = true;
        let organization = inventory.organizations().create(organization).await.unwrap().id;
        let mut tenant = Self {
            organization,
            marker,
            ids: BTreeMap::new(),
            places: BTreeMap::new(),
            deleted: vec![],
            users: vec![],
            emails: vec![],
            keys: vec![],
            daemon_keys: vec![],
            sessions: vec![],
            share_tokens: vec![],
            cursors: vec![],
            positions: vec![],
            entity_tags: vec![],
            count: 0,
        };
        tenant.note("organizations", organization);
        for _ in 0..3 {
            let network = inventory
                .networks()
                .create(&Caller::system(organization), Network::new(tenant.text()))
                .await
                .unwrap()
                .id;
            tenant.note("networks", network);
            let tag = inventory
                .tags()
                .create(&Caller::system(organization), Tag::new(tenant.text()))
                .await
                .unwrap()
                .id;
            tenant.note("tags", tag);
            let daemon_key = NewDaemonApiKey::new(network, tenant.text());
            let daemon_key =
                inventory.daemon_api_keys().create(&Caller::system(organization), daemon_key).await.unwrap();
            tenant.note("auth/daemon", daemon_key.record().id);
            tenant.keys.push(daemon_key.plaintext().to_owned());
            tenant.daemon_keys.push(daemon_key.plaintext().to_owned());
        }
        for level in LEVELS {
            tenant.add_user(inventory, level).await;
        }
        let mut share = NewShare::new(tenant.text());
        (share.network_id, share.password) =
            (Some(tenant.ids["networks"][0].into()), Some(PASSWORD.to_owned()));
        let share = inventory.shares().create(&Caller::system(organization), share).await.unwrap().id;
        tenant.note("shares", share);
        tenant
    }

    async fn add_user(&mut self, inventory: &Inventory, level: Permission) {
        let networks: Vec<NetworkId> = self.ids["networks"].iter().copied().map(NetworkId::new).collect();
        let mut user = NewUser::new(self.email(), level);
        (user.network_ids, user.password) = (networks[..2].to_vec(), Some(PASSWORD.to_owned()));
        let user = inventory.users().create(&Caller::system(self.organization), user).await.unwrap();
        self.note("users", user.id);
        self.users.push((user.id, level));
        self.emails.push(user.email.clone());
        let mut key = NewUserApiKey::new(user.id, self.text(), level);
        key.network_ids = networks[..2].to_vec();
        let key = inventory.user_api_keys().create(&Caller::system(user.organization_id), key).await.unwrap();
        self.note("auth/keys", key.record().id);
        self.keys.push(key.plaintext().to_owned());
        let session = inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
        self.sessions.push(session.plaintext().to_owned());
    }

    /// Returns a unique text with the marker.
    pub(super) fn text(&mut self) -> String {
        self.count += 1;
        format!("{} {}", self.marker, self.count)
    }

    /// Returns a new e-mail address.
    pub(super) fn email(&mut self) -> String {
        self.text().replace(' ', "-") + "@example.net"
    }

    fn note(&mut self, collection: &'static str, id: impl Into<Uuid>) {
        let id = id.into();
        let ids = self.ids.entry(collection).or_default();
        if !ids.contains(&id) {
            remember(ids, id);
        }
    }

    /// Stores the parts of an answer that later requests may use.
    pub(crate) fn learn(&mut self, route: &Route, sent: &str, reply: &Reply) {
        if let Some(entity_tag) = reply.headers.get("etag") {
            remember(&mut self.entity_tags, entity_tag.to_str().unwrap().to_owned());
        }
        if reply.status != 200 {
            return;
        }
        if reply.headers.contains_key("set-cookie") && route.path.ends_with("login") {
            remember(&mut self.sessions, session_of(reply));
        }
        if let Some(cursor) = reply.json["meta"]["pagination"]["next_cursor"].as_str() {
            let is_position = route.path.ends_with("/changes") || route.path.ends_with("/history");
            let known = if is_position { &mut self.positions } else { &mut self.cursors };
            remember(known, cursor.to_owned());
        }
        let data = &reply.json["data"];
        if let Some(session) =
            data[0]["session_id"].as_str().filter(|_| route.path.ends_with("/request-work"))
        {
            self.note("discoveries", session.parse::<Uuid>().unwrap());
        }
        if let Some(key) = data["key"].as_str().filter(|_| data["api_key"].is_object()) {
            remember(&mut self.keys, key.to_owned());
            if route.path.starts_with("/api/v1/auth/daemon") {
                remember(&mut self.daemon_keys, key.to_owned());
            }
        }
        if route.path == "/api/v1/discovery/import" && data["dry_run"] == false {
            return self.learn_discovered(&data["hosts"]);
        }
        for edge in data["edges"].as_array().into_iter().flatten() {
            self.learn_record("topology/edges", &json!({"id": edge["id"]}));
        }
        for node in data["nodes"].as_array().into_iter().flatten() {
            self.learn_record("topology/nodes", &json!({"id": node["id"]}));
        }
        if let Some(token) = data["token"].as_str() {
            remember(&mut self.share_tokens, token.to_owned());
        }
        let Some(collection) = collection_of(route.path) else { return };
        if let Some((_, other)) = sent.split_once("/consolidate/") {
            self.forget(collection, other);
        }
        let is_about_record = route.path.ends_with("/claims") || route.path.ends_with("/history");
        if is_about_record || collection == "topology/edges" {
            return;
        }
        if route.method == "DELETE" || route.path.ends_with("bulk-delete") {
            return self.forget(collection, sent);
        }
        match data {
            Value::Array(items) => items.iter().for_each(|item| self.learn_record(collection, item)),
            other => {
                self.learn_record(collection, other);
                self.learn_record(collection, &other["api_key"]);
                self.learn_record(collection, &other["daemon"]);
            }
        }
    }

    /// Stores the hosts in the answer to an import. Hosts that became part of another host are removed.
    fn learn_discovered(&mut self, hosts: &Value) {
        for host in hosts.as_array().into_iter().flatten() {
            let reason = host["reason"].as_str().filter(|_| host["outcome"] == "updated");
            self.forget("hosts", &reason.unwrap_or_default().replace('-', ""));
            self.learn_record("hosts", host);
        }
    }

    fn learn_record(&mut self, collection: &'static str, record: &Value) {
        if let Some(id) = id_of(record) {
            self.note(collection, id);
            if record["network_id"].is_string() {
                self.places.insert(id, [record["host_id"].clone(), record["network_id"].clone()]);
            }
        }
        let parts = [("interfaces", "interfaces"), ("ports", "ports"), ("services", "services")];
        for (field, collection) in parts.into_iter().chain([("if_entries", "if-entries")]) {
            for part in record[field].as_array().into_iter().flatten() {
                self.learn_record(collection, part);
            }
        }
    }

    /// Forgets the records that a request has deleted.
    fn forget(&mut self, collection: &str, sent: &str) {
        let Some(ids) = self.ids.get_mut(collection) else { return };
        let is_named = |id: &mut Uuid| sent.contains(&id.simple().to_string());
        for id in ids.extract_if(.., is_named) {
            remember(&mut self.deleted, id);
        }
    }
}

/// Adds a value to a list of bounded length. The oldest value is removed if necessary.
fn remember<T>(values: &mut Vec<T>, value: T) {
    if values.len() == MEMORY {
        values.remove(0);
    }
    values.push(value);
}

fn id_of(record: &Value) -> Option<Uuid> {
    record["id"].as_str()?.parse().ok()
}

/// Returns the collection that a path belongs to, or whose ids it has.
pub(crate) fn collection_of(path: &str) -> Option<&'static str> {
    if path.starts_with("/api/v1/topology/layouts/") || path.starts_with("/topology/") {
        return Some("networks");
    }
    if path.starts_with("/share/") {
        return Some("shares");
    }
    if path.starts_with("/api/v1/topology/edges/") {
        return Some("topology/edges");
    }
    let rest = path.strip_prefix("/api/v1/").or_else(|| path.strip_prefix("/api/"))?;
    COLLECTIONS.into_iter().find(|name| rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with('-')))
}
