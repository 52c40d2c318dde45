//! The client: several connections to one server, each with one request at a time.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::connection::Connection;

/// The result of one round.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Latency of each request, from sending it to the last byte of its response.
    pub(crate) latencies: Vec<Duration>,
    pub(crate) time: Duration,
}

/// A client of one server, whose connections stay open between rounds.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Vec<Connection>,
    request: String,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, connections: usize, request: &str) -> io::Result<Self> {
        let connections = (0..connections).map(|_| Connection::open(address)).collect::<io::Result<_>>()?;
        Ok(Self { connections, request: request.to_owned() })
    }

    /// Requests one response and returns its body.
    pub(crate) fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        let ask = self.connections[0].ask(self.request.as_bytes(), |piece| body.extend_from_slice(piece));
        run(vec![ask])?;
        Ok(body)
    }

    /// Sends requests on all connections for this time, then waits for the outstanding responses.
    pub(crate) fn ask(&mut self, time: Duration) -> io::Result<Asked> {
        let start = Instant::now();
        let request = self.request.as_bytes();
        let tasks = self.connections.iter_mut().map(|connection| ask_on(connection, request, start + time));
        let latencies = run(tasks.collect())?.concat();
        Ok(Asked { latencies, time: start.elapsed() })
    }
}

async fn ask_on(connection: &mut Connection, request: &[u8], end: Instant) -> io::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    let mut start = Instant::now();
    while start < end {
        connection.ask(request, |_| ()).await?;
        let now = Instant::now();
        latencies.push(now - start);
        start = now;
    }
    Ok(latencies)
}

/// Polls all futures on this thread without ever sleeping.
fn run<T>(tasks: Vec<impl Future<Output = io::Result<T>>>) -> io::Result<Vec<T>> {
    let mut context = Context::from_waker(Waker::noop());
    let mut tasks: Vec<_> = tasks.into_iter().map(Box::pin).collect();
    let mut done = Vec::with_capacity(tasks.len());
    let mut place = 0;
    while !tasks.is_empty() {
        place = if place < tasks.len() { place } else { 0 };
        match tasks[place].as_mut().poll(&mut context) {
            Poll::Ready(result) => {
                done.push(result?);
                drop(tasks.swap_remove(place));
            }
            Poll::Pending => place += 1,
        }
    }
    Ok(done)
}
