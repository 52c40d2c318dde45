//! Bodies: valid, or with a single fault.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Asker, Field};
use crate::common::NOBODY;
use crate::isolation::records::{Host, LEVELS, NUMBERS};

impl Asker<'_> {
    pub(super) fn port_fields(&mut self, id: Uuid) -> Vec<Field> {
        let holder = self.model.hosts.iter().find(|host| host.ports.iter().any(|port| port.id == id));
        let host = match holder.map(|host| host.id) {
            Some(host) if self.random.below(100) < 55 => host,
            _ => self.host(),
        };
        let network = match self.model.host(host) {
            Some(Host { network, .. }) if !self.random.once_in(3) => *network,
            _ => self.network(),
        };
        let mut fields = vec![
            ("host_id", json!(host)),
            ("network_id", json!(network)),
            ("number", json!(self.random.choose(&NUMBERS))),
            ("protocol", json!(self.random.choose(&["Tcp", "Udp"]))),
        ];
        if self.random.once_in(4) {
            // A whole record is accepted; these fields are ignored.
            fields.extend([("id", json!(NOBODY)), ("type", json!("Gopher")), ("created_at", json!(1))]);
        }
        self.finish(fields)
    }

    pub(super) fn daemon_key_fields(&mut self) -> Vec<Field> {
        let mut fields = vec![
            ("name", json!(self.text("daemon"))),
            ("network_id", json!(self.network())),
            ("tags", json!(self.tags())),
        ];
        if self.random.once_in(3) {
            fields.push(("expires_at", self.end_ahead()));
        }
        if self.random.once_in(3) {
            fields.push(("is_enabled", self.random.choose(&[json!(true), json!(false), Value::Null])));
        }
        if self.random.once_in(8) {
            fields.extend([("id", json!(NOBODY)), ("key", json!("topo_d_mine")), ("last_used", json!(0))]);
        }
        if self.random.once_in(20) {
            fields.retain(|(name, _)| *name != "expires_at");
            fields.push(("expires_at", json!(self.model.now.plus_micros(self.random.choose(&[0, -1])))));
            return as_texts(fields);
        }
        self.finish(fields)
    }

    pub(super) fn user_key_fields(&mut self, id: Uuid) -> Vec<Field> {
        let key = self.model.user_keys.iter().find(|key| key.id == id);
        let caller = self.caller.as_ref().map(|caller| (caller.organization, caller.user));
        let (mut organization, mut user) =
            key.map(|key| (key.organization, key.user)).or(caller).unwrap_or((NOBODY, NOBODY));
        if self.random.once_in(20) {
            let organizations: Vec<Uuid> = self.model.organizations.iter().map(|known| known.id).collect();
            organization = self.random.choose(&organizations);
        }
        if self.random.once_in(20) {
            let users: Vec<Uuid> = self.model.users.iter().map(|known| known.id).collect();
            user = self.random.choose(&users);
        }
        let mut fields = vec![
            ("name", json!(self.text("key"))),
            ("organization_id", json!(organization)),
            ("user_id", json!(user)),
            ("tags", json!(self.tags())),
        ];
        if self.random.once_in(3) {
            // May be in the past, which ends the key.
            let past = json!(self.model.now.plus_micros(-1));
            let end = self.end_ahead();
            fields.push(("expires_at", self.random.choose(&[end, Value::Null, Value::Null, past])));
        }
        if self.random.once_in(3) {
            let values = [json!(true), json!(true), json!(false), Value::Null];
            fields.push(("is_enabled", self.random.choose(&values)));
        }
        if self.random.once_in(2) {
            fields.push(("network_ids", json!(self.networks())));
        }
        if self.random.once_in(3) {
            fields.push(("permissions", json!(self.random.choose(&LEVELS).to_string())));
        }
        self.finish(fields)
    }

    pub(super) fn referral_fields(&mut self) -> Vec<Field> {
        let sources = ["reddit", "word_of_mouth", "other", " a friend "];
        let mut fields = vec![("referral_source", json!(self.random.choose(&sources)))];
        if self.random.once_in(2) {
            let others = [json!(self.text("other")), Value::Null, json!("é".repeat(500)), json!("")];
            fields.push(("referral_source_other", self.random.choose(&others)));
        }
        if self.random.once_in(20) {
            fields.retain(|(name, _)| *name != "referral_source_other");
            fields.push(("referral_source_other", json!("x".repeat(501))));
            return as_texts(fields);
        }
        self.finish(fields)
    }

    pub(super) fn login_fields(&mut self) -> Vec<Field> {
        let users = &self.model.users;
        let user = users[self.random.below(users.len())].clone();
        let other = users[self.random.below(users.len())].clone();
        let unknown = "nobody@example.net".to_owned();
        let last = self.model.failed_logins.last().map_or(unknown.clone(), |(email, _)| email.clone());
        let email = match self.random.below(20) {
            0 => unknown,
            1 => user.email.to_uppercase(),
            2 => format!(" {} ", user.email),
            3..7 => last,
            _ => user.email.clone(),
        };
        let right = users.iter().find(|known| known.email == email).unwrap_or(&user).password.clone();
        let password = match self.random.below(20) {
            0..4 => "wrong".to_owned(),
            4..6 => other.password.unwrap_or_default() + "x",
            6 => user.email,
            _ => right.unwrap_or_else(|| "none".to_owned()),
        };
        self.finish(vec![("email", json!(email)), ("password", json!(password))])
    }

    /// A future time in one of the accepted spellings.
    fn end_ahead(&mut self) -> Value {
        let seconds = self.random.choose(&[1, 30, 600, 90_000, 900_000]);
        let end = self.model.now.plus_micros(seconds * 1_000_000);
        if self.random.once_in(2) {
            return json!(end);
        }
        let in_the_east = end.plus_micros(2 * 3_600_000_000).to_string();
        json!(in_the_east.replace('Z', "+02:00"))
    }

    /// Returns the fields for the body, mostly unchanged.
    fn finish(&mut self, fields: Vec<(&'static str, Value)>) -> Vec<Field> {
        let mut fields = as_texts(fields);
        self.random.shuffle(&mut fields);
        if self.random.once_in(6) {
            self.spoil(&mut fields);
        }
        fields
    }
}

fn as_texts(fields: Vec<(&'static str, Value)>) -> Vec<Field> {
    fields.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}
