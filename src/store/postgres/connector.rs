//! Opening of connections.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

use super::connection::{Connection, Link, Purpose};
use super::error::{Fault, timed_out};
use super::hosts::{Hosts, Target};
use super::options::Options;
use super::race::Race;
use super::server::{Server, Servers};
use super::single_flight::SingleFlight;
use crate::store::StoreError;

pub(super) type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Opens connections; hides the type of the TLS implementation.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn(Config) -> Connecting + Send + Sync>,
    pub(super) hosts: Arc<Hosts>,
    pub(super) servers: Arc<Servers>,
    /// Asks the server in use whether it still answers.
    pub(super) asking: Arc<SingleFlight<()>>,
    pub(super) options: Arc<Options>,
}

/// A connection and its server, or why there is none.
pub(super) type Attempt = Result<(Link, Server), Fault>;

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
            hosts: Arc::new(Hosts::new(config)?),
            servers: Arc::default(),
            asking: Arc::default(),
            options: Arc::new(options),
        })
    }

    /// Opens a connection to the server in use, or else to the best one that answers. Must be called on the runtime of
    /// the store.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        loop {
            let view = self.servers.view();
            let (link, server) = Race::new(self, &view, purpose)
                .run()
                .await
                .inspect_err(|_| self.servers.note_outage(&view))?;
            // Otherwise another caller has found a better server meanwhile.
            if let Some(epoch) = self.servers.settle(&view, &server) {
                return Ok(Connection::new(link, self, purpose, epoch));
            }
        }
    }

    /// Returns whether commits have to wait, because other instances may still use an old primary. Behind a single address,
    /// none of them could learn of another server sooner.
    pub(super) fn holds_commits(&self) -> bool {
        self.hosts.may_lead_to_several() && self.servers.holds_commits()
    }

    /// Returns whether a call that has found no server may try again: at the beginning of an outage. Later calls fail at
    /// once, so that requests of several calls do not wait for each of them.
    pub(super) fn may_wait(&self) -> bool {
        self.servers.outage().is_none_or(|outage| outage < self.options.patience())
    }

    /// Connects to a server whose address is known, within the time limit of a connection.
    pub(super) async fn attempt(&self, target: &Target, purpose: Purpose) -> Attempt {
        let found = timeout(self.options.connect_timeout, self.find(target, purpose)).await;
        found.unwrap_or_else(|_| Err(timed_out().into()))
    }

    /// Connects to a server without a time limit, whether or not it accepts writes.
    pub(super) async fn find(&self, target: &Target, purpose: Purpose) -> Attempt {
        let (client, driver) =
            (self.connect)(target.config.clone()).await.map_err(|error| Fault::of(&error))?;
        let link = Link::new(client, driver);
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
