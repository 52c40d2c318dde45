//! Hosts that daemons report.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::assign::TakenIds;
use super::change::{Attempt, Before, HostChange};
use super::{EncodedHost, HOST};
use crate::access::Daemon;
use crate::inventory::daemons::is_discovered;
use crate::inventory::schema::{SERVICE_UNIQUE_KEY, on_network, part_unique_key};
use crate::inventory::transaction::Transaction;
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{
    BindingTarget, Host, HostVirtualization, Service, ServiceVirtualization, Source, Timestamp, derived_id,
};
use crate::store::{Query, Record};

impl Inventory {
    /// Stores a host that a daemon reports, on the network of its key.
    ///
    /// The host replaces the discovered host of the network with its id. Otherwise it is created, with another id if its own
    /// is taken. Embedded records keep ids as in [`create_host_as`](Self::create_host_as). Whatever the report says:
    ///
    /// - Subnets and virtualizing services that are not on the network are left out.
    /// - Tags, credentials and neighbors are those of the stored host.
    /// - A report without interface entries leaves them as they are.
    /// - The source becomes `Discovery` unless it is already.
    ///
    /// `observed_at` becomes the time of what is new or changes.
    ///
    /// # Errors
    /// - `ReferenceInvalid`: an embedded record refers to nothing within the host.
    /// - `AlreadyExists`: two ports share number and protocol.
    /// - `Invalid`, `TooLarge` and `QuotaExceeded`: as for [`put_host`](Self::put_host).
    pub async fn discover_host_as_daemon(
        &self,
        caller: &Daemon,
        host: Host,
        observed_at: Timestamp,
    ) -> Result<Host, Error> {
        let organization = caller.organization_id;
        let reported = self.within_network(caller, host).await?;
        let mut transaction = self.transaction(Entity::Host, reported.id);
        let mut taken = TakenIds::default();
        loop {
            let (id, record) = self.recognize(caller, &reported).await?;
            let mut host = Host { id, ..reported.clone() };
            let (encoded, before) = match record {
                None => {
                    (self.encode_new(organization, host, taken.clone(), observed_at).await?, Before::new())
                }
                Some(record) => {
                    let stored = self.open_host(organization, record).await?;
                    keep_what_users_set(&mut host, &stored.host);
                    match self.encode_update(organization, stored, host, taken.clone(), observed_at).await? {
                        (encoded, None) => return Ok(encoded.host),
                        (encoded, Some(before)) => (encoded, before),
                    }
                }
            };
            match self.store_discovered(organization, &encoded, &before, &mut transaction).await? {
                Attempt::Committed => return Ok(encoded.host),
                Attempt::Stale => {}
                Attempt::Taken(part) => self.note_taken(organization, &part, &mut taken).await?,
            }
            transaction.retry().await?;
        }
    }

    /// Decides which host a daemon reports: its id, and its record if it is stored.
    ///
    /// Hosts are recognized by their ids alone.
    async fn recognize(&self, caller: &Daemon, host: &Host) -> Result<(Uuid, Option<Record>), Error> {
        let (network, given) = (caller.network_id, host.id);
        if given.is_nil() {
            return Ok((self.new_id()?, None));
        }
        // Always the same id, so that a second report of the host replaces the first.
        let derived = derived_id("discovered host", &[network.as_bytes(), given.as_bytes()]);
        for id in [given, derived] {
            let known = self.discovered_host(caller, id).await?;
            if known.is_some() || self.count(Query { ids: Some(vec![id]), ..Query::new(HOST) }).await? == 0 {
                return Ok((id, known));
            }
        }
        Ok((self.new_random_id()?, None))
    }

    /// Returns the discovered host of the daemon's network with this id.
    pub(in crate::inventory) async fn discovered_host(
        &self,
        caller: &Daemon,
        id: Uuid,
    ) -> Result<Option<Record>, Error> {
        #[derive(serde::Deserialize)]
        struct Origin {
            #[serde(default)]
            source: Source,
        }
        let own = on_network(HOST, caller.organization_id, caller.network_id);
        let own = Query { ids: Some(vec![id]), ..own };
        let Some(record) = self.store.list(&own).await?.records.pop() else { return Ok(None) };
        let origin: Origin = self.decode_host(caller.organization_id, &record).await?;
        Ok(is_discovered(&origin.source).then_some(record))
    }

    async fn store_discovered(
        &self,
        organization: Uuid,
        encoded: &EncodedHost,
        before: &Before,
        transaction: &mut Transaction<'_>,
    ) -> Result<Attempt, Error> {
        let change = HostChange::putting(organization, std::slice::from_ref(encoded));
        let created = change.created(before);
        if !transaction.enter(self.records_to_enter(&change, created)).await? {
            return Ok(Attempt::Stale);
        }
        self.check_host_quota(organization, created).await?;
        self.try_change_hosts(&change, before).await
    }

    /// Removes everything from a reported host that a daemon of the network may not say.
    async fn within_network(&self, caller: &Daemon, mut host: Host) -> Result<Host, Error> {
        host.network_id = caller.network_id;
        host.tags = Vec::new();
        host.credential_assignments = Vec::new();
        if !is_discovered(&host.source) {
            host.source = Source::Discovery { metadata: Vec::new() };
        }
        let named: BTreeSet<Uuid> = host.interfaces.iter().filter_map(|part| part.subnet_id).collect();
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

    /// Returns the services that virtualize a host or its services and are part of it or of a host of the network.
    async fn own_services(&self, caller: &Daemon, host: &Host) -> Result<HashSet<Uuid>, Error> {
        let by_services = host.services.iter().filter_map(|service| service.virtualization.as_ref());
        let by_services = by_services.map(ServiceVirtualization::service_id);
        let by_host = host.virtualization.as_ref().map(HostVirtualization::service_id);
        let named: BTreeSet<Uuid> = by_services.chain(by_host).collect();
        let embedded: HashSet<Uuid> = host.services.iter().map(|service| service.id).collect();
        let mut own = HashSet::new();
        for id in named {
            if embedded.contains(&id) || self.is_service_on_network(caller, id).await? {
                own.insert(id);
            }
        }
        Ok(own)
    }

    async fn is_service_on_network(&self, caller: &Daemon, id: Uuid) -> Result<bool, Error> {
        let unique_key = part_unique_key(SERVICE_UNIQUE_KEY, caller.organization_id, id);
        let Some(holder) = self.store.get_by_unique_key(&unique_key).await? else { return Ok(false) };
        let own = on_network(HOST, caller.organization_id, caller.network_id);
        Ok(self.count(Query { ids: Some(vec![holder.key.id]), ..own }).await? > 0)
    }
}

/// Clears optional references to interfaces that the report does not contain.
fn drop_unknown_interfaces(host: &mut Host) {
    let interfaces: HashSet<Uuid> = host.interfaces.iter().map(|interface| interface.id).collect();
    for entry in &mut host.if_entries {
        entry.interface_id = entry.interface_id.filter(|id| interfaces.contains(id));
    }
    for binding in host.services.iter_mut().flat_map(|service| &mut service.bindings) {
        if let BindingTarget::Port { interface_id, .. } = &mut binding.target {
            *interface_id = interface_id.filter(|id| interfaces.contains(id));
        }
    }
}

/// Puts into a reported host what only users set.
fn keep_what_users_set(host: &mut Host, stored: &Host) {
    host.tags.clone_from(&stored.tags);
    host.hidden = stored.hidden;
    let services: HashMap<Uuid, &Service> = stored.services.iter().map(|part| (part.id, part)).collect();
    for service in &mut host.services {
        if let Some(stored) = services.get(&service.id) {
            service.tags.clone_from(&stored.tags);
        }
    }
    if host.if_entries.is_empty() {
        host.if_entries.clone_from(&stored.if_entries);
        drop_unknown_interfaces(host);
    }
    let neighbors: HashMap<Uuid, _> = stored.if_entries.iter().map(|part| (part.id, part.neighbor)).collect();
    for entry in &mut host.if_entries {
        entry.neighbor = neighbors.get(&entry.id).copied().flatten();
    }
    let interfaces: HashSet<Uuid> = host.interfaces.iter().map(|interface| interface.id).collect();
    host.credential_assignments.clone_from(&stored.credential_assignments);
    for assignment in &mut host.credential_assignments {
        if let Some(ids) = &mut assignment.interface_ids {
            ids.retain(|id| interfaces.contains(id));
        }
    }
}
