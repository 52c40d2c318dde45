//! What entries say of records.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::{RawValue, to_raw_value};

use super::difference::{Difference, FieldText, differences};
use crate::inventory::Error;
use crate::inventory::history::log::record::StoredField;
use crate::model::ChangeAction;

/// What an entry says of a record.
#[derive(Default)]
pub(in crate::inventory::history) struct Content {
    pub(in crate::inventory::history) document: Option<Box<RawValue>>,
    pub(in crate::inventory::history) fields: BTreeMap<String, StoredField>,
    pub(in crate::inventory::history) bytes: usize,
}

impl Content {
    /// Compares two states of a record. `None`: nothing has changed.
    pub(in crate::inventory::history) fn of(
        before: Option<&Bytes>,
        after: Option<&Bytes>,
    ) -> Result<Option<(ChangeAction, Self)>, Error> {
        let (action, document) = match (before, after) {
            (Some(before), Some(after)) => {
                let differences = differences(text(before)?, text(after)?).map_err(Error::internal)?;
                let updated = (ChangeAction::Updated, Self::of_fields(differences)?);
                return Ok(Some(updated).filter(|(_, content)| !content.fields.is_empty()));
            }
            (None, Some(after)) => (ChangeAction::Created, after),
            (Some(before), None) => (ChangeAction::Deleted, before),
            (None, None) => return Ok(None),
        };
        let text = RawValue::from_string(text(document)?.to_owned()).map_err(Error::internal)?;
        Ok(Some((action, Self { bytes: document.len(), document: Some(text), fields: BTreeMap::new() })))
    }

    fn of_fields(differences: Vec<Difference<'_>>) -> Result<Self, Error> {
        let owned = |value: Option<FieldText<'_>>| match value {
            None => Ok(None),
            Some(FieldText::Stored(text)) => Ok(Some(text.to_owned())),
            Some(FieldText::Order(ids)) => to_raw_value(&ids).map(Some).map_err(Error::internal),
        };
        let length = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |text| text.get().len());
        let mut content = Self::default();
        for Difference { path, before, after } in differences {
            let field = StoredField { before: owned(before)?, after: owned(after)? };
            content.bytes += path.len() + length(&field.before) + length(&field.after);
            content.fields.insert(path, field);
        }
        Ok(content)
    }
}

fn text(body: &Bytes) -> Result<&str, Error> {
    std::str::from_utf8(body).map_err(Error::internal)
}
