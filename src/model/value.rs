//! The types of fields: their form in the API, their texts, and their empty values.

use std::net::IpAddr;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::field::Record;
use super::id::RecordId;
use super::{
    AdminStatus, Binding, CredentialAssignment, Custom, HostRole, HostVirtualization, IfEntry, Interface,
    LldpChassisId, LldpPortId, MacAddress, MacSource, Neighbor, OperStatus, Port, PortNumber, Protocol,
    Service, ServiceDefinition, ServiceVirtualization, Source, Timestamp, Vlans,
};

/// The maximum length of a text of a host or a part, in characters.
pub(crate) const MAX_TEXT: usize = 65_536;

/// The size of an id in a list of ids, in bytes of JSON.
const ID_SIZE: usize = 40;

/// The form of a field's value in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An id.
    Id,
    /// A list of ids.
    Ids,
    /// `true` or `false`.
    Boolean,
    /// A time.
    Time,
    /// A text of this many characters.
    Text {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// An integer between these bounds.
    Integer {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
    /// A text or a number of this schema.
    Plain(&'static str),
    /// An object of this schema.
    Object(&'static str),
    /// A list of objects of this schema.
    List(&'static str),
}

/// The texts of a value, each with its path within the value. If shares conceal one, it is the first.
pub(crate) type Texts<'v> = [Option<(&'static str, &'v str)>; 2];

/// A type of fields.
pub(crate) trait Value: Clone + PartialEq + Serialize + 'static {
    /// The form of the value in the API.
    const FORM: Form;

    /// Whether null is a value.
    const IS_NULLABLE: bool = false;

    /// Whether the value has neither texts nor lists.
    const IS_PLAIN: bool = false;

    /// Returns whether the value is not empty. A record that absorbs another takes its value in place of an empty one.
    fn is_set(&self) -> bool {
        true
    }

    /// Returns the texts that clients and devices choose.
    fn texts(&self) -> Texts<'_> {
        [None, None]
    }

    /// Returns about how many bytes of JSON the texts and lists of the value take.
    fn likely_size(&self) -> usize {
        self.texts().iter().flatten().map(|(_, text)| text.len()).sum()
    }
}

/// The items of a list.
pub(crate) trait Item: Clone + PartialEq + Serialize + 'static {
    /// The form of the list.
    const LIST: Form;

    /// Returns about how many bytes the JSON of the item has, rounded up.
    fn likely_size(&self) -> usize;
}

impl<V: Value> Value for Option<V> {
    const FORM: Form = V::FORM;
    const IS_NULLABLE: bool = true;
    const IS_PLAIN: bool = V::IS_PLAIN;

    fn is_set(&self) -> bool {
        self.is_some()
    }

    fn texts(&self) -> Texts<'_> {
        self.as_ref().map_or([None, None], V::texts)
    }

    fn likely_size(&self) -> usize {
        self.as_ref().map_or(0, V::likely_size)
    }
}

impl<I: Item> Value for Vec<I> {
    const FORM: Form = I::LIST;

    fn is_set(&self) -> bool {
        !self.is_empty()
    }

    fn likely_size(&self) -> usize {
        self.iter().map(I::likely_size).sum()
    }
}

/// An id has the form of any other, whatever it identifies.
impl<I: RecordId> Value for I {
    const FORM: Form = Form::Id;
    const IS_PLAIN: bool = true;
}

/// Implements [`Value`] for types without texts and empty values.
macro_rules! plain_values {
    ($($type:ty: $form:expr;)*) => {$(
        impl Value for $type {
            const FORM: Form = $form;
            const IS_PLAIN: bool = true;
        }
    )*};
}

plain_values! {
    bool: Form::Boolean;
    Timestamp: Form::Time;
    u64: Form::Plain("Speed");
    IpAddr: Form::Plain("IpAddress");
    MacAddress: Form::Text { min: MacAddress::TEXT_LENGTHS.0, max: MacAddress::TEXT_LENGTHS.1 };
    MacSource: Form::Plain("MacSource");
    PortNumber: Form::Integer { min: 1, max: 65_535 };
    Protocol: Form::Plain("Protocol");
    HostRole: Form::Plain("HostRole");
    AdminStatus: Form::Plain("AdminStatus");
    OperStatus: Form::Plain("OperStatus");
    Neighbor: Form::Object("Neighbor");
}

impl Value for String {
    const FORM: Form = Form::Text { min: 0, max: MAX_TEXT };

    fn is_set(&self) -> bool {
        !self.is_empty()
    }

    fn texts(&self) -> Texts<'_> {
        [Some(("", self)), None]
    }
}

/// The index of an interface entry is 0 where it is unknown.
impl Value for i64 {
    const FORM: Form = Form::Integer { min: Self::MIN, max: Self::MAX };
    const IS_PLAIN: bool = true;

    fn is_set(&self) -> bool {
        *self != 0
    }
}

impl Value for ServiceDefinition {
    const FORM: Form = Form::Text { min: 1, max: MAX_TEXT };

    fn texts(&self) -> Texts<'_> {
        [Some(("", self.as_str())), None]
    }
}

impl Value for LldpChassisId {
    const FORM: Form = Form::Object("LldpChassisId");

    fn texts(&self) -> Texts<'_> {
        [Some((".value", &self.value)), None]
    }
}

impl Value for LldpPortId {
    const FORM: Form = Form::Object("LldpPortId");

    fn texts(&self) -> Texts<'_> {
        [Some((".value", &self.value)), None]
    }
}

impl Value for HostVirtualization {
    const FORM: Form = Form::Object("HostVirtualization");

    fn texts(&self) -> Texts<'_> {
        let Self::Proxmox(guest) = self;
        [
            guest.vm_name.as_deref().map(|name| (".details.vm_name", name)),
            guest.vm_id.as_deref().map(|id| (".details.vm_id", id)),
        ]
    }
}

impl Value for ServiceVirtualization {
    const FORM: Form = Form::Object("ServiceVirtualization");

    fn texts(&self) -> Texts<'_> {
        let Self::Docker(container) = self;
        [
            container.container_name.as_deref().map(|name| (".details.container_name", name)),
            container.container_id.as_deref().map(|id| (".details.container_id", id)),
        ]
    }
}

impl Value for Vlans {
    const FORM: Form = Form::Object("Vlans");

    fn likely_size(&self) -> usize {
        // A VLAN has up to four digits and a comma.
        5 * self.tagged.len()
    }
}

impl Value for Source {
    const FORM: Form = Form::Object("Source");

    fn likely_size(&self) -> usize {
        match self {
            Self::Manual | Self::System | Self::Unknown => 0,
            Self::Discovery { metadata } => metadata.iter().map(object_size).sum(),
            Self::DiscoveryWithMatch { metadata, details } => {
                metadata.iter().map(object_size).sum::<usize>() + object_size(details)
            }
        }
    }
}

impl Value for Custom {
    const FORM: Form = Form::Object("Custom");
    /// Null clears them all.
    const IS_NULLABLE: bool = true;

    fn is_set(&self) -> bool {
        !self.is_empty()
    }

    fn likely_size(&self) -> usize {
        match self.is_empty() {
            true => 0,
            false => 16 + members_size(self.iter()),
        }
    }
}

fn object_size(object: &Map<String, Json>) -> usize {
    members_size(object.iter())
}

fn members_size<'v>(members: impl Iterator<Item = (&'v String, &'v Json)>) -> usize {
    2 + members.map(|(name, value)| name.len() + 4 + json_size(value)).sum::<usize>()
}

fn json_size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) => 6,
        Json::Number(_) => 24,
        Json::String(text) => text.len() + 3,
        Json::Array(values) => 2 + values.iter().map(|value| 1 + json_size(value)).sum::<usize>(),
        Json::Object(object) => object_size(object),
    }
}

impl<I: RecordId> Item for I {
    const LIST: Form = Form::Ids;

    fn likely_size(&self) -> usize {
        ID_SIZE
    }
}

impl Item for CredentialAssignment {
    const LIST: Form = Form::List("CredentialAssignment");

    fn likely_size(&self) -> usize {
        128 + self.interface_ids.as_ref().map_or(0, Value::likely_size)
    }
}

impl Item for Binding {
    const LIST: Form = Form::List("BindingInput");

    fn likely_size(&self) -> usize {
        512
    }
}

/// Implements [`Item`] for records.
macro_rules! record_items {
    ($($record:ty: $schema:literal;)*) => {$(
        impl Item for $record {
            const LIST: Form = Form::List($schema);

            fn likely_size(&self) -> usize {
                Record::likely_size(self)
            }
        }
    )*};
}

record_items! {
    Interface: "InterfaceInput";
    Port: "PortInput";
    Service: "ServiceInput";
    IfEntry: "IfEntryInput";
}
