//! Pages of the parts of one host.

use std::cmp::Ordering;

use uuid::Uuid;

use super::Part;
use crate::access::Caller;
use crate::inventory::collections::{
    ListOrderField, ListPage, ListQuery, PageCursor, Position, fingerprint, invalid_cursor,
};
use crate::inventory::{Error, Inventory};
use crate::model::OrderDirection;
use crate::store::Cursor;

impl Inventory {
    /// Lists the parts of a host. Empty for a host that the caller cannot access or that does not exist.
    ///
    /// # Errors
    /// `Invalid` for a cursor of another list.
    pub(crate) async fn list_parts_as<P: Part>(
        &self,
        caller: &Caller,
        host: Uuid,
        query: &ListQuery,
    ) -> Result<ListPage<P>, Error> {
        let list = fingerprint(&(host, query.fingerprint(P::UNIQUE_KEY, caller.organization_id())));
        let mut parts = self.parts_as::<P>(caller, host).await?;
        parts.retain(|part| is_listed(part, query));
        let order = PartOrder { by: query.order_by, direction: query.order_direction };
        parts.sort_by(|left, right| order.compare(&order.key(left), &order.key(right)));
        let total = parts.len();
        let start = match &query.cursor {
            Some(cursor) => order.start(&parts, cursor.position(list)?)?,
            None => usize::try_from(query.offset).unwrap_or(usize::MAX).min(total),
        };
        let end = query.limit.map_or(total, |limit| start.saturating_add(limit).min(total));
        let last = if end < total { end.checked_sub(1).and_then(|last| parts.get(last)) } else { None };
        let next = last.map(|part| {
            let (key, id) = order.key(part);
            PageCursor::new(list, &Cursor::new(vec![key], id))
        });
        parts.truncate(end);
        Ok(ListPage::new(parts.split_off(start.min(end)), total as u64, next))
    }
}

/// Returns whether a list that is filtered by a query has the part.
fn is_listed<P: Part>(part: &P, query: &ListQuery) -> bool {
    let ListQuery { network_id, ids, tag_ids, .. } = query;
    let common = part.common();
    network_id.is_none_or(|network| network == common.network_id)
        && ids.as_ref().is_none_or(|ids| ids.contains(&common.id))
        && tag_ids.as_ref().is_none_or(|tags| part.tags().iter().any(|tag| tags.contains(tag)))
}

/// The order of a list of parts.
#[derive(Clone, Copy)]
struct PartOrder {
    by: ListOrderField,
    direction: OrderDirection,
}

/// A place in a list of parts: the sort key and the id.
type Place = (Vec<u8>, Uuid);

impl PartOrder {
    fn key<P: Part>(self, part: &P) -> Place {
        let common = part.common();
        let time = |micros: i64| (micros ^ i64::MIN).to_be_bytes().to_vec();
        let key = match self.by {
            ListOrderField::CreatedAt => time(common.created_at.unix_micros()),
            ListOrderField::UpdatedAt => time(common.updated_at.unix_micros()),
            ListOrderField::Name => part.sort_name().as_bytes().to_vec(),
        };
        (key, common.id)
    }

    fn compare(self, (left, left_id): &Place, (right, right_id): &Place) -> Ordering {
        let keys = match self.direction {
            OrderDirection::Ascending => left.cmp(right),
            OrderDirection::Descending => right.cmp(left),
        };
        keys.then(left_id.cmp(right_id))
    }

    /// Returns the index of the first part after a position.
    fn start<P: Part>(self, parts: &[P], position: Position) -> Result<usize, Error> {
        let place = match position {
            Position::Start => return Ok(0),
            Position::After(cursor) => match cursor.keys() {
                [key] => (key.clone(), cursor.id()),
                _ => return Err(invalid_cursor()),
            },
            Position::AfterRecord(id, digest) => {
                let part = parts.iter().find(|part| part.common().id == id).ok_or_else(invalid_cursor)?;
                let (key, id) = self.key(part);
                if fingerprint(&[key.clone()].as_slice()) != digest {
                    return Err(invalid_cursor());
                }
                (key, id)
            }
        };
        Ok(parts.partition_point(|part| self.compare(&self.key(part), &place).is_le()))
    }
}
