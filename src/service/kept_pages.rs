//! Pages that were asked for more than once in the same state of the list, each in one piece and found by its tag alone.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::ResponseBody;
use super::conditional::EntityTag;

/// How many pages are known at a time, most of them only by their tag.
const KNOWN: usize = 64;

/// The pages that were asked for last. What changes a list changes its tag, so that no page of an older state is ever found. A
/// request that began before a change may find a page with it.
pub(super) struct KeptPages {
    /// How many bytes all pages have together at most.
    room: usize,
    known: Mutex<Known>,
}

/// From the page that was asked for longest ago to the one that was asked for last.
#[derive(Default)]
struct Known {
    pages: VecDeque<Page>,
    /// How many bytes they have.
    size: usize,
}

struct Page {
    tag: EntityTag,
    body: Option<Bytes>,
}

impl KeptPages {
    pub(super) fn new(room: usize) -> Self {
        Self { room, known: Mutex::default() }
    }

    pub(super) fn find(&self, tag: &EntityTag) -> Option<ResponseBody> {
        let mut known = self.lock();
        let page = known.take(tag)?;
        let body = page.body.clone();
        // It has left the room that it takes.
        known.add(page, self.room);
        body.map(ResponseBody::full)
    }

    /// Keeps a page that was not found, if it was asked for before. None takes more than half of the room.
    pub(super) fn keep(&self, tag: &EntityTag, page: ResponseBody) -> ResponseBody {
        let fits = page.length().is_some_and(|length| length <= self.room as u64 / 2);
        if !fits {
            return page;
        }
        let mut known = self.lock();
        if known.take(tag).is_none() {
            let forgotten = known.add(Page { tag: tag.clone(), body: None }, self.room);
            drop(known);
            // Nobody waits for memory to be given back.
            drop(forgotten);
            return page;
        }
        drop(known);
        let body = match page.into_bytes() {
            Ok(body) => body,
            Err(page) => return page,
        };
        let mut known = self.lock();
        // Somebody else may have been quicker.
        let before = known.take(tag);
        let forgotten = known.add(Page { tag: tag.clone(), body: Some(body.clone()) }, self.room);
        drop(known);
        drop((before, forgotten));
        ResponseBody::full(body)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, tag: &EntityTag) -> Option<Page> {
        let place = self.pages.iter().rposition(|page| page.tag == *tag)?;
        let page = self.pages.remove(place)?;
        self.size -= page.length();
        Some(page)
    }

    /// Adds a page that is not there, and gives back those that make room for it.
    fn add(&mut self, page: Page, room: usize) -> Vec<Page> {
        self.size += page.length();
        self.pages.push_back(page);
        let mut forgotten = Vec::new();
        while self.pages.len() > KNOWN || self.size > room {
            let Some(page) = self.pages.pop_front() else { break };
            self.size -= page.length();
            forgotten.push(page);
        }
        forgotten
    }
}

impl Page {
    fn length(&self) -> usize {
        self.body.as_ref().map_or(0, Bytes::len)
    }
}

/// Without what is in the pages.
impl fmt::Debug for KeptPages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptPages").field("room", &self.room).finish_non_exhaustive()
    }
}
