//! Shares: public views of a topology, accessible to anyone with the share's id.

mod password;
mod record;
#[cfg(feature = "topology")]
mod topology;

pub use self::password::PasswordChange;
use self::password::SharePassword;
#[cfg(feature = "topology")]
pub(crate) use self::topology::OpenShare;
#[cfg(feature = "topology")]
use self::topology::put_share_secret;
use super::collections::{CollectionRecord, guard_references, handle};
use super::policy::Actor;
use super::records::share_facets;
#[cfg(feature = "topology")]
use super::schema::share_secret_key;
use super::schema::{encode, exists, organization_key, share_key, share_password_key};
use super::{Entity, Error, ErrorKind, Inventory, Problem, validate};
use crate::access::Caller;
#[cfg(feature = "topology")]
use crate::access::CodeSecret;
use crate::model::{Share, ShareId, ShareMetadata};
use crate::store::{Batch, Precondition};
use crate::wire::NewShare;

handle! {
    /// The shares of the topologies of an organization.
    ///
    /// Viewers of a share need no account, so that the methods for them take no caller.
    pub struct Shares(Share) = shares;
}

impl Shares<'_> {
    /// Creates a share. The caller must be a Member or above.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewShare};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// let mut new = NewShare::new("The office");
    /// new.password = Some("correct horse".to_owned());
    /// let share = inventory.shares().create(&Caller::system(organization.id), new).await?;
    ///
    /// assert!(inventory.shares().metadata(share.id).await?.requires_password);
    /// assert!(inventory.shares().verify_password(share.id, "correct horse".to_owned()).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `PermissionDenied`; `Invalid` for an unacceptable name or password, an `expires_at` that is not in the future, or,
    /// except for the system, without a network; `NotFound` when there is no such organization; `ReferenceInvalid` for a
    /// network of another organization; `AccessDenied` for a network outside of the caller's scope.
    pub async fn create(self, caller: &Caller, new: NewShare) -> Result<Share, Error> {
        Share::REQUIREMENTS.create.check(caller)?;
        if new.network_id.is_none() && !caller.is_system() {
            return Err(Error::invalid("network_id", Problem::Required));
        }
        self.inventory.create_share(caller, new).await
    }

    /// Returns the public metadata of a share.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares.
    pub async fn metadata(self, id: ShareId) -> Result<ShareMetadata, Error> {
        let (_, share) = self.inventory.read::<Share>(share_key(id), Entity::Share).await?;
        self.inventory.require_open(&share).await?;
        Ok(ShareMetadata::from(&share))
    }
}

impl Inventory {
    async fn create_share(&self, caller: &Caller, new: NewShare) -> Result<Share, Error> {
        let now = self.now();
        let mut share = Share {
            id: self.new_random_id()?,
            organization_id: caller.organization_id(),
            network_id: new.network_id,
            name: new.name,
            is_enabled: new.is_enabled,
            expires_at: new.expires_at,
            requires_password: new.password.is_some(),
            options: new.options,
            view: new.view,
            redact: new.redact,
            created_at: now,
            updated_at: now,
        };
        share.validate(None, now)?;
        if let Some(password) = &new.password {
            validate::password("password", password)?;
        }
        self.check_share(caller, &share).await?;
        let password = match new.password {
            Some(password) => Some(self.protect(password).await?),
            None => None,
        };
        #[cfg(feature = "topology")]
        let secret = CodeSecret::generate(&*self.random)?;
        let mut transaction = self.reviewed_transaction(caller, Entity::Share, share.id);
        loop {
            transaction.review(Actor::Caller(caller), None, Some(&share)).await?;
            #[cfg_attr(
                not(feature = "topology"),
                allow(unused_mut, reason = "only topologies have pseudonyms")
            )]
            let mut batch = creation(&share, password.as_ref())?;
            #[cfg(feature = "topology")]
            put_share_secret(&share, &secret, Precondition::Any, &mut batch)?;
            self.note_answer(&share, share.network_id)?;
            if transaction.commit(batch).await? {
                return Ok(share);
            }
            // A referenced record may have been deleted.
            self.check_share(caller, &share).await?;
        }
    }

    /// Checks that the organization exists and owns the share's network. The caller must have access to the network.
    async fn check_share(&self, caller: &Caller, share: &Share) -> Result<(), Error> {
        self.organization(share.organization_id).await?;
        self.check_own_references(caller, &share.references()).await
    }

    /// Requires that a share is enabled and has not expired, and that its organization exists. Shares are deleted after
    /// their organization, perhaps much later.
    async fn require_open(&self, share: &Share) -> Result<(), Error> {
        if !share.is_enabled || share.expires_at.is_some_and(|time| time <= self.now()) {
            return Err(not_found(share.id));
        }
        // The share itself is read again, because it may have been deleted meanwhile.
        let present = self.store.get(&[organization_key(share.organization_id), share_key(share.id)]).await?;
        if present.iter().all(Option::is_some) { Ok(()) } else { Err(not_found(share.id)) }
    }
}

/// Adds the deletion of a share's secrets to a batch. The batch also deletes the share.
pub(super) fn delete_share_secrets(id: ShareId, batch: &mut Batch) {
    batch.delete(share_password_key(id), Precondition::Any);
    #[cfg(feature = "topology")]
    batch.delete(share_secret_key(id), Precondition::Any);
}

fn creation(share: &Share, password: Option<&SharePassword>) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(share_key(share.id), Precondition::Absent, share_facets(share), encode(&share)?);
    if let Some(password) = password {
        password.put(share, &mut batch)?;
    }
    guard_references(&share.references(), &mut batch);
    batch.guard(exists(organization_key(share.organization_id)));
    Ok(batch)
}

fn not_found(id: ShareId) -> Error {
    ErrorKind::NotFound { entity: Entity::Share, id: id.uuid() }.into()
}
