//! Requests to every endpoint: mostly valid, about the records of the caller's organization, deleted ones, those of
//! another organization, and unknown ones.

use fastrand::Rng;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use serde_json::{Value, json};
use toposcope::model::Permission;
use uuid::Uuid;

use super::Choose;
use super::request::{ApiRequest, Body};
use super::routes::{Needs, Route, routes};
use super::tenant::{Tenant, collection_of};
use crate::common::NOBODY;
use crate::isolation::model::{By, Caller};

/// Writes the requests of an organization's clients.
pub(crate) struct Author<'a> {
    pub(crate) random: &'a mut Rng,
    pub(crate) own: &'a mut Tenant,
    /// Another organization, whose ids these clients know.
    pub(crate) other: &'a Tenant,
    /// How many ids in a hundred are the other organization's.
    pub(crate) foreign: usize,
    /// Whether these clients create hosts with ids that the other organization uses.
    pub(crate) is_squatting: bool,
}

impl Author<'_> {
    /// Returns a request and its endpoint.
    pub(crate) fn request(&mut self) -> (&'static Route, ApiRequest) {
        let route = self.random.choice(routes()).unwrap();
        // Without hosts, few requests about their parts would succeed.
        let is_host = |route: &&Route| route.name() == "POST /api/v1/hosts";
        let creation = routes().iter().find(is_host).unwrap();
        let route = if self.random.once_in(12) { creation } else { route };
        let is_by_daemon = match route.is_for_daemons() {
            true => !self.random.once_in(4),
            false => route.admits_daemons() && self.random.once_in(4),
        };
        let mut request = if is_by_daemon { self.daemon_credentials() } else { self.credentials() };
        request.method = if route.method == "GET" && self.random.once_in(12) { "HEAD" } else { route.method };
        let collection = collection_of(route.path).unwrap_or("discoveries");
        let id = self.segment(collection);
        let other = if route.path.contains("{other}") { self.segment(collection) } else { String::new() };
        request.path = route.path_of(&id, &other);
        if let Some(path) = request.path.strip_suffix("/l2") {
            request.path = format!("{path}/{}", self.random.choose_part("l2|l2|l3|workloads|x"));
        }
        if collection == "shares" && self.random.once_in(2) {
            let token = self.random.choice(&self.own.share_tokens);
            request.authorization = token.map(|token| format!("Bearer {token}")).into_iter().collect();
        }
        self.add_content(route, collection, &mut request);
        if !self.random.once_in(4) {
            self.set_place(id.parse().ok(), &mut request);
        }
        self.add_condition(&mut request);
        (route, request)
    }

    /// Names the host and the network of a record that is changed, or else the network of the host that is named.
    fn set_place(&self, id: Option<Uuid>, request: &mut ApiRequest) {
        let Body::Fields(fields) = &mut request.body else { return };
        let host = fields.iter().find(|(name, _)| *name == "host_id");
        let host = host.and_then(|(_, host)| serde_json::from_str(host).ok());
        let known = |id: Option<Uuid>| id.and_then(|id| self.own.places.get(&id));
        let Some([host, network]) = known(id).or_else(|| known(host)) else { return };
        for (name, value) in fields {
            match *name {
                "host_id" if host.is_string() => *value = host.to_string(),
                "network_id" => *value = network.to_string(),
                _ => {}
            }
        }
    }

    /// Returns a request that has nothing but the key of a daemon.
    fn daemon_credentials(&mut self) -> ApiRequest {
        let mut request = ApiRequest::new("GET", "");
        let key = self.random.choice(&self.own.daemon_keys);
        request.authorization.extend(key.map(|key| format!("Bearer {key}")));
        request
    }

    /// Returns a request that has nothing but credentials.
    pub(crate) fn credentials(&mut self) -> ApiRequest {
        let mut request = ApiRequest::new("GET", "");
        match self.random.usize(..100) {
            0..3 => {}
            3..6 => request.authorization.push("Bearer x".to_owned()),
            6..36 => {
                let key = self.random.choice(&self.own.keys);
                request.authorization.extend(key.map(|key| format!("Bearer {key}")));
            }
            36..66 => {
                let session = self.random.choice(&self.own.sessions);
                request.cookies.extend(session.map(|session| ("session_id", session.clone())));
            }
            _ => {
                let (user, level) = self.random.choose(&self.own.users);
                let organization = self.own.organization;
                let level = if self.random.bool() { Permission::Owner } else { level };
                let networks = self.random.once_in(4).then(|| self.some_ids("networks"));
                request.supplied_caller = Some(Caller { organization, user, level, networks, by: By::Host });
            }
        }
        request
    }

    /// Returns an id of this collection as part of a path, or text that is not an id.
    fn segment(&mut self, collection: &'static str) -> String {
        match self.random.usize(..40) {
            0 => self.random.choose_part("x|bulk|public|0|%00|me|{id}|%C3%A9").replace(['{', '}'], ""),
            1 => self.id(collection).simple().to_string().to_uppercase(),
            2 => self.any_id().to_string(),
            _ => self.id(collection).to_string(),
        }
    }

    /// Returns an id, most often of an existing record of this collection.
    pub(super) fn id(&mut self, collection: &'static str) -> Uuid {
        let ids = |tenant: &Tenant| tenant.ids.get(collection).cloned().unwrap_or_default();
        let ids = match self.random.usize(..100) {
            number if number < self.foreign => ids(self.other),
            97 => self.own.deleted.clone(),
            98 => vec![Uuid::nil(), Uuid::max()],
            99 => vec![],
            _ => ids(self.own),
        };
        self.random.choice(ids).unwrap_or(NOBODY)
    }

    /// Returns an id of any collection.
    pub(crate) fn any_id(&mut self) -> Uuid {
        let collections: Vec<&'static str> = self.own.ids.keys().copied().collect();
        let collection = self.random.choose(&collections);
        self.id(collection)
    }

    fn some_ids(&mut self, collection: &'static str) -> Vec<Uuid> {
        (0..self.random.usize(..3)).map(|_| self.id(collection)).collect()
    }

    fn add_content(&mut self, route: &Route, collection: &'static str, request: &mut ApiRequest) {
        match route.needs {
            Needs::Nothing => return,
            Needs::Query(names) => return self.add_query(names, collection, request),
            Needs::Fields(kind) => {
                let mut fields = self.fields(kind);
                if self.random.once_in(10) {
                    let place = self.random.usize(..fields.len());
                    fields[place].1 = self.odd_value();
                } else if self.random.once_in(20) {
                    fields.remove(self.random.usize(..fields.len()));
                }
                let fields = fields.into_iter().map(|(name, value)| (name, value.to_string()));
                request.body = Body::Fields(fields.collect());
            }
            #[cfg(feature = "discovery")]
            Needs::Parameters(names) => return self.add_parameters(names.split(' '), collection, request),
            #[cfg(feature = "discovery")]
            Needs::Report => return self.add_report(request),
            Needs::Ids => {
                let ids: Vec<Uuid> = (0..1 + self.random.usize(..3)).map(|_| self.id(collection)).collect();
                request.body = Body::Text(json!(ids).to_string());
            }
            Needs::Lines => {
                if self.random.once_in(3) {
                    request.query.push(("network_id", self.id("networks").to_string()));
                }
                if self.random.once_in(4) {
                    request.query.push(("dry_run", self.random.choose_part("true|false|x").to_owned()));
                }
                let lines = (0..self.random.usize(..4)).map(|_| self.placed_host().to_string() + "\n");
                request.body = Body::Text(lines.collect());
                request.content_type = Some("application/x-ndjson");
                return;
            }
        }
        request.content_type = Some("application/json");
    }

    fn add_query(&mut self, names: &'static str, collection: &'static str, request: &mut ApiRequest) {
        let usual = "limit|offset|cursor|ids|order_by|order_direction".split('|');
        let further = names.split(' ').filter(|name| !name.is_empty());
        self.add_parameters(usual.chain(further), collection, request);
    }

    fn add_parameters(
        &mut self,
        names: impl Iterator<Item = &'static str>,
        collection: &'static str,
        request: &mut ApiRequest,
    ) {
        for name in names {
            let is_needed =
                name == "host_id" || (name == "network_id" && request.path.contains("/topology/"));
            let is_given = if is_needed { !self.random.once_in(20) } else { self.random.once_in(6) };
            if is_given {
                let value = self.parameter(name, collection);
                request.query.push((name, value));
            }
        }
        if self.random.once_in(30) {
            request.query.push(("unknown", "1".to_owned()));
        }
    }

    fn parameter(&mut self, name: &str, collection: &'static str) -> String {
        let values = match name {
            "ids" => return self.id(collection).to_string(),
            "network_id" => return self.id("networks").to_string(),
            "host_id" => return self.id("hosts").to_string(),
            "subnet_id" => return self.id("subnets").to_string(),
            "tag_ids" => return format!("{},{}", self.id("tags"), self.id("tags")),
            "cursor" => {
                let cursors = if self.random.once_in(4) { &self.other.cursors } else { &self.own.cursors };
                return self.random.choice(cursors).cloned().unwrap_or_default();
            }
            "limit" => "0|1|2|3|1000|-1|1001|x",
            "offset" => "0|1|500|2147483647|-1",
            "order_by" | "group_by" => "created_at|updated_at|name|interface_ip|id",
            "order_direction" => "asc|desc|up",
            "fields" => "id|id,name|interfaces|bogus",
            "ip" => "10.0.0.0/8|10.0.0.9|2001:db8::/32|x",
            "mac" => "02:00|020000000001|x",
            "port" => "443|443/Tcp|53/Udp|0",
            "service_definition" => "nginx|Proxmox%20VE",
            "source" => "Manual|Unknown|x",
            "hidden" => "true|false|1",
            "contains" => "10.0.0.1|2001:db8::1|x",
            "kind" => "if_entries|addresses|lldp|ports|x",
            "view" => "l2|l3|workloads|l4",
            "focus" | "expand" => return self.id("hosts").to_string(),
            "depth" => "0|1|2|100|101|x",
            "collapse" | "layout" => "true|false|1",
            "min_confidence" => "Inferred|Reported|Confirmed|Conflicting",
            "format" => "svg|mermaid|dot|graphml|drawio|json|png",
            "theme" => "auto|light|dark|blue",
            _ => "zqzqa|zqzqb|10.0|x|",
        };
        self.random.choose_part(values).to_owned()
    }

    fn add_condition(&mut self, request: &mut ApiRequest) {
        if !self.random.once_in(6) {
            return;
        }
        let known = self.random.choice(&self.own.entity_tags).cloned();
        let value = match self.random.usize(..6) {
            0 => "*".to_owned(),
            1 => "\"x\", W/\"y\"".to_owned(),
            2 => "é\"".to_owned(),
            _ => known.unwrap_or_else(|| "\"\"".to_owned()),
        };
        let name = if request.method == "GET" { IF_NONE_MATCH } else { IF_MATCH };
        request.further_headers.push((name, value));
    }

    fn odd_value(&mut self) -> Value {
        let long = "é".repeat(self.random.choose(&[101, 501, 1001]));
        let nested = (0..60).fold(json!(0), |value, _| json!([value]));
        let values = [
            Value::Null,
            json!(true),
            json!(-1),
            json!(u64::MAX),
            json!(1e300),
            json!(""),
            json!(" \u{0}\u{1f}\t"),
            json!(long),
            nested,
            json!({"type": "Manual", "a": {}}),
            json!([self.any_id(), 1]),
            json!(self.any_id()),
        ];
        self.random.choose(&values)
    }

    pub(super) fn name(&mut self) -> Value {
        json!(self.own.text())
    }

    fn level(&mut self) -> Value {
        json!(self.random.choose_part("Viewer|Member|Admin|Owner"))
    }

    /// Returns the fields of a valid record, if all the ids are.
    fn fields(&mut self, kind: &str) -> Vec<(&'static str, Value)> {
        match kind {
            "host" => fields_of(self.host()),
            "bulk" => {
                let hosts: Vec<Value> = (0..1 + self.random.usize(..3)).map(|_| self.placed_host()).collect();
                vec![("hosts", json!(hosts)), ("atomic", json!(self.random.bool()))]
            }
            "interface" | "port" | "service" | "if-entry" => {
                let mut fields = fields_of(self.part(kind));
                fields.push(("host_id", json!(self.id("hosts"))));
                fields.push(("network_id", json!(self.id("networks"))));
                fields
            }
            "organization" => vec![("name", self.name())],
            "network" => vec![("name", self.name()), ("tags", json!(self.some_ids("tags")))],
            "subnet" => vec![
                ("network_id", json!(self.id("networks"))),
                ("name", self.name()),
                ("cidr", json!(format!("10.{}.0.0/16", self.random.u8(..)))),
                ("subnet_type", json!(self.random.choose_part("Lan|Dmz|Other"))),
                ("tags", json!(self.some_ids("tags"))),
            ],
            "tag" => vec![("name", self.name()), ("color", json!("#00ff7f")), ("description", Value::Null)],
            _ => self.account_fields(kind),
        }
    }

    /// Returns the fields of a user, a key, a share or a credential.
    fn account_fields(&mut self, kind: &str) -> Vec<(&'static str, Value)> {
        let password = || json!(crate::common::PASSWORD);
        match kind {
            "user" => {
                let email = self.own.email();
                self.own.emails.push(email.clone());
                vec![
                    ("email", json!(email)),
                    ("permissions", self.level()),
                    ("network_ids", json!(self.some_ids("networks"))),
                    ("password", password()),
                    ("is_enabled", json!(!self.random.once_in(8))),
                ]
            }
            "user key" => {
                let (user, _) = self.random.choose(&self.own.users);
                vec![
                    ("name", self.name()),
                    ("organization_id", json!(self.own.organization)),
                    ("user_id", json!(user)),
                    ("permissions", self.level()),
                    ("network_ids", json!(self.some_ids("networks"))),
                    ("tags", json!(self.some_ids("tags"))),
                ]
            }
            "daemon key" => vec![
                ("name", self.name()),
                ("network_id", json!(self.id("networks"))),
                ("tags", json!(self.some_ids("tags"))),
            ],
            "share" => vec![
                ("name", self.name()),
                ("network_id", json!(self.id("networks"))),
                ("view", json!(self.random.choose_part("l2|l3|workloads"))),
                ("redact", json!(["names"])),
                ("password", self.random.choose(&[password(), Value::Null])),
            ],
            "login" => vec![("email", json!(self.random.choose(&self.own.emails))), ("password", password())],
            "password change" => vec![("current_password", password()), ("new_password", password())],
            "referral" => vec![("referral_source", self.name())],
            "registration" => vec![
                ("daemon_id", json!(self.chosen_id("daemons"))),
                ("name", self.name()),
                ("version", json!("0.14.8")),
                ("capabilities", json!({"interfaced_subnet_ids": self.some_ids("subnets")})),
            ],
            "startup" => vec![("daemon_version", json!("0.14.8"))],
            "status" => vec![("version", json!("0.14.8")), ("ready_for_work", json!(self.random.bool()))],
            "capabilities" => vec![("interfaced_subnet_ids", json!(self.some_ids("subnets")))],
            "progress" => vec![
                ("session_id", json!(self.id("discoveries"))),
                ("daemon_id", json!(self.id("daemons"))),
                ("phase", json!(self.random.choose_part("Started|Scanning|Complete|Failed"))),
                ("progress", json!(self.random.u8(..101))),
                ("error", self.random.choose(&[Value::Null, json!("no route to host")])),
            ],
            "discovery" => vec![
                ("network_id", json!(self.id("networks"))),
                (
                    "daemon_id",
                    self.random.once_in(4).then(|| self.id("daemons")).map_or(Value::Null, |id| json!(id)),
                ),
                ("type", json!("Network")),
            ],
            "reported host" => self.reported_host(),
            "layout" => vec![("positions", self.positions())],
            "link" => {
                let (source, target) = (self.id("hosts"), self.id("hosts"));
                let entry = match self.random.once_in(4) {
                    true => json!(self.id("if-entries")),
                    false => Value::Null,
                };
                vec![
                    ("network_id", self.own.places.get(&source).map_or(Value::Null, |[_, id]| id.clone())),
                    ("source", json!({"host_id": source, "if_entry_id": entry})),
                    ("target", json!({"host_id": target})),
                    ("suppressed", json!(self.random.once_in(3))),
                ]
            }
            "share password" => vec![("password", self.random.choose(&[password(), json!("wrong")]))],
            other => panic!("unknown fields: {other}"),
        }
    }

    /// Returns the positions of some hosts.
    fn positions(&mut self) -> Value {
        let mut positions = Vec::new();
        for id in self.some_ids("hosts") {
            let coordinate = self.random.choose(&[0.0, -12.5, 1_000_000.0, 1_000_000.5]);
            positions.push(json!({"id": id, "x": coordinate, "y": self.random.u8(..)}));
        }
        json!(positions)
    }

    /// Returns the fields of a daemon's report.
    fn reported_host(&mut self) -> Vec<(&'static str, Value)> {
        let mut host = self.placed_host();
        let parts = ["interfaces", "ports", "services", "if_entries"].map(|list| (list, host[list].take()));
        host.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let parts = parts.into_iter().filter(|(_, parts)| !parts.is_null());
        [("host", host)].into_iter().chain(parts).collect()
    }

    /// Returns an id for a new record, or that of an existing one.
    fn chosen_id(&mut self, collection: &'static str) -> Uuid {
        let tenant = if self.is_squatting && self.random.bool() { self.other } else { &*self.own };
        let existing = tenant.ids.get(collection).cloned().unwrap_or_default();
        if self.random.bool() && !existing.is_empty() {
            return self.random.choose(&existing);
        }
        Uuid::from_u128(self.random.u128(..))
    }

    fn host(&mut self) -> Value {
        let parts =
            |author: &mut Self, kind| (0..author.random.usize(..3)).map(|_| author.part(kind)).collect();
        let [interfaces, ports, services, entries]: [Vec<Value>; 4] =
            ["interface", "port", "service", "if-entry"].map(|kind| parts(self, kind));
        let mut host = json!({
            "network_id": self.id("networks"),
            "name": self.name(),
            "hostname": self.name(),
            "hidden": self.random.bool(),
            "tags": self.some_ids("tags"),
        });
        if self.random.bool() {
            host["interfaces"] = json!(interfaces);
            host["ports"] = json!(ports);
            host["services"] = json!(services);
            host["if_entries"] = json!(entries);
        }
        if self.random.once_in(4) {
            let details = json!({"vm_name": null, "vm_id": null, "service_id": self.id("services")});
            host["virtualization"] = json!({"type": "Proxmox", "details": details});
        }
        host
    }

    /// Returns a host, often with an id of its own or that of an existing one.
    fn placed_host(&mut self) -> Value {
        let mut host = self.host();
        let tenant = if self.is_squatting && self.random.bool() { self.other } else { &*self.own };
        let existing = tenant.ids.get("hosts").cloned().unwrap_or_default();
        match self.random.usize(..4) {
            0 => {}
            1 if !existing.is_empty() => host["id"] = json!(self.random.choose(&existing)),
            _ => host["id"] = json!(Uuid::from_u128(self.random.u128(..))),
        }
        host
    }

    /// Returns a part of a host.
    fn part(&mut self, kind: &str) -> Value {
        match kind {
            "interface" => json!({
                "ip_address": self.random.choose_part("10.0.0.9|10.0.0.10|2001:db8::1"),
                "mac_address": "02:00:00:00:00:01",
                "name": self.name(),
                "subnet_id": if self.random.once_in(4) { json!(self.id("subnets")) } else { Value::Null },
            }),
            "port" => json!({
                "number": self.random.u16(1..2000),
                "protocol": self.random.choose_part("Tcp|Udp"),
            }),
            "service" => json!({
                "name": self.name(),
                "service_definition": self.random.choose_part("nginx|Proxmox VE"),
                "tags": self.some_ids("tags"),
            }),
            _ => json!({"if_index": self.random.u32(..), "if_descr": self.name(), "if_alias": self.name()}),
        }
    }
}

/// Returns the members of an object whose names are known.
fn fields_of(value: Value) -> Vec<(&'static str, Value)> {
    const NAMES: &str = "network_id name hostname hidden tags interfaces ports services if_entries virtualization \
        ip_address mac_address subnet_id number protocol service_definition if_index if_descr if_alias";
    let Value::Object(mut members) = value else { panic!("not an object: {value}") };
    NAMES.split_whitespace().filter_map(|name| Some((name, members.remove(name)?))).collect()
}
