use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// That a user has signed in. The secret in the cookie is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// What names it; nothing that a cookie tells.
    pub id: Uuid,
    /// Who signed in.
    pub user_id: Uuid,
    /// The user's organization.
    pub organization_id: Uuid,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}
