use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A tenant. Callers never see data of another organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// The organization's id.
    pub id: Uuid,
    /// The display name.
    pub name: String,
    /// Whether the API keys of the organization's users are accepted.
    pub api_access: bool,
    /// When the organization was created.
    pub created_at: Timestamp,
    /// When the organization last changed.
    pub updated_at: Timestamp,
}

/// A network of an organization. Hosts belong to one network, and access is granted per network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The network's id.
    pub id: Uuid,
    /// The organization that owns the network.
    pub organization_id: Uuid,
    /// The display name.
    pub name: String,
    /// When the network was created.
    pub created_at: Timestamp,
    /// When the network last changed.
    pub updated_at: Timestamp,
}

/// A label of an organization for hosts, services and API keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The tag's id.
    pub id: Uuid,
    /// The organization that owns the tag.
    pub organization_id: Uuid,
    /// The tag's text.
    pub name: String,
    /// When the tag was created.
    pub created_at: Timestamp,
    /// When the tag last changed.
    pub updated_at: Timestamp,
}
