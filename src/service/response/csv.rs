//! Lists as CSV.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::shape::FieldNames;
use crate::csv::{SEPARATOR, write_row};
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

pub(super) fn header(columns: &FieldNames) -> Bytes {
    write_row(columns.iter().map(|name| Cow::Borrowed(name.as_str()))).into()
}

/// Writes a JSON document as a row.
pub(super) fn row(document: &[u8], columns: &FieldNames) -> Result<Vec<u8>, Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(document);
    let cells = deserializer.deserialize_map(Cells(columns)).map_err(Error::internal)?;
    Ok(write_row(cells))
}

/// Collects the cells of a row.
struct Cells<'c>(&'c FieldNames);

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = Vec<Cow<'de, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut cells = vec![Cow::Borrowed(""); self.0.len()];
        while let Some((name, value)) = map.next_entry::<&str, &RawValue>()? {
            let columns = self.0.iter().zip(&mut cells);
            let Some((_, cell)) = columns.into_iter().find(|(column, _)| *column == name) else { continue };
            *cell = text_of(name, value.get()).map_err(serde::de::Error::custom)?;
        }
        Ok(cells)
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
