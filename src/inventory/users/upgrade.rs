//! Bringing stored users up to the present form of their unique keys.

use crate::inventory::records::user_facets;
use crate::inventory::schema::{USER, decode};
use crate::inventory::shared_emails::email_unique_keys;
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::User;
use crate::store::{Batch, Query, Record, Start, StoreErrorKind};

/// The number of users that are read at a time.
const USERS: usize = 128;

impl Inventory {
    /// Stores the users again whose unique keys are those of an earlier version. Returns their number.
    ///
    /// Users whose e-mail addresses were compared otherwise cannot log in before.
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

    /// Stores a user again unless the user is found by both unique keys of the e-mail address.
    async fn upgrade_user(&self, record: &Record) -> Result<bool, Error> {
        let user: User = match decode(record) {
            Ok(user) => user,
            Err(error) => {
                tracing::warn!("a stored user was left out of an upgrade: {}", error.with_causes());
                return Ok(false);
            }
        };
        if user.email.is_empty() || self.has_all_unique_keys(&user).await? {
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

    async fn has_all_unique_keys(&self, user: &User) -> Result<bool, Error> {
        for key in email_unique_keys(user) {
            if self.store.get_by_unique_key(&key).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
