use serde::{Deserialize, Serialize};

use super::{Color, Custom, LoginSessionId, NetworkId, OrganizationId, ReferralId, TagId, Timestamp, UserId};
use crate::text_enum::text_enum;

/// A tenant. Callers never see data of another organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Organization {
    /// The organization's id.
    pub id: OrganizationId,
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
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Network {
    /// The network's id.
    pub id: NetworkId,
    /// The organization that owns the network.
    pub organization_id: OrganizationId,
    /// The display name.
    pub name: String,
    /// Free text, at most 500 characters.
    pub description: Option<String>,
    /// The ids of the network's tags.
    #[serde(default)]
    pub tags: Vec<TagId>,
    /// Fields of the host application or of users, by name.
    #[serde(
        default,
        deserialize_with = "super::custom::stored",
        skip_serializing_if = "std::collections::BTreeMap::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schemars(with = "super::json_schema::CustomFields"))]
    pub custom: Custom,
    /// When the network was created.
    pub created_at: Timestamp,
    /// When the network last changed.
    pub updated_at: Timestamp,
}

/// A label of an organization for its records, such as hosts, services and networks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Tag {
    /// The tag's id.
    pub id: TagId,
    /// The organization that owns the tag.
    pub organization_id: OrganizationId,
    /// The tag's text.
    pub name: String,
    /// Free text, at most 500 characters.
    pub description: Option<String>,
    /// The color in which user interfaces show the tag.
    pub color: Option<Color>,
    /// When the tag was created.
    pub created_at: Timestamp,
    /// When the tag last changed.
    pub updated_at: Timestamp,
}

/// A user account. The password is stored separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// The e-mail address for login, compared without regard to case. Empty: the user cannot log in.
    pub email: String,
    /// The id that the host application has for the user; `None` for a user with an e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The organization the user belongs to.
    pub organization_id: OrganizationId,
    /// The permission level.
    pub permissions: Permission,
    /// The networks granted to a Member or Viewer. Admins and Owners reach every network regardless.
    pub network_ids: Vec<NetworkId>,
    /// Whether the user may log in and the user's API keys are accepted.
    #[serde(default = "enabled")]
    pub is_enabled: bool,
    /// When the user was created.
    pub created_at: Timestamp,
    /// When the user last changed.
    pub updated_at: Timestamp,
}

impl User {
    /// Returns the e-mail address, or the id that the host application has for the user.
    #[must_use]
    pub fn label(&self) -> &str {
        self.external_id.as_deref().unwrap_or(&self.email)
    }
}

/// Users are enabled unless their record says otherwise.
const fn enabled() -> bool {
    true
}

text_enum! {
    /// The permission level of a user or a user's API key.
    ///
    /// Each level includes the ones below it. [`Viewer`](Self::Viewer) is the lowest, [`Owner`](Self::Owner) the highest.
    ///
    /// ```
    /// use toposcope::model::Permission;
    ///
    /// assert!(Permission::Owner > Permission::Admin);
    /// assert_eq!(Permission::Member.min(Permission::Admin), Permission::Member);
    /// assert!(!Permission::Member.sees_every_network());
    /// ```
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    pub enum Permission {
        /// Reads the granted networks.
        Viewer = "Viewer",
        /// Also changes the contents of the granted networks.
        Member = "Member",
        /// Reads and changes every network of the organization.
        Admin = "Admin",
        /// Owns the organization.
        Owner = "Owner",
    }
}

impl Permission {
    /// Returns whether this level reaches every network of the organization without a grant.
    #[must_use]
    pub const fn sees_every_network(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }
}

/// A login session of a user. The cookie's secret is stored separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The session's id. It cannot be derived from the cookie.
    pub id: LoginSessionId,
    /// The user who logged in.
    pub user_id: UserId,
    /// The user's organization.
    pub organization_id: OrganizationId,
    /// When the session began.
    pub created_at: Timestamp,
    /// When the session expires.
    pub expires_at: Timestamp,
}

/// A user's answer to the question where they heard of the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Referral {
    /// The referral's id.
    pub id: ReferralId,
    /// The user's organization.
    pub organization_id: OrganizationId,
    /// The user who answered.
    pub user_id: UserId,
    /// One of the known [sources](super::referral_source), or any other text.
    pub referral_source: String,
    /// Details in the user's own words; `None` when not given.
    pub referral_source_other: Option<String>,
    /// When the user first answered.
    pub created_at: Timestamp,
    /// When the user last answered.
    pub updated_at: Timestamp,
}
