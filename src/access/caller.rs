use uuid::Uuid;

use super::Scope;
use crate::model::Permission;

/// Who asks, and what they may do: every rule about access is a question to this value.
///
/// A host application that authenticates its users itself makes one for each request and sets it as a request
/// extension; the credentials that the request may carry are then not looked at, except that a logout ends the session
/// that its cookie names. Whether another site made a browser send the request is then for the host application to check.
///
/// ```
/// use toposcope::access::{Caller, Scope};
/// use toposcope::model::Permission;
/// use uuid::Uuid;
///
/// # let (organization, user, office) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
/// let caller = Caller::new(organization, user, Permission::Member, Scope::only([office]));
/// assert!(caller.scope().allows(office));
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(caller);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    organization_id: Uuid,
    user_id: Uuid,
    permission: Permission,
    scope: Scope,
    credential: Credential,
}

/// By what a caller was recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Credential {
    /// The host application vouches for the user.
    Host,
    /// A session of the user's, from a login.
    Session,
    /// An API key of the user's.
    UserApiKey {
        /// The id of the key's record.
        id: Uuid,
    },
}

impl Credential {
    /// Whether the user is there in person, as the endpoints demand that are for sessions only. [`Host`](Self::Host)
    /// counts like a session: the host application has a user before it.
    #[must_use]
    pub const fn is_session(self) -> bool {
        matches!(self, Self::Host | Self::Session)
    }
}

impl Caller {
    /// A user of an organization for whom the host application vouches.
    ///
    /// The scope is taken as it is. [`Scope::granted`] makes the one that follows from a level and the networks granted.
    #[must_use]
    pub const fn new(organization_id: Uuid, user_id: Uuid, permission: Permission, scope: Scope) -> Self {
        Self { organization_id, user_id, permission, scope, credential: Credential::Host }
    }

    /// The same user, recognized by a session.
    #[must_use]
    pub fn through_session(self) -> Self {
        Self { credential: Credential::Session, ..self }
    }

    /// The same user, acting through an API key: with the lower of both levels, in those networks of the key that the
    /// user can still reach. A key without networks reaches none, also an Owner's.
    ///
    /// ```
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::model::Permission;
    /// use uuid::Uuid;
    ///
    /// # let (organization, user, key) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
    /// # let (office, lab) = (Uuid::from_u128(4), Uuid::from_u128(5));
    /// let owner = Caller::new(organization, user, Permission::Member, Scope::only([office]));
    /// let caller = owner.through_key(key, Permission::Admin, [office, lab]);
    /// assert_eq!(caller.permission(), Permission::Member);
    /// assert_eq!(caller.scope(), &Scope::only([office]));
    /// assert!(!caller.credential().is_session());
    /// ```
    #[must_use]
    pub fn through_key(
        self,
        id: Uuid,
        permission: Permission,
        networks: impl IntoIterator<Item = Uuid>,
    ) -> Self {
        Self {
            permission: self.permission.min(permission),
            scope: self.scope.intersect(&Scope::only(networks)),
            credential: Credential::UserApiKey { id },
            ..self
        }
    }

    /// The organization whose records the caller may see.
    #[must_use]
    pub const fn organization_id(&self) -> Uuid {
        self.organization_id
    }

    /// The user who asks, or whose key asks.
    #[must_use]
    pub const fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// The level at which the caller acts.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        self.permission
    }

    /// The networks that the caller may reach. This alone decides, not the level: an Owner's key reaches only its own.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// By what the caller was recognized.
    #[must_use]
    pub const fn credential(&self) -> Credential {
        self.credential
    }
}
