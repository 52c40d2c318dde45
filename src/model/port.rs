use std::fmt;
use std::num::NonZeroU16;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use super::{Timestamp, port_type};

/// An open port of a host.
///
/// The wire has one field more, `type`: it follows from number and protocol, so it is written and never read.
///
/// ```
/// use toposcope::model::{Port, PortNumber, Protocol, Timestamp};
/// use uuid::Uuid;
///
/// let port = Port {
///     id: Uuid::nil(),
///     host_id: Uuid::nil(),
///     network_id: Uuid::nil(),
///     number: PortNumber::try_from(443)?,
///     protocol: Protocol::Tcp,
///     created_at: Timestamp::UNIX_EPOCH,
///     updated_at: Timestamp::UNIX_EPOCH,
/// };
/// assert_eq!(port.kind(), "Https");
/// # Ok::<(), toposcope::model::PortNumberError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Port {
    /// What names it.
    pub id: Uuid,
    /// The host it is open on.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// Its number.
    pub number: PortNumber,
    /// The protocol that numbers it.
    pub protocol: Protocol,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Port {
    /// What usually listens on a port of this number and protocol, by its name on the wire; `Custom` where nothing is
    /// known to.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        port_type::kind(self.number, self.protocol)
    }
}

impl Serialize for Port {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Port", 8)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("host_id", &self.host_id)?;
        fields.serialize_field("network_id", &self.network_id)?;
        fields.serialize_field("number", &self.number)?;
        fields.serialize_field("protocol", &self.protocol)?;
        fields.serialize_field("type", self.kind())?;
        fields.serialize_field("created_at", &self.created_at)?;
        fields.serialize_field("updated_at", &self.updated_at)?;
        fields.end()
    }
}

/// The number of a port, 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PortNumber(NonZeroU16);

/// Zero is not the number of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a port number is 1 to 65535")]
#[non_exhaustive]
pub struct PortNumberError;

impl PortNumber {
    /// The number as an integer.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl TryFrom<u16> for PortNumber {
    type Error = PortNumberError;

    fn try_from(number: u16) -> Result<Self, PortNumberError> {
        NonZeroU16::new(number).map(Self).ok_or(PortNumberError)
    }
}

impl fmt::Display for PortNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// What numbers a port. In the order in which the ports of a host with the same number are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Tcp => "Tcp",
            Self::Udp => "Udp",
        })
    }
}
