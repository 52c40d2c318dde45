use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A label of an organization's, to be put on hosts, services and keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// What names it.
    pub id: Uuid,
    /// The organization it belongs to.
    pub organization_id: Uuid,
    /// What it says.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
