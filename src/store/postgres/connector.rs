//! Opening of connections, and the check that they keep their session.
//!
//! A pooler that assigns a server connection to each transaction mixes up the prepared statements of its clients: a
//! statement may be missing, or be that of another instance.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

use super::builder::Options;
use super::connection::{Purpose, RawConnection, ServerConnection};
use super::error::{Fault, replaced, timed_out};
use super::hosts::{ConnectionHosts, ConnectionTarget};
use super::race::Race;
use super::server::{Server, Servers};
use super::single_flight::SingleFlight;
use super::sql;
use crate::store::StoreError;

pub(super) type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Opens connections; hides the type of the TLS implementation.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn(Config) -> Connecting + Send + Sync>,
    pub(super) hosts: Arc<ConnectionHosts>,
    pub(super) servers: Arc<Servers>,
    /// Asks the server in use whether it still answers.
    pub(super) asking: Arc<SingleFlight<()>>,
    pub(super) options: Arc<Options>,
}

/// A connection and its server, or why there is none.
pub(super) type ConnectResult = Result<(RawConnection, Server), Fault>;

impl Connector {
    /// # Errors
    /// `Invalid` if the hosts of the configuration do not fit together.
    pub(super) fn new<T>(config: &Config, tls: T, options: Options) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connect = move |config: Config| -> Connecting {
            let tls = tls.clone();
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                Ok((client, Box::pin(connection) as Driver))
            })
        };
        Ok(Self {
            connect: Arc::new(connect),
            hosts: Arc::new(ConnectionHosts::new(config)?),
            servers: Arc::default(),
            asking: Arc::default(),
            options: Arc::new(options),
        })
    }

    /// Opens a connection to the server in use, or else to the best one that answers. Must be called on the runtime of
    /// the store.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<ServerConnection, Fault> {
        loop {
            let view = self.servers.view();
            let (link, server) = Race::new(self, &view, purpose)
                .run()
                .await
                .inspect_err(|_| self.servers.note_outage(&view))?;
            // Otherwise another caller has found a better server meanwhile.
            if let Some(epoch) = self.servers.settle(&view, &server) {
                return Ok(ServerConnection::new(link, self, purpose, epoch));
            }
        }
    }

    /// Returns whether commits have to wait, because other instances may still use an old primary. With a single
    /// address, waiting would not help: no instance could find the new server at another address.
    pub(super) fn holds_commits(&self) -> bool {
        self.hosts.may_lead_to_several() && self.servers.holds_commits()
    }

    /// Returns whether a call that has found no server may try again: at the beginning of an outage. Later calls fail at
    /// once, so that requests of several calls do not wait for each of them.
    pub(super) fn may_wait(&self) -> bool {
        self.servers.outage().is_none_or(|outage| outage < self.options.total_timeout())
    }

    /// Connects to a server whose address is known, within the time limit of a connection.
    pub(super) async fn attempt(&self, target: &ConnectionTarget, purpose: Purpose) -> ConnectResult {
        let found = timeout(self.options.connect_timeout, self.find(target, purpose)).await;
        found.unwrap_or_else(|_| Err(timed_out().into()))
    }

    /// Connects to a server without a time limit, whether or not it accepts writes.
    pub(super) async fn find(&self, target: &ConnectionTarget, purpose: Purpose) -> ConnectResult {
        let (client, driver) =
            (self.connect)(target.config.clone()).await.map_err(|error| Fault::of(&error))?;
        let link = RawConnection::new(client, driver);
        match link.set_up(target, purpose, &self.options).await {
            Ok(server) => Ok((link, server)),
            Err(fault) => {
                if fault.is_answer {
                    self.servers.note_unidentified(&fault.error);
                }
                Err(fault)
            }
        }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connector").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Checks that the connections of a store keep their sessions, unless the store does not rely on it.
///
/// # Errors
/// `Invalid` if two connections have the same session, or one has several.
pub(super) async fn require_sessions(connector: &Connector) -> Result<(), Fault> {
    if connector.options.transaction_pooling {
        return Ok(());
    }
    let one = connector.connect(Purpose::Work).await?;
    let other = connector.connect(Purpose::Work).await?;
    // The second query detects a pooler that uses its connections in turn.
    let [first, second] = [one.session().await?, one.session().await?];
    // The transaction occupies the session that a pooler has just assigned to the first connection.
    other.execute(sql::BEGIN).await?.map_err(|error| Fault::of(&error))?;
    let occupied = other.session().await?;
    if !one.is_current() || !other.is_current() {
        return Err(replaced().into());
    }
    if first.is_none() {
        return Ok(());
    }
    if first != second || first == occupied || one.session().await? != first {
        return Err(StoreError::invalid(
            "the connections lead to a pooler that assigns a server connection to each transaction: call \
             `transaction_pooling(true)` on the builder, or let the pooler assign sessions",
        )
        .into());
    }
    Ok(())
}
