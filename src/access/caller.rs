use std::sync::Arc;

use super::scope::Scope;
use crate::model::{DaemonApiKeyId, NetworkId, OrganizationId, Permission, Timestamp, UserApiKeyId, UserId};

/// The authenticated user of a request, with the user's level and scope.
///
/// All access rules are decided by this value. A host application that authenticates its users itself creates one for
/// each request and sets it as a request extension. The service then ignores the request's own credentials, except
/// that a logout ends the session in the cookie. A host application whose users have a cookie of its own sets the caller
/// [`through_session`](Self::through_session): the service then refuses writes from pages of other sites. Otherwise, it does not.
///
/// ```
/// use toposcope::access::{Caller, Scope};
/// use toposcope::model::{NetworkId, OrganizationId, Permission, UserId};
///
/// # let (organization, user) = (OrganizationId::from_u128(1), UserId::from_u128(2));
/// # let office = NetworkId::from_u128(3);
/// let caller = Caller::new(organization, user, Permission::Member, Scope::only([office]));
/// assert!(caller.scope().allows(office));
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(caller);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    organization_id: OrganizationId,
    user_id: UserId,
    permission: Permission,
    scope: Scope,
    credential: Credential,
    /// `None`: the caller has no end.
    expires_at: Option<Timestamp>,
    /// The name of the part of the host application that acts.
    name: Option<Arc<str>>,
    /// The id of the request.
    request_id: Option<Arc<str>>,
}

/// The kind of credential that authenticated a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Credential {
    /// The host application has authenticated the user.
    HostApplication,
    /// A session from a login of the user.
    Session,
    /// An API key of the user.
    UserApiKey {
        /// The id of the key's record.
        id: UserApiKeyId,
    },
    /// The host application itself, without a user. See [`Caller::system`].
    System,
}

impl Credential {
    /// Returns whether operations that require a user session accept this credential.
    ///
    /// [`HostApplication`](Self::HostApplication) and [`System`](Self::System) count as a session.
    #[must_use]
    pub const fn is_session(self) -> bool {
        matches!(self, Self::HostApplication | Self::Session | Self::System)
    }
}

impl Caller {
    /// Creates a caller that the host application has authenticated.
    ///
    /// The organization must exist. Otherwise the API answers every request of the caller with 404 `entity_not_found`, and
    /// nothing can be stored. [`ensure`](crate::inventory::Organizations::ensure) creates it on demand. The user need not
    /// exist, and any id will do; only operations on the caller's own account and API keys need a record of the user, such as
    /// [`NewUser::external`](crate::inventory::NewUser::external). One user id may be used in several organizations.
    ///
    /// The scope is used as given. [`Scope::granted`] derives it from a level and the granted networks. Networks that do not
    /// exist, or belong to another organization, have no effect.
    #[must_use]
    pub const fn new(
        organization_id: OrganizationId,
        user_id: UserId,
        permission: Permission,
        scope: Scope,
    ) -> Self {
        Self {
            organization_id,
            user_id,
            permission,
            scope,
            credential: Credential::HostApplication,
            expires_at: None,
            name: None,
            request_id: None,
        }
    }

    /// Creates the caller for work that the host application does itself in an organization.
    ///
    /// It may do everything that an Owner with a session may do, on all networks. In addition, it may
    /// - demote, disable and delete the last Owner,
    /// - set the passwords of users and end their sessions,
    /// - create, read, change and delete the API keys of all users, which never get more rights than their users have,
    /// - create networks with given ids, and shares without a network,
    /// - move hosts to other networks by replacing or importing them, and
    /// - read the referrals of the users.
    ///
    /// It has no user: its user id is nil, and operations on the caller's own account fail. The API refuses requests that have
    /// it as their extension.
    ///
    /// ```
    /// use toposcope::access::Caller;
    /// use toposcope::model::Tag;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let system = Caller::system(organization.id);
    /// let tag = inventory.tags().create(&system, Tag::new("critical")).await?;
    /// assert_eq!(inventory.tags().all(&system).await?, [tag]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn system(organization_id: OrganizationId) -> Self {
        Self {
            organization_id,
            user_id: UserId::nil(),
            permission: Permission::Owner,
            scope: Scope::all(),
            credential: Credential::System,
            expires_at: None,
            name: None,
            request_id: None,
        }
    }

    /// Returns the same caller with the name of a part of the host application, such as `billing`.
    ///
    /// Changes by the [system](Self::system) caller are then recorded as those of this part. Other callers are recorded as their users,
    /// whatever name they have.
    ///
    /// ```
    /// use toposcope::access::Caller;
    /// use toposcope::inventory::ChangeQuery;
    /// use toposcope::model::{ChangeActor, Tag};
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let billing = Caller::system(organization.id).named("billing");
    /// inventory.tags().create(&billing, Tag::new("unpaid")).await?;
    /// let page = inventory.changes(&billing, &ChangeQuery::default()).await?;
    /// let last = page.changes.last().expect("a change");
    /// assert!(matches!(&last.actor, ChangeActor::Application { name, .. } if name == "billing"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the name of the part of the host application, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the same caller, acting in a request that has an id of the host application. Changes are recorded with it.
    ///
    /// The service does so for requests with a [`RequestId`](crate::service::RequestId) as an extension.
    #[must_use]
    pub fn in_request(self, id: &str) -> Self {
        Self { request_id: Some(id.into()), ..self }
    }

    /// Returns the id of the request, if it has one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Returns the same caller, authenticated by a session.
    ///
    /// The service then refuses writes that pages of other sites send, as it does for its own sessions: it accepts its
    /// own origin and the [`allowed_origins`](crate::service::ApiBuilder::allowed_origins). Use it for callers whom a
    /// cookie of the host application authenticates, because browsers send cookies with the requests of any page.
    #[must_use]
    pub fn through_session(self) -> Self {
        Self { credential: Credential::Session, ..self }
    }

    /// Returns the same caller, valid until a time, such as the expiry of its token.
    ///
    /// From then on, the service answers its requests with 401 `auth_session_expired`, and ends responses and uploads
    /// in progress, as at the end of a session: streams of events within a second, whole lists and uploads at their
    /// next part. The time is that of the [clock](crate::Inventory::with_clock). Methods of the inventory do not check
    /// it.
    ///
    /// ```
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::model::{OrganizationId, Permission, Timestamp, UserId};
    ///
    /// # let (organization, user) = (OrganizationId::from_u128(1), UserId::from_u128(2));
    /// let expires_at: Timestamp = "2030-01-01T00:00:00Z".parse()?;
    /// let caller = Caller::new(organization, user, Permission::Viewer, Scope::all()).valid_until(expires_at);
    /// assert_eq!(caller.expires_at(), Some(expires_at));
    /// # Ok::<(), toposcope::model::TimestampError>(())
    /// ```
    #[must_use]
    pub fn valid_until(self, expires_at: Timestamp) -> Self {
        Self { expires_at: Some(expires_at), ..self }
    }

    /// Returns the same user, authenticated by an API key.
    ///
    /// The caller gets the lower of both levels, and those networks of the key that the user can reach. A key without
    /// networks reaches none, even if its user is an Owner.
    ///
    /// ```
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::model::{NetworkId, OrganizationId, Permission, UserApiKeyId, UserId};
    ///
    /// # let (organization, user) = (OrganizationId::from_u128(1), UserId::from_u128(2));
    /// # let key = UserApiKeyId::from_u128(3);
    /// # let (office, lab) = (NetworkId::from_u128(4), NetworkId::from_u128(5));
    /// let owner = Caller::new(organization, user, Permission::Member, Scope::only([office]));
    /// let caller = owner.through_key(key, Permission::Admin, [office, lab]);
    /// assert_eq!(caller.permission(), Permission::Member);
    /// assert_eq!(caller.scope(), &Scope::only([office]));
    /// assert!(!caller.credential().is_session());
    /// ```
    #[must_use]
    pub fn through_key(
        self,
        id: UserApiKeyId,
        permission: Permission,
        networks: impl IntoIterator<Item = NetworkId>,
    ) -> Self {
        let scope = self.scope.intersect(&Scope::only(networks));
        Self { scope, ..self.through_key_of_all_networks(id, permission) }
    }

    /// Returns the same user, authenticated by an API key of all networks of the user.
    ///
    /// The caller gets the lower of both levels.
    #[must_use]
    pub fn through_key_of_all_networks(self, id: UserApiKeyId, permission: Permission) -> Self {
        let permission = self.permission.min(permission);
        Self { permission, credential: Credential::UserApiKey { id }, ..self }
    }

    /// Returns the id of the caller's organization.
    #[must_use]
    pub const fn organization_id(&self) -> OrganizationId {
        self.organization_id
    }

    /// Returns the id of the user, or of the API key's user.
    #[must_use]
    pub const fn user_id(&self) -> UserId {
        self.user_id
    }

    /// Returns the caller's level.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        self.permission
    }

    /// Returns the networks that the caller may reach.
    ///
    /// The level does not extend them: an API key of an Owner reaches only the networks of the key.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the time from which on the caller is refused; `None` without an end.
    ///
    /// Sessions and API keys of Toposcope have none: the service checks their records.
    #[must_use]
    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Returns whether the caller is the host application itself, and not a user.
    pub(crate) const fn is_system(&self) -> bool {
        matches!(self.credential, Credential::System)
    }

    /// Returns the kind of credential that authenticated the caller.
    #[must_use]
    pub const fn credential(&self) -> Credential {
        self.credential
    }
}

/// A caller with a daemon API key, which any daemon of its network may use.
///
/// The methods of the inventory for daemons take it, and host applications use it in endpoints of their own. It is not
/// a [`Caller`], because it has no user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DaemonCaller {
    /// The id of the key's record.
    pub key_id: DaemonApiKeyId,
    /// The organization of the network.
    pub organization_id: OrganizationId,
    /// The only network that the caller may read and write.
    pub network_id: NetworkId,
}

impl DaemonCaller {
    pub(crate) const fn new(
        key_id: DaemonApiKeyId,
        organization_id: OrganizationId,
        network_id: NetworkId,
    ) -> Self {
        Self { key_id, organization_id, network_id }
    }
}
