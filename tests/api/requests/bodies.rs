//! Bodies: valid, or with a single fault.

use serde_json::{Value, json};
use uuid::Uuid;

use super::request::BODY_LIMIT;
use super::{Choose, Field, Generator};
use crate::common::NOBODY;
use crate::isolation::model::{Host, LEVELS, NUMBERS, find, ids};

/// Values that at least one field rejects.
pub(crate) const VALUES: &str = r#"null|1|0|-1|65536|99999999999999999999|80.0|8e1|true|""|"  "|"x"|"Owner"|"tcp"|[]|[1]|["x"]|{}|"2026-08-14""#;

/// Fields that only the server sets or that do not exist: they are ignored.
const IGNORED: [&str; 6] = ["id", "key", "type", "created_at", "last_used", "padding"];

impl Generator<'_> {
    pub(super) fn port_fields(&mut self, id: Uuid) -> Vec<Field> {
        let holder = self.model.hosts.iter().find(|host| host.ports.iter().any(|port| port.id == id));
        let host = match holder.map(|host| host.id) {
            Some(host) if self.random.usize(..100) < 55 => host,
            _ => self.host(),
        };
        let network = match find(&self.model.hosts, host) {
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
        if self.random.once_in(10) {
            fields.retain(|(name, _)| *name != "expires_at");
            fields.push(("expires_at", json!(self.model.now.plus_micros(self.random.choose(&[0, -1])))));
            return as_texts(fields);
        }
        self.finish(fields)
    }

    pub(super) fn user_key_fields(&mut self, id: Uuid) -> Vec<Field> {
        let key = find(&self.model.keys, id).and_then(|key| Some((key.organization, key.user?)));
        let caller = self.caller.as_ref().map(|caller| (caller.organization, caller.user));
        let (mut organization, mut user) = key.or(caller).unwrap_or((NOBODY, NOBODY));
        if self.random.once_in(20) {
            organization = self.random.choose(&ids(&self.model.organizations));
        }
        if self.random.once_in(20) {
            user = self.random.choose(&ids(&self.model.users));
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
        if self.random.bool() {
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
        if self.random.bool() {
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
        let (user, other) = (self.random.choose(users), self.random.choose(users));
        let unknown = "nobody@example.net".to_owned();
        let last = self.model.failed_logins.last().map_or(unknown.clone(), |(email, _)| email.clone());
        let email = match self.random.usize(..20) {
            0 => unknown,
            1 => user.email.to_uppercase(),
            2 => format!(" {} ", user.email),
            3..9 => last,
            _ => user.email.clone(),
        };
        let right = users.iter().find(|known| known.email == email).unwrap_or(&user).password.clone();
        let password = match self.random.usize(..20) {
            0..6 => "wrong".to_owned(),
            6..8 => other.password.unwrap_or_default() + "x",
            8 => user.email,
            _ => right.unwrap_or_else(|| "none".to_owned()),
        };
        self.finish(vec![("email", json!(email)), ("password", json!(password))])
    }

    /// A future time in one of the accepted spellings.
    fn end_ahead(&mut self) -> Value {
        let seconds = self.random.choose(&[1, 30, 600, 90_000, 900_000]);
        let end = self.model.now.plus_micros(seconds * 1_000_000);
        if self.random.bool() {
            return json!(end);
        }
        let in_the_east = end.plus_micros(2 * 3_600_000_000).to_string();
        json!(in_the_east.replace('Z', "+02:00"))
    }

    /// Returns the fields for the body, mostly unchanged.
    fn finish(&mut self, fields: Vec<(&'static str, Value)>) -> Vec<Field> {
        let mut fields = as_texts(fields);
        self.random.shuffle(&mut fields);
        if self.is_malformed(6) {
            self.damage(&mut fields);
        }
        fields
    }

    /// Adds one fault, or a change that is none.
    fn damage(&mut self, fields: &mut Vec<Field>) {
        let place = self.random.usize(..fields.len());
        match self.random.usize(..10) {
            0..2 => {
                fields.remove(place);
            }
            2 => {
                let doubled = fields[place].clone();
                if !IGNORED.contains(&doubled.0) {
                    fields.push(doubled);
                }
            }
            3 => fields.push(("padding", json!("x".repeat(BODY_LIMIT)).to_string())),
            4 => self.lengthen(fields),
            5 => repeat_first(fields),
            _ => fields[place].1 = self.random.choose_part(VALUES).to_owned(),
        }
    }

    /// Makes a name as long as allowed, or longer.
    fn lengthen(&mut self, fields: &mut [Field]) {
        let length = self.random.choose(&[100, 101]);
        for (name, value) in fields {
            if ["name", "referral_source"].contains(name) {
                *value = json!(format!("  {}\t", "é".repeat(length))).to_string();
            }
        }
    }
}

/// Repeats the first value of a list, so that the positions of later values shift.
fn repeat_first(fields: &mut [Field]) {
    for (name, value) in fields {
        if ["tags", "network_ids"].contains(name) {
            let mut ids: Vec<String> = serde_json::from_str(value).unwrap();
            let first = ids.first().cloned().unwrap_or_else(|| NOBODY.to_string());
            ids.insert(0, first);
            *value = json!(ids).to_string();
        }
    }
}

fn as_texts(fields: Vec<(&'static str, Value)>) -> Vec<Field> {
    fields.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}
