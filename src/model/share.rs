use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A public view of a topology, accessible to anyone with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// When the share was created.
    pub created_at: Timestamp,
    /// When the share last changed.
    pub updated_at: Timestamp,
}

/// The controls that the view of a share shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// The public metadata of a share. It reveals neither the topology nor the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
