//! The inputs for new users, keys and shares.

use std::fmt;

use crate::model::{
    NetworkId, OrganizationId, Permission, Redaction, ShareOptions, TagId, Timestamp, TopologyView, UserId,
};

/// The input for [`Users::create`](crate::inventory::Users::create).
#[derive(Clone)]
#[non_exhaustive]
pub struct NewUser {
    /// The e-mail address, of 3 to 254 characters in lower case.
    ///
    /// Stored in lower case. No two users in a store have addresses that differ only in case.
    pub email: String,
    /// The permission level.
    pub permissions: Permission,
    /// The password, of 10 to 1,000 characters; `None`: the user cannot log in.
    pub password: Option<String>,
    /// The networks granted to a Member or Viewer.
    pub network_ids: Vec<NetworkId>,
    /// The organization of a user of the host application, and the id that the host application has for the user.
    pub(crate) external: Option<(OrganizationId, String)>,
}

impl NewUser {
    /// Creates the input for a user without password or networks.
    #[must_use]
    pub fn new(email: impl Into<String>, permissions: Permission) -> Self {
        Self { email: email.into(), permissions, password: None, network_ids: Vec::new(), external: None }
    }
}

/// Omits the password.
impl fmt::Debug for NewUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewUser")
            .field("email", &self.email)
            .field("external", &self.external)
            .field("permissions", &self.permissions)
            .field("network_ids", &self.network_ids)
            .finish_non_exhaustive()
    }
}

/// The input for [`UserApiKeys::create`](crate::inventory::UserApiKeys::create).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewUserApiKey {
    /// The user who owns the key. Ignored unless the caller is the system: users create their own keys.
    pub user_id: UserId,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The permission level, at most the owner's.
    pub permissions: Permission,
    /// The networks the key may reach, all accessible to the owner. Empty: none. Ignored for a key of all networks.
    pub network_ids: Vec<NetworkId>,
    /// Whether the key reaches all networks of its owner, including those that the owner will reach later.
    pub all_networks: bool,
    /// The ids of the key's tags, all of the owner's organization.
    pub tags: Vec<TagId>,
    /// When the key expires; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}

impl NewUserApiKey {
    /// Creates the input for an enabled key without expiry or networks.
    #[must_use]
    pub fn new(user_id: UserId, name: impl Into<String>, permissions: Permission) -> Self {
        Self {
            user_id,
            name: name.into(),
            permissions,
            network_ids: Vec::new(),
            all_networks: false,
            tags: Vec::new(),
            expires_at: None,
            is_enabled: true,
        }
    }
}

/// The input for [`DaemonApiKeys::create`](crate::inventory::DaemonApiKeys::create).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewDaemonApiKey {
    /// The network the daemon reports on.
    pub network_id: NetworkId,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The ids of the key's tags, all of the network's organization.
    pub tags: Vec<TagId>,
    /// When the key expires; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}

impl NewDaemonApiKey {
    /// Creates the input for an enabled key without expiry or tags.
    #[must_use]
    pub fn new(network_id: NetworkId, name: impl Into<String>) -> Self {
        Self { network_id, name: name.into(), tags: Vec::new(), expires_at: None, is_enabled: true }
    }
}

/// The input for [`Shares::create`](crate::inventory::Shares::create).
#[derive(Clone)]
#[non_exhaustive]
pub struct NewShare {
    /// The network the share shows; `None`: not limited to one network.
    pub network_id: Option<NetworkId>,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The view's password, of 10 to 1,000 characters; `None`: no password is required.
    pub password: Option<String>,
    /// The controls that the view shows.
    pub options: ShareOptions,
    /// The topology view that the share shows.
    pub view: TopologyView,
    /// The values that the share replaces by pseudonyms. Repeated entries are dropped.
    pub redact: Vec<Redaction>,
    /// Whether the share can be opened.
    pub is_enabled: bool,
    /// When the share stops being accessible; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
}

impl NewShare {
    /// Creates an enabled share without expiry, password or redaction, with all controls shown.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            network_id: None,
            name: name.into(),
            password: None,
            options: ShareOptions {
                show_export_button: true,
                show_inspect_panel: true,
                show_minimap: true,
                show_zoom_controls: true,
            },
            view: TopologyView::default(),
            redact: Vec::new(),
            is_enabled: true,
            expires_at: None,
        }
    }
}

/// Omits the password.
impl fmt::Debug for NewShare {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewShare")
            .field("network_id", &self.network_id)
            .field("name", &self.name)
            .field("requires_password", &self.password.is_some())
            .field("options", &self.options)
            .field("view", &self.view)
            .field("redact", &self.redact)
            .field("is_enabled", &self.is_enabled)
            .field("expires_at", &self.expires_at)
            .finish()
    }
}
