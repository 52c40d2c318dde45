use serde::{Deserialize, Serialize};

use super::{DaemonApiKeyId, NetworkId, OrganizationId, Permission, TagId, Timestamp, UserApiKeyId, UserId};

/// A user's API key, with which programs act for the user.
///
/// A key never exceeds the current rights of its user: the lower of the two levels applies, and only networks granted
/// to both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct UserApiKey {
    /// The key's id.
    pub id: UserApiKeyId,
    /// The display name.
    pub name: String,
    /// The user's organization.
    pub organization_id: OrganizationId,
    /// The user who owns the key.
    pub user_id: UserId,
    /// The ids of the key's tags.
    pub tags: Vec<TagId>,
    /// The secret, masked to the prefix, `…` and the last 4 characters.
    pub key: String,
    /// When the key was last used, accurate to about one minute; `None`: never.
    pub last_used: Option<Timestamp>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key last changed. Use does not count as a change.
    pub updated_at: Timestamp,
    /// When the key expires; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
    /// The networks the key may reach. A key without networks reaches none.
    ///
    /// For a key of all networks, these are the present ones.
    pub network_ids: Vec<NetworkId>,
    /// Whether the key reaches all networks of its user, including those that the user will reach later.
    #[serde(default)]
    pub all_networks: bool,
    /// The highest permission level of the key.
    pub permissions: Permission,
}

/// An API key with which a network's discovery daemons report their findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DaemonApiKey {
    /// The key's id.
    pub id: DaemonApiKeyId,
    /// The display name.
    pub name: String,
    /// The network the key may report to.
    pub network_id: NetworkId,
    /// The ids of the key's tags.
    pub tags: Vec<TagId>,
    /// The secret, masked to the prefix, `…` and the last 4 characters.
    ///
    /// It is complete only in the response that creates the key.
    pub key: String,
    /// When the key was last used, accurate to about one minute; `None`: never.
    pub last_used: Option<Timestamp>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key last changed. Use does not count as a change.
    pub updated_at: Timestamp,
    /// When the key expires; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}
