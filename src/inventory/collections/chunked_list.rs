//! Reads lists of records chunk by chunk, each of bounded size.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use uuid::Uuid;

use crate::store::{Page, Query, Start, Store, StoreError};

/// Maximum number of records in a chunk of a list without a limit.
///
/// At this size, the cost per record is close to that of any larger page.
const CHUNK_RECORDS: usize = 128;

/// Size of its records, in bytes, at which a chunk ends.
const CHUNK_BYTES: usize = 1024 * 1024;

/// A page, or a list of any length, that is read chunk by chunk.
///
/// It is never in memory as a whole, and a slow reader holds up no other request.
///
/// A page that fits into one chunk is from one state. Longer ones are not a snapshot. A record that does not change in
/// the meantime occurs exactly once. A record whose position changes may be missed but never occurs twice, because the
/// ids already returned are remembered.
pub(in crate::inventory) struct ChunkedList {
    store: Arc<dyn Store>,
    /// The query of the next page.
    query: Query,
    has_page: bool,
    /// Records of the last page that were not read.
    unread: VecDeque<Uuid>,
    /// The records returned so far; `None` for a single page, whose records are all different.
    given: Option<BTreeSet<Uuid>>,
}

impl ChunkedList {
    /// Reads one page, or page by page if the query has no limit.
    pub(in crate::inventory) fn new(store: Arc<dyn Store>, query: Query) -> Self {
        let given = query.limit.is_none().then(BTreeSet::new);
        let limit = query.limit.or(Some(CHUNK_RECORDS));
        let query = Query { limit, max_bytes: Some(CHUNK_BYTES), ..query };
        Self { store, query, has_page: true, unread: VecDeque::new(), given }
    }

    pub(in crate::inventory) fn is_finished(&self) -> bool {
        !self.has_page && self.unread.is_empty()
    }

    /// Returns the number of records of the last page that were not read.
    pub(in crate::inventory) fn unread(&self) -> usize {
        self.unread.len()
    }

    /// Returns the next chunk; empty after the last one. `total` and `next` are right in the first chunk of a page.
    pub(in crate::inventory) async fn next(&mut self) -> Result<Page, StoreError> {
        if !self.unread.is_empty() {
            return self.next_of_page().await;
        }
        if !self.has_page {
            return Ok(Page::default());
        }
        let mut page = self.store.list(&self.query).await?;
        self.unread.extend(page.unread.drain(..).map(|key| key.id));
        self.has_page = false;
        if let Some(given) = &mut self.given {
            page.records.retain(|record| given.insert(record.key.id));
            if let Some(cursor) = page.next.take() {
                self.query.start = Start::After(cursor);
                self.has_page = true;
            }
        }
        Ok(page)
    }

    /// Reads records of the last page. They pass all filters again: they may have changed in the meantime, and must not
    /// be shown to a caller who may no longer see them.
    async fn next_of_page(&mut self) -> Result<Page, StoreError> {
        let ids = self.unread.drain(..self.unread.len().min(CHUNK_RECORDS)).collect();
        let query = Query { ids: Some(ids), start: Start::Offset(0), limit: None, ..self.query.clone() };
        let mut page = self.store.list(&query).await?;
        for key in page.unread.drain(..).rev() {
            self.unread.push_front(key.id);
        }
        if let Some(given) = &mut self.given {
            page.records.retain(|record| given.insert(record.key.id));
        }
        Ok(page)
    }
}
