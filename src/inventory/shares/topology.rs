//! Access of viewers to the topology of a share.

use super::{not_found, password::SharePassword};
use crate::access::CodeSecret;
use crate::inventory::history::Author;
use crate::inventory::schema::{
    decode, encode, exists, facets, share_key, share_password_key, share_secret_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::model::{NetworkId, Share, ShareId};
use crate::store::{Batch, Precondition};

/// A share that a viewer may open.
#[derive(Debug)]
pub(crate) struct OpenShare {
    pub(crate) share: Share,
    /// The network that the share shows.
    pub(crate) network_id: NetworkId,
    pub(crate) secret: CodeSecret,
}

impl Inventory {
    /// Opens a share for a viewer. If the share requires a password, a valid token replaces it.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares, and for shares without a network; `SharePasswordRequired` without a
    /// valid token.
    pub(crate) async fn open_share(&self, id: ShareId, token: Option<&str>) -> Result<OpenShare, Error> {
        // One call, so that all three are of one state of the store.
        let keys = [share_key(id), share_password_key(id), share_secret_key(id)];
        let records = self.store.get(&keys).await?;
        let [Some(share), password, secret] = records.as_slice() else { return Err(not_found(id)) };
        let share: Share = decode(share)?;
        let network_id = share.network_id.ok_or_else(|| not_found(id))?;
        self.require_open(&share).await?;
        if share.requires_password {
            let password: SharePassword = decode(password.as_ref().ok_or_else(|| not_found(id))?)?;
            if !token.is_some_and(|token| password.verifies(id, token, self.now())) {
                return Err(ErrorKind::SharePasswordRequired.into());
            }
        }
        let secret = match secret {
            Some(record) => decode(record)?,
            None => self.make_share_secret(&share).await?,
        };
        Ok(OpenShare { share, network_id, secret })
    }

    /// Stores the secret of a share that was created without one.
    async fn make_share_secret(&self, share: &Share) -> Result<CodeSecret, Error> {
        let key = share_secret_key(share.id);
        let mut transaction =
            self.transaction(Author::system(share.organization_id), Entity::Share, share.id);
        loop {
            if let Some(record) = self.get(key).await? {
                return decode(&record);
            }
            if self.get(share_key(share.id)).await?.is_none() {
                return Err(not_found(share.id));
            }
            let secret = CodeSecret::generate(&*self.random)?;
            let mut batch = Batch::new();
            put_share_secret(share, &secret, unchanged(None), &mut batch)?;
            batch.guard(exists(share_key(share.id)));
            if transaction.commit(batch).await? {
                return Ok(secret);
            }
        }
    }
}

/// Adds the secret under which a share's pseudonyms are made to a batch.
pub(super) fn put_share_secret(
    share: &Share,
    secret: &CodeSecret,
    precondition: Precondition,
    batch: &mut Batch,
) -> Result<(), Error> {
    let facets = facets(share.organization_id, share.created_at);
    batch.put(share_secret_key(share.id), precondition, facets, encode(secret)?);
    Ok(())
}
