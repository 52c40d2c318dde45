//! The rest of request bodies that no endpoint reads.
//!
//! A server closes a connection whose request has not arrived to its end, or resets the stream of HTTP/2. A client that is still
//! sending then sees the broken connection or stream instead of the response, so that the rest of a short body is read and dropped
//! before. HTTP/2 forbids clients to discard the response (RFC 9113, section 8.1), but common ones such as curl 7.88 do.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::EXPECT;
use http::request::Parts;

use super::boxed_body::{BoxedBody, UnreadBody, lock};

/// The most bytes that are dropped.
const MAX_DROPPED: u64 = 4 * 1024 * 1024;
/// What a frame costs besides its bytes, so that empty ones come to an end, too.
const FRAME_COST: u64 = 256;
/// How long they are awaited in all.
const WAIT: Duration = Duration::from_secs(1);

/// The end of a body, which its reader may not have reached.
pub(in crate::service) struct BodyEnd(Option<Arc<Mutex<UnreadBody>>>);

impl BodyEnd {
    pub(in crate::service) fn of(body: Option<&BoxedBody>) -> Self {
        Self(body.map(|body| Arc::clone(&body.shared)))
    }

    pub(in crate::service) fn is_reached(&self) -> bool {
        self.0.as_ref().is_none_or(|shared| lock(shared).is_over)
    }

    /// Reads the rest of a body and drops it, unless it is long, late or not awaited.
    pub(in crate::service) async fn drop_rest(&self, request: &Parts) {
        // A client that asks first has not begun to send.
        let is_sent = !request.headers.contains_key(EXPECT);
        let Some(shared) = self.0.as_ref().filter(|_| is_sent && !self.is_reached()) else { return };
        let remaining = lock(shared).body.limit_rest(WAIT);
        if remaining > MAX_DROPPED {
            return;
        }
        let mut dropped = 0;
        while dropped <= MAX_DROPPED {
            let Some(Ok(frame)) = poll_fn(|context| lock(shared).poll_frame(context)).await else { return };
            dropped += FRAME_COST + frame.data_ref().map_or(0, |data| data.len() as u64);
        }
    }
}
