use serde::{Deserialize, Serialize};

use crate::model::{PortNumber, Protocol};

/// An open port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PortRow {
    /// The port number.
    pub number: PortNumber,
    /// The transport protocol.
    pub protocol: Protocol,
    /// The name of the service, such as `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The software, such as `nginx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The version of the software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The protocol that carries the service, such as `ssl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
}

impl PortRow {
    /// Creates a row without a service.
    #[must_use]
    pub const fn new(number: PortNumber, protocol: Protocol) -> Self {
        Self { number, protocol, service: None, product: None, version: None, tunnel: None }
    }
}
