use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::body::ResponseBody;
use super::entity_tag::EntityTag;
use crate::figures::{CacheCounters, CacheFigures};

/// Maximum number of entries. Most of them have a tag only and no body.
const MAX_ENTRIES: usize = 64;

/// An LRU cache of joined response bodies, keyed by [`EntityTag`].
///
/// The first request for a page records its tag; the second one, in the same state of the list, caches its body. A
/// change to a list changes its tag, so a page of an older state is never found. A request that began before a change
/// may get a page that includes the change.
pub(in crate::service) struct PageCache {
    /// Maximum size of all bodies together, in bytes.
    capacity: usize,
    entries: Mutex<CachedPages>,
    counters: CacheCounters,
}

#[derive(Default)]
struct CachedPages {
    /// The least recently used entry comes first.
    queue: VecDeque<CachedPage>,
    /// Size of all bodies together, in bytes.
    size: usize,
}

struct CachedPage {
    tag: EntityTag,
    /// `None` if the page has been requested only once.
    body: Option<Bytes>,
}

impl PageCache {
    pub(in crate::service) fn new(capacity: usize) -> Self {
        Self { capacity, entries: Mutex::default(), counters: CacheCounters::default() }
    }

    /// Returns the cached page with this tag.
    pub(in crate::service) fn get(&self, tag: &EntityTag) -> Option<ResponseBody> {
        let body = self.find(tag);
        self.counters.count(body.is_some());
        body.map(ResponseBody::full)
    }

    fn find(&self, tag: &EntityTag) -> Option<Bytes> {
        let mut entries = self.lock();
        let entry = entries.remove(tag)?;
        let body = entry.body.clone();
        // Nothing is evicted: the entry was just removed.
        entries.push(entry, self.capacity);
        body
    }

    /// Returns the figures of the cache. Its entries are those with a body.
    pub(in crate::service) fn figures(&self) -> CacheFigures {
        let entries = self.lock().queue.iter().filter(|entry| entry.body.is_some()).count();
        CacheFigures::new("pages", &self.counters, entries)
    }

    /// Caches a page that [`get`](Self::get) did not find, if it was requested before.
    ///
    /// Pages larger than half of the capacity are not cached.
    pub(in crate::service) fn insert(&self, tag: &EntityTag, page: ResponseBody) -> ResponseBody {
        let fits = page.length().is_some_and(|length| length <= self.capacity as u64 / 2);
        if !fits {
            return page;
        }
        let mut entries = self.lock();
        if entries.remove(tag).is_none() {
            let evicted = entries.push(CachedPage { tag: tag.clone(), body: None }, self.capacity);
            drop(entries);
            // The memory is freed outside of the lock.
            drop(evicted);
            return page;
        }
        drop(entries);
        let body = match page.into_bytes() {
            Ok(body) => body,
            Err(page) => return *page,
        };
        let mut entries = self.lock();
        // A concurrent request may have inserted the page in the meantime.
        let replaced = entries.remove(tag);
        let evicted = entries.push(CachedPage { tag: tag.clone(), body: Some(body.clone()) }, self.capacity);
        drop(entries);
        drop((replaced, evicted));
        ResponseBody::full(body)
    }

    /// Caches a short text, whether or not it was requested before.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn keep(&self, tag: &EntityTag, text: Bytes) {
        let mut entries = self.lock();
        let replaced = entries.remove(tag);
        let evicted = entries.push(CachedPage { tag: tag.clone(), body: Some(text) }, self.capacity);
        drop(entries);
        drop((replaced, evicted));
    }

    fn lock(&self) -> MutexGuard<'_, CachedPages> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedPages {
    fn remove(&mut self, tag: &EntityTag) -> Option<CachedPage> {
        let index = self.queue.iter().rposition(|entry| entry.tag == *tag)?;
        let entry = self.queue.remove(index)?;
        self.size -= entry.size();
        Some(entry)
    }

    /// Adds an entry whose tag is not in the queue, and returns the evicted ones.
    fn push(&mut self, entry: CachedPage, capacity: usize) -> Vec<CachedPage> {
        self.size += entry.size();
        self.queue.push_back(entry);
        let mut evicted = Vec::new();
        while self.queue.len() > MAX_ENTRIES || self.size > capacity {
            let Some(entry) = self.queue.pop_front() else { break };
            self.size -= entry.size();
            evicted.push(entry);
        }
        evicted
    }
}

impl CachedPage {
    fn size(&self) -> usize {
        self.body.as_ref().map_or(0, Bytes::len)
    }
}
