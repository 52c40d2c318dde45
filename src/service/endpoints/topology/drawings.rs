//! Limits the number of drawings at a time, and shares a drawing among equal requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::invariant::Invariant;
use crate::model::OrganizationId;
use crate::service::budget::{Budget, Holder};
use crate::service::observation::LimitFigures;
use crate::service::response::body::ResponseBody;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::state::ApiState;

/// Maximum number of different drawings at a time, per organization and in total.
const MAX_DRAWINGS: (usize, usize) = (8, 64);

/// The slots of drawings, of which each organization has a bounded number.
///
/// A drawing holds its slot until it is complete, but not until clients have received it: slow readers would keep all
/// slots.
#[derive(Clone)]
pub(in crate::service) struct DrawingSlots(Arc<Budget>);

impl Default for DrawingSlots {
    fn default() -> Self {
        Self(Budget::new(MAX_DRAWINGS, ApiError::too_many_drawings))
    }
}

/// Drawings that are being made, by tag. Requests for the same drawing wait for one of them to make it.
pub(in crate::service) struct Drawings<T> {
    slots: DrawingSlots,
    running: Mutex<HashMap<EntityTag, Weak<OnceCell<T>>>>,
}

impl<T: Clone + Send + Sync> Drawings<T> {
    /// Creates an empty registry of running drawings, limited by `slots`.
    pub(in crate::service) fn new(slots: DrawingSlots) -> Self {
        Self { slots, running: Mutex::default() }
    }

    /// Returns the drawing with this tag that another request is making, or makes it. Without a tag, nothing is shared.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the organization has too many different drawings; the errors of `draw`.
    pub(super) async fn get<F>(
        &self,
        organization: OrganizationId,
        tag: Option<&EntityTag>,
        draw: impl FnOnce() -> F + Send,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>> + Send,
    {
        let make = || async move {
            let _slot = self.slots.0.reserve(Holder { organization, id: organization.uuid() }, 1)?;
            draw().await
        };
        match tag.map(|tag| self.running(tag)) {
            Some(running) => running.get_or_try_init(make).await.cloned(),
            None => make().await,
        }
    }

    /// Returns the figures of the slots.
    pub(in crate::service) fn slots(&self) -> LimitFigures {
        self.slots.0.figures("drawings")
    }

    fn running(&self, tag: &EntityTag) -> Arc<OnceCell<T>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drawing) = running.get(tag).and_then(Weak::upgrade) {
            return drawing;
        }
        // Requests may be dropped at any time, so they do not remove their drawings themselves.
        running.retain(|_, drawing| drawing.strong_count() > 0);
        let drawing = Arc::default();
        running.insert(tag.clone(), Arc::downgrade(&drawing));
        drawing
    }
}

impl ApiState {
    /// Caches a drawing that is requested again.
    pub(super) fn keep(&self, tag: Option<&EntityTag>, drawing: ResponseBody) -> Bytes {
        let drawing = match tag {
            Some(tag) => self.page_cache.insert(tag, drawing),
            None => drawing,
        };
        drawing.into_bytes().ok().asserted_or_default()
    }
}
