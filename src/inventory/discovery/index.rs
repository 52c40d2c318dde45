//! Lookup of hosts by their identities, and of the claims that name them.
//!
//! It also lists the devices that claims name: neighbors by LLDP and CDP, and entries of ARP caches.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::records::{ClaimOwner, NAMES};
use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::discovery::report::{AddressRow, ArpRow, CdpRow, Device, LldpRow, Table, Tables};
use crate::invariant::Invariant;
use crate::inventory::hosts::{IDENTITY, WORD, identity_value, ip_range, mac_range};
use crate::inventory::schema::{CLAIM, HOST, decode, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::{HostId, NetworkId, OrganizationId, uuids};
use crate::store::{Name, Query, Record, Start, TermFilter, TermRange};

/// The maximum number of hosts of a network that a name may identify. A name that more hosts have identifies none of
/// them.
///
/// Otherwise each of a thousand devices with a default name would be compared with all others.
const MAX_WEAK_MATCHES: u64 = 16;

/// Maximum number of values of a filter.
const MAX_RANGES: usize = 512;

/// Number of claims that are read at a time.
const CLAIMS: usize = 256;

/// Returns the terms by which hosts with one of these identities are found. Each name of terms comes with its values.
///
/// The terms of IP and MAC addresses have the same name. They are still read one after the other, so that neither can
/// use up the limit of the other.
fn host_values(identities: &[Identity]) -> [(Name, Vec<TermRange>); 3] {
    let (mut ip_addresses, mut mac_addresses, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for identity in identities {
        let term = identity.term();
        let bytes = term.get(1..).asserted_or_default();
        match identity.kind() {
            IdentityKind::IpAddress => ip_addresses.extend(address_of(bytes).map(ip_range)),
            IdentityKind::Mac => {
                mac_addresses.push(mac_range(bytes));
                others.push(TermRange::exact(term));
            }
            IdentityKind::SerialNumber
            | IdentityKind::ChassisId
            | IdentityKind::Name
            | IdentityKind::ShortName => others.push(TermRange::exact(identity_value(identity))),
        }
    }
    [(WORD, ip_addresses), (WORD, mac_addresses), (IDENTITY, others)]
}

fn address_of(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}

impl Inventory {
    /// Returns the hosts of a network that have one of these identities. For each kind of term, at most `limit` hosts
    /// are read.
    ///
    /// Names that more than 16 hosts of the network have are left out.
    pub(super) async fn hosts_with(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        identities: &[Identity],
        limit: usize,
    ) -> Result<BTreeMap<HostId, Record>, Error> {
        let mut hosts = BTreeMap::new();
        let identities = self.without_common_names((organization, network), identities).await?;
        for (name, ranges) in host_values(&identities) {
            for ranges in ranges.chunks(MAX_RANGES) {
                let query = Query {
                    organization: Some(organization.uuid()),
                    networks: Some(vec![network.uuid()]),
                    terms: vec![TermFilter::new(name, ranges)],
                    limit: Some(limit),
                    ..Query::new(HOST)
                };
                let found = self.store.list(&query).await?.records;
                hosts.extend(found.into_iter().map(|record| (record.key.id.into(), record)));
            }
        }
        Ok(hosts)
    }

    async fn without_common_names(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        identities: &[Identity],
    ) -> Result<Vec<Identity>, Error> {
        let mut left = Vec::with_capacity(identities.len());
        for identity in identities {
            if matches!(identity.kind(), IdentityKind::Name | IdentityKind::ShortName) {
                let named = TermFilter::new(IDENTITY, [TermRange::exact(identity_value(identity))]);
                let query = Query { terms: vec![named], ..on_network(HOST, organization, network) };
                if self.count(query).await? > MAX_WEAK_MATCHES {
                    continue;
                }
            }
            left.push(identity.clone());
        }
        Ok(left)
    }

    /// Returns the hosts whose claims name a device with one of these identities. All of them are on the given network.
    ///
    /// Names that more than 16 hosts of the network have are left out.
    pub(super) async fn hosts_naming(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        identities: &[Identity],
    ) -> Result<BTreeSet<HostId>, Error> {
        let mut hosts = BTreeSet::new();
        let identities = self.without_common_names((organization, network), identities).await?;
        let ranges: Vec<TermRange> =
            identities.iter().map(|identity| TermRange::exact(identity_value(identity))).collect();
        for ranges in ranges.chunks(MAX_RANGES) {
            let mut query = Query {
                organization: Some(organization.uuid()),
                networks: Some(vec![network.uuid()]),
                terms: vec![TermFilter::new(NAMES, ranges)],
                limit: Some(CLAIMS),
                ..Query::new(CLAIM)
            };
            loop {
                let page = self.store.list(&query).await?;
                for record in &page.records {
                    hosts.insert(decode::<ClaimOwner>(record)?.host_id);
                }
                let Some(next) = page.next else { break };
                query.start = Start::After(next);
            }
        }
        Ok(hosts)
    }

    /// Returns whether any host of these networks has claims.
    pub(super) async fn has_claims(
        &self,
        organization: OrganizationId,
        networks: Vec<NetworkId>,
    ) -> Result<bool, Error> {
        let claims = Query {
            organization: Some(organization.uuid()),
            networks: Some(uuids(&networks)),
            ..Query::new(CLAIM)
        };
        Ok(self.count(claims).await? > 0)
    }
}

/// Returns the tables that name devices; `None` if there are none.
pub(super) fn naming_tables(tables: Tables) -> Option<Tables> {
    let Tables { lldp, cdp, arp, .. } = tables;
    let has_any = lldp.is_some() || cdp.is_some() || arp.is_some();
    has_any.then(|| Tables { lldp, cdp, arp, ..Tables::default() })
}

/// Returns the devices that the tables name, each once, in a stable order.
///
/// A forwarding database names none: a MAC address behind a port alone does not describe a device.
pub(super) fn devices_named_by(tables: &Tables) -> Vec<Device> {
    let lldp = tables.lldp.iter().flat_map(|table| &table.rows).map(by_lldp);
    let cdp = tables.cdp.iter().flat_map(|table| &table.rows).map(by_cdp);
    let arp = tables.arp.iter().flat_map(|table| &table.rows).filter(|row| row.has_answered()).map(by_arp);
    let mut devices = BTreeMap::new();
    for device in lldp.chain(cdp).chain(arp) {
        let identities = Identity::of_device(&device);
        if !identities.is_empty() {
            devices.entry(identities).or_insert(device);
        }
    }
    devices.into_values().collect()
}

fn by_lldp(row: &LldpRow) -> Device {
    let addresses = row.mgmt_addrs.iter().filter_map(|address| address.parse().ok());
    Device {
        chassis_id: Some(Box::new(row.chassis_id.clone())),
        sys_name: row.sys_name.clone(),
        sys_descr: row.sys_desc.clone(),
        capabilities: row.capabilities.clone(),
        ..at_addresses(addresses.map(AddressRow::new).collect())
    }
}

fn by_cdp(row: &CdpRow) -> Device {
    let address = row.address.as_ref().and_then(|address| address.parse::<IpAddr>().ok());
    Device {
        cdp_device_id: Some(row.device_id.clone()),
        model: row.platform.clone(),
        sys_descr: row.version.clone(),
        capabilities: row.capabilities.clone(),
        ..at_addresses(address.map(AddressRow::new).into_iter().collect())
    }
}

fn by_arp(row: &ArpRow) -> Device {
    let address = AddressRow { mac_address: Some(row.mac_address), ..AddressRow::new(row.ip_address) };
    at_addresses(vec![address])
}

/// Returns a device with these addresses.
fn at_addresses(rows: Vec<AddressRow>) -> Device {
    let mut device = Device::default();
    device.tables.addresses = (!rows.is_empty()).then(|| Table::truncated(rows));
    device
}
