//! The fields of made-up bodies.

use serde_json::{Value, json};
use uuid::Uuid;

use super::Choose;

use super::author::Author;

impl Author<'_> {
    /// Returns the fields of a record. The record is valid if all ids are.
    pub(super) fn fields(&mut self, kind: &str) -> Vec<(&'static str, Value)> {
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
                ("subnet_type", json!(self.random.choose_part("Lan|Dmz|Unknown"))),
                ("tags", json!(self.some_ids("tags"))),
            ],
            "tag" => vec![("name", self.name()), ("color", json!("#00ff7f")), ("description", Value::Null)],
            _ => self.account_fields(kind),
        }
    }

    /// Returns the fields of a user, a key, a share or a credential.
    pub(super) fn account_fields(&mut self, kind: &str) -> Vec<(&'static str, Value)> {
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
            "password change" => {
                let current = if self.random.once_in(4) { json!("wrong password") } else { password() };
                vec![("current_password", current), ("new_password", password())]
            }
            // Other tests cover positions: here, none belongs to an organization.
            "reversion" => vec![("position", self.name())],
            "referral" => vec![("referral_source", self.name())],
            "registration" => vec![
                ("daemon_id", json!(self.chosen_id("daemons"))),
                ("name", self.name()),
                ("version", json!(self.random.choose_part("0.14.8|0.17.22"))),
                ("capabilities", json!({"interfaced_subnet_ids": self.some_ids("subnets")})),
            ],
            "startup" => vec![("daemon_version", json!("0.14.8"))],
            "status" => vec![
                ("version", json!(self.random.choose_part("0.13.6|0.14.8|0.16.2|0.17.22"))),
                ("ready_for_work", json!(self.random.bool())),
            ],
            "heartbeat" => vec![("name", self.name()), ("mode", json!("Push"))],
            "vlans" => {
                let numbers = (0..self.random.usize(..3)).map(|_| 1 + self.random.usize(..4_095));
                let vlans = numbers.map(|number| json!({"vlan_number": number, "name": "a vlan"}));
                vec![("vlans", vlans.collect())]
            }
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
                (
                    "snmp_credentials",
                    match self.random.once_in(4) {
                        true => json!({"default_credential": {"version": "V2c", "community": "a secret"}}),
                        false => Value::Null,
                    },
                ),
            ],
            "split" => vec![
                ("name", self.name()),
                ("interfaces", json!(self.some_ids("interfaces"))),
                ("ports", json!(self.some_ids("ports"))),
                ("services", json!(self.some_ids("services"))),
                ("if_entries", json!(self.some_ids("if-entries"))),
                ("serial_number", self.random.choose(&[json!("SN-1"), Value::Null])),
            ],
            "stale deletion" => vec![("network_id", json!(self.id("networks")))],
            "reported host" => self.reported_host(),
            "layout" => vec![("positions", self.positions())],
            "reservation" => vec![("count", json!(1 + self.random.usize(..4))), ("name", self.name())],
            "release" => {
                let network = self.random.u8(..);
                let addresses = (1..3).map(|place| json!(format!("10.{network}.0.{place}")));
                vec![("addresses", addresses.collect())]
            }
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
    pub(super) fn positions(&mut self) -> Value {
        let mut positions = Vec::new();
        let hosts = self.some_ids("hosts");
        for id in hosts.into_iter().chain(self.some_ids("topology/nodes")) {
            let coordinate = self.random.choose(&[0.0, -12.5, 1_000_000.0, 1_000_000.5]);
            positions.push(json!({"id": id, "x": coordinate, "y": self.random.u8(..)}));
        }
        json!(positions)
    }

    /// Returns the fields of a daemon's report.
    pub(super) fn reported_host(&mut self) -> Vec<(&'static str, Value)> {
        let mut host = self.placed_host();
        let parts = ["interfaces", "ports", "services", "if_entries"].map(|list| (list, host[list].take()));
        host.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let parts = parts.into_iter().filter(|(_, parts)| !parts.is_null());
        [("host", host)].into_iter().chain(parts).collect()
    }

    /// Returns an id for a new record, or the id of an existing one.
    pub(super) fn chosen_id(&mut self, collection: &'static str) -> Uuid {
        let tenant = if self.is_squatting && self.random.bool() { self.other } else { &*self.own };
        let existing = tenant.ids.get(collection).cloned().unwrap_or_default();
        if self.random.bool() && !existing.is_empty() {
            return self.random.choose(&existing);
        }
        Uuid::from_u128(self.random.u128(..))
    }

    pub(super) fn host(&mut self) -> Value {
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

    /// Returns a host, often with a new id or the id of an existing host.
    pub(super) fn placed_host(&mut self) -> Value {
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
    pub(super) fn part(&mut self, kind: &str) -> Value {
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
