use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Permission, Timestamp};

/// A key by which programs act for a user.
///
/// It never reaches further than its user does at the time: what counts is the lower of the two levels, and the networks
/// that both have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserApiKey {
    /// What names it.
    pub id: Uuid,
    /// What its user calls it.
    pub name: String,
    /// The organization of its user.
    pub organization_id: Uuid,
    /// Whose it is.
    pub user_id: Uuid,
    /// The tags it bears.
    pub tags: Vec<Uuid>,
    /// The secret, masked to the prefix, `…` and the last 4 characters.
    pub key: String,
    /// When it was last used, give or take a minute; `None`: never.
    pub last_used: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed. Being used is no change.
    pub updated_at: Timestamp,
    /// From when on it is refused; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether it works at all.
    pub is_enabled: bool,
    /// The networks it is good for; none, when empty.
    pub network_ids: Vec<Uuid>,
    /// The level it reaches at most.
    pub permissions: Permission,
}
