use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// What a user said about where they heard of the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Referral {
    /// What names it.
    pub id: Uuid,
    /// The organization of the user.
    pub organization_id: Uuid,
    /// Who said so.
    pub user_id: Uuid,
    /// Where they heard of it: one of the known [sources](super::referral_source), or another text.
    pub referral_source: String,
    /// More about it, in the user's words.
    pub referral_source_other: Option<String>,
    /// When it was first said.
    pub created_at: Timestamp,
    /// When it was last said.
    pub updated_at: Timestamp,
}
