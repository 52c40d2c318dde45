//! Reads the changed records from which links follow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::followers::FollowedKey;
use super::memory::{FollowedNetwork, KnownHost};
use super::touched::Touched;
use crate::discovery::Claim;
use crate::fair_threads::yield_turn;
use crate::inventory::discovery::{claim_of, host_of_claim};
use crate::inventory::hosts::decode as decode_host;
use crate::inventory::schema::{CLAIM, CLAIM_LINK, HOST, TOPOLOGY_LINK, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::{HostId, LinkId, TopologyLink, uuids};
use crate::store::{LinkFilter, Query, Record, Start};
use crate::topology::links::{Device, Links, ManualLink};

/// The number of hosts that are read at a time.
const READ_TOGETHER: usize = 50;

/// The size of hosts, and of their claims, that are read at a time, in bytes. Only one host alone may have more.
const BYTES_TOGETHER: usize = 4 * 1024 * 1024;

/// The number of changed hosts from which computing links is long work.
const MANY_HOSTS: usize = 500;

/// Which links may differ from the recorded ones.
#[derive(Debug)]
pub(super) enum Decided {
    All,
    Some(BTreeSet<LinkId>),
}

/// The changes on a network.
#[derive(Debug, Default)]
struct Reading {
    /// The hosts that were read.
    hosts: BTreeMap<HostId, KnownHost>,
    /// The hosts that are new or changed.
    devices: Vec<Device>,
    gone: Vec<HostId>,
    manual: Option<Vec<ManualLink>>,
    /// The size of changed hosts and their claims, in bytes.
    bytes: usize,
}

impl Inventory {
    /// Brings the links of a network up to date. Returns the links that may differ from the recorded ones.
    pub(super) async fn bring_up_to_date(
        &self,
        key: FollowedKey,
        known: Option<Box<FollowedNetwork>>,
        touched: &Touched,
    ) -> Result<(Box<FollowedNetwork>, Decided), Error> {
        let is_new = known.is_none();
        let mut network = known.unwrap_or_else(|| Box::new(FollowedNetwork::empty(self.monotonic())));
        let is_whole = is_new || touched.all || network.recorded.is_none() || self.store.is_shared();
        let mut reading = Reading::default();
        if is_whole {
            self.read_all_hosts(key, &network.hosts, &mut reading).await?;
        } else {
            self.read_hosts(key, &touched.hosts, &network.hosts, &mut reading).await?;
        }
        if is_whole || touched.manual {
            let links: Vec<TopologyLink> = self.read_all(&on_network(TOPOLOGY_LINK, key.0, key.1)).await?;
            reading.manual = Some(links.iter().map(ManualLink::from).collect());
        }
        let must_compare_all = network.recorded.is_none();
        let (many, bytes) = (reading.devices.len() >= MANY_HOSTS, reading.bytes);
        let work = move || {
            let decided = network.apply(reading, is_new);
            (network, decided)
        };
        let (network, decided) = match many {
            true => self.offload_long(key.0, work).await?,
            false => self.offload(key.0, bytes, work).await?,
        };
        Ok((network, if must_compare_all { Decided::All } else { Decided::Some(decided) }))
    }

    /// Reads all hosts of a network, some at a time.
    async fn read_all_hosts(
        &self,
        key: FollowedKey,
        known: &BTreeMap<HostId, KnownHost>,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        self.read_pages(key, on_network(HOST, key.0, key.1), known, reading).await?;
        reading.gone = known.keys().filter(|host| !reading.hosts.contains_key(host)).copied().collect();
        Ok(())
    }

    /// Reads some hosts.
    async fn read_hosts(
        &self,
        key: FollowedKey,
        hosts: &BTreeSet<HostId>,
        known: &BTreeMap<HostId, KnownHost>,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        let all: Vec<HostId> = hosts.iter().copied().collect();
        for some in all.chunks(READ_TOGETHER) {
            let query = Query { ids: Some(uuids(some)), ..on_network(HOST, key.0, key.1) };
            self.read_pages(key, query, known, reading).await?;
            let gone =
                some.iter().filter(|host| known.contains_key(host) && !reading.hosts.contains_key(host));
            reading.gone.extend(gone);
        }
        Ok(())
    }

    /// Reads the hosts that a query finds, some at a time, with their claims.
    async fn read_pages(
        &self,
        key: FollowedKey,
        query: Query,
        known: &BTreeMap<HostId, KnownHost>,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        let mut query = Query { limit: Some(READ_TOGETHER), max_bytes: Some(BYTES_TOGETHER), ..query };
        loop {
            let mut page = self.store.list(&query).await?;
            let next = page.next;
            loop {
                self.read_hosts_of_page(key, page.records, known, reading).await?;
                tokio::task::yield_now().await;
                if page.unread.is_empty() {
                    break;
                }
                let ids = Some(page.unread.iter().map(|key| key.id).collect());
                page = self.store.list(&Query { ids, start: Start::Offset(0), ..query.clone() }).await?;
            }
            match next {
                Some(next) => query.start = Start::After(next),
                None => return Ok(()),
            }
        }
    }

    async fn read_hosts_of_page(
        &self,
        key: FollowedKey,
        mut hosts: Vec<Record>,
        known: &BTreeMap<HostId, KnownHost>,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        while !hosts.is_empty() {
            let (together, claims) = self.read_claims(key, &hosts).await?;
            let rest = hosts.split_off(together);
            self.decode_changed(key, (hosts, claims), known, reading).await?;
            hosts = rest;
        }
        Ok(())
    }

    /// Reads the claims of the first hosts: of as many as have not much, but of one at least. Returns their number.
    async fn read_claims(
        &self,
        (organization, network): FollowedKey,
        hosts: &[Record],
    ) -> Result<(usize, Vec<Record>), Error> {
        let mut together = hosts.len();
        loop {
            let ids: Vec<Uuid> = hosts.iter().take(together).map(|host| host.key.id).collect();
            let of_hosts = vec![LinkFilter::new(CLAIM_LINK, ids)];
            // A host has a claim of each kind at most.
            let max_bytes = (together > 1).then_some(BYTES_TOGETHER);
            let query = Query { links: of_hosts, max_bytes, ..on_network(CLAIM, organization, network) };
            let page = self.store.list(&query).await?;
            if together <= 1 || page.unread.is_empty() {
                return Ok((together, page.records));
            }
            together = together.div_ceil(2);
        }
    }

    /// Decodes the hosts that have changed, or whose claims have.
    async fn decode_changed(
        &self,
        (organization, _): FollowedKey,
        (hosts, found): (Vec<Record>, Vec<Record>),
        known: &BTreeMap<HostId, KnownHost>,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        let mut claims: HashMap<HostId, Vec<Record>> = HashMap::new();
        for record in found {
            claims.entry(host_of_claim(&record)?).or_default().push(record);
        }
        let (mut changed, mut bytes) = (Vec::new(), 0_usize);
        for host in hosts {
            let id = HostId::new(host.key.id);
            let claims = claims.remove(&id).unwrap_or_default();
            let size = host.body.len() + claims.iter().map(|claim| claim.body.len()).sum::<usize>();
            let versions = claims.iter().map(|claim| (claim.key.id, claim.version)).collect();
            let found = KnownHost { version: host.version, claims: versions, bytes: size };
            if known.get(&id) != Some(&found) {
                bytes = bytes.saturating_add(size);
                changed.push((host, claims));
            }
            reading.hosts.insert(id, found);
        }
        if changed.is_empty() {
            return Ok(());
        }
        let port_names = self.port_names.clone();
        let work = move || {
            let device = |(host, claims): &(Record, Vec<Record>)| -> Result<Device, Error> {
                yield_turn();
                let claims: Vec<Claim> = claims.iter().map(claim_of).collect::<Result<_, _>>()?;
                Ok(Device::with_port_names(&decode_host(host)?, &claims, &port_names))
            };
            changed.iter().map(device).collect::<Result<Vec<_>, _>>()
        };
        reading.bytes = reading.bytes.saturating_add(bytes);
        reading.devices.extend(self.state.offload.run(organization, bytes, work).await??);
        Ok(())
    }
}

impl FollowedNetwork {
    /// Computes the links of the changed records. Returns the links that were decided again.
    fn apply(&mut self, reading: Reading, is_new: bool) -> BTreeSet<LinkId> {
        let Reading { hosts, devices, gone, manual, .. } = reading;
        self.hosts.extend(hosts);
        for host in &gone {
            self.hosts.remove(host);
        }
        self.links.remove_all(gone);
        if is_new {
            self.links = Links::new(devices, manual.as_deref().unwrap_or_default());
        } else {
            self.links.set_all(devices);
            manual.iter().for_each(|manual| self.links.set_manual(manual));
        }
        self.links.take_decided()
    }
}
