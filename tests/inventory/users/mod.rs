//! Users: their logins and their rights.

mod accounts;
mod callers;
mod changes;

use toposcope::inventory::{Error, Inventory};
use toposcope::model::Permission;
use uuid::Uuid;

/// A change of an existing user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    SetPassword(&'static str),
    RemovePassword,
    Disable,
    Enable,
    EndSessions,
    SetRights,
    Delete,
}

impl Change {
    pub(crate) async fn apply(self, inventory: &Inventory, user: Uuid) -> Result<(), Error> {
        match self {
            Self::SetPassword(password) => inventory.set_user_password(user, Some(password.to_owned())).await,
            Self::RemovePassword => inventory.set_user_password(user, None).await,
            Self::Disable => inventory.disable_user(user).await.map(drop),
            Self::Enable => inventory.enable_user(user).await.map(drop),
            Self::EndSessions => inventory.end_sessions(user).await,
            Self::SetRights => inventory.set_user_rights(user, Permission::Admin, vec![]).await.map(drop),
            Self::Delete => inventory.delete_user(user).await,
        }
    }
}
