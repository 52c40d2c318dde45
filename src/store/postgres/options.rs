use std::time::Duration;

use super::doubt;

/// Time that the server has to report its own timeout. After it, the client gives up on the connection.
const GRACE: Duration = Duration::from_millis(500);

/// Options of a store.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) max_connections: usize,
    pub(super) acquire_timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) open_timeout: Duration,
    pub(super) connection_lifetime: Duration,
    pub(super) schema: Option<String>,
    pub(super) body_cache_bytes: usize,
    pub(super) log_age: Duration,
    pub(super) log_entries: u64,
    pub(super) transaction_pooling: bool,
}

impl Options {
    /// Maximum time to wait for the answer to a statement.
    pub(super) fn answer_timeout(&self) -> Duration {
        self.statement_timeout.saturating_add(GRACE)
    }

    /// Time after which the server is asked whether it answers at all, while a statement has no answer. The outcome is
    /// known when the statement ends.
    pub(super) fn doubt_timeout(&self) -> Duration {
        let timeout = self.answer_timeout();
        timeout.saturating_sub(doubt::PATIENCE).max(timeout / 2)
    }

    /// Maximum time to wait for a connection and the answer to a statement.
    pub(super) fn patience(&self) -> Duration {
        self.answer_timeout().saturating_add(self.acquire_timeout)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: 8,
            acquire_timeout: Duration::from_millis(1_500),
            connect_timeout: Duration::from_millis(1_500),
            statement_timeout: Duration::from_millis(2_500),
            open_timeout: Duration::ZERO,
            connection_lifetime: Duration::from_secs(300),
            schema: None,
            body_cache_bytes: 64 << 20,
            log_age: Duration::from_secs(3_600),
            log_entries: 100_000,
            transaction_pooling: false,
        }
    }
}
