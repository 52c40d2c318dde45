use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// Whose everything is: no caller sees anything of another organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// What names it.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// Whether its users' API keys work.
    pub api_access: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
