use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A public view of a topology, accessible to anyone with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Share {
    /// The share's id, which is all that is needed to open it.
    pub id: Uuid,
    /// The organization that owns the share.
    pub organization_id: Uuid,
    /// The network the share shows; `None`: not limited to one network.
    pub network_id: Option<Uuid>,
    /// The display name.
    pub name: String,
    /// Whether the share can be opened.
    pub is_enabled: bool,
    /// When the share stops being accessible; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the view requires a password.
    pub requires_password: bool,
    /// The controls that the view shows.
    pub options: ShareOptions,
    /// The topology view that the share shows.
    #[serde(default)]
    pub view: TopologyView,
    /// The kinds of values that the share replaces by pseudonyms. Each value occurs at most once.
    #[serde(default)]
    pub redact: Vec<Redaction>,
    /// When the share was created.
    pub created_at: Timestamp,
    /// When the share last changed.
    pub updated_at: Timestamp,
}

/// The controls that the view of a share shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ShareOptions {
    /// Shows a button that exports the picture.
    pub show_export_button: bool,
    /// Shows a panel with details of the selection.
    pub show_inspect_panel: bool,
    /// Shows a minimap.
    pub show_minimap: bool,
    /// Shows zoom buttons.
    pub show_zoom_controls: bool,
}

/// A view of a network's topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TopologyView {
    /// Switches, routers and their neighbors, linked by physical port.
    #[default]
    L2,
    /// Subnets with the interfaces in them, and the routers between them.
    L3,
    /// Hypervisors and container hosts with their guests.
    Workloads,
}

impl TopologyView {
    /// All views.
    pub const ALL: &[Self] = &[Self::L2, Self::L3, Self::Workloads];

    /// Returns the name of the view in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::L3 => "l3",
            Self::Workloads => "workloads",
        }
    }
}

/// The error for text that names no view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a view: `l2`, `l3` or `workloads`")]
#[non_exhaustive]
pub struct TopologyViewError;

impl FromStr for TopologyView {
    type Err = TopologyViewError;

    fn from_str(text: &str) -> Result<Self, TopologyViewError> {
        Self::ALL.iter().copied().find(|view| view.as_str() == text).ok_or(TopologyViewError)
    }
}

/// A kind of data that a share replaces by pseudonyms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Redaction {
    /// Names of hosts, interfaces, services and networks.
    Names,
    /// IP addresses and subnets.
    Addresses,
    /// MAC addresses.
    Macs,
    /// Serial numbers.
    Serials,
}

/// The public metadata of a share. It reveals neither the topology nor the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ShareMetadata {
    /// The share's id.
    pub id: Uuid,
    /// The share's name.
    pub name: String,
    /// Whether the view requires a password.
    pub requires_password: bool,
    /// The controls that the view shows.
    pub options: ShareOptions,
}

impl From<&Share> for ShareMetadata {
    fn from(share: &Share) -> Self {
        Self {
            id: share.id,
            name: share.name.clone(),
            requires_password: share.requires_password,
            options: share.options,
        }
    }
}
