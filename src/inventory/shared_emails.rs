//! E-mail addresses that users of several organizations have.
//!
//! A user has a link to its address, by which logins find the users with an address, and a unique key that keeps the
//! address unique within its organization. Both follow from the user alone. Neither the records of a user nor the
//! errors of its creation depend on users of other organizations, and its export can be restored into a store with any
//! other users.
//!
//! A login that names no organization considers the users who were created first, up to a fixed number, so that its work is the
//! same for all addresses. Further users have to name their organization.

use uuid::Uuid;

use super::email::{EmailAddress, fold};
use super::records::organization_of;
use super::schema::{
    CREATED_AT, EMAIL_IN_ORGANIZATION_UNIQUE_KEY, EMAIL_LINK, EMAIL_UNIQUE_KEY, USER, decode,
    unique_key_within,
};
use super::{Entity, Error, ErrorKind, Inventory, OrganizationChoice};
use crate::model::{Organization, OrganizationId, User, derived_id};
use crate::store::{
    Batch, Direction, Guard, Key, Link, LinkFilter, Order, Query, Record, StoreErrorKind, UniqueKey,
};

/// The number of users with an address that a login without an organization considers.
const MAX_USERS: usize = 8;

/// Returns the link of a user to its e-mail address.
pub(super) fn email_link(address: &str) -> Link {
    Link::new(EMAIL_LINK, derived_id::<Uuid>("e-mail address", &[folded(address).as_bytes()]))
}

/// Returns the unique key of a user with an e-mail address within its organization.
pub(super) fn email_key_within(organization: OrganizationId, address: &str) -> UniqueKey {
    unique_key_within(EMAIL_IN_ORGANIZATION_UNIQUE_KEY, organization, &folded(address))
}

/// Returns the unique key that users of earlier versions have instead, in the whole store.
pub(super) fn earlier_email_key(address: &str) -> UniqueKey {
    UniqueKey::new(EMAIL_UNIQUE_KEY, folded(address))
}

/// Queries the users of all organizations with an e-mail address, the oldest first.
fn users_with(address: &str, limit: usize) -> Query {
    let link = email_link(address);
    Query {
        links: vec![LinkFilter::new(link.relation, [link.target])],
        order: vec![Order::new(CREATED_AT, Direction::Ascending)],
        limit: Some(limit),
        ..Query::new(USER)
    }
}

fn folded(address: &str) -> String {
    address.chars().map(fold).collect()
}

/// Returns whether a commit has failed because another user has the e-mail address of a user that it creates.
pub(super) fn is_email_taken(error: &StoreErrorKind) -> bool {
    match error {
        StoreErrorKind::UniqueKeyTaken(key) => {
            [EMAIL_UNIQUE_KEY, EMAIL_IN_ORGANIZATION_UNIQUE_KEY].contains(&key.name)
        }
        StoreErrorKind::Linked(link) => link.relation == EMAIL_LINK,
        _ => false,
    }
}

impl Inventory {
    /// Lets users of several organizations have the same e-mail address.
    ///
    /// A login that names no organization considers the eight users with the address who were created first; others
    /// have to name their organization. It verifies eight password hashes, whatever the address, so that its duration
    /// does not reveal how many users have it; a login that names the organization verifies one. If the password is
    /// right for users of several organizations, the login fails with `ChooseOrganization`.
    ///
    /// A login that names no organization counts as a failed attempt at all passwords that differ: the right password of one
    /// user gives no further attempts at those of others. Clients that log in often should name the organization.
    ///
    /// Users of an organization do not learn whether another organization has a user with an address, unless the
    /// passwords are the same, or eight users of other organizations have it: a further user can then not log in
    /// without naming the organization. Where tenants register themselves, clients should therefore always name it.
    /// Logins that name none also count as failed attempts at the passwords of the other users, even if one of them
    /// succeeds.
    ///
    /// Set it before the inventory is cloned, and in all processes that use the store. Without the option, each address
    /// belongs to one user of the store. A store that is opened without it keeps all users, but only the first user
    /// with an address can log in without naming the organization.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::NewUser;
    /// # use toposcope::model::Permission;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new()).with_shared_emails();
    /// for (tenant, password) in [("Acme", "correct horse"), ("Globex", "battery staple")] {
    ///     let organization = inventory.organizations().create(tenant).await?;
    ///     let mut new = NewUser::new("ann@example.net", Permission::Owner);
    ///     new.password = Some(password.to_owned());
    ///     inventory.users().create(&Caller::system(organization.id), new).await?;
    /// }
    /// let session = inventory.log_in("ann@example.net", "battery staple".to_owned()).await?;
    /// let organization = inventory.organizations().get(session.user().organization_id).await?;
    /// assert_eq!(organization.name, "Globex");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_shared_emails(self) -> Self {
        Self { shares_emails: true, ..self }
    }

    /// Returns the number of users with an address that a login without an organization considers.
    pub(super) fn users_per_email(&self) -> usize {
        if self.shares_emails { MAX_USERS } else { 1 }
    }

    /// Adds guards for a unique e-mail address to a batch that creates a user.
    ///
    /// It is unique in the store, or if addresses are shared, in the organization.
    ///
    /// # Errors
    /// `AlreadyExists` if a user of the organization has the address since an earlier version.
    pub(super) async fn guard_email(&self, user: &User, batch: &mut Batch) -> Result<(), Error> {
        if !self.shares_emails {
            batch.guard(Guard::linked_within(None, email_link(&user.email)));
            batch.guard(Guard::unique_key(earlier_email_key(&user.email), None));
            return Ok(());
        }
        match self.store.get_by_unique_key(&earlier_email_key(&user.email)).await? {
            Some(earlier) if organization_of(&earlier)? == user.organization_id => {
                Err(taken(&user.email).of_existing(Some(earlier.key.id)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the user of an organization with this normalized e-mail address.
    ///
    /// # Errors
    /// `AlreadyExists` if a user of another organization has it, unless addresses are shared.
    pub(super) async fn user_with_email(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<Option<User>, Error> {
        for key in [email_key_within(organization, address), earlier_email_key(address)] {
            let Some(record) = self.store.get_by_unique_key(&key).await? else { continue };
            let user: User = decode(&record)?;
            if user.organization_id == organization {
                return Ok(Some(user));
            }
            if !self.shares_emails {
                return Err(taken(address));
            }
        }
        if self.shares_emails {
            return Ok(None);
        }
        match self.read_all::<User>(&users_with(address, 1)).await?.pop() {
            // Another call has created the user meanwhile.
            Some(user) if user.organization_id == organization => Ok(Some(user)),
            Some(_) => Err(taken(address)),
            None => Ok(None),
        }
    }

    /// Checks that no other user has the e-mail address of a new user.
    ///
    /// # Errors
    /// `AlreadyExists`.
    pub(super) async fn check_email(&self, user: &User) -> Result<(), Error> {
        match self.user_with_email(user.organization_id, &user.email).await? {
            // Callers who may create users see all users of the organization.
            Some(existing) => Err(taken(&user.email).of_existing(Some(existing.id.uuid()))),
            None => Ok(()),
        }
    }

    /// Returns the users with a normalized e-mail address: all, or at least eight.
    pub(super) async fn users_with_email(&self, address: &EmailAddress) -> Result<Vec<User>, Error> {
        let address = address.comparable();
        let mut users: Vec<User> = self.read_all(&users_with(&address, MAX_USERS)).await?;
        if let Some(earlier) = self.store.get_by_unique_key(&earlier_email_key(&address)).await? {
            users.push(decode(&earlier)?);
        }
        Ok(users)
    }

    /// Returns the record of the first of these users, and the keys of the others.
    ///
    /// It makes the same calls and reads at most one body, whatever the number of users, once all are
    /// [of this version](Self::upgrade).
    pub(super) async fn first_user_with_email(
        &self,
        address: &str,
    ) -> Result<(Option<Record>, Vec<Key>), Error> {
        let query = Query { max_bytes: Some(0), ..users_with(address, self.users_per_email()) };
        let page = self.store.list(&query).await?;
        let earlier = self.store.get_by_unique_key(&earlier_email_key(address)).await?;
        let mut records = earlier.into_iter().chain(page.records);
        let first = records.next();
        Ok((first, records.map(|record| record.key).chain(page.unread).collect()))
    }

    /// Returns the record of the user of an organization with a normalized e-mail address.
    ///
    /// It makes the same calls for all of both, and reads the same bodies once all users are
    /// [of this version](Self::upgrade).
    pub(super) async fn user_to_log_in(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<Option<Record>, Error> {
        let user = self.store.get_by_unique_key(&email_key_within(organization, address)).await?;
        let earlier = self.store.get_by_unique_key(&earlier_email_key(address)).await?;
        match (user, earlier) {
            (None, Some(earlier)) if organization_of(&earlier)? == organization => Ok(Some(earlier)),
            (user, _) => Ok(user),
        }
    }

    /// Returns the only one of these organizations that exists, or `None`. The others are being deleted.
    ///
    /// # Errors
    /// `ChooseOrganization` if several exist.
    pub(super) async fn only_organization(
        &self,
        ids: &[OrganizationId],
    ) -> Result<Option<OrganizationId>, Error> {
        if let [] | [_] = ids {
            return Ok(ids.first().copied());
        }
        let mut organizations = Vec::new();
        for id in ids {
            match self.organization(*id).await {
                Ok(Organization { id, name, .. }) => organizations.push(OrganizationChoice { id, name }),
                Err(error) if error.is_of_missing_organization() => {}
                Err(error) => return Err(error),
            }
        }
        match organizations.as_slice() {
            [] | [_] => Ok(organizations.first().map(|organization| organization.id)),
            _ => Err(ErrorKind::ChooseOrganization { organizations }.into()),
        }
    }
}

fn taken(address: &str) -> Error {
    ErrorKind::AlreadyExists { entity: Entity::User, name: address.to_owned() }.into()
}
