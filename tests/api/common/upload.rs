//! Requests whose bodies arrive in parts.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, yield_now};

use super::{Reply, Server};

/// The next part of a body, or the loss of the connection.
type Part = Result<Bytes, &'static str>;

/// A body that arrives as it is sent, and ends when its sender is dropped.
struct Awaited {
    is_read: Option<oneshot::Sender<()>>,
    parts: mpsc::UnboundedReceiver<Part>,
    hint: SizeHint,
}

impl Body for Awaited {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        if let Some(is_read) = self.is_read.take() {
            is_read.send(()).unwrap();
        }
        let part = ready!(self.parts.poll_recv(context));
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

/// A request whose body the server waits for.
pub(crate) struct Upload {
    parts: mpsc::UnboundedSender<Part>,
    reply: JoinHandle<Reply>,
}

impl Upload {
    /// Sends a request, and returns when the server reads its body.
    pub(crate) async fn begin(server: &Server, request: Request<String>) -> Self {
        Self::begin_with(server, request, SizeHint::new()).await
    }

    /// Sends a request that announces the size of its body.
    pub(crate) async fn begin_of_size(server: &Server, request: Request<String>, size: u64) -> Self {
        Self::begin_with(server, request, SizeHint::with_exact(size)).await
    }

    async fn begin_with(server: &Server, request: Request<String>, hint: SizeHint) -> Self {
        let (parts, given) = mpsc::unbounded_channel();
        let (is_read, read) = oneshot::channel();
        let request = request.map(|_| Awaited { is_read: Some(is_read), parts: given, hint });
        let server = server.clone();
        let reply = tokio::spawn(async move { server.send(request).await });
        read.await.expect("the server reads the body");
        Self { parts, reply }
    }

    /// Sends a part of the body.
    pub(crate) fn send(&self, part: &str) {
        // A server that has answered takes nothing more.
        let _ = self.parts.send(Ok(Bytes::copy_from_slice(part.as_bytes())));
    }

    /// Returns whether the answer has come.
    pub(crate) fn is_answered(&self) -> bool {
        self.reply.is_finished()
    }

    /// Lets the server take what was sent. Returns the answer if it does not wait for more.
    pub(crate) async fn settled(self) -> Result<Reply, Self> {
        for _ in 0..100 {
            if self.is_answered() {
                return Ok(self.stall().await);
            }
            yield_now().await;
        }
        Err(self)
    }

    /// Sends the rest of the body, and returns the answer.
    pub(crate) async fn finish(self, rest: &str) -> Reply {
        self.send(rest);
        drop(self.parts);
        self.reply.await.unwrap()
    }

    /// Sends nothing more, and returns the answer, which does not wait for the end of the body.
    pub(crate) async fn stall(self) -> Reply {
        let reply = self.reply.await.unwrap();
        drop(self.parts);
        reply
    }

    /// Breaks the connection, and returns the answer that no client would receive.
    pub(crate) async fn break_off(self) -> Reply {
        self.parts.send(Err("the connection is lost")).unwrap();
        self.reply.await.unwrap()
    }

    /// Drops the request with its future.
    pub(crate) async fn cancel(self) {
        self.reply.abort();
        assert!(self.reply.await.unwrap_err().is_cancelled());
    }
}
