use std::fmt;

use async_snmp::{Oid, Value};

/// An object identifier.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(Box<[u32]>);

impl ObjectId {
    /// Creates an identifier of its numbers.
    #[must_use]
    pub fn new(arcs: impl Into<Box<[u32]>>) -> Self {
        Self(arcs.into())
    }

    /// Returns the numbers.
    #[must_use]
    pub fn arcs(&self) -> &[u32] {
        &self.0
    }

    /// Returns the identifier with further numbers.
    #[must_use]
    pub fn child(&self, arcs: &[u32]) -> Self {
        Self([self.arcs(), arcs].concat().into())
    }

    /// Returns whether the identifier is below another one, or equal to it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    pub(super) fn of_oid(oid: &Oid) -> Self {
        Self(oid.arcs().into())
    }

    pub(super) fn to_oid(&self) -> Oid {
        Oid::from_slice(&self.0)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, arc) in self.0.iter().enumerate() {
            let dot = if position == 0 { "" } else { "." };
            write!(formatter, "{dot}{arc}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnmpValue {
    /// `INTEGER`.
    Integer(i32),
    /// `Counter32`.
    Counter32(u32),
    /// `Gauge32` and `Unsigned32`.
    Gauge32(u32),
    /// `TimeTicks`, in hundredths of a second.
    TimeTicks(u32),
    /// `Counter64`.
    Counter64(u64),
    /// `OCTET STRING`, and the former type of network addresses.
    Bytes(Box<[u8]>),
    /// `OBJECT IDENTIFIER`.
    ObjectId(ObjectId),
    /// `IpAddress`.
    IpAddress([u8; 4]),
    /// `Opaque`.
    Opaque(Box<[u8]>),
    /// `NULL`, and types that SNMP does not define.
    Null,
    /// There is no such object.
    NoSuchObject,
    /// There is such an object, but not this instance of it.
    NoSuchInstance,
    /// There is nothing behind the identifier that was asked for.
    EndOfView,
}

impl SnmpValue {
    /// Returns whether the agent has no such variable.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::NoSuchObject | Self::NoSuchInstance | Self::EndOfView)
    }

    /// Returns the number of bytes that the value takes beside the variable.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Opaque(bytes) => bytes.len(),
            Self::ObjectId(id) => size_of_val(id.arcs()),
            _ => 0,
        }
    }

    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Counter32(number) => Self::Counter32(*number),
            Value::Gauge32(number) | Value::UInteger32(number) => Self::Gauge32(*number),
            Value::TimeTicks(number) => Self::TimeTicks(*number),
            Value::Counter64(number) => Self::Counter64(*number),
            Value::OctetString(bytes) | Value::Nsap(bytes) => Self::Bytes(bytes.as_ref().into()),
            Value::ObjectIdentifier(oid) => Self::ObjectId(ObjectId::of_oid(oid)),
            Value::IpAddress(address) => Self::IpAddress(*address),
            Value::Opaque(bytes) => Self::Opaque(bytes.as_ref().into()),
            Value::NoSuchObject => Self::NoSuchObject,
            Value::NoSuchInstance => Self::NoSuchInstance,
            Value::EndOfMibView => Self::EndOfView,
            _ => Self::Null,
        }
    }
}

/// A variable of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Its identifier.
    pub id: ObjectId,
    /// Its value.
    pub value: SnmpValue,
}

impl Variable {
    /// Creates a variable.
    #[must_use]
    pub const fn new(id: ObjectId, value: SnmpValue) -> Self {
        Self { id, value }
    }

    /// Returns the bytes of memory that the variable takes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + size_of_val(self.id.arcs()) + self.value.size()
    }
}
