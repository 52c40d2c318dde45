use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A part of an organization: hosts are on one, and access is granted by network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// What names it.
    pub id: Uuid,
    /// The organization it belongs to.
    pub organization_id: Uuid,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
