//! The hosts of a connection string.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

use super::error::Fault;
use super::host_name::HostName;
use super::server::Server;
use crate::store::StoreError;

/// The hosts of a connection string, in its order.
#[derive(Clone)]
pub(super) struct ConnectionHosts {
    hosts: Vec<ConnectionTarget>,
    /// Whether a server must accept writes, or must not; `None`: one that does is preferred, as among the addresses of
    /// one host.
    must_be_writable: Option<bool>,
}

/// A host to connect to, or one of its addresses.
#[derive(Clone)]
pub(super) struct ConnectionTarget {
    /// The connection string with this host alone.
    pub(super) config: Config,
    pub(super) address: ServerAddress,
    /// Host and port, without a user or a password.
    pub(super) name: Arc<str>,
    /// The name to resolve; `None` if the address is known.
    unresolved: Option<Arc<HostName>>,
}

/// Identifies a server of a connection string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ServerAddress {
    /// Number of the host in the connection string.
    pub(super) host: usize,
    /// `None` for a Unix socket, and for a name that is not resolved.
    pub(super) ip: Option<IpAddr>,
}

impl ConnectionHosts {
    /// Splits a configuration into its hosts.
    ///
    /// # Errors
    /// `Invalid` if there is no host, the numbers of hosts, addresses and ports differ, or a name contains an `@`.
    pub(super) fn new(config: &Config) -> Result<Self, StoreError> {
        let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
        let count = names.len().max(addresses.len());
        if count == 0 {
            return Err(StoreError::invalid("the connection string has no host"));
        }
        // It is not quoted, because it may be the end of a password.
        if names.iter().any(|name| matches!(name, Host::Tcp(name) if name.contains('@'))) {
            return Err(StoreError::invalid(
                "the name of a host in the connection string contains an @: write it as %40 in a user name or password",
            ));
        }
        let differs = |number: usize| number != 0 && number != count;
        if differs(names.len()) || differs(addresses.len()) || (differs(ports.len()) && ports.len() != 1) {
            return Err(StoreError::invalid(
                "the connection string has different numbers of hosts, addresses and ports",
            ));
        }
        let port = |index: usize| ports.get(index).or_else(|| ports.first()).copied().unwrap_or(5432);
        let target =
            |index| ConnectionTarget::new(config, index, names.get(index), addresses.get(index), port(index));
        let must_be_writable = match config.get_target_session_attrs() {
            TargetSessionAttrs::ReadWrite => Some(true),
            TargetSessionAttrs::ReadOnly => Some(false),
            // One of several servers is the primary. The others lag behind it, and refuse commits.
            _ => (count > 1).then_some(true),
        };
        Ok(Self { hosts: (0..count).map(target).collect(), must_be_writable })
    }

    /// Returns whether a server may be used, by whether it accepts writes.
    pub(super) fn can_use(&self, server: &Server) -> bool {
        self.must_be_writable.is_none_or(|must| must == server.is_writable)
    }

    /// Returns whether there are several hosts, or a name that may have several addresses.
    pub(super) fn may_lead_to_several(&self) -> bool {
        self.hosts.len() > 1 || self.hosts.iter().any(ConnectionTarget::is_unresolved)
    }

    pub(super) const fn count(&self) -> usize {
        self.hosts.len()
    }

    /// Returns the host with an address that it was found to have.
    pub(super) fn target(&self, address: ServerAddress) -> Option<ConnectionTarget> {
        let host = self.hosts.get(address.host)?;
        Some(address.ip.map_or_else(|| host.clone(), |ip| host.at(ip)))
    }

    /// Returns the hosts in the order of the connection string, but one of them first.
    pub(super) fn beginning_with(&self, first: Option<usize>) -> impl Iterator<Item = ConnectionTarget> {
        let first = first.and_then(|first| self.hosts.get(first));
        let others = self
            .hosts
            .iter()
            .filter(move |host| first.is_none_or(|first| first.address.host != host.address.host));
        first.into_iter().chain(others).cloned()
    }
}

impl ConnectionTarget {
    fn new(config: &Config, index: usize, name: Option<&Host>, ip: Option<&IpAddr>, port: u16) -> Self {
        let mut single = without_hosts(config);
        single.port(port);
        let mut address = ServerAddress { host: index, ip: ip.copied() };
        let (mut unresolved, mut shown) = (None, String::new());
        match name {
            Some(Host::Tcp(name)) => {
                single.host(name);
                let literal: Option<IpAddr> = name.parse().ok();
                shown = literal.map_or_else(|| format!("{name}:{port}"), |ip| show(ip, port));
                address.ip = address.ip.or(literal);
                unresolved = address.ip.is_none().then(|| Arc::new(HostName::new(name)));
            }
            #[cfg(unix)]
            Some(Host::Unix(folder)) => {
                single.host_path(folder);
                shown = format!("{}:{port}", folder.display());
            }
            None => {}
        }
        if let Some(ip) = ip {
            single.hostaddr(*ip);
            if shown.is_empty() {
                shown = show(*ip, port);
            }
        }
        Self { config: single, address, name: shown.into(), unresolved }
    }

    /// Returns whether the name of the host has to be resolved.
    pub(super) const fn is_unresolved(&self) -> bool {
        self.unresolved.is_some()
    }

    /// Resolves the name of the host to one target for each of its addresses.
    pub(super) async fn resolve(&self, limit: Duration) -> Result<Vec<Self>, Fault> {
        let Some(name) = &self.unresolved else { return Ok(vec![self.clone()]) };
        Ok(name.resolve(limit).await?.into_iter().map(|ip| self.at(ip)).collect())
    }

    /// Returns this host with one of the addresses of its name.
    fn at(&self, ip: IpAddr) -> Self {
        let mut target = self.clone();
        if self.unresolved.is_some() {
            target.config.hostaddr(ip);
            target.address.ip = Some(ip);
            target.unresolved = None;
        }
        target
    }
}

/// Writes an address and a port.
fn show(ip: IpAddr, port: u16) -> String {
    std::net::SocketAddr::new(ip, port).to_string()
}

/// Returns a configuration without its hosts and ports. The driver offers no way to remove them.
fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    if let Some(user) = config.get_user() {
        copy.user(user);
    }
    if let Some(password) = config.get_password() {
        copy.password(password);
    }
    if let Some(database) = config.get_dbname() {
        copy.dbname(database);
    }
    if let Some(options) = config.get_options() {
        copy.options(options);
    }
    if let Some(name) = config.get_application_name() {
        copy.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        copy.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        copy.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        copy.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        copy.keepalives_retries(retries);
    }
    copy.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    copy.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    copy.channel_binding(config.get_channel_binding());
    copy
}

/// Omits the configurations, which may contain a password.
impl fmt::Debug for ConnectionHosts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.hosts.iter().map(|host| &host.name)).finish()
    }
}
