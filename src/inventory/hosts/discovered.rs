//! Hosts that daemons report.

use std::collections::{BTreeSet, HashSet};

use super::HOST;
use super::assign::{Assignment, TakenIds};
use super::texts::check_host_texts;
use super::validate::validate_host;
use super::virtualization::virtualizing_services;
use crate::access::DaemonCaller;
use crate::inventory::schema::{SERVICE_UNIQUE_KEY, SUBNET, on_network, part_unique_key};
use crate::inventory::{Error, Inventory};
use crate::model::{
    BindingTarget, Custom, Host, HostId, HostPart, InterfaceId, Record as _, ServiceId, Source, SubnetId,
    for_each_part_type, uuids,
};
use crate::store::{Query, Record};

impl Inventory {
    /// Returns a reported host in the form that discovery takes.
    ///
    /// The host is checked, has ids, and has only values that a daemon may report.
    pub(in crate::inventory) async fn reported_host(
        &self,
        caller: &DaemonCaller,
        host: Host,
    ) -> Result<Host, Error> {
        let mut host = self.within_network(caller, host).await?;
        let (inventory, bytes) = (self.clone(), host.likely_size());
        let prepare = move || {
            let new_id = || inventory.new_id();
            let (taken, now) = (TakenIds::default(), inventory.now());
            Assignment { before: None, taken: &taken, now, new_id: &new_id }.apply(&mut host)?;
            check_host_texts(&host, None)?;
            validate_host(&host)?;
            Ok(host)
        };
        self.state.offload.run(caller.organization_id, bytes, prepare).await?
    }

    /// Returns the discovered host of the daemon's network with this id.
    pub(in crate::inventory) async fn discovered_host(
        &self,
        caller: &DaemonCaller,
        id: HostId,
    ) -> Result<Option<Record>, Error> {
        #[derive(serde::Deserialize)]
        struct Origin {
            #[serde(default)]
            source: Source,
        }
        let own = on_network(HOST, caller.organization_id, caller.network_id);
        let own = Query { ids: Some(vec![id.uuid()]), ..own };
        let Some(record) = self.store.list(&own).await?.records.pop() else { return Ok(None) };
        let origin: Origin = self.decode_host(caller.organization_id, &record).await?;
        Ok(is_discovered(&origin.source).then_some(record))
    }

    /// Removes everything from a reported host that a daemon of the network may not report.
    async fn within_network(&self, caller: &DaemonCaller, mut host: Host) -> Result<Host, Error> {
        host.network_id = caller.network_id;
        host.tags = Vec::new();
        host.custom = Custom::new();
        host.credential_assignments = Vec::new();
        if !is_discovered(&host.source) {
            host.source = Source::Discovery { metadata: Vec::new() };
        }
        let named: BTreeSet<SubnetId> = host.interfaces.iter().filter_map(|part| part.subnet_id).collect();
        let subnets = self.own_subnets(caller, named.into_iter().collect()).await?;
        for interface in &mut host.interfaces {
            interface.subnet_id = interface.subnet_id.filter(|id| subnets.contains(id));
        }
        let services = self.own_services(caller, &host).await?;
        host.virtualization = host.virtualization.filter(|by| services.contains(&by.service_id()));
        for service in &mut host.services {
            service.tags = Vec::new();
            let by = service.virtualization.take();
            service.virtualization = by.filter(|by| services.contains(&by.service_id()));
            if !is_discovered(&service.source) {
                service.source = Source::Discovery { metadata: Vec::new() };
            }
        }
        for entry in &mut host.if_entries {
            entry.neighbor = None;
        }
        drop_unknown_interfaces(&mut host);
        Ok(host)
    }

    /// Returns those of these subnets that are on the daemon's network.
    pub(in crate::inventory) async fn own_subnets(
        &self,
        caller: &DaemonCaller,
        ids: Vec<SubnetId>,
    ) -> Result<HashSet<SubnetId>, Error> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let own =
            Query { ids: Some(uuids(&ids)), ..on_network(SUBNET, caller.organization_id, caller.network_id) };
        Ok(self.store.list(&own).await?.records.iter().map(|record| record.key.id.into()).collect())
    }

    /// Returns the services of the network that virtualize a host or its services.
    ///
    /// Each of them is part of the host itself or of a host that is stored on the network.
    async fn own_services(&self, caller: &DaemonCaller, host: &Host) -> Result<HashSet<ServiceId>, Error> {
        let named: BTreeSet<ServiceId> = virtualizing_services(host).collect();
        let embedded: HashSet<ServiceId> = host.services.iter().map(|service| service.id).collect();
        let mut own = HashSet::new();
        for id in named {
            if embedded.contains(&id) || self.is_service_on_network(caller, id).await? {
                own.insert(id);
            }
        }
        Ok(own)
    }

    async fn is_service_on_network(&self, caller: &DaemonCaller, id: ServiceId) -> Result<bool, Error> {
        let unique_key = part_unique_key(SERVICE_UNIQUE_KEY, caller.organization_id, id);
        let Some(holder) = self.store.get_by_unique_key(&unique_key).await? else { return Ok(false) };
        let own = on_network(HOST, caller.organization_id, caller.network_id);
        Ok(self.count(Query { ids: Some(vec![holder.key.id]), ..own }).await? > 0)
    }
}

/// Returns whether a record comes from a daemon.
pub(in crate::inventory) const fn is_discovered(source: &Source) -> bool {
    matches!(source, Source::Discovery { .. } | Source::DiscoveryWithMatch { .. })
}

/// Clears optional references to interfaces that the report does not contain.
fn drop_unknown_interfaces(host: &mut Host) {
    let interfaces: HashSet<InterfaceId> = host.interfaces.iter().map(|interface| interface.id).collect();
    for entry in &mut host.if_entries {
        entry.interface_id = entry.interface_id.filter(|id| interfaces.contains(id));
    }
    for binding in host.services.iter_mut().flat_map(|service| &mut service.bindings) {
        if let BindingTarget::Port { interface_id, .. } = &mut binding.target {
            *interface_id = interface_id.filter(|id| interfaces.contains(id));
        }
    }
}

impl Host {
    /// Returns a reported host with another id, which its parts then refer to.
    pub(in crate::inventory) fn as_host(&self, id: HostId) -> Self {
        let mut host = Self { id, ..self.clone() };
        for_each_part_type!(P => P::list_mut(&mut host).iter_mut().for_each(|part| part.host_id = id));
        host
    }
}
