use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Permission, Timestamp};

/// Somebody who may sign in. The password is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// What names it.
    pub id: Uuid,
    /// The address that is given at login, where its case does not matter.
    pub email: String,
    /// The organization the user belongs to.
    pub organization_id: Uuid,
    /// What the user may do.
    pub permissions: Permission,
    /// The networks granted. They matter only for a Member or a Viewer: an Admin or an Owner sees every one.
    pub network_ids: Vec<Uuid>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
