use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{HostId, NetworkId, PortId, Timestamp, record};

/// An open port of a host.
///
/// The JSON form has an additional field `type`. It is derived from number and protocol, so it is serialized but
/// ignored on input.
///
/// ```
/// use toposcope::model::{Host, NetworkId, Port, PortNumber, Protocol};
///
/// let host = Host::new(NetworkId::from_u128(1), "printer");
/// let port = Port::new(&host, PortNumber::try_from(443)?, Protocol::Tcp);
/// assert_eq!(port.kind(), "Https");
/// # Ok::<(), toposcope::model::PortNumberError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(transform = super::json_schema::add_port_type))]
pub struct Port {
    /// The port's id.
    pub id: PortId,
    /// The host on which the port is open.
    pub host_id: HostId,
    /// The host's network.
    pub network_id: NetworkId,
    /// The port number.
    pub number: PortNumber,
    /// The transport protocol.
    pub protocol: Protocol,
    /// When the port was first recorded.
    pub created_at: Timestamp,
    /// When the port last changed.
    pub updated_at: Timestamp,
    /// When a report last showed the port, rounded down to the hour; `None`: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Whether three complete tables in a row lack the port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

/// The fields of [`Port`].
macro_rules! port_fields {
    ($then:ident $($argument:tt)*) => { $then! { [$($argument)*] Port: 320;
        id: PortId;
        host_id: HostId;
        network_id: NetworkId;
        number: PortNumber = required "The port number.";
        protocol: Protocol = required "The transport protocol, in any case.";
        created_at: Timestamp;
        updated_at: Timestamp;
        last_seen_at: Option<Timestamp>;
        is_stale: bool;
    } };
}

pub(crate) use port_fields;

port_fields!(record);

/// The names of the fields of a port's JSON, which has the derived one.
pub(crate) const PORT_NAMES: &[&str] = &[
    "id",
    "host_id",
    "network_id",
    "number",
    "protocol",
    "type",
    "created_at",
    "updated_at",
    "last_seen_at",
    "is_stale",
];

impl Port {
    /// Returns the service usually found on this number and protocol, as named in JSON.
    ///
    /// Returns `Custom` when no service is known for the combination.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.protocol {
            Protocol::Tcp => tcp(self.number.get()),
            Protocol::Udp => udp(self.number.get()),
        }
    }
}

impl Serialize for Port {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Port", 10)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("host_id", &self.host_id)?;
        fields.serialize_field("network_id", &self.network_id)?;
        fields.serialize_field("number", &self.number)?;
        fields.serialize_field("protocol", &self.protocol)?;
        fields.serialize_field("type", self.kind())?;
        fields.serialize_field("created_at", &self.created_at)?;
        fields.serialize_field("updated_at", &self.updated_at)?;
        match &self.last_seen_at {
            Some(time) => fields.serialize_field("last_seen_at", time)?,
            None => fields.skip_field("last_seen_at")?,
        }
        match self.is_stale {
            true => fields.serialize_field("is_stale", &true)?,
            false => fields.skip_field("is_stale")?,
        }
        fields.end()
    }
}

/// A port number, 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline))]
pub struct PortNumber(NonZeroU16);

/// The error for port number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a port number must be between 1 and 65535")]
#[non_exhaustive]
pub struct PortNumberError;

impl PortNumber {
    /// Returns the number as an integer.
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

/// A transport protocol. `Tcp` sorts before `Udp`. Parsing accepts any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

#[cfg(feature = "openapi")]
impl schemars::JsonSchema for Protocol {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Protocol".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        if generator.contract().is_deserialize() {
            let pattern = "^([Tt][Cc][Pp]|[Uu][Dd][Pp])$";
            let description = "A transport protocol, `Tcp` or `Udp`, in any case.";
            return schemars::json_schema!({"type": "string", "description": description, "pattern": pattern});
        }
        let description = "A transport protocol. `Tcp` sorts before `Udp`.";
        schemars::json_schema!({"type": "string", "description": description, "enum": ["Tcp", "Udp"]})
    }
}

/// The error for text other than `Tcp` and `Udp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither Tcp nor Udp")]
#[non_exhaustive]
pub struct ProtocolError;

impl FromStr for Protocol {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Self, ProtocolError> {
        if text.eq_ignore_ascii_case("tcp") {
            Ok(Self::Tcp)
        } else if text.eq_ignore_ascii_case("udp") {
            Ok(Self::Udp)
        } else {
            Err(ProtocolError)
        }
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ProtocolVisitor)
    }
}

struct ProtocolVisitor;

impl Visitor<'_> for ProtocolVisitor {
    type Value = Protocol;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a transport protocol")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Protocol, E> {
        text.parse().map_err(|_| E::unknown_variant(text, &["Tcp", "Udp"]))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Tcp => "Tcp",
            Self::Udp => "Udp",
        })
    }
}

const fn tcp(number: u16) -> &'static str {
    match number {
        21 => "Ftp",
        22 => "Ssh",
        23 => "Telnet",
        53 => "DnsTcp",
        80 => "Http",
        88 => "Kerberos",
        389 => "Ldap",
        443 => "Https",
        445 => "Samba",
        515 => "LdpTcp",
        554 => "Rtsp",
        631 => "Ipp",
        636 => "Ldaps",
        1433 => "MsSql",
        1883 => "Mqtt",
        2049 => "Nfs",
        2375 => "Docker",
        2376 => "DockerTls",
        3000 => "Http3000",
        3306 => "MySql",
        3389 => "Rdp",
        5000 => "Http5000",
        5060 => "Sip",
        5061 => "SipTls",
        5432 => "PostgreSQL",
        5671 => "AMQPTls",
        5672 => "AMQP",
        5984 => "CouchDb",
        6379 => "Redis",
        6443 => "Kubernetes",
        8080 => "Http8080",
        8081 => "Http8081",
        8082 => "Http8082",
        8086 => "InfluxDb",
        8443 => "Https8443",
        8883 => "MqttTls",
        8888 => "Http8888",
        9000 => "Http9000",
        9042 => "Cassandra",
        9092 => "Kafka",
        9100 => "JetDirect",
        9200 => "Elasticsearch",
        9443 => "Https9443",
        10_443 => "Https10443",
        15_672 => "RabbitMqMgmt",
        27_017 => "MongoDB",
        _ => "Custom",
    }
}

const fn udp(number: u16) -> &'static str {
    match number {
        53 => "DnsUdp",
        67 => "Dhcp",
        123 => "Ntp",
        161 => "Snmp",
        515 => "LdpUdp",
        1161 => "SnmpAlt",
        1194 => "OpenVPN",
        47_808 => "BACnet",
        51_820 => "Wireguard",
        _ => "Custom",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::model::{Host, Record as _};

    #[test]
    fn json_of_a_port_has_every_field_of_its_table_and_the_type() {
        let names: Vec<&str> = PORT_NAMES.iter().copied().filter(|name| *name != "type").collect();
        assert_eq!(names, Port::NAMES);
        let host = Host::new(NetworkId::nil(), "host");
        let mut port = Port::new(&host, PortNumber(NonZeroU16::MIN), Protocol::Tcp);
        (port.last_seen_at, port.is_stale) = (Some(Timestamp::now()), true);
        let Value::Object(fields) = serde_json::to_value(port).unwrap() else { panic!("no object") };
        assert!(fields.keys().map(String::as_str).all(|name| PORT_NAMES.contains(&name)));
        assert_eq!(fields.len(), PORT_NAMES.len());
    }
}
