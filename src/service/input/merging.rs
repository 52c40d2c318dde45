//! Records with the fields of a body in place of their own.

use std::mem;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::bodies::{Fields, parse};
use crate::inventory::{Error, Problem, dotted, invalid_json};
use crate::json_objects::Objects;
use crate::model::Exact;
use crate::service::routes::parameter::Presence;

impl Fields<'_> {
    /// Sets the fields of a record that the body contains. Fields that it leaves out keep their value.
    ///
    /// A null of a patch sets an optional field to its value in `defaults`.
    pub(in crate::service) fn apply<T: Serialize + DeserializeOwned>(
        &self,
        record: &mut T,
        defaults: &T,
    ) -> Result<(), Error> {
        let document = self.merged_with(record, defaults)?;
        *record = serde_path_to_error::deserialize(Objects(&document))
            .map_err(|error| invalid_json(dotted(error.path()).unwrap_or_default(), error.inner()))?;
        check_types(&document, record)
    }

    /// Returns a record as JSON, with the fields of the body replacing its own.
    ///
    /// The objects of a patch change those of the record. A null of a patch sets an optional field to its value in
    /// `defaults`, or removes it if there is none.
    pub(in crate::service) fn merged_with(
        &self,
        record: &impl Serialize,
        defaults: &impl Serialize,
    ) -> Result<Value, Error> {
        let mut members = members_of(record)?;
        if !self.is_patch() {
            for (parameter, value) in self.set() {
                let Exact(value) = parse(parameter.name, value.get())?;
                members.insert(parameter.name.to_owned(), value);
            }
            return Ok(members.into());
        }
        let mut defaults = members_of(defaults)?;
        for (parameter, value) in self.set() {
            let Exact(patch) = parse(parameter.name, value.get())?;
            let merged = match (patch, parameter.presence) {
                (Value::Null, Presence::Nullable) => Some(Value::Null),
                (Value::Null, _) => defaults.remove(parameter.name),
                (patch, _) => Some(merge_patch(members.remove(parameter.name), patch)),
            };
            match merged {
                Some(merged) => members.insert(parameter.name.to_owned(), merged),
                None => members.remove(parameter.name),
            };
        }
        Ok(members.into())
    }

    /// Returns the fields of the body alone, as JSON. The objects of a patch change those of the record.
    pub(in crate::service) fn changes_of(&self, record: &impl Serialize) -> Result<Value, Error> {
        let mut members = members_of(&self.merged_with(record, &Map::new())?)?;
        members.retain(|name, _| self.names().any(|given| given == name));
        Ok(members.into())
    }
}

fn members_of(record: &impl Serialize) -> Result<Map<String, Value>, Error> {
    match serde_json::to_value(record).map_err(Error::internal)? {
        Value::Object(members) => Ok(members),
        _ => Err(Error::internal("a record is not a JSON object")),
    }
}

/// Applies a JSON merge patch (RFC 7396) to a value.
///
/// The parser limits the depth of the patch, and so the recursion.
fn merge_patch(target: Option<Value>, patch: Value) -> Value {
    let Value::Object(patch) = patch else { return patch };
    let mut members = match target {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (name, value) in patch {
        if value.is_null() {
            members.remove(&name);
        } else {
            let merged = merge_patch(members.remove(&name), value);
            members.insert(name, merged);
        }
    }
    members.into()
}

/// Checks that every value was read from the JSON type that it has when written.
///
/// Serde also reads enums from objects.
pub(in crate::service) fn check_types(given: &Value, read: &impl Serialize) -> Result<(), Error> {
    let written = serde_json::to_value(read).map_err(Error::internal)?;
    let wrong = of_another_type(given, &written);
    wrong.map_or(Ok(()), |path| Err(Error::invalid(path, Problem::InvalidFormat)))
}

/// Returns the path of the first value whose JSON type differs. Null stands for a value of any type.
fn of_another_type(given: &Value, written: &Value) -> Option<String> {
    let within = |step: String, given, written| {
        let path = of_another_type(given, written)?;
        Some(if path.is_empty() { step } else { format!("{step}.{path}") })
    };
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => {
            given.iter().find_map(|(name, value)| within(name.clone(), value, written.get(name)?))
        }
        (Value::Array(given), Value::Array(written)) => {
            let mut pairs = given.iter().zip(written).enumerate();
            pairs.find_map(|(index, (given, written))| within(index.to_string(), given, written))
        }
        (Value::Null, _) => None,
        _ => (mem::discriminant(given) != mem::discriminant(written)).then(String::new),
    }
}
