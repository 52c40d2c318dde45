mod apply;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

pub use self::apply::ApplyChangeError;
#[cfg(feature = "service")]
pub(crate) use self::apply::{ORDER, apply_fields, set};
use super::{DaemonApiKeyId, NetworkId, Timestamp, UserApiKeyId, UserId};
use crate::text_enum::text_enum;

/// A change of a record, or a security event: an entry of the history of an organization.
///
/// Entries are in the order of the commits, and within one commit in that of the request. An entry has whole values, so that
/// [applying](Self::apply) it twice does no harm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// Where the entry is in the history. Opaque: it reveals nothing about the writes of other organizations.
    pub position: ChangePosition,
    /// When the change was made, by the clock of the instance that made it. The order of entries is that of their positions.
    pub at: Timestamp,
    /// The maker of the change.
    pub actor: ChangeActor,
    /// The kind of change.
    pub action: ChangeAction,
    /// The kind of record.
    pub entity: ChangedEntity,
    /// The id of the record.
    pub id: Uuid,
    /// The network that the record was on; `null` for records of the organization.
    pub network_id: Option<NetworkId>,
    /// The name of the record at that time.
    pub name: String,
    /// The fields that differ, by their paths, such as `name` and `interfaces.<id>.ip_address`.
    pub fields: BTreeMap<String, FieldChange>,
    /// Whether the contents of the entry were erased: it then has neither a name nor fields.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erased: bool,
    /// The position of the change that led to this one; absent for changes that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ChangePosition>,
    /// The id of the request, if the host application has set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A position in the history of an organization: opaque text.
///
/// A position belongs to one entry of one history. It is made by the server alone: any other text is refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ChangePosition(String);

impl ChangePosition {
    /// Takes a position as text, as a client sends it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The values of a field before and after a change.
///
/// A value that is absent is one that the record did not have; `null` is a value like others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
// Tools and generators of clients agree on no schema of a value of any type but that of an object's members.
#[cfg_attr(
    feature = "openapi",
    schemars(extend(
        "additionalProperties" = true,
        "propertyNames" = {"type": "string", "enum": ["after", "before"]}
    ))
)]
#[non_exhaustive]
pub struct FieldChange {
    /// The value before the change. Absent if the record is new, or did not have the field.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "openapi", schemars(skip))]
    pub before: Option<Value>,
    /// The value after the change. Absent if the record was deleted, or no longer has the field.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "openapi", schemars(skip))]
    pub after: Option<Value>,
}

/// Reads a member that is there, also if it is null.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The maker of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum ChangeActor {
    /// A user.
    #[non_exhaustive]
    User {
        /// The user's id.
        id: UserId,
        /// The user's e-mail address, for Admins and the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        email: Option<String>,
        /// The API key that authenticated the user, for Admins and the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key_id: Option<UserApiKeyId>,
    },
    /// A discovery daemon, or another client with its API key.
    #[non_exhaustive]
    Daemon {
        /// The id of the API key.
        id: DaemonApiKeyId,
    },
    /// A part of the host application that has a name.
    #[non_exhaustive]
    Application {
        /// The name.
        name: String,
    },
    /// The inventory itself, or the host application without a name.
    System,
}

impl ChangeActor {
    /// Returns the user, if it is one.
    #[must_use]
    pub const fn user_id(&self) -> Option<UserId> {
        match self {
            Self::User { id, .. } => Some(*id),
            Self::Daemon { .. } | Self::Application { .. } | Self::System => None,
        }
    }

    /// Returns the actor as a user may see it: Admins see all fields, and other users only those of themselves.
    pub(crate) fn as_seen_by(&self, user: UserId, is_admin: bool) -> Self {
        match self {
            Self::User { id, .. } if !is_admin && *id != user => {
                Self::User { id: *id, email: None, key_id: None }
            }
            seen => seen.clone(),
        }
    }
}

text_enum! {
    /// The kind of a change.
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum ChangeAction {
        /// The record is new.
        Created = "created",
        /// Fields of the record have other values.
        Updated = "updated",
        /// The record was deleted.
        Deleted = "deleted",
        /// A user has begun a session.
        Login = "login",
        /// A session was ended before its time, by the user or with the others of the user.
        Logout = "logout",
        /// Passwords for the user's address were wrong. The field `count` is their number since the last such entry.
        LoginFailed = "login_failed",
        /// A user has another password, or none any more.
        PasswordChanged = "password_changed",
        /// A key has another secret.
        Rotated = "rotated",
        /// The password of a share was given. The field `count` is the number of times since the last such entry.
        PasswordChecked = "password_checked",
        /// The rules by which links follow from records are others, and with them some links of the network.
        RulesChanged = "rules_changed",
    }

    /// The error for text other than the actions of changes.
    #[error("not an action of changes")]
    pub struct ChangeActionError;
}

text_enum! {
    /// The kind of record that a change concerns.
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum ChangedEntity {
        /// A host, with its parts.
        Host = "Host",
        /// A network.
        Network = "Network",
        /// A subnet.
        Subnet = "Subnet",
        /// A tag.
        Tag = "Tag",
        /// A user.
        User = "User",
        /// A user's API key.
        UserApiKey = "UserApiKey",
        /// A discovery daemon's API key.
        DaemonApiKey = "DaemonApiKey",
        /// A share.
        Share = "Share",
        /// A discovery daemon.
        Daemon = "Daemon",
        /// A link that a user has entered.
        TopologyLink = "TopologyLink",
        /// The reservation of an address.
        AddressReservation = "AddressReservation",
        /// The positions of nodes in a view of a network.
        TopologyLayout = "TopologyLayout",
        /// The organization itself.
        Organization = "Organization",
        /// The sessions of a user. The id is that of the user.
        Session = "Session",
        /// A record of the host application. The name of the change is its kind.
        ApplicationRecord = "ApplicationRecord",
        /// A link that follows from other records. The name of the change is that of its ports.
        Link = "Link",
    }

    /// The error for text other than the kinds of records.
    #[error("not a kind of records")]
    pub struct ChangedEntityError;
}
