//! The content of the entries of records.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::difference::{Difference, differences_of};
use super::document::ObjectMembers;
use crate::inventory::Error;
use crate::model::{ChangeAction, ChangedEntity, NetworkId};

/// A state of a record.
#[derive(Debug)]
pub(in crate::inventory::history) struct RecordState<'d> {
    /// The part of the record that entries show.
    document: &'d Bytes,
    text: &'d str,
}

impl<'d> RecordState<'d> {
    pub(in crate::inventory::history) fn read(document: &'d Bytes) -> Result<Self, Error> {
        Ok(Self { document, text: std::str::from_utf8(document).map_err(Error::internal)? })
    }

    /// Returns a member. `None`: it is missing, or is something else in records of the host application.
    pub(in crate::inventory::history) fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(ObjectMembers::find(self.text, name).ok()??.get()).ok()
    }

    pub(in crate::inventory::history) fn network_id(&self) -> Option<NetworkId> {
        self.member("network_id")
    }

    /// Returns the name of the record; of users without one, the e-mail address.
    pub(in crate::inventory::history) fn name(&self, entity: ChangedEntity) -> Option<String> {
        let name = self.member("name").filter(|name: &String| !name.is_empty());
        name.or_else(|| (entity == ChangedEntity::User).then(|| self.member("email")).flatten())
    }
}

/// Compares two states of a record. Returns the content of the entry; `None`: nothing has changed.
pub(in crate::inventory::history) fn compared(
    before: Option<&RecordState<'_>>,
    after: Option<&RecordState<'_>>,
) -> Result<Option<(ChangeAction, Bytes)>, Error> {
    match (before, after) {
        (Some(before), Some(after)) => {
            let (former, latter) =
                ObjectMembers::read_differing(before.text, after.text).map_err(Error::internal)?;
            let differences = differences_of(&former, &latter);
            if differences.is_empty() {
                return Ok(None);
            }
            let fields = written(&differences).map_err(Error::internal)?;
            Ok(Some((ChangeAction::Updated, fields)))
        }
        (None, Some(after)) => Ok(Some((ChangeAction::Created, after.document.clone()))),
        (Some(before), None) => Ok(Some((ChangeAction::Deleted, before.document.clone()))),
        (None, None) => Ok(None),
    }
}

/// Writes fields that differ as JSON, by their paths.
fn written(differences: &[Difference<'_>]) -> Result<Bytes, serde_json::Error> {
    let fields: BTreeMap<&str, &Difference<'_>> =
        differences.iter().map(|difference| (difference.path.as_str(), difference)).collect();
    serde_json::to_vec(&fields).map(Bytes::from)
}
