use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A key by which the daemon of a network reports what it finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonApiKey {
    /// What names it.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// The network it is good for.
    pub network_id: Uuid,
    /// The tags it bears.
    pub tags: Vec<Uuid>,
    /// The secret, masked to the prefix, `…` and the last 4 characters, except in the one response that creates it.
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
}
