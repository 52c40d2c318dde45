//! Lists as CSV.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::shape::FieldNames;
use crate::csv::{SEPARATOR, custom_cell, write_row};
use crate::inventory::Error;
use crate::model::{Field, Host, Record};

/// Returns the columns of a list of hosts without a selection.
///
/// Its rows can be imported elsewhere: they have no ids that hold within one inventory.
pub(in crate::service) fn host_columns() -> FieldNames {
    portable_columns::<Host>()
}

fn portable_columns<R: Record>() -> FieldNames {
    let is_portable = |field: &&Field<R>| !field.is_local && field.name != "id";
    R::FIELDS.iter().filter(is_portable).map(|field| field.name.to_owned()).collect()
}

/// The field of hosts with custom fields.
pub(super) const CUSTOM: &str = "custom";

/// The maximum number of custom fields with a column of their own. The import reads more columns than that.
const MAX_CUSTOM_COLUMNS: usize = 256;

/// The custom fields that have a column of their own, sorted.
#[derive(Clone, Debug, Default)]
pub(in crate::service) struct CustomColumns(BTreeSet<String>);

impl CustomColumns {
    /// Adds the custom fields of documents, up to 256 in all.
    pub(in crate::service) fn add(&mut self, documents: &[Bytes]) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct WithCustom<'j> {
            #[serde(borrow, default)]
            custom: BTreeMap<Cow<'j, str>, IgnoredAny>,
        }
        // Most hosts have none, and searching is faster than reading.
        let with_fields =
            documents.iter().filter(|body| memchr::memmem::find(body, b"\"custom\":{").is_some());
        for body in with_fields {
            let document = body.strip_prefix(b",").unwrap_or(body);
            let read: WithCustom<'_> = serde_json::from_slice(document).map_err(Error::internal)?;
            let left = MAX_CUSTOM_COLUMNS.saturating_sub(self.0.len());
            let new = read.custom.into_keys().filter(|name| !self.0.contains(name.as_ref()));
            let new: Vec<String> = new.take(left).map(Cow::into_owned).collect();
            self.0.extend(new);
        }
        Ok(())
    }

    /// Returns whether no further field gets a column.
    pub(in crate::service) fn is_full(&self) -> bool {
        self.0.len() >= MAX_CUSTOM_COLUMNS
    }
}

pub(super) fn header(columns: &FieldNames, custom: &CustomColumns) -> Bytes {
    let fields = columns.iter().map(|name| Cow::Borrowed(name.as_str()));
    write_row(fields.chain(custom.0.iter().map(|name| format!("{CUSTOM}.{name}").into()))).into()
}

/// Writes a JSON document as a row.
pub(super) fn row(document: &[u8], columns: &FieldNames, custom: &CustomColumns) -> Result<Vec<u8>, Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(document);
    let (mut cells, custom_json) = deserializer.deserialize_map(Cells(columns)).map_err(Error::internal)?;
    if custom.0.is_empty() {
        return Ok(write_row(cells));
    }
    let fields = custom_json.map_or_else(|| Ok(BTreeMap::new()), serde_json::from_str);
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = fields.map_err(Error::internal)?;
    let own = custom
        .0
        .iter()
        .map(|name| fields.remove(name.as_str()).map_or(Cow::Borrowed(""), |json| custom_cell(json.get())));
    let own: Vec<Cow<'_, str>> = own.collect();
    // The custom fields without a column of their own.
    let rest = if fields.is_empty() {
        String::new()
    } else {
        serde_json::to_string(&fields).map_err(Error::internal)?
    };
    for (_, cell) in columns.iter().zip(&mut cells).filter(|(column, _)| *column == CUSTOM) {
        *cell = rest.clone().into();
    }
    Ok(write_row(cells.into_iter().chain(own)))
}

/// Collects the cells of a row, and the JSON of its custom fields.
struct Cells<'c>(&'c FieldNames);

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = (Vec<Cow<'de, str>>, Option<&'de str>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut cells = vec![Cow::Borrowed(""); self.0.len()];
        let mut custom = None;
        while let Some((name, value)) = map.next_entry::<&str, &'de RawValue>()? {
            if name == CUSTOM {
                custom = Some(value.get());
            }
            let columns = self.0.iter().zip(&mut cells);
            let Some((_, cell)) = columns.into_iter().find(|(column, _)| *column == name) else { continue };
            *cell = text_of(name, value.get()).map_err(serde::de::Error::custom)?;
        }
        Ok((cells, custom))
    }
}

/// Returns the text of a field. The import of hosts reads the same.
fn text_of<'j>(field: &str, json: &'j str) -> serde_json::Result<Cow<'j, str>> {
    Ok(match (field, json.as_bytes().first()) {
        (_, Some(b'n')) => Cow::Borrowed(""),
        (_, Some(b'"')) => text(json)?,
        ("tags", _) => joined(serde_json::from_str::<Vec<String>>(json)?.into_iter()),
        ("interfaces", _) => {
            let interfaces: Vec<Interface<'_>> = serde_json::from_str(json)?;
            joined(interfaces.into_iter().map(|interface| interface.ip_address.into_owned()))
        }
        ("ports", _) => {
            let ports: Vec<Port<'_>> = serde_json::from_str(json)?;
            joined(ports.into_iter().map(|port| format!("{}/{}", port.number, port.protocol)))
        }
        ("source", _) => match serde_json::from_str::<PlainSource<'_>>(json) {
            Ok(source) => source.r#type,
            Err(_) => Cow::Borrowed(json),
        },
        _ => Cow::Borrowed(json),
    })
}

fn text(json: &str) -> serde_json::Result<Cow<'_, str>> {
    // Only texts without escapes can be borrowed.
    match serde_json::from_str::<&str>(json) {
        Ok(text) => Ok(text.into()),
        Err(_) => serde_json::from_str::<String>(json).map(Cow::Owned),
    }
}

fn joined<'j>(values: impl Iterator<Item = String>) -> Cow<'j, str> {
    let mut joined = String::new();
    for (index, value) in values.enumerate() {
        if index > 0 {
            joined.push(SEPARATOR);
        }
        joined.push_str(&value);
    }
    joined.into()
}

#[derive(Deserialize)]
struct Interface<'j> {
    #[serde(borrow)]
    ip_address: Cow<'j, str>,
}

#[derive(Deserialize)]
struct Port<'j> {
    number: u16,
    #[serde(borrow)]
    protocol: Cow<'j, str>,
}

/// A source without further details.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainSource<'j> {
    #[serde(borrow)]
    r#type: Cow<'j, str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extended::Extended;

    #[test]
    fn new_field_of_the_table_has_a_column() {
        assert!(portable_columns::<Extended>().iter().any(|name| name == "rack"));
    }
}
