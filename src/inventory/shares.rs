//! Shares: public views of a topology, accessible to anyone with the share's id.

use std::fmt;

use uuid::Uuid;

use super::schema::{
    SHARE, all_of, encode, exists, facets, network_key, organization_key, share_key, share_password_key,
};
use super::{Entity, Error, ErrorKind, Inventory, validate};
use crate::model::{Share, ShareMetadata, ShareOptions, Timestamp};
use crate::store::{Batch, Facets, Precondition};

/// The input for [`Inventory::create_share`].
#[derive(Clone)]
#[non_exhaustive]
pub struct NewShare {
    /// The organization that owns the share.
    pub organization_id: Uuid,
    /// The network the share shows; `None`: not limited to one network.
    pub network_id: Option<Uuid>,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The view's password, of 10 to 1,000 characters; `None`: no password is required.
    pub password: Option<String>,
    /// The controls that the view shows.
    pub options: ShareOptions,
    /// Whether the share can be opened.
    pub is_enabled: bool,
    /// When the share stops being accessible; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
}

impl NewShare {
    /// Creates an enabled share without expiry or password, with all controls shown.
    #[must_use]
    pub fn new(organization_id: Uuid, name: impl Into<String>) -> Self {
        Self {
            organization_id,
            network_id: None,
            name: name.into(),
            password: None,
            options: ShareOptions {
                show_export_button: true,
                show_inspect_panel: true,
                show_minimap: true,
                show_zoom_controls: true,
            },
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
            .field("organization_id", &self.organization_id)
            .field("network_id", &self.network_id)
            .field("name", &self.name)
            .field("requires_password", &self.password.is_some())
            .field("options", &self.options)
            .field("is_enabled", &self.is_enabled)
            .field("expires_at", &self.expires_at)
            .finish()
    }
}

impl Inventory {
    /// Creates a share.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewShare};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// let mut new = NewShare::new(organization.id, "The office");
    /// new.password = Some("correct horse".to_owned());
    /// let share = inventory.create_share(new).await?;
    ///
    /// assert!(inventory.share_metadata(share.id).await?.requires_password);
    /// assert!(inventory.verify_share_password(share.id, "correct horse".to_owned()).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an unacceptable name or password, or an `expires_at` that is not in the future; `NotFound` when
    /// there is no such organization; `ReferenceInvalid` for a network of another organization.
    pub async fn create_share(&self, new: NewShare) -> Result<Share, Error> {
        let now = self.now();
        let share = Share {
            id: self.new_random_id()?,
            organization_id: new.organization_id,
            network_id: new.network_id,
            name: validate::name("name", &new.name, 100)?,
            is_enabled: new.is_enabled,
            expires_at: new.expires_at,
            requires_password: new.password.is_some(),
            options: new.options,
            created_at: now,
            updated_at: now,
        };
        validate::future("expires_at", share.expires_at, now)?;
        self.check_share(&share).await?;
        let hash = match new.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let mut transaction = self.transaction(Entity::Share, share.id);
        loop {
            if transaction.commit(creation(&share, hash.clone())?).await? {
                return Ok(share);
            }
            // A referenced record may have been deleted.
            self.check_share(&share).await?;
        }
    }

    /// Checks that the organization exists and owns the share's network.
    async fn check_share(&self, share: &Share) -> Result<(), Error> {
        self.organization(share.organization_id).await?;
        match share.network_id.map(network_key) {
            Some(key) => {
                self.check_reference(share.organization_id, Entity::Network, key, "network_id").await
            }
            None => Ok(()),
        }
    }

    /// Returns a share, including disabled and expired ones.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn share(&self, id: Uuid) -> Result<Share, Error> {
        Ok(self.read(share_key(id), Entity::Share).await?.1)
    }

    /// Returns all shares of an organization, oldest first.
    pub async fn shares(&self, organization: Uuid) -> Result<Vec<Share>, Error> {
        self.read_all(&all_of(SHARE, organization)).await
    }

    /// Returns the public metadata of a share.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares.
    pub async fn share_metadata(&self, id: Uuid) -> Result<ShareMetadata, Error> {
        Ok(ShareMetadata::from(&self.open_share(id).await?))
    }

    /// Verifies a share's password. Any password opens a share that requires none.
    ///
    /// Does not limit attempts; the server of the view must apply a rate limit.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares.
    pub async fn verify_share_password(&self, id: Uuid, password: String) -> Result<bool, Error> {
        let share = self.open_share(id).await?;
        if !share.requires_password {
            return Ok(true);
        }
        let hash = self.get(share_password_key(id)).await?.ok_or_else(|| not_found(id))?;
        let text = String::from_utf8(hash.body.to_vec()).map_err(Error::internal)?;
        Ok(self.passwords.verify(password, text).await?)
    }

    /// Enables a share: it can be opened from the next request on, unless it has expired.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_share(&self, id: Uuid) -> Result<Share, Error> {
        self.set_share_enabled(id, true).await
    }

    /// Disables a share: it cannot be opened from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_share(&self, id: Uuid) -> Result<Share, Error> {
        self.set_share_enabled(id, false).await
    }

    async fn set_share_enabled(&self, id: Uuid, is_enabled: bool) -> Result<Share, Error> {
        let set = |share: &mut Share, now| {
            share.is_enabled = is_enabled;
            share.updated_at = now;
        };
        self.change(share_key(id), Entity::Share, share_facets, set).await
    }

    /// Deletes a share.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_share(&self, id: Uuid) -> Result<(), Error> {
        let delete = |_: &Share, batch: &mut Batch| {
            batch.delete(share_password_key(id), Precondition::Any);
            Ok(())
        };
        self.delete(share_key(id), Entity::Share, delete).await
    }

    /// Returns a share that is enabled and has not expired.
    async fn open_share(&self, id: Uuid) -> Result<Share, Error> {
        let share = self.share(id).await?;
        let is_over = share.expires_at.is_some_and(|time| time <= self.now());
        if share.is_enabled && !is_over { Ok(share) } else { Err(not_found(id)) }
    }
}

fn creation(share: &Share, hash: Option<String>) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(share_key(share.id), Precondition::Absent, share_facets(share), encode(&share)?);
    if let Some(hash) = hash {
        let facets = facets(share.organization_id, share.created_at);
        batch.put(share_password_key(share.id), Precondition::Absent, facets, hash);
    }
    let network = share.network_id.map(network_key);
    for key in network.into_iter().chain([organization_key(share.organization_id)]) {
        batch.guard(exists(key));
    }
    Ok(batch)
}

fn share_facets(share: &Share) -> Facets {
    Facets { network: share.network_id, ..facets(share.organization_id, share.created_at) }
}

fn not_found(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: Entity::Share, id }.into()
}
