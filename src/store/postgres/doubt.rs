//! Distinction between a slow statement and a silent server.
//!
//! A statement that is late may wait for a lock, or send a large page through a slow network. Then only its own
//! connection is closed. But the server may be silent, or a router may have lost the state of all connections. The
//! former shows when the server is asked on a new connection. The latter shows when one of the other connections, which
//! are asked before their next use, has no answer. Both close all connections.
//!
//! A server that refuses a connection, because it has too many, is alive. A pooler that has no place for a connection lets
//! it wait, or refuses it, whatever its server does. So the connection that [watches](super::watch) the server is heard too.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::connection::Purpose;
use super::connector::Connector;
use super::server::{Epoch, Server};
use super::watch::INTERVAL;

/// Time that a server has to answer a trivial query.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_millis(750);

impl Connector {
    /// Probes the server in use in the background, because a statement is late on a connection of this epoch. Must be
    /// called on the runtime of the store.
    pub(super) fn doubt(&self, epoch: Epoch) {
        if let Some(server) = self.servers.begin_doubt(epoch) {
            let connector = self.clone();
            self.asking.start(|| async move { connector.ask(&server, epoch).await });
        }
    }

    /// Distrusts a server unless it answers and its identity is unchanged.
    async fn ask(&self, server: &Server, epoch: Epoch) {
        let begin = Instant::now();
        let end = begin + PROBE_TIMEOUT;
        let asked = async { Some(self.find(&self.hosts.target(server.address)?, Purpose::Work).await) };
        let seen = match timeout_at(end, asked).await.ok().flatten() {
            Some(Ok((_, found))) if found == *server => return,
            Some(Ok((_, found))) => found.history,
            Some(Err(fault)) if fault.is_answer => return,
            Some(Err(_)) | None => {
                // By now, the first question that the watch sent after `begin` has had time for its answer.
                sleep_until(end + INTERVAL).await;
                if self.servers.view().addresses.has_answered(server.address, begin.into_std()) {
                    return;
                }
                None
            }
        };
        self.servers.distrust(epoch, seen);
    }
}
