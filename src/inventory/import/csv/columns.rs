//! The columns of a CSV, and the hosts that their cells describe.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::IgnoredAny;

use crate::csv::{SEPARATOR, custom_json, unguard};
use crate::inventory::import::row_fields::{CUSTOM, RowFields};
use crate::inventory::{Error, Problem, is_custom_name};
use crate::model::{Field, Form, Host, NetworkId, Record};
use crate::printable::printable;
use crate::wire::Refusal;

/// Maximum number of characters of a column's name in an error.
const MAX_NAME: usize = 64;

/// The columns of a CSV.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<(Cow<'static, str>, Content)>,
    /// The network of rows without one.
    network: Option<NetworkId>,
}

/// The format of the cells of a column.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Boolean,
    /// A list of ids.
    Ids,
    /// A list of addresses, or JSON.
    Interfaces,
    /// A list of numbers with protocols, or JSON.
    Ports,
    /// A type, or JSON.
    Source,
    Json,
}

/// The content of a column.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// A field of hosts other than `custom`.
    Field(Kind),
    /// Custom fields, as a JSON object.
    CustomFields,
    /// One custom field.
    CustomField,
}

impl Kind {
    fn of<R>(field: &Field<R>) -> Self {
        match (field.name, field.form) {
            ("interfaces", _) => Self::Interfaces,
            ("ports", _) => Self::Ports,
            ("source", _) => Self::Source,
            (_, Form::Boolean) => Self::Boolean,
            (_, Form::Ids) => Self::Ids,
            (_, Form::Object(_) | Form::List(_) | Form::Integer { .. }) => Self::Json,
            (_, Form::Id | Form::Time | Form::Text { .. } | Form::Plain(_)) => Self::Text,
        }
    }
}

impl Columns {
    /// Reads a header.
    ///
    /// # Errors
    /// `Invalid` if the header has an unknown field or one twice, or if it has neither a required one nor the id.
    pub(super) fn read<'c>(
        header: impl Iterator<Item = &'c [u8]>,
        network: Option<NetworkId>,
    ) -> Result<Self, Error> {
        let mut columns: Vec<(Cow<'static, str>, Content)> = Vec::new();
        let mut names = BTreeSet::new();
        for cell in header {
            let name = String::from_utf8_lossy(cell).trim().to_ascii_lowercase();
            let field = Host::FIELDS.iter().find(|field| field.name == name);
            let (name, content) = match (field, name.strip_prefix(CUSTOM_PREFIX)) {
                (Some(_), _) if name == CUSTOM => (Cow::Borrowed(CUSTOM), Content::CustomFields),
                (Some(field), _) => (Cow::Borrowed(field.name), Content::Field(Kind::of(field))),
                (None, _) if name == LOCK => (Cow::Borrowed(LOCK), Content::Field(Kind::Text)),
                (None, Some(custom)) if is_custom_name(custom) => (Cow::Owned(name), Content::CustomField),
                (None, _) => {
                    return Err(Error::invalid(printable(&name, MAX_NAME), Problem::UnknownField));
                }
            };
            if !names.insert(name.clone()) {
                return Err(Error::invalid(name, Problem::Duplicate));
            }
            columns.push((name, content));
        }
        let columns = Self { columns, network };
        match columns.fields().missing() {
            // Rows of stored hosts keep what has no column.
            Some(missing) if !names.contains("id") => Err(Error::invalid(missing, Problem::Required)),
            _ => Ok(columns),
        }
    }

    /// Returns the fields that rows have. The network of rows without one counts as a column.
    pub(super) fn fields(&self) -> RowFields {
        let mut fields = RowFields::default();
        fields.names.extend(self.network.map(|_| "network_id"));
        for (name, content) in &self.columns {
            match (content, name) {
                (Content::CustomField, name) => {
                    fields.custom.extend(name.strip_prefix(CUSTOM_PREFIX).map(str::to_owned));
                }
                (Content::CustomFields | Content::Field(_), Cow::Borrowed(name)) => {
                    fields.names.insert(name);
                }
                (Content::CustomFields | Content::Field(_), Cow::Owned(_)) => {}
            }
        }
        fields
    }

    /// Returns about how long the JSON of a row is, in bytes.
    pub(super) fn likely_length<'c>(&self, cells: impl Iterator<Item = &'c [u8]>) -> usize {
        let lengths = self.columns.iter().zip(cells).map(|((field, content), cell)| {
            let values = match content {
                Content::Field(Kind::Ids | Kind::Interfaces | Kind::Ports) => {
                    memchr::memchr_iter(SEPARATOR as u8, cell).count() + 1
                }
                _ => 1,
            };
            field.len() + cell.len() + values * VALUE
        });
        lengths.sum()
    }

    /// Returns the host of a row as JSON of at most `max_length` bytes.
    ///
    /// The JSON is written cell by cell, because decoded values would take many times the memory of the cells
    /// that list them.
    pub(super) fn host<'c>(
        &self,
        line: u64,
        cells: impl ExactSizeIterator<Item = &'c [u8]> + Clone,
        max_length: usize,
    ) -> Result<Vec<u8>, Refusal> {
        let refusal = |field: Option<&str>, reason: Cow<'_, str>| Refusal {
            line,
            field: field.map(str::to_owned),
            reason: reason.into_owned(),
            code: None,
        };
        if cells.len() != self.columns.len() {
            let reason = format!("the row has {} cells, and the header {}", cells.len(), self.columns.len());
            return Err(refusal(None, reason.into()));
        }
        let mut json = Json::new(self.likely_length(cells.clone()), max_length);
        let mut custom = Json::new(0, max_length);
        let mut network = self.network;
        for ((field, content), cell) in self.columns.iter().zip(cells) {
            let text = str::from_utf8(cell).map_err(|_| refusal(Some(field), "must be UTF-8".into()))?;
            let text = unguard(text);
            // Discovered devices may have no name.
            if text.is_empty() && *field != "name" {
                continue;
            }
            network = network.filter(|_| *field != "network_id");
            let written = match content {
                Content::Field(kind) => json.begin_member(field).and_then(|()| json.value(*kind, &text)),
                Content::CustomFields => custom.members(&text),
                Content::CustomField => custom.custom_field(field, &text),
            };
            written.map_err(|fault| match fault {
                Fault::Value(reason) => refusal(Some(field), reason.into()),
                Fault::TooLong => refusal(None, too_long(max_length).into()),
            })?;
        }
        if !custom.text.is_empty() {
            let is_written = json.begin_member(CUSTOM).and_then(|()| json.raw(&custom.finish()));
            is_written.map_err(|_| refusal(None, too_long(max_length).into()))?;
        }
        if let Some(network) = network {
            let is_written = json.begin_member("network_id").and_then(|()| json.put(&network.to_string()));
            is_written.map_err(|_| refusal(None, too_long(max_length).into()))?;
        }
        Ok(json.finish())
    }
}

/// The column of the time at which the client believes that the host last changed.
const LOCK: &str = "expected_updated_at";

/// The prefix of the columns of single custom fields.
const CUSTOM_PREFIX: &str = "custom.";

/// The bytes by which the JSON of a value in a list is longer than its text, such as `{"number":,"protocol":""},`.
const VALUE: usize = 32;

fn too_long(max_length: usize) -> String {
    format!("the host is longer than {max_length} bytes as JSON")
}

/// The reason why a cell cannot be written.
enum Fault {
    Value(&'static str),
    TooLong,
}

/// A JSON object that is written member by member.
struct Json {
    text: Vec<u8>,
    max_length: usize,
}

#[derive(Serialize)]
struct Address<'t> {
    ip_address: &'t str,
}

#[derive(Serialize)]
struct Port<'t> {
    number: u16,
    protocol: &'t str,
}

#[derive(Serialize)]
struct SourceType<'t> {
    r#type: &'t str,
}

impl Json {
    fn new(likely_length: usize, max_length: usize) -> Self {
        Self { text: Vec::with_capacity(likely_length.min(max_length)), max_length }
    }

    fn begin_member(&mut self, name: &str) -> Result<(), Fault> {
        self.text.push(if self.text.is_empty() { b'{' } else { b',' });
        self.put(name)?;
        self.text.push(b':');
        Ok(())
    }

    /// Writes the members of an object in JSON; null has none. A member that is written twice is found by the reader.
    fn members(&mut self, text: &str) -> Result<(), Fault> {
        let text = text.trim();
        if text == "null" {
            return Ok(());
        }
        let members = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::trim);
        match members.filter(|_| serde_json::from_str::<IgnoredAny>(text).is_ok()) {
            Some("") => Ok(()),
            Some(members) => {
                self.text.push(if self.text.is_empty() { b'{' } else { b',' });
                self.raw(members.as_bytes())
            }
            None => Err(Fault::Value("must be a JSON object")),
        }
    }

    /// Writes a custom field from the column with its name.
    fn custom_field(&mut self, column: &str, text: &str) -> Result<(), Fault> {
        self.begin_member(column.strip_prefix(CUSTOM_PREFIX).unwrap_or(column))?;
        self.raw(custom_json(text).as_bytes())
    }

    fn raw(&mut self, json: &[u8]) -> Result<(), Fault> {
        self.text.extend_from_slice(json);
        self.check_length()
    }

    fn finish(mut self) -> Vec<u8> {
        self.text.push(b'}');
        self.text
    }

    /// Writes the value of a cell.
    fn value(&mut self, kind: Kind, text: &str) -> Result<(), Fault> {
        let trimmed = text.trim();
        match kind {
            Kind::Text => self.put(text),
            Kind::Boolean if trimmed.eq_ignore_ascii_case("true") => self.put(&true),
            Kind::Boolean if trimmed.eq_ignore_ascii_case("false") => self.put(&false),
            Kind::Boolean => Err(Fault::Value("must be true or false")),
            Kind::Ids => self.list(trimmed, Some),
            Kind::Source if !trimmed.starts_with('{') => self.put(&SourceType { r#type: trimmed }),
            Kind::Interfaces if !trimmed.starts_with('[') => {
                self.list(trimmed, |ip_address| Some(Address { ip_address }))
            }
            Kind::Ports if !trimmed.starts_with('[') => self.list(trimmed, port),
            Kind::Source | Kind::Interfaces | Kind::Ports | Kind::Json => {
                // Only the syntax is checked here, without the values.
                serde_json::from_str::<IgnoredAny>(trimmed).map_err(|_| Fault::Value("must be JSON"))?;
                self.raw(trimmed.as_bytes())
            }
        }
    }

    /// Writes the values of a list within a cell, in the form that `item` gives them.
    fn list<'t, T: Serialize>(
        &mut self,
        text: &'t str,
        item: impl Fn(&'t str) -> Option<T>,
    ) -> Result<(), Fault> {
        let values = text.split(SEPARATOR).map(str::trim).filter(|value| !value.is_empty());
        self.text.push(b'[');
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            let item =
                item(value).ok_or(Fault::Value("must be numbers with protocols, such as 443/Tcp;53/Udp"))?;
            self.put(&item)?;
        }
        self.text.push(b']');
        Ok(())
    }

    fn put(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Fault> {
        serde_json::to_writer(&mut self.text, value).map_err(|_| Fault::Value("cannot be read"))?;
        self.check_length()
    }

    const fn check_length(&self) -> Result<(), Fault> {
        if self.text.len() <= self.max_length { Ok(()) } else { Err(Fault::TooLong) }
    }
}

/// Parses a port, which is of TCP unless it names a protocol.
fn port(text: &str) -> Option<Port<'_>> {
    let (number, protocol) = text.split_once('/').unwrap_or((text, "Tcp"));
    Some(Port { number: number.trim().parse().ok()?, protocol: protocol.trim() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extended::Extended;

    #[test]
    fn new_field_of_the_table_has_a_column() {
        let kinds: Vec<_> = Extended::FIELDS.iter().map(|field| (field.name, Kind::of(field))).collect();
        assert!(matches!(kinds.as_slice(), [("id", Kind::Text), .., ("rack", Kind::Text)]), "{kinds:?}");
    }
}
