//! Hosts as requests carry them.
//!
//! Ids and times are optional. Fields that only the server sets are ignored.

use std::net::IpAddr;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::texts::check_host_texts;
use super::validate::check_values;
use crate::inventory::{Error, Problem, dotted, invalid_json};
use crate::json_objects::Objects;
use crate::model::{
    AdminStatus, Binding, BindingId, BindingTarget, CredentialAssignment, Custom, Host, HostId, HostRole,
    HostVirtualization, IfEntry, IfEntryId, Interface, InterfaceId, LldpChassisId, LldpPortId, MacAddress,
    Neighbor, NetworkId, OperStatus, Port, PortId, PortNumber, Protocol, RecordId, Service,
    ServiceDefinition, ServiceId, ServiceVirtualization, Source, SubnetId, TagId, Timestamp, Vlans,
    host_fields, if_entry_fields, interface_fields, port_fields, read_custom, read_source, service_fields,
};

/// The position of a part that the request leaves to the server.
const UNPLACED: i64 = i64::MIN;

/// Parses a host, and checks the values that need no other record. Missing ids are nil, and all times are unset.
///
/// # Errors
/// `Invalid`, with the path of the faulty value in the host; an empty path means the host itself.
pub(crate) fn parse_host(json: &[u8]) -> Result<Host, Error> {
    let host = parse_host_changes(json)?;
    // Only hosts that lack a field, or give an empty value, need the second pass that distinguishes both.
    if host.network_id.is_nil() || host.name.is_empty() {
        let missing = missing_fields(json)?;
        missing.first().map_or(Ok(()), |field| Err(Error::invalid(*field, Problem::Required)))?;
    }
    Ok(host)
}

/// Returns the required fields that the JSON object of a host lacks. A field that is null counts as missing.
///
/// # Errors
/// `Invalid` if the text is not a JSON object.
pub(in crate::inventory) fn missing_fields(json: &[u8]) -> Result<Vec<&'static str>, Error> {
    #[derive(Deserialize)]
    struct Required {
        network_id: Option<IgnoredAny>,
        name: Option<IgnoredAny>,
    }
    let Required { network_id, name } = parse_object(json)?;
    let fields = [("network_id", network_id), ("name", name)];
    Ok(fields.into_iter().filter(|(_, given)| given.is_none()).map(|(field, _)| field).collect())
}

/// Parses a host of a list like [`parse_host`], with the time at which the client believes that it last changed.
///
/// # Errors
/// The errors of [`parse_host`].
pub(super) fn parse_listed_host(json: &[u8]) -> Result<(Host, Option<Timestamp>), Error> {
    let host = parse_host(json)?;
    // Searching is faster than reading, and most hosts have no such time. Names of fields may have escaped letters.
    let may_have = memchr::memmem::find(json, b"\"expected_updated_at\"").is_some()
        || memchr::memmem::find(json, b"\\u00").is_some();
    if !may_have {
        return Ok((host, None));
    }
    #[derive(Deserialize)]
    struct Lock {
        expected_updated_at: Option<Timestamp>,
    }
    let Lock { expected_updated_at } = parse_object(json)?;
    check_lock(expected_updated_at, host.id)?;
    Ok((host, expected_updated_at))
}

/// Checks that a host of which a state is expected has an id.
///
/// # Errors
/// `Invalid` with the field `id`.
pub(in crate::inventory) fn check_lock(expected: Option<Timestamp>, id: HostId) -> Result<(), Error> {
    if expected.is_some() && id.is_nil() { Err(Error::invalid("id", Problem::Required)) } else { Ok(()) }
}

/// Parses a host like [`parse_host`], except that any field may be missing. The value of a missing field has
/// no meaning.
///
/// # Errors
/// The errors of [`parse_host`].
pub(crate) fn parse_host_changes(json: &[u8]) -> Result<Host, Error> {
    let mut host: Host = parse_given(json)?;
    for (index, interface) in host.interfaces.iter_mut().enumerate() {
        place(&mut interface.position, index);
    }
    for (index, service) in host.services.iter_mut().enumerate() {
        place(&mut service.position, index);
    }
    check_host_texts(&host, None)?;
    check_values(&host)?;
    Ok(host)
}

/// Parses a record as requests carry it.
///
/// # Errors
/// `Invalid`, with the path of the faulty value; an empty path means the record itself.
pub(super) fn parse_given<T: Given>(json: &[u8]) -> Result<T, Error> {
    parse_object(json).map(|Input(given)| given)
}

/// Sets the position of a part without one, so that it is placed behind the others.
pub(super) const fn place_last(position: &mut i64) {
    if *position == UNPLACED {
        *position = i64::MAX;
    }
}

/// Deserializes a JSON object.
///
/// # Errors
/// `Invalid`, with the path of the faulty value; an empty path means the object itself.
pub(in crate::inventory) fn parse_object<T: DeserializeOwned>(json: &[u8]) -> Result<T, Error> {
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::invalid("", Problem::InvalidFormat));
    }
    // Path tracking is slower, and nearly all input is valid.
    parse_fast(json).or_else(|_| parse_with_path(json))
}

fn parse_fast<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = T::deserialize(Objects(&mut reader))?;
    reader.end()?;
    Ok(value)
}

fn parse_with_path<T: DeserializeOwned>(json: &[u8]) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
        let path = dotted(error.path()).unwrap_or_default();
        invalid_json(path, &error.into_inner())
    });
    let value = read?;
    reader.end().map_err(|error| invalid_json(String::new(), &error))?;
    Ok(value)
}

fn place(position: &mut i64, index: usize) {
    if *position == UNPLACED {
        *position = i64::try_from(index).unwrap_or(i64::MAX);
    }
}

/// A record, or a value of one, as requests carry it.
pub trait Given: Sized {
    /// Reads the value from a request.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// A value that requests may leave out.
pub(in crate::inventory) trait Omissible: Given {
    /// Returns the default of a value that a request leaves out.
    fn omitted() -> Self;
}

/// Deserializes a value as [`Given`] does.
struct Input<T>(T);

impl<'de, T: Given> Deserialize<'de> for Input<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

/// Implements [`Given`] by a table of fields. Fields that only the server sets are ignored, except for the id.
///
/// The argument is the serde attribute of required fields.
macro_rules! given {
    ([$of_required:meta] $record:ident: $size:literal; $(
        $field:ident: $type:ty
        $(= $(required $required:literal)? $(parts $parts:literal)? $($optional:literal)?
            $(, $mark:ident $(($argument:expr))?)*)?;
    )*) => {
        impl Given for $record {
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                struct Document {
                    #[serde(default, deserialize_with = "or_default")]
                    id: Uuid,
                    $($(
                        $(#[doc = $required] #[$of_required] $field: $type,)?
                        $(
                            #[doc = $parts]
                            #[serde(default = "Omissible::omitted", deserialize_with = "Given::read")]
                            $field: $type,
                        )?
                        $(
                            #[doc = $optional]
                            #[serde(default = "Omissible::omitted", deserialize_with = "Given::read")]
                            $field: $type,
                        )?
                    )?)*
                }
                let document = Document::deserialize(deserializer)?;
                let mut record = Self {
                    $($field: given!(document.$field $(= $($required)? $($parts)? $($optional)?)?),)*
                };
                record.id = document.id.into();
                Ok(record)
            }
        }
    };
    ($document:ident.$field:ident = $sentence:literal) => { $document.$field };
    ($document:ident.$field:ident) => { Default::default() };
}

// A missing field of an update has no meaning, and `parse_host` finds those of other requests.
host_fields!(given serde(default));
interface_fields!(given serde());
port_fields!(given serde());
service_fields!(given serde());
if_entry_fields!(given serde());

impl<T: DeserializeOwned> Given for Option<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<T: DeserializeOwned> Omissible for Option<T> {
    fn omitted() -> Self {
        None
    }
}

impl<T: Given> Given for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items: Vec<Input<T>> = or_default(deserializer)?;
        Ok(items.into_iter().map(|Input(item)| item).collect())
    }
}

impl<T: Given> Omissible for Vec<T> {
    fn omitted() -> Self {
        Self::new()
    }
}

impl Given for Custom {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_custom(deserializer)
    }
}

impl Omissible for Custom {
    fn omitted() -> Self {
        Self::new()
    }
}

impl<I: RecordId> Given for I {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Given for CredentialAssignment {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Given for bool {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        or_default(deserializer)
    }
}

impl Omissible for bool {
    fn omitted() -> Self {
        false
    }
}

/// A position.
impl Given for i64 {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Omissible for i64 {
    fn omitted() -> Self {
        UNPLACED
    }
}

impl Given for Source {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(read_source(deserializer)?.unwrap_or_else(Self::omitted))
    }
}

/// The source of records that a client makes.
impl Omissible for Source {
    fn omitted() -> Self {
        Self::Manual
    }
}

#[derive(Deserialize)]
struct BindingDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: BindingId,
    r#type: BindingType,
    port_id: Option<PortId>,
    interface_id: Option<InterfaceId>,
}

/// The type of a binding, as its JSON names it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(in crate::inventory) enum BindingType {
    Port,
    Interface,
}

impl BindingType {
    /// Returns the target of a binding of this type with these ids.
    pub(in crate::inventory) fn target(
        self,
        port_id: Option<PortId>,
        interface_id: Option<InterfaceId>,
    ) -> Result<BindingTarget, &'static str> {
        match (self, port_id, interface_id) {
            (Self::Port, Some(port_id), interface_id) => Ok(BindingTarget::Port { port_id, interface_id }),
            (Self::Interface, None, Some(interface_id)) => Ok(BindingTarget::Interface { interface_id }),
            _ => Err("the ids do not fit the type of the binding"),
        }
    }
}

impl Given for Binding {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let BindingDocument { id, r#type, port_id, interface_id } = Deserialize::deserialize(deserializer)?;
        let target = r#type.target(port_id, interface_id).map_err(D::Error::custom)?;
        let (service_id, network_id) = (ServiceId::nil(), NetworkId::nil());
        let (created_at, updated_at) = (Timestamp::default(), Timestamp::default());
        Ok(Self { id, service_id, network_id, target, created_at, updated_at })
    }
}

/// Reads a value that may be null, which means the same as a missing one.
pub(in crate::inventory) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extended::{Extended, extend, extended_fields};

    extended_fields!(given serde(default));

    fn parse(json: &str) -> Result<Option<String>, Error> {
        parse_given(json.as_bytes()).map(|Extended { rack, .. }| rack)
    }

    #[test]
    fn new_field_of_the_table_is_read_from_requests() {
        assert_eq!(parse(r#"{"rack": "R4"}"#).unwrap().as_deref(), Some("R4"));
        assert_eq!(parse(r#"{"rack": null}"#).unwrap(), None);
        assert_eq!(parse("{}").unwrap(), None);
        let error = parse(r#"{"rack": 4}"#).unwrap_err();
        assert_eq!(error.to_string(), "rack must be a text.");
    }
}
