use serde::{Deserialize, Serialize};

use super::{NetworkId, OrganizationId, ShareId, Timestamp};
use crate::text_enum::text_enum;

/// A public view of a topology, accessible to anyone with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Share {
    /// The share's id, which is all that is needed to open it.
    pub id: ShareId,
    /// The organization that owns the share.
    pub organization_id: OrganizationId,
    /// The network the share shows; `None`: not limited to one network.
    pub network_id: Option<NetworkId>,
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

text_enum! {
    /// A view of a network's topology.
    #[derive(Default)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum TopologyView {
        /// Switches, routers and their neighbors, linked by physical port.
        #[default]
        L2 = "l2",
        /// Subnets with the interfaces in them, and the routers between them.
        L3 = "l3",
        /// Hypervisors and container hosts with their guests.
        Workloads = "workloads",
    }

    /// The error for text that names no view.
    #[error("not a view: `l2`, `l3` or `workloads`")]
    pub struct TopologyViewError;
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
    pub id: ShareId,
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
