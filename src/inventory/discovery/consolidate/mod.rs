//! Consolidation of two hosts, and replacement of references to the absorbed host and its parts.

pub(in crate::inventory::discovery) mod absorb;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use self::absorb::{Replaced, replace_neighbors};
use crate::access::Caller;
use crate::discovery::reconcile::Identity;
use crate::discovery::report::TableKind;
use crate::inventory::custom::check_joined;
use crate::inventory::discovery::Reconciliation;
use crate::inventory::discovery::known_host::DecodedHosts;
use crate::inventory::discovery::known_host::KnownHost;
use crate::inventory::discovery::neighbors::follow::Naming;
use crate::inventory::discovery::records::{
    HostDiscovery, NetworkHost, put_claim, put_discovered_hosts, put_state,
};
use crate::inventory::history::Author;
use crate::inventory::hosts::{Before, EncodedHost, HostChange, Summary, TakenPart, decode as decode_host};
use crate::inventory::policy::Actor;
use crate::inventory::schema::{
    HOST, NEIGHBOR_LINK, SERVICE_VIRTUALIZED_BY_LINK, VIRTUALIZED_BY_LINK, decode, discovered_hosts_key,
    host_discovery_key, host_key,
};
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, require_level};
use crate::model::{Host, HostId, Permission};
use crate::store::{Batch, Guard, Key, Link, LinkFilter, Query, Record};

/// Relations of links from hosts to parts of hosts.
const RELATIONS: [crate::store::Name; 3] = [NEIGHBOR_LINK, VIRTUALIZED_BY_LINK, SERVICE_VIRTUALIZED_BY_LINK];

/// Maximum number of targets of a query.
const MAX_TARGETS: usize = 512;

impl Reconciliation<'_> {
    /// Merges two hosts that are the same device into one, on behalf of a caller.
    ///
    /// The caller must be a Member or above who can access both hosts.
    ///
    /// Everything of `other` moves to the host, and `other` is deleted, in one commit. An interface with the same
    /// address, a port with the same number and protocol, a service with the same name and definition, and an interface
    /// entry with the same index and name count as the same part, and the host's part stays. Empty fields of the host
    /// are filled. References to absorbed records are replaced. Claims move to the host; of two tables of one kind, the
    /// newer one prevails. Manual links, and positions in topologies, move to the host unless it has its own.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Interface, Permission, Port, PortNumber, Protocol, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let printer = inventory.hosts().create(&caller, Host::new(network.id, "printer")).await?;
    /// let mut scanned = Host::new(network.id, "");
    /// scanned.interfaces.push(Interface::new(&scanned, "192.0.2.7".parse()?));
    /// let scanned = inventory.hosts().create(&caller, scanned).await?;
    ///
    /// let host = inventory.discovery().consolidate(&caller, printer.id, scanned.id).await?;
    /// assert_eq!((host.name.as_str(), host.interfaces.len()), ("printer", 1));
    /// assert!(inventory.hosts().get(&caller, scanned.id).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such host, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the network.
    /// - `NetworkMismatch`: the hosts are on different networks.
    /// - `Invalid` with the field `other`: both are the same host.
    /// - `Invalid` with the field `custom`: the host would have more than 64 custom fields, or more than 16 KiB of them.
    /// - `TooLarge`: the host would exceed a limit of [`Quotas`](crate::inventory::Quotas).
    pub async fn consolidate(self, caller: &Caller, id: HostId, other: HostId) -> Result<Host, Error> {
        self.consolidate_if(caller, id, other, |_| Ok(())).await
    }

    /// Merges hosts like [`consolidate`](Self::consolidate) if `check` allows it for the host that stays.
    pub(crate) async fn consolidate_if(
        self,
        caller: &Caller,
        id: HostId,
        other: HostId,
        check: impl Fn(&Host) -> Result<(), Error>,
    ) -> Result<Host, Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        let kinds: BTreeSet<TableKind> = TableKind::ALL.iter().copied().collect();
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Host, id);
        loop {
            let mut hosts = Vec::with_capacity(2);
            for host in [id, other] {
                // Checks the access to each.
                self.inventory.host_record_as(caller, host).await?;
                let stored = self.inventory.read_stored(host, &kinds).await?;
                hosts.push(stored.ok_or(ErrorKind::NotFound { entity: Entity::Host, id: host.uuid() })?);
            }
            if id == other {
                return Err(Error::invalid("other", Problem::Duplicate));
            }
            let bytes = hosts.iter().map(|stored| stored.record.body.len()).sum();
            let open = move || {
                let opened = hosts
                    .iter()
                    .map(crate::inventory::discovery::known_host::HostRecords::open)
                    .collect::<Result<Vec<_>, _>>();
                opened.map(|opened| (hosts, opened))
            };
            let (hosts, mut opened) = self.inventory.state.offload.run(organization, bytes, open).await??;
            let (Some(gone), Some(kept)) = (opened.pop(), opened.pop()) else { return Err(both_expected()) };
            check(&kept.host)?;
            let network = kept.host.network_id;
            if gone.host.network_id != network {
                return Err(ErrorKind::NetworkMismatch { entity: Entity::Host }.into());
            }
            let keys = BTreeSet::from([host_key(id), host_key(other), discovered_hosts_key(network)]);
            if !transaction.enter(keys).await? {
                continue;
            }
            let records: Vec<_> = hosts.into_iter().map(|stored| (stored.record, stored.state)).collect();
            let place = NetworkHost { organization, network, host: id };
            let consolidated =
                self.inventory.try_consolidate(&transaction, caller, place, records, (kept, gone)).await?;
            let Some(host) = consolidated else {
                transaction.retry().await?;
                continue;
            };
            return Ok(host);
        }
    }
}

impl Inventory {
    /// Returns the consolidated host; `None` when a record has changed meanwhile.
    ///
    /// The second host is merged into the first.
    async fn try_consolidate(
        &self,
        transaction: &Transaction<'_>,
        caller: &Caller,
        place: NetworkHost,
        records: Vec<(Record, Option<Record>)>,
        (mut kept, gone): (KnownHost, KnownHost),
    ) -> Result<Option<Host>, Error> {
        let NetworkHost { organization, network, host: id } = place;
        let other = gone.host.id;
        let marker = self.get(discovered_hosts_key(network)).await?;
        let mut identities: BTreeSet<Identity> = Naming::of(&kept.host).identities.into_iter().collect();
        identities.extend(Naming::of(&gone.host).identities);
        let summaries = [Summary::from(&kept.host), Summary::from(&gone.host)];
        let now = self.now();
        check_joined(&kept.host.custom, &gone.host.custom)?;
        let (replaced, left_out) = kept.absorb(place, gone, now);
        debug_assert!(left_out.is_empty(), "the limits have been checked");
        let KnownHost { host, discovery, claims } = kept;

        let mut batch = Batch::new();
        let mut before = Before::new();
        let mut states = Vec::new();
        // A host that already exceeds the quota may keep its size, but the absorbed parts must not make it
        // grow further.
        let stored = records.iter().map(|(record, _)| record.body.len()).max().unwrap_or(0);
        for ((record, state), summary) in records.into_iter().zip(summaries) {
            before.insert(record.key.id.into(), (record, summary));
            states.push(state);
        }
        if let Some(discovery) = &discovery {
            put_state(id, discovery, states.first().and_then(Option::as_ref), &mut batch)?;
        }
        for claimed in claims.into_values() {
            put_claim(place, claimed, &mut batch)?;
        }
        put_discovered_hosts((organization, network), marker.as_ref(), &mut batch);
        let encoder = self.host_encoder(organization).of_stored(stored);
        let mut puts = vec![encoder.encode_in(&self.state.offload, host).await?];
        let gone = std::slice::from_ref(&other);
        transaction.review_hosts(Actor::Caller(caller), (&puts, gone), &before).await?;
        self.replace_references(place, &replaced, (&mut puts, &mut before, &mut batch)).await?;
        let attempt = self.commit_merged(&transaction.author, (&puts, gone), &before, batch).await?;
        if !matches!(attempt, Attempt::Committed) {
            return Ok(None);
        }
        let resolved = self
            .resolve_all(
                (organization, network),
                &identities,
                BTreeSet::from([id]),
                &mut DecodedHosts::default(),
            )
            .await;
        if let Err(error) = resolved {
            tracing::warn!(error = error.with_causes(), "neighbors of a consolidated host were not resolved");
        }
        puts.truncate(1);
        Ok(puts.pop().map(|encoded| encoded.host))
    }

    /// Puts hosts and deletes those that are merged into them, together with the writes in the batch.
    ///
    /// The batch has the states, claims and links that the remaining hosts take over.
    pub(super) async fn commit_merged(
        &self,
        author: &Author,
        (puts, gone): (&[EncodedHost], &[HostId]),
        before: &Before,
        mut batch: Batch,
    ) -> Result<Attempt<TakenPart>, Error> {
        self.forget_hosts(gone, &mut batch).await?;
        let mut change = HostChange::putting(author, puts);
        change.deletes = gone;
        self.commit_hosts(&change, before, batch).await
    }

    /// Adds the hosts that refer to absorbed records to a change, with their references replaced.
    pub(super) async fn replace_references(
        &self,
        place: NetworkHost,
        replaced: &Replaced,
        (puts, before, batch): (&mut Vec<EncodedHost>, &mut Before, &mut Batch),
    ) -> Result<(), Error> {
        let NetworkHost { organization, .. } = place;
        #[cfg(feature = "topology")]
        self.move_topology((organization, place.network, place.host), replaced, batch).await?;
        let mut referring: BTreeMap<HostId, Record> = BTreeMap::new();
        let targets: Vec<Uuid> = replaced.gone().collect();
        for relation in RELATIONS {
            for targets in targets.chunks(MAX_TARGETS) {
                let links = vec![LinkFilter::new(relation, targets)];
                let query = Query { organization: Some(organization.uuid()), links, ..Query::new(HOST) };
                let records = self.store.list(&query).await?.records.into_iter();
                referring.extend(records.map(|record| (record.key.id.into(), record)));
            }
            for target in &targets {
                batch.guard(Guard::linked_within(Some(organization.uuid()), Link::new(relation, *target)));
            }
        }
        referring.retain(|id, _| !before.contains_key(id));
        let keys: Vec<Key> = referring.keys().map(|id| host_discovery_key(*id)).collect();
        let states = self.store.get(&keys).await?;
        let now = self.now();
        for ((id, record), state) in referring.into_iter().zip(states) {
            let mut host: Host = decode_host(&record)?;
            let encoder = self.host_encoder(organization).of_stored(record.body.len());
            before.insert(id, (record, Summary::from(&host)));
            replace_neighbors(&mut host, replaced, Some(now));
            replaced.rename_parts(&mut host);
            host.updated_at = now;
            puts.push(encoder.encode_in(&self.state.offload, host).await?);
            if let Some(record) = state {
                let mut discovery: HostDiscovery = decode(&record)?;
                replace_neighbors(&mut discovery.state.baseline, replaced, None);
                replaced.rename_parts(&mut discovery.state.baseline);
                put_state(id, &discovery, Some(&record), batch)?;
            }
        }
        Ok(())
    }
}

fn both_expected() -> Error {
    Error::internal("two hosts were opened")
}
