//! Invalid bodies, each with a single fault: the order in which several faults are reported is not specified.

use serde_json::json;

use super::{Asker, Field};
use crate::common::NOBODY;
use crate::isolation::ask::BODY_LIMIT;

/// Values that at least one field rejects.
const VALUES: [&str; 19] = [
    "null",
    "1",
    "0",
    "-1",
    "65536",
    "99999999999999999999",
    "80.0",
    "8e1",
    "true",
    "\"\"",
    "\"  \"",
    "\"x\"",
    "\"Owner\"",
    "\"tcp\"",
    "[]",
    "[1]",
    "[\"x\"]",
    "{}",
    "\"2026-08-14\"",
];

/// Fields that only the server sets or that do not exist: they are ignored.
const IGNORED: [&str; 6] = ["id", "key", "type", "created_at", "last_used", "padding"];

impl Asker<'_> {
    pub(super) fn spoil(&mut self, fields: &mut Vec<Field>) {
        let place = self.random.below(fields.len());
        match self.random.below(10) {
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
            _ => fields[place].1 = self.random.choose(&VALUES).to_owned(),
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
