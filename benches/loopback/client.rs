//! The client: some connections to one server, on each of which one request follows another.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::connection::Connection;

/// What one round came to.
#[derive(Debug)]
pub(crate) struct Asked {
    /// How long every request took, from its sending to the last byte of its response.
    pub(crate) latencies: Vec<Duration>,
    pub(crate) time: Duration,
}

/// Asks one server, on connections that are kept from round to round.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Vec<Connection>,
    request: Arc<[u8]>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, connections: usize, request: &str) -> io::Result<Self> {
        let mut open = Vec::with_capacity(connections);
        for _ in 0..connections {
            open.push(Connection::open(address).await?);
        }
        Ok(Self { connections: open, request: request.as_bytes().into() })
    }

    /// The body of one response.
    pub(crate) async fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.connections[0].ask(&self.request, |piece| body.extend_from_slice(piece)).await?;
        Ok(body)
    }

    /// Asks on all connections at a time for so long, and until every response is there.
    pub(crate) async fn ask(&mut self, time: Duration) -> io::Result<Asked> {
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for connection in self.connections.drain(..) {
            tasks.spawn(ask_on(connection, Arc::clone(&self.request), start + time));
        }
        let mut latencies = Vec::new();
        while let Some(task) = tasks.join_next().await {
            let (connection, own) = task??;
            self.connections.push(connection);
            latencies.extend(own);
        }
        Ok(Asked { latencies, time: start.elapsed() })
    }
}

async fn ask_on(
    mut connection: Connection,
    request: Arc<[u8]>,
    end: Instant,
) -> io::Result<(Connection, Vec<Duration>)> {
    let mut latencies = Vec::new();
    let mut start = Instant::now();
    while start < end {
        connection.ask(&request, |_| ()).await?;
        let now = Instant::now();
        latencies.push(now - start);
        start = now;
    }
    Ok((connection, latencies))
}
