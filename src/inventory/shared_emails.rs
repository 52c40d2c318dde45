//! E-mail addresses that users of several organizations have.
//!
//! An address has eight places, each of which is a unique key of the user who has it. So no commit can add a ninth user, and no store
//! has to count. The key of the first place is the one that users have without the option, which knows no other place.
//!
//! The place of a user is part of the user's id: the facets of a user follow from the user alone, and must not change when
//! another user with the address is deleted. Ids of the first place are made like all others (UUID version 7). Those of the others have
//! version 8, and the place in their last three bits. A second unique key keeps an address unique within its organization.

use uuid::{Builder, Uuid};

use super::email::{EmailAddress, fold};
use super::records::organization_of;
use super::schema::{EMAIL_IN_ORGANIZATION_UNIQUE_KEY, EMAIL_UNIQUE_KEY, decode, unique_key_within};
use super::{Entity, Error, ErrorKind, Inventory, OrganizationChoice};
use crate::model::{Organization, OrganizationId, User, UserId};
use crate::store::{Record, UniqueKey};

/// The number of users who may have an address, each in another organization.
const MAX_USERS: u8 = 8;

/// The bits of the last byte of an id in which the place is.
const PLACE_BITS: u8 = MAX_USERS - 1;

/// The version of UUIDs whose content the application defines (RFC 9562).
const CUSTOM_VERSION: usize = 8;

/// One of the places of an e-mail address, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EmailPlace(u8);

impl EmailPlace {
    const FIRST: Self = Self(0);

    fn all() -> impl Iterator<Item = Self> {
        (0..MAX_USERS).map(Self)
    }

    pub(super) fn of(user: &User) -> Self {
        let id = user.id.uuid();
        let [.., last] = id.into_bytes();
        if id.get_version_num() == CUSTOM_VERSION { Self(last & PLACE_BITS) } else { Self::FIRST }
    }

    /// Puts the place into a new id.
    fn put_into(self, id: Uuid) -> UserId {
        if self == Self::FIRST {
            return id.into();
        }
        let mut bytes = id.into_bytes();
        let [.., last] = &mut bytes;
        *last = *last & !PLACE_BITS | self.0;
        Builder::from_custom_bytes(bytes).into_uuid().into()
    }

    /// Returns the name under which attempts with the passwords at this place of a normalized address are counted.
    pub(super) fn attempted(self, address: &str) -> String {
        format!("{} {address}", self.0)
    }

    /// Returns the unique key of the user who has this place of a normalized address.
    pub(super) fn unique_key(self, address: &str) -> UniqueKey {
        let mut value: String = address.chars().map(fold).collect();
        if self != Self::FIRST {
            // No address of a user has control characters.
            value.extend(['\0', char::from(b'0' + self.0)]);
        }
        UniqueKey::new(EMAIL_UNIQUE_KEY, value)
    }
}

/// Returns the unique keys of a user with an e-mail address.
pub(super) fn email_unique_keys(user: &User) -> [UniqueKey; 2] {
    [EmailPlace::of(user).unique_key(&user.email), key_within(user.organization_id, &user.email)]
}

fn key_within(organization: OrganizationId, address: &str) -> UniqueKey {
    let address: String = address.chars().map(fold).collect();
    unique_key_within(EMAIL_IN_ORGANIZATION_UNIQUE_KEY, organization, &address)
}

impl Inventory {
    /// Lets users of several organizations have the same e-mail address: at most eight, each in another organization.
    ///
    /// A login then verifies eight password hashes, whatever the address, so that its duration does not tell how many users
    /// have it; a login that names the organization verifies one. If the password is right for users of several
    /// organizations, the login fails with `ChooseOrganization`.
    ///
    /// A login that names no organization counts as a failed attempt at all passwords that differ: the right password of one
    /// user gives no further attempts at those of others. Clients that log in often should name the organization.
    ///
    /// Users of an organization can learn that another one has an address: the id of a further user with it has another form.
    ///
    /// Set it before the inventory is cloned, and in all processes that use the store. Without the option, each address belongs to
    /// one user of the store. A store that is opened without it keeps all users, but of those with the same address only the one
    /// who had it first can log in, or have the password set by the address; sessions and API keys of the others stay valid.
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

    /// Returns the places of each address in which users can be who log in.
    pub(super) fn email_places(&self) -> impl Iterator<Item = EmailPlace> + use<> {
        EmailPlace::all().take(if self.shares_emails { usize::from(MAX_USERS) } else { 1 })
    }

    /// Returns the id of a new user with an e-mail address. With shared addresses, it has the first free place of the address.
    ///
    /// Another user may take the place until the commit, whose unique key is then taken.
    ///
    /// # Errors
    /// `AlreadyExists` if a user of the organization has the address, or eight others have.
    pub(super) async fn new_user_id(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<UserId, Error> {
        let id = self.new_id()?;
        if !self.shares_emails {
            return Ok(UserId::from(id));
        }
        let mut free = None;
        for place in EmailPlace::all() {
            match self.store.get_by_unique_key(&place.unique_key(address)).await? {
                Some(user) if organization_of(&user)? == organization => return Err(taken(address)),
                Some(_) => {}
                None => free = free.or(Some(place)),
            }
        }
        free.map(|place| place.put_into(id)).ok_or_else(|| taken(address))
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
        // Users of earlier versions only have the key of the first place.
        for key in [key_within(organization, address), EmailPlace::FIRST.unique_key(address)] {
            let Some(record) = self.store.get_by_unique_key(&key).await? else { continue };
            let user: User = decode(&record)?;
            if user.organization_id == organization {
                return Ok(Some(user));
            }
            if !self.shares_emails {
                return Err(taken(address));
            }
        }
        Ok(None)
    }

    /// Returns the records of all users with a normalized e-mail address who can log in.
    pub(super) async fn users_with_email(&self, address: &EmailAddress) -> Result<Vec<Record>, Error> {
        let (address, mut users) = (address.comparable(), Vec::new());
        for place in self.email_places() {
            users.extend(self.store.get_by_unique_key(&place.unique_key(&address)).await?);
        }
        Ok(users)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Permission, Timestamp};

    fn user(id: UserId) -> User {
        User {
            id,
            email: "ann@example.net".to_owned(),
            external_id: None,
            organization_id: OrganizationId::from_u128(1),
            permissions: Permission::Viewer,
            network_ids: Vec::new(),
            is_enabled: true,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn place_of_a_user_is_in_the_id() {
        for bits in [0, u128::MAX] {
            let id =
                Builder::from_unix_timestamp_millis(1_000, &bits.to_be_bytes()[..10].try_into().unwrap());
            let id = id.into_uuid();
            let ids: Vec<_> = EmailPlace::all().map(|place| place.put_into(id)).collect();
            for (place, id) in EmailPlace::all().zip(&ids) {
                assert_eq!(EmailPlace::of(&user(*id)), place);
                // Ids stay in the order of their times.
                assert_eq!(id.uuid().as_bytes()[..6], ids[0].uuid().as_bytes()[..6]);
            }
        }
    }

    #[test]
    fn keys_of_all_places_differ() {
        let mut keys: Vec<_> = EmailPlace::all().map(|place| place.unique_key("Ann@example.net")).collect();
        assert_eq!(keys.first(), Some(&UniqueKey::new(EMAIL_UNIQUE_KEY, "ann@example.net")));
        keys.dedup();
        assert_eq!(keys.len(), usize::from(MAX_USERS));
    }
}
