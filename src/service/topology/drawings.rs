//! How many drawings there are at a time, and requests that share one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::service::body::{ListSlot, ListSlots, ResponseBody};
use crate::service::entity_tag::EntityTag;
use crate::service::error::ApiError;
use crate::service::state::ApiState;

/// Maximum number of different drawings at a time, per organization and in total.
const AT_ONCE: (usize, usize) = (8, 64);

/// Seconds after which a client may ask again for a drawing that got no slot.
const RETRY_AFTER: u64 = 1;

/// Size, in bytes, from which a drawing holds its slot until all clients have received it.
const LARGE: usize = 256 * 1024;

/// The slots of drawings, of which each organization has a bounded number.
///
/// A drawing takes time, and a large one takes memory until its clients have received it.
#[derive(Clone)]
pub(in crate::service) struct DrawingSlots(Arc<ListSlots>);

impl Default for DrawingSlots {
    fn default() -> Self {
        Self(ListSlots::new(AT_ONCE.0, AT_ONCE.1))
    }
}

/// Drawings in the making, by tag. Requests for the same drawing wait for one of them to make it.
pub(in crate::service) struct Drawings<T> {
    slots: DrawingSlots,
    running: Mutex<HashMap<EntityTag, Weak<OnceCell<T>>>>,
}

impl<T: Clone + Send + Sync> Drawings<T> {
    /// Creates drawings that take these slots.
    pub(in crate::service) fn new(slots: DrawingSlots) -> Self {
        Self { slots, running: Mutex::default() }
    }

    /// Returns the drawing with this tag that another request is making, or makes it. Without a tag, nothing is shared.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the organization has too many different drawings; those of `draw`.
    pub(super) async fn get<F>(
        &self,
        organization: Uuid,
        tag: Option<&EntityTag>,
        draw: impl FnOnce(ListSlot) -> F + Send,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>> + Send,
    {
        let make = || async move {
            let slot = self.slots.0.try_acquire(organization);
            draw(slot.ok_or_else(|| ApiError::too_many_drawings(RETRY_AFTER))?).await
        };
        match tag.map(|tag| self.running(tag)) {
            Some(running) => running.get_or_try_init(make).await.cloned(),
            None => make().await,
        }
    }

    fn running(&self, tag: &EntityTag) -> Arc<OnceCell<T>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drawing) = running.get(tag).and_then(Weak::upgrade) {
            return drawing;
        }
        // Requests may be dropped at any time, so that nothing else removes the drawings that have ended.
        running.retain(|_, drawing| drawing.strong_count() > 0);
        let drawing = Arc::default();
        running.insert(tag.clone(), Arc::downgrade(&drawing));
        drawing
    }
}

impl ApiState {
    /// Caches a drawing that is requested again. A large one keeps its slot until the last clone of its bytes is dropped.
    pub(super) fn keep(&self, tag: Option<&EntityTag>, drawing: ResponseBody, slot: ListSlot) -> Bytes {
        let drawing = match tag {
            Some(tag) => self.page_cache.insert(tag, drawing),
            None => drawing,
        };
        let bytes = drawing.into_bytes().unwrap_or_default();
        if bytes.len() < LARGE { bytes } else { Bytes::from_owner(Held { bytes, _slot: slot }) }
    }
}

/// A drawing with its slot.
struct Held {
    bytes: Bytes,
    _slot: ListSlot,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
