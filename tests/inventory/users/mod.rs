//! Users: their logins and their rights.

mod accounts;
mod callers;
mod changes;

use toposcope::access::Caller;
use toposcope::inventory::{Error, Inventory};
use toposcope::model::{OrganizationId, Permission, UserId};

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
    pub(crate) async fn apply(
        self,
        inventory: &Inventory,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<(), Error> {
        match self {
            Self::SetPassword(password) => {
                inventory
                    .users()
                    .set_password(&Caller::system(organization), user, Some(password.to_owned()))
                    .await
            }
            Self::RemovePassword => {
                inventory.users().set_password(&Caller::system(organization), user, None).await
            }
            Self::Disable => inventory.users().disable(&Caller::system(organization), user).await.map(drop),
            Self::Enable => inventory.users().enable(&Caller::system(organization), user).await.map(drop),
            Self::EndSessions => inventory.users().end_sessions(&Caller::system(organization), user).await,
            Self::SetRights => inventory
                .users()
                .set_rights(&Caller::system(organization), user, Permission::Admin, vec![])
                .await
                .map(drop),
            Self::Delete => inventory.users().delete(&Caller::system(organization), user).await,
        }
    }
}
