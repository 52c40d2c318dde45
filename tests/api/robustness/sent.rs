use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::common::SplitMix64;

/// A request body as a connection delivers it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    steps: VecDeque<Step>,
    /// Whether the client announces the length.
    is_length_known: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Data(Bytes),
    /// The connection is idle for a moment.
    Wait,
    Trailers,
    BreakOff,
}

impl Sent {
    /// Delivers these bytes at once or in pieces, sometimes incompletely.
    pub(super) fn new(bytes: Vec<u8>, random: &mut SplitMix64) -> Self {
        if random.once_in(2) {
            let steps = if bytes.is_empty() { VecDeque::new() } else { [Step::Data(bytes.into())].into() };
            return Self { steps, is_length_known: true };
        }
        let mut rest = Bytes::from(bytes);
        let mut steps = VecDeque::new();
        while !rest.is_empty() {
            let length = random.below(rest.len() + 1).max(rest.len() / 8);
            steps.push_back(Step::Data(rest.split_to(length)));
            if random.once_in(4) {
                steps.push_back(Step::Wait);
            }
        }
        if random.once_in(8) {
            steps.truncate(random.below(steps.len() + 1));
            steps.push_back(Step::BreakOff);
        } else if random.once_in(8) {
            steps.push_back(Step::Trailers);
        }
        Self { steps, is_length_known: false }
    }

    fn length(&self) -> u64 {
        let length = |step: &Step| if let Step::Data(bytes) = step { bytes.len() as u64 } else { 0 };
        self.steps.iter().map(length).sum()
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match self.steps.pop_front() {
            Some(Step::Wait) => {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Data(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Step::Trailers) => Some(Ok(Frame::trailers(HeaderMap::new()))),
            Some(Step::BreakOff) => Some(Err(io::ErrorKind::ConnectionReset.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_length_known && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_length_known { SizeHint::with_exact(self.length()) } else { SizeHint::default() }
    }
}
