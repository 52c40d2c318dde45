//! Bringing stored users up to the present form of their unique keys.

use crate::inventory::email::email_unique_key;
use crate::inventory::records::user_facets;
use crate::inventory::schema::{USER, decode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::User;
use crate::store::{Batch, Query, Record, Start, StoreErrorKind};

/// The number of users that are read at a time.
const USERS: usize = 128;

impl Inventory {
    /// Stores the users again whose e-mail addresses an earlier version has compared otherwise. Returns their number.
    ///
    /// Such users cannot log in before.
    pub(in crate::inventory) async fn upgrade_users(&self) -> Result<u64, Error> {
        let (mut count, mut users) = (0, Query { limit: Some(USERS), ..Query::new(USER) });
        loop {
            let page = self.store.list(&users).await?;
            for record in &page.records {
                count += u64::from(self.upgrade_user(record).await?);
            }
            let Some(cursor) = page.next else { return Ok(count) };
            users.start = Start::After(cursor);
        }
    }

    /// Stores a user again unless the user is found by the e-mail address.
    async fn upgrade_user(&self, record: &Record) -> Result<bool, Error> {
        let user: User = match decode(record) {
            Ok(user) => user,
            Err(error) => {
                tracing::warn!("a stored user was left out of an upgrade: {}", error.with_causes());
                return Ok(false);
            }
        };
        if user.email.is_empty()
            || self.store.get_by_unique_key(&email_unique_key(&user.email)).await?.is_some()
        {
            return Ok(false);
        }
        let mut batch = Batch::new();
        batch.put(record.key, unchanged(Some(record)), user_facets(&user), record.body.clone());
        match self.store.commit(batch).await {
            Ok(()) => Ok(true),
            // The user was changed, or another has the address since.
            Err(error)
                if matches!(
                    error.kind(),
                    StoreErrorKind::Conflict(_) | StoreErrorKind::UniqueKeyTaken(_)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}
