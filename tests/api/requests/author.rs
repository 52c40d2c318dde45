//! Requests to every endpoint, most of them valid.
//!
//! They are about records of the caller's organization, deleted records, records of another organization, and unknown
//! ones.

use fastrand::Rng;
use http::header::{ACCEPT, IF_MATCH, IF_NONE_MATCH};
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
    /// Percentage of ids that belong to the other organization.
    pub(crate) foreign: usize,
    /// Whether these clients create hosts with ids that the other organization uses.
    pub(crate) is_squatting: bool,
}

impl Author<'_> {
    /// Returns a request and its endpoint.
    pub(crate) fn request(&mut self) -> (&'static Route, ApiRequest) {
        self.request_to(|_| true)
    }

    /// Returns a request to one of these endpoints, or one that creates a host. It creates a host if there are no such
    /// endpoints, and occasionally otherwise.
    pub(crate) fn request_to(&mut self, is_meant: impl Fn(&Route) -> bool) -> (&'static Route, ApiRequest) {
        let meant: Vec<&Route> = routes().iter().filter(|route| is_meant(route)).collect();
        let route = self.random.choice(meant).unwrap_or(&routes()[0]);
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
        if route.path.ends_with("/export") && self.random.once_in(3) {
            request.further_headers.push((ACCEPT, "application/json".to_owned()));
        }
        self.add_condition(&mut request);
        (route, request)
    }

    /// Sets the host and the network in the body to consistent values. They are those of the changed record, or else
    /// those of the named host.
    pub(super) fn set_place(&self, id: Option<Uuid>, request: &mut ApiRequest) {
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

    /// Returns a request with only the key of a daemon.
    pub(super) fn daemon_credentials(&mut self) -> ApiRequest {
        let mut request = ApiRequest::new("GET", "");
        let key = self.random.choice(&self.own.daemon_keys);
        request.authorization.extend(key.map(|key| format!("Bearer {key}")));
        request
    }

    /// Returns a request with only credentials.
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
                let organization = self.own.organization.uuid();
                let level = if self.random.bool() { Permission::Owner } else { level };
                let networks = self.random.once_in(4).then(|| self.some_ids("networks"));
                request.supplied_caller =
                    Some(Caller { organization, user: user.uuid(), level, networks, by: By::Host });
            }
        }
        request
    }

    /// Returns a path segment with an id of this collection. Occasionally it is an id of any collection, or text that
    /// is not an id.
    pub(super) fn segment(&mut self, collection: &'static str) -> String {
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

    pub(super) fn some_ids(&mut self, collection: &'static str) -> Vec<Uuid> {
        (0..self.random.usize(..3)).map(|_| self.id(collection)).collect()
    }

    pub(super) fn add_content(&mut self, route: &Route, collection: &'static str, request: &mut ApiRequest) {
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

    pub(super) fn add_query(
        &mut self,
        names: &'static str,
        collection: &'static str,
        request: &mut ApiRequest,
    ) {
        let usual = "limit|offset|cursor|ids|order_by|order_direction".split('|');
        let further = names.split(' ').filter(|name| !name.is_empty());
        self.add_parameters(usual.chain(further), collection, request);
    }

    pub(super) fn add_parameters(
        &mut self,
        names: impl Iterator<Item = &'static str>,
        collection: &'static str,
        request: &mut ApiRequest,
    ) {
        for name in names {
            let is_needed = ["host_id", "from"].contains(&name)
                || (name == "network_id" && request.path.contains("/topology/"));
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

    pub(super) fn parameter(&mut self, name: &str, collection: &'static str) -> String {
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
            "after" | "before" => return self.position(),
            "since" | "until" | "at" | "compare" if self.random.bool() => return self.position(),
            // Before the history begins.
            "at" | "compare" => "1970-01-01T00:00:00Z|2026-08-14T12:00:00Z",
            "since" | "until" => "1970-01-01T00:00:00Z|2026-08-14T12:00:00Z|2036-08-14T12:00:00Z|2026-08-14",
            "entity" => "Host|Tag|User|UserApiKey|TopologyLink|AddressReservation|host",
            "id" => return self.any_id().to_string(),
            "actor" if self.random.bool() => return self.id("users").to_string(),
            "actor" => "System|billing|x",
            "action" => "created|updated|deleted|moved",
            "limit" => "0|1|2|3|1000|-1|1001|x",
            "offset" => "0|1|500|2147483647|-1",
            "group_by" if self.random.once_in(2) => "|||location|subnet|tag|x",
            "order_by" | "group_by" => "created_at|updated_at|name|interface_ip|id",
            "order_direction" => "asc|desc|up",
            "fields" => "id|id,name|interfaces|bogus",
            "ip" => "10.0.0.0/8|10.0.0.9|2001:db8::/32|x",
            "mac" => "02:00|020000000001|x",
            "port" => "443|443/Tcp|53/Udp|0",
            "service_definition" => "nginx|Proxmox%20VE",
            "source" => "Manual|Unknown|x",
            "hidden" | "stale" => "true|false|1",
            "from" | "to" if self.random.once_in(3) => return self.id("topology/nodes").to_string(),
            "from" | "to" => "2999-01-01T00:00:00Z|2000-01-01T00:00:00Z|x",
            "seen_since" => "2026-08-01T12:00:00Z|2026-08-01|x",
            "contains" => "10.0.0.1|2001:db8::1|x",
            "kind" => "if_entries|addresses|lldp|ports|x",
            "view" => "l2|l3|workloads|l4",
            "focus" | "expand" => return self.id("topology/nodes").to_string(),
            "node" | "name" if self.random.bool() => return self.id("topology/nodes").to_string(),
            // Several hosts have the address.
            "node" | "name" => "10.0.0.9|zqzqa|zqzqb|x",
            "edge" => return self.id("topology/edges").to_string(),
            "k" => "1|4|16|0|17|x",
            "depth" => "0|1|2|100|101|x",
            "detail" => "||||devices|overview|x",
            "collapse" | "layout" | "leaves" | "pairs" | "show_stale" | "tidy" => "true|false|1",
            "min_confidence" => "Inferred|Reported|Confirmed|Conflicting",
            "role" => "||||switch,router|unknown|x.probe|swich",
            "vlan" => "||||||20|0|4095|x",
            "state" => "free|used|seen|conflict|reserved|x",
            "format" => "svg|mermaid|dot|graphml|drawio|json|png",
            "theme" => "auto|light|dark|blue",
            _ => "zqzqa|zqzqb|10.0|x|",
        };
        self.random.choose_part(values).to_owned()
    }

    /// Returns a position in the history, occasionally in that of the other organization.
    fn position(&mut self) -> String {
        let tenant = if self.random.once_in(4) { self.other } else { &*self.own };
        self.random.choice(&tenant.positions).cloned().unwrap_or_else(|| "x".to_owned())
    }

    pub(super) fn add_condition(&mut self, request: &mut ApiRequest) {
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

    pub(super) fn odd_value(&mut self) -> Value {
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

    pub(super) fn level(&mut self) -> Value {
        json!(self.random.choose_part("Viewer|Member|Admin|Owner"))
    }
}
