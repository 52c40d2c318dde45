use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A view of a topology that anybody may open who knows its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// What names it, and all that is needed to find it.
    pub id: Uuid,
    /// The organization it belongs to.
    pub organization_id: Uuid,
    /// The network it shows; `None`: it is not bound to one.
    pub network_id: Option<Uuid>,
    /// What people call it.
    pub name: String,
    /// Whether it is found at all.
    pub is_enabled: bool,
    /// From when on it is not found any more; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the view itself asks for a password.
    pub requires_password: bool,
    /// What the view offers.
    pub options: ShareOptions,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What the view of a share offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShareOptions {
    /// A button that exports the picture.
    pub show_export_button: bool,
    /// A panel that tells about what is selected.
    pub show_inspect_panel: bool,
    /// A small map of the whole.
    pub show_minimap: bool,
    /// Buttons to zoom.
    pub show_zoom_controls: bool,
}

/// What anybody may know of a share before opening it. There is nothing of the topology in it, nor of whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareMetadata {
    /// The share's id.
    pub id: Uuid,
    /// The share's name.
    pub name: String,
    /// Whether the view asks for a password.
    pub requires_password: bool,
    /// What the view offers.
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
