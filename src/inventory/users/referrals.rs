//! Referrals: the answers of users to the question where they heard of the product.

use super::Users;
use crate::access::{Caller, Credential};
use crate::inventory::schema::{
    REFERRAL, REFERRAL_UNIQUE_KEY, USER_LINK, all_of, decode, encode, exists, facets, user_key,
};
use crate::inventory::{
    Entity, Error, ErrorKind, Problem, require_session, require_system, unchanged, validate,
};
use crate::model::Referral;
use crate::store::{Batch, Key, Link, UniqueKey};

/// The maximum length of `referral_source_other`, in characters.
const MAX_OTHER: usize = 500;

/// Requires a user session of any level, as for [`Users::submit_referral`].
pub(crate) fn may_submit_referrals(caller: &Caller) -> Result<(), Error> {
    require_session(caller)
}

impl Users<'_> {
    /// Stores where the caller heard of the product, replacing the caller's earlier answer.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::store::MemoryStore;
    /// use toposcope::model::{Permission, UserId, referral_source};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Viewer, Scope::only([]));
    /// inventory.users().submit_referral(&caller, referral_source::WORD_OF_MOUTH, None).await?;
    /// inventory.users().submit_referral(&caller, referral_source::OTHER, Some("a conference")).await?;
    /// assert_eq!(inventory.users().referrals(&Caller::system(organization.id)).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SessionRequired` for a caller with an API key, and for the system; `Invalid` when the source is blank or longer than 100
    /// characters, or `other` is longer than 500; `NotAuthenticated` when the user of a session has been deleted.
    pub async fn submit_referral(
        self,
        caller: &Caller,
        source: &str,
        other: Option<&str>,
    ) -> Result<Referral, Error> {
        may_submit_referrals(caller)?;
        if caller.is_system() {
            return Err(ErrorKind::SessionRequired.into());
        }
        let source = validate::name("referral_source", source, 100)?;
        if other.is_some_and(|text| text.chars().count() > MAX_OTHER) {
            return Err(Error::invalid("referral_source_other", Problem::MaxLength { max: MAX_OTHER }));
        }
        let (organization, user) = (caller.organization_id(), caller.user_id());
        let unique_key =
            UniqueKey::new(REFERRAL_UNIQUE_KEY, [*organization.as_bytes(), *user.as_bytes()].concat());
        let mut transaction = self.inventory.transaction(caller, Entity::User, user);
        loop {
            let now = self.inventory.now();
            let known = self.inventory.store.get_by_unique_key(&unique_key).await?;
            let before: Option<Referral> = known.as_ref().map(decode).transpose()?;
            let (id, created_at) = match before {
                Some(before) => (before.id, before.created_at),
                None => (self.inventory.new_id()?, now),
            };
            let referral = Referral {
                id,
                organization_id: organization,
                user_id: user,
                referral_source: source.clone(),
                referral_source_other: other.map(str::to_owned),
                created_at,
                updated_at: now,
            };
            let mut facets = facets(organization, created_at);
            facets.links.push(Link::new(USER_LINK, user.uuid()));
            facets.unique_keys.push(unique_key.clone());
            let mut batch = Batch::new();
            batch.put(Key::new(REFERRAL, id.uuid()), unchanged(known.as_ref()), facets, encode(&referral)?);
            // When a host application authenticates users itself, they need not be in the store.
            if caller.credential() == Credential::Session {
                if self.inventory.get(user_key(user)).await?.is_none() {
                    return Err(ErrorKind::NotAuthenticated.into());
                }
                batch.guard(exists(user_key(user)));
            }
            if transaction.commit(batch).await? {
                return Ok(referral);
            }
        }
    }

    /// Returns the referrals of the organization's users, oldest first.
    ///
    /// The caller must be [the system](crate::access::Caller::system).
    ///
    /// # Errors
    /// `PermissionDenied`.
    pub async fn referrals(self, caller: &Caller) -> Result<Vec<Referral>, Error> {
        require_system(caller)?;
        self.inventory.read_all(&all_of(REFERRAL, caller.organization_id())).await
    }
}
