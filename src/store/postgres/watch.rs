//! Looking at all servers of the connection string while the store runs.
//!
//! An old primary may go on answering, so that no error would ever tell its clients of the new one. And
//! one that is silent would be noticed only when a statement times out.

use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use super::connection::{Link, Purpose};
use super::connector::Connector;
use super::doubt::PATIENCE;
use super::error::Fault;
use super::hosts::{Address, Target};
use super::server::{Server, View};
use super::shared::Shared;

/// Time between two looks at the servers.
const INTERVAL: Duration = Duration::from_millis(500);

/// Number of looks after which the connections to one of the hosts, in turn, are made anew: its address may lead to
/// another server by now, as that of a proxy or a Kubernetes service does.
const LOOKS_OF_A_LINK: u64 = 3;

/// What earlier looks have left.
#[derive(Default)]
struct Watch {
    /// Connections to the servers, which are kept: most of them are standbys, whose promotion leaves them open.
    links: HashMap<Address, Link>,
    /// Addresses in use that did not answer at the last look.
    silent: Vec<Address>,
    /// Number of looks.
    count: u64,
}

/// Runs until the store is dropped, or there is only one server to look at.
pub(super) async fn run(shared: Weak<Shared>) {
    let mut watch = Watch::default();
    loop {
        sleep(INTERVAL).await;
        let Some(connector) = shared.upgrade().map(|shared| shared.pool.connector.clone()) else { return };
        if connector.hosts.is_local() {
            return;
        }
        watch.look(&connector).await;
    }
}

impl Watch {
    /// Asks all servers what they are. The next connection is made to the best of all if another one has a later
    /// timeline than the server in use, accepts writes while that one does not, or answers when an address in use was
    /// silent twice.
    async fn look(&mut self, connector: &Connector) {
        let view = connector.servers.view();
        let Some(used) = view.trusted() else { return };
        let targets = targets(connector, &view).await;
        self.count += 1;
        // A name, an address or a proxy may lead to another server by now. One host after the other is asked anew.
        if self.count.is_multiple_of(LOOKS_OF_A_LINK) {
            let turn = self.count / LOOKS_OF_A_LINK % connector.hosts.count().max(1) as u64;
            self.links.retain(|address, _| address.host as u64 != turn);
        }
        let asked = targets.into_iter().map(|target| {
            let link = self.links.remove(&target.address);
            async move { timeout(PATIENCE, ask(connector, &target, link)).await.ok().and_then(Result::ok) }
        });
        let found: Vec<(Link, Server)> = join_all(asked).await.into_iter().flatten().collect();
        let is_missing = |address: &Address| found.iter().all(|(_, server)| server.address != *address);
        let silent: Vec<Address> = view.addresses.iter().copied().filter(is_missing).collect();
        let is_silent = silent.iter().any(|address| self.silent.contains(address));
        self.silent = silent;
        let is_better = |server: &&Server| {
            let is_preferred = view.is_outranked_by(server) || (server.is_writable && !used.is_writable);
            let is_usable = connector.hosts.can_use(server) && view.accepts(server);
            is_usable && (is_silent || is_preferred)
        };
        let better = found.iter().map(|(_, server)| server).filter(is_better);
        if let Some(server) = better.max_by_key(|server| view.rank(server)) {
            let reason = if is_silent { "answers, and an address in use does not" } else { "accepts writes" };
            tracing::warn!("the database server {} {reason}: closing all connections", server.name);
            connector.servers.distrust(view.epoch, server.history);
        }
        self.links = found.into_iter().map(|(link, server)| (server.address, link)).collect();
    }
}

/// Returns all addresses of all hosts, and those in use to which the names do not lead any more. A name that leads to one of
/// several servers after the other does not make the others silent.
async fn targets(connector: &Connector, view: &View) -> Vec<Target> {
    let resolving = connector
        .hosts
        .beginning_with(None)
        .map(|host| async move { host.resolve(PATIENCE).await.unwrap_or_default() });
    let mut targets: Vec<Target> = join_all(resolving).await.into_iter().flatten().collect();
    for address in &view.addresses {
        if targets.iter().all(|target| target.address != *address) {
            targets.extend(connector.hosts.target(*address));
        }
    }
    targets
}

async fn ask(connector: &Connector, target: &Target, link: Option<Link>) -> Result<(Link, Server), Fault> {
    if let Some(link) = link
        && let Ok(server) = link.identify(target).await
    {
        return Ok((link, server));
    }
    connector.find(target, Purpose::LongRead).await
}
