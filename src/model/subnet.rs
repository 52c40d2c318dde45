use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;
use super::{NetworkId, OrganizationId, Source, SubnetId, TagId, Timestamp};
use crate::text_enum::text_enum;

/// An IP subnet of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Subnet {
    /// The subnet's id.
    pub id: SubnetId,
    /// The organization that owns the subnet.
    pub organization_id: OrganizationId,
    /// The network that the subnet belongs to.
    pub network_id: NetworkId,
    /// The display name.
    pub name: String,
    /// Free text, at most 500 characters.
    pub description: Option<String>,
    /// The addresses of the subnet. No two subnets of a network have the same.
    pub cidr: Cidr,
    /// The use of the subnet.
    #[serde(default)]
    pub subnet_type: SubnetType,
    /// The origin of the record.
    #[serde(default)]
    pub source: Source,
    /// The ids of the subnet's tags.
    #[serde(default)]
    pub tags: Vec<TagId>,
    /// When the subnet was created.
    pub created_at: Timestamp,
    /// When the subnet last changed.
    pub updated_at: Timestamp,
}

text_enum! {
    /// The use of a subnet.
    #[derive(Default)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum SubnetType {
        /// The internet.
        Internet = "Internet",
        /// A remote site.
        Remote = "Remote",
        /// Addresses of gateways.
        Gateway = "Gateway",
        /// A VPN tunnel.
        VpnTunnel = "VpnTunnel",
        /// A demilitarized zone.
        Dmz = "Dmz",
        /// A local network.
        Lan = "Lan",
        /// A wireless network.
        WiFi = "WiFi",
        /// Devices of the internet of things.
        IoT = "IoT",
        /// Guests.
        Guest = "Guest",
        /// A Docker bridge.
        DockerBridge = "DockerBridge",
        /// A Podman bridge.
        PodmanBridge = "PodmanBridge",
        /// A macvlan of containers.
        MacVlan = "MacVlan",
        /// An ipvlan of containers.
        IpVlan = "IpVlan",
        /// Management of devices.
        Management = "Management",
        /// Storage traffic.
        Storage = "Storage",
        /// Loopback addresses.
        Loopback = "Loopback",
        /// Unknown. Deserialization also accepts any other text as this value, because daemons may know more types.
        #[default]
        #[serde(other)]
        Unknown = "Unknown",
    }
}

/// An IP prefix in its canonical form: all bits after the prefix length are zero.
///
/// ```
/// use toposcope::model::Cidr;
///
/// let cidr: Cidr = "192.0.2.0/24".parse()?;
/// assert!(cidr.contains("192.0.2.7".parse()?));
/// assert!("192.0.2.7/24".parse::<Cidr>().is_err(), "host bits are set");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("pattern" = "^[0-9a-f:.]+/[0-9]{1,3}$")))]
pub struct Cidr(IpNet);

/// The error for text that is not a canonical IP prefix, such as `192.0.2.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an IP prefix with all host bits zero")]
#[non_exhaustive]
pub struct CidrError;

impl Cidr {
    /// All IPv4 addresses: `0.0.0.0/0`.
    pub(crate) const DEFAULT_ROUTE: Self = Self(IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0)));

    /// Creates the prefix of this length that contains an address.
    ///
    /// # Errors
    /// If the prefix length is above 32 (IPv4) or 128 (IPv6).
    pub fn containing(address: IpAddr, prefix_length: u8) -> Result<Self, CidrError> {
        IpNet::new(address, prefix_length).map(|network| Self(network.trunc())).map_err(|_| CidrError)
    }

    /// Returns the first address.
    #[must_use]
    pub fn first_address(self) -> IpAddr {
        self.0.network()
    }

    /// Returns the last address, which is the broadcast address of an IPv4 subnet.
    #[must_use]
    pub fn last_address(self) -> IpAddr {
        self.0.broadcast()
    }

    /// Returns the prefix length in bits.
    #[must_use]
    pub fn prefix_length(self) -> u8 {
        self.0.prefix_len()
    }

    /// Returns whether the prefix contains an address.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        // The standard library parses all other addresses of requests. It refuses leading zeros, which some programs read as
        // octal numbers.
        let (address, length) = text.split_once('/').ok_or(CidrError)?;
        let is_decimal =
            length == "0" || length.bytes().all(|byte| byte.is_ascii_digit()) && !length.starts_with('0');
        let length: u8 = length.parse().ok().filter(|_| is_decimal).ok_or(CidrError)?;
        let address: IpAddr = address.parse().map_err(|_| CidrError)?;
        let cidr = Self::containing(address, length)?;
        if cidr.first_address() == address { Ok(cidr) } else { Err(CidrError) }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Debug for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer, "an IP prefix with all host bits zero")
    }
}
