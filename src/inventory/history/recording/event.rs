//! Security events: changes of credentials in a commit.

use uuid::Uuid;

use crate::inventory::Error;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::records::{KeyHolder, KeySecret, SessionRecord};
use crate::inventory::schema::{KEY_SECRET, PASSWORD, SESSION, USER, decode_text};
use crate::model::{ChangeAction, ChangedEntity, UserId};
use crate::store::{Batch, Key, Name, Record, Write};

/// Something that was done with credentials.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory::history) struct SecurityEvent {
    pub(in crate::inventory::history) action: ChangeAction,
    pub(in crate::inventory::history) entity: ChangedEntity,
    pub(in crate::inventory::history) id: Uuid,
    pub(in crate::inventory::history) audience: Audience,
}

/// Returns whether writes of this kind of records may be security events.
pub(in crate::inventory::history) fn is_credential(kind: Name) -> bool {
    [SESSION, PASSWORD, KEY_SECRET].contains(&kind)
}

impl SecurityEvent {
    pub(in crate::inventory::history) const fn of_session(user: UserId, action: ChangeAction) -> Self {
        let (entity, id) = (ChangedEntity::Session, user.uuid());
        Self { action, entity, id, audience: Audience::User(user) }
    }

    /// Returns whether the event is one of a user's own sessions or password.
    pub(in crate::inventory::history) fn is_of(&self, user: UserId) -> bool {
        matches!(self.entity, ChangedEntity::Session | ChangedEntity::User) && self.id == user.uuid()
    }

    /// Returns the event that a write of a batch is, if it is one.
    pub(in crate::inventory::history) fn of(
        write: &Write,
        before: Option<&Record>,
        batch: &Batch,
    ) -> Result<Option<Self>, Error> {
        let after = match write {
            Write::Put { body, .. } => Some(body),
            Write::Delete { .. } => None,
        };
        let before = before.map(|record| &record.body);
        let key = write.key();
        let id = key.id;
        Ok(match (key.kind, before, after) {
            (SESSION, None, Some(body)) => {
                let session: SessionRecord = decode_text(key, body)?;
                Some(Self::of_session(session.user_id, ChangeAction::Login))
            }
            (SESSION, Some(body), None) => {
                let session: SessionRecord = decode_text(key, body)?;
                Some(Self::of_session(session.user_id, ChangeAction::Logout))
            }
            (PASSWORD, before, after)
                if before != after && changes_password(batch, id, before.is_some() && after.is_some()) =>
            {
                let user = UserId::new(id);
                let (action, entity) = (ChangeAction::PasswordChanged, ChangedEntity::User);
                Some(Self { action, entity, id, audience: Audience::User(user) })
            }
            (KEY_SECRET, Some(before), Some(after)) if before != after => {
                let KeySecret { holder, .. } = decode_text(key, after)?;
                let (entity, audience) = match holder {
                    KeyHolder::User(user) => (ChangedEntity::UserApiKey, Audience::User(user)),
                    KeyHolder::Daemon(_) => (ChangedEntity::DaemonApiKey, Audience::Admins),
                };
                Some(Self { action: ChangeAction::Rotated, entity, id, audience })
            }
            _ => None,
        })
    }
}

/// Returns whether a batch that writes a user's password changes it. `is_there`: the user has one before and after.
///
/// A login hashes the same password again, if the cost has changed. A user who is new or gone has an entry of that.
fn changes_password(batch: &Batch, user: Uuid, is_there: bool) -> bool {
    let is_other = |write: &Write| match write {
        Write::Put { key, .. } if is_there => key.kind == SESSION,
        Write::Put { key, .. } | Write::Delete { key, .. } => !is_there && *key == Key::new(USER, user),
    };
    !batch.writes().iter().any(is_other)
}
