//! Upgrade of stored users to the present form of their facets.

use crate::inventory::records::user_facets;
use crate::inventory::schema::{USER, decode, user_key};
use crate::inventory::shared_emails::{earlier_email_key, email_key_within, email_link, is_email_taken};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::User;
use crate::store::{Batch, Guard, LinkFilter, Query, Record, Start, StoreErrorKind};

/// The number of users that are read at a time.
const USERS: usize = 128;

impl Inventory {
    /// Stores users whose facets are those of an earlier version again. Returns their number.
    ///
    /// Until then, users whose e-mail addresses were compared differently cannot log in.
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

    /// Stores a user again unless the present link and unique key of the e-mail address find the
    /// user, and no former key does.
    async fn upgrade_user(&self, record: &Record) -> Result<bool, Error> {
        let user: User = match decode(record) {
            Ok(user) => user,
            Err(error) => {
                tracing::warn!("a stored user was left out of an upgrade: {}", error.with_causes());
                return Ok(false);
            }
        };
        if user.email.is_empty() || self.is_found_by_email(&user).await? {
            return Ok(false);
        }
        let mut batch = Batch::new();
        batch.put(record.key, unchanged(Some(record)), user_facets(&user), record.body.clone());
        if !self.shares_emails {
            batch.guard(Guard::linked_within(None, email_link(&user.email)));
        }
        match self.store.commit(batch).await {
            Ok(()) => Ok(true),
            // The user was changed, or another has the address since.
            Err(error)
                if matches!(error.kind(), StoreErrorKind::Conflict(_)) || is_email_taken(error.kind()) =>
            {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn is_found_by_email(&self, user: &User) -> Result<bool, Error> {
        let link = email_link(&user.email);
        let linked = Query {
            ids: Some(vec![user.id.uuid()]),
            links: vec![LinkFilter::new(link.relation, [link.target])],
            ..Query::new(USER)
        };
        let within = email_key_within(user.organization_id, &user.email);
        let earlier = self.store.get_by_unique_key(&earlier_email_key(&user.email)).await?;
        Ok(self.store.get_by_unique_key(&within).await?.is_some()
            && earlier.is_none_or(|earlier| earlier.key != user_key(user.id))
            && self.count(linked).await? > 0)
    }
}
