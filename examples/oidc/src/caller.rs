//! The conversion of a login at the provider to a caller of the inventory.

use openidconnect::core::CoreGenderClaim;
use openidconnect::{AdditionalClaims, IdTokenClaims};
use serde::{Deserialize, Serialize};
use toposcope::Inventory;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::NewUser;
use toposcope::model::{OrganizationId, Permission, Timestamp};

use crate::LoginError;

/// The claims of a verified ID token.
pub type Claims = IdTokenClaims<GroupClaims, CoreGenderClaim>;

/// The claims that an ID token has beside those of the standard.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct GroupClaims {
    #[serde(default)]
    groups: Vec<String>,
}

impl AdditionalClaims for GroupClaims {}

/// The rights of a tenant's users.
#[derive(Clone, Debug)]
pub struct Rights {
    pub organization: OrganizationId,
    /// The level that a group of the provider gives to its members.
    pub levels: Vec<(String, Permission)>,
}

impl Rights {
    /// Returns the caller of a user who has logged in, and creates the user at the first login.
    ///
    /// # Errors
    /// `NoLevel` for a user without a group that gives a level; `Disabled`; `Inventory`.
    pub async fn caller(
        &self,
        inventory: &Inventory,
        claims: &Claims,
        session_end: Timestamp,
    ) -> Result<Caller, LoginError> {
        let groups = &claims.additional_claims().groups;
        let levels = self.levels.iter().filter(|(group, _)| groups.contains(group));
        let level = levels.map(|(_, level)| *level).max().ok_or(LoginError::NoLevel)?;
        let new = NewUser::external(self.organization, claims.subject().as_str(), level);
        let user = inventory.users().ensure(&Caller::system(self.organization), new).await?;
        if !user.is_enabled {
            return Err(LoginError::Disabled);
        }
        // Users reach all networks of their tenants.
        let caller = Caller::new(self.organization, user.id, level, Scope::all());
        Ok(caller.through_session().valid_until(session_end))
    }
}
