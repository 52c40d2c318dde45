use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A field by which host lists can be ordered. Strings are ordered by Unicode code point, unless the field says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HostOrderField {
    /// When the host was first recorded.
    #[default]
    CreatedAt,
    /// When the host last changed.
    UpdatedAt,
    /// The host's name.
    Name,
    /// The hostname; a missing hostname sorts as the empty string.
    Hostname,
    /// The host's name as people order it: `sw2` before `sw10`, regardless of case.
    NameNatural,
    /// The hostname as people order it, like the name.
    HostnameNatural,
    /// The id of the host's network.
    NetworkId,
    /// The name of the hypervisor service; empty for hosts that are not virtual.
    VirtualizedBy,
    /// The address of the first interface: IPv4 before IPv6, hosts without interfaces last.
    InterfaceIp,
}

/// The error for text that names no order field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a field that hosts can be ordered by")]
#[non_exhaustive]
pub struct HostOrderFieldError;

impl HostOrderField {
    /// All order fields.
    pub const ALL: &[Self] = &[
        Self::CreatedAt,
        Self::UpdatedAt,
        Self::Name,
        Self::Hostname,
        Self::NameNatural,
        Self::HostnameNatural,
        Self::NetworkId,
        Self::VirtualizedBy,
        Self::InterfaceIp,
    ];

    /// Returns the name used in JSON and query strings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "updated_at",
            Self::Name => "name",
            Self::Hostname => "hostname",
            Self::NameNatural => "name_natural",
            Self::HostnameNatural => "hostname_natural",
            Self::NetworkId => "network_id",
            Self::VirtualizedBy => "virtualized_by",
            Self::InterfaceIp => "interface_ip",
        }
    }
}

impl FromStr for HostOrderField {
    type Err = HostOrderFieldError;

    fn from_str(text: &str) -> Result<Self, HostOrderFieldError> {
        Self::ALL.iter().copied().find(|field| field.as_str() == text).ok_or(HostOrderFieldError)
    }
}

impl fmt::Display for HostOrderField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The direction of an ordering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OrderDirection {
    /// Smallest first.
    #[default]
    #[serde(rename = "asc")]
    Ascending,
    /// Greatest first.
    #[serde(rename = "desc")]
    Descending,
}

/// The error for text other than `asc` and `desc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither asc nor desc")]
#[non_exhaustive]
pub struct OrderDirectionError;

impl OrderDirection {
    /// Returns the name used in JSON and query strings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }
}

impl FromStr for OrderDirection {
    type Err = OrderDirectionError;

    fn from_str(text: &str) -> Result<Self, OrderDirectionError> {
        [Self::Ascending, Self::Descending]
            .into_iter()
            .find(|direction| direction.as_str() == text)
            .ok_or(OrderDirectionError)
    }
}

impl fmt::Display for OrderDirection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
