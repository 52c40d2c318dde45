//! The discovery of one device: recognize, merge, commit, and retry while other writers interfere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::plan::{Known, Plan, Planned, Role, Stored};
use super::records::{Place, claim_key, put_claim, put_discovered_hosts, put_state};
use super::reported::{Subject, given_ids};
use super::{DiscoveredHost, DiscoveredTable, Discovery, DiscoveryOutcome};
use crate::discovery::reconcile::{Identity, MatchedBy, Recognition, new_host_id, recognize};
use crate::discovery::report::{Device, TableKind};
use crate::inventory::hosts::{Attempt, HostChange};
use crate::inventory::schema::{HOST, discovered_hosts_key, host_discovery_key, host_key, organization_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::model::{Host, SourceType};
use crate::store::{Batch, Guard, Key, Precondition, Query, Record};

/// Maximum number of hosts with an identity of one kind that a device is compared with.
const MAX_CANDIDATES: usize = 64;

/// Maximum size of the hosts that a device is compared with. 128 MiB.
const MAX_CANDIDATE_BYTES: usize = 128 * 1024 * 1024;

/// What a device turned out to be.
enum Target {
    New { id: Uuid },
    Known { id: Uuid, matched_by: MatchedBy, merged: Vec<Uuid> },
}

impl Target {
    const fn id(&self) -> Uuid {
        match self {
            Self::New { id } | Self::Known { id, .. } => *id,
        }
    }

    /// Returns whether the hosts of the network become more or fewer.
    fn changes_hosts(&self) -> bool {
        match self {
            Self::New { .. } => true,
            Self::Known { merged, .. } => !merged.is_empty(),
        }
    }
}

/// The end of an attempt to store a device.
enum Stage {
    Done(DiscoveredHost),
    Stale,
    /// A part of the new host has the id of a part of another host.
    Taken,
}

impl Discovery {
    /// Discovers a device, and adds its outcome and its tables to the answer.
    pub(super) async fn discover_device(&mut self, device: &Device, role: Role) -> Result<(), Error> {
        let subject = Subject { device: Arc::new(device.clone()), reported: None, role };
        let outcome = match self.try_discover(&subject).await {
            Ok(outcome) => outcome,
            Err(error) if concerns_device(&error) => ignored(device, error.to_string()),
            Err(error) => return Err(error),
        };
        if let Some(device_id) = outcome.id.filter(|_| role == Role::Reported) {
            let tables = device.tables.summaries().into_iter();
            let tables = tables.map(|table| DiscoveredTable {
                device_id,
                kind: table.kind,
                rows: table.rows,
                complete: table.complete,
            });
            self.answer.tables.extend(tables);
        }
        if role == Role::Reported || outcome.outcome == DiscoveryOutcome::Created {
            self.answer.hosts.push(outcome);
        }
        Ok(())
    }

    pub(super) async fn try_discover(&mut self, subject: &Subject) -> Result<DiscoveredHost, Error> {
        let inventory = self.inventory.clone();
        let device = &*subject.device;
        let identities = Identity::of_device(device);
        let mut transaction = inventory.transaction(Entity::Network, self.network);
        let mut has_fresh_ids = false;
        loop {
            // Read before the candidates: a host that appears in the meantime makes the commit fail.
            let marker = inventory.get(discovered_hosts_key(self.network)).await?;
            let candidates = self.candidates(device, &identities).await?;
            let recognition = self.recognize(device, &candidates).await?;
            let target = match recognition {
                Recognition::Known { id, matched_by, merged } => Target::Known { id, matched_by, merged },
                Recognition::Ambiguous { key, hosts } => return Ok(ambiguous(device, key, &hosts)),
                Recognition::New => match self.new_id(subject).await? {
                    Some(id) => Target::New { id },
                    None => return Ok(ignored(device, NO_IDENTITY.to_owned())),
                },
            };
            if subject.role == Role::Neighbor
                && let Target::Known { id, matched_by, .. } = target
            {
                return Ok(recognized(device, id, matched_by));
            }
            if !transaction.enter(self.turns(&target)).await? {
                continue;
            }
            let attempt = Attempted { subject, target, marker, has_fresh_ids };
            match self.store(attempt, &candidates).await? {
                Stage::Done(outcome) => return Ok(outcome),
                Stage::Stale => {}
                Stage::Taken => has_fresh_ids = true,
            }
            transaction.retry().await?;
        }
    }

    /// Returns the hosts that the device may be.
    async fn candidates(
        &self,
        device: &Device,
        identities: &[Identity],
    ) -> Result<BTreeMap<Uuid, Record>, Error> {
        let place = (self.organization, self.network);
        let mut found = self.inventory.hosts_with(place, identities, MAX_CANDIDATES).await?;
        if let Some(id) = device.id.filter(|id| !found.contains_key(id)) {
            let by_id = Query {
                organization: Some(self.organization),
                networks: Some(vec![self.network]),
                ids: Some(vec![id]),
                ..Query::new(HOST)
            };
            found.extend(self.inventory.store.list(&by_id).await?.records.pop().map(|record| (id, record)));
        }
        Ok(found)
    }

    async fn recognize(
        &self,
        device: &Device,
        candidates: &BTreeMap<Uuid, Record>,
    ) -> Result<Recognition, Error> {
        let (mut hosts, mut bytes) = (Vec::with_capacity(candidates.len()), 0_usize);
        for record in candidates.values() {
            bytes = bytes.saturating_add(record.body.len());
            if bytes > MAX_CANDIDATE_BYTES {
                break;
            }
            hosts.push(self.inventory.decode_host::<Host>(self.organization, record).await?);
        }
        let mut recognition = recognize(device, &hosts, self.merging);
        if let Recognition::Known { id, merged, .. } = &mut recognition {
            let is_manual = |host: &Host| host.source.source_type() == SourceType::Manual;
            let is_one = |host: &&Host| host.id == *id || merged.contains(&host.id);
            if hosts.iter().filter(is_one).any(is_manual) {
                merged.clear();
            }
        }
        Ok(recognition)
    }

    /// Returns the id of a new host: one that it is reported with or that follows from the device, unless they are taken.
    ///
    /// `None`: the device has no identity.
    async fn new_id(&self, subject: &Subject) -> Result<Option<Uuid>, Error> {
        let given = subject.reported.iter().flat_map(|reported| given_ids(self.network, reported.id));
        let ids: Vec<Uuid> = given.chain(new_host_id(&subject.device, self.network)).collect();
        if ids.is_empty() && subject.reported.is_none() {
            return Ok(None);
        }
        for id in ids {
            // Counted, because the host may belong to another organization.
            if self.inventory.count(Query { ids: Some(vec![id]), ..Query::new(HOST) }).await? == 0 {
                return Ok(Some(id));
            }
        }
        self.inventory.new_random_id().map(Some)
    }

    /// Returns the records whose turns the commit needs.
    fn turns(&self, target: &Target) -> BTreeSet<Key> {
        let mut keys = BTreeSet::from([host_key(target.id())]);
        if target.changes_hosts() {
            keys.insert(discovered_hosts_key(self.network));
        }
        match target {
            Target::New { .. } if self.inventory.quotas.hosts_per_organization.is_some() => {
                keys.insert(organization_key(self.organization));
            }
            Target::Known { merged, .. } => keys.extend(merged.iter().map(|id| host_key(*id))),
            Target::New { .. } => {}
        }
        keys
    }

    /// Merges the device into its host and commits both.
    async fn store(
        &mut self,
        attempt: Attempted<'_>,
        candidates: &BTreeMap<Uuid, Record>,
    ) -> Result<Stage, Error> {
        let Attempted { subject, target, marker, has_fresh_ids } = attempt;
        let device = &subject.device;
        let id = target.id();
        let (known, matched_by) = match &target {
            Target::New { .. } => (None, None),
            Target::Known { matched_by, merged, .. } => {
                let Some(known) = self.read_known(id, merged, device, candidates).await? else {
                    return Ok(Stage::Stale);
                };
                (Some(known), Some(*matched_by))
            }
        };
        let place = Place { organization: self.organization, network: self.network, host: id };
        let plan = Plan {
            place,
            device: Arc::clone(device),
            reported: subject.reported.clone(),
            role: subject.role,
            known,
            reporter: self.reporter.clone(),
            scanned_ports: Arc::clone(&self.scanned_ports),
            subnets: Arc::clone(&self.subnets),
            observed_at: self.observed_at,
            now: self.inventory.now(),
            encoder: self.inventory.host_encoder(self.organization),
            random: has_fresh_ids.then(|| Arc::clone(&self.inventory.random)),
        };
        let bytes = plan.size();
        let mut planned =
            self.inventory.state.offload.run(self.organization, bytes, move || plan.decide()).await??;
        if matches!(target, Target::New { .. }) {
            self.inventory.check_host_quota(self.organization, 1).await?;
        }
        let stage = self.commit(&target, &mut planned, marker.as_ref()).await?;
        Ok(match stage {
            Attempt::Committed => {
                self.note(id, &planned);
                Stage::Done(planned.outcome(id, matched_by))
            }
            Attempt::Stale => Stage::Stale,
            Attempt::Taken(_) => Stage::Taken,
        })
    }

    /// Reads all that is stored of the host that a device is, and of the hosts that are merged into it.
    ///
    /// `None`: a host has changed since the device was recognized.
    async fn read_known(
        &self,
        id: Uuid,
        merged: &[Uuid],
        device: &Device,
        candidates: &BTreeMap<Uuid, Record>,
    ) -> Result<Option<Known>, Error> {
        let kinds: BTreeSet<TableKind> = match merged {
            [] => device.tables.summaries().into_iter().map(|table| table.kind).collect(),
            _ => TableKind::ALL.iter().copied().collect(),
        };
        let mut stored = Vec::with_capacity(merged.len() + 1);
        for host in std::iter::once(id).chain(merged.iter().copied()) {
            let Some(found) = self.inventory.read_stored(host, &kinds).await? else { return Ok(None) };
            if candidates.get(&host).map(|record| record.version) != Some(found.record.version) {
                return Ok(None);
            }
            stored.push(found);
        }
        let mut stored = stored.into_iter();
        Ok(stored.next().map(|host| Known { host, others: stored.collect() }))
    }

    async fn commit(
        &self,
        target: &Target,
        planned: &mut Planned,
        marker: Option<&Record>,
    ) -> Result<Attempt, Error> {
        let mut batch = Batch::new();
        let place = Place { organization: self.organization, network: self.network, host: target.id() };
        for claimed in &planned.claims {
            put_claim(place, claimed.clone(), &mut batch)?;
        }
        if let Some(discovery) = &planned.discovery {
            put_state(place.host, discovery, planned.state_record.as_ref(), &mut batch)?;
        } else if !planned.claims.is_empty() {
            let state = unchanged(planned.state_record.as_ref());
            batch.guard(Guard::record(host_discovery_key(place.host), state));
        }
        let is_written = !batch.writes().is_empty() || planned.encoded.is_some();
        // The first discovery of a network is seen by everyone who changes hosts there.
        if target.changes_hosts() || (is_written && marker.is_none()) {
            put_discovered_hosts((self.organization, self.network), marker, &mut batch);
        }
        let Some(encoded) = planned.encoded.take() else {
            if batch.writes().is_empty() {
                return Ok(Attempt::Committed);
            }
            let version = planned.before.get(&place.host).map(|(record, _)| record.version);
            let precondition = version.map_or(Precondition::Absent, Precondition::Version);
            batch.guard(Guard::record(host_key(place.host), precondition));
            let is_stored = self.inventory.commit_if_unchanged(batch).await?;
            return Ok(if is_stored { Attempt::Committed } else { Attempt::Stale });
        };
        let deletes: &[Uuid] = match target {
            Target::Known { merged, .. } => merged,
            Target::New { .. } => &[],
        };
        let mut puts = vec![encoded];
        let mut before = std::mem::take(&mut planned.before);
        if !planned.replaced.is_empty() {
            let references = (&mut puts, &mut before, &mut batch);
            self.inventory.replace_references(place, &planned.replaced, references).await?;
        }
        let change = HostChange::replacing(self.organization, &puts, deletes);
        self.inventory.commit_hosts(&change, &before, batch).await
    }

    /// Notes whose neighbors may be others now.
    fn note(&mut self, id: Uuid, planned: &Planned) {
        self.affected_identities.extend(planned.affected.iter().cloned());
        self.affected_hosts.insert(id);
    }
}

/// An attempt to store a device.
struct Attempted<'a> {
    subject: &'a Subject,
    target: Target,
    /// The record of the network that changes with the set of its hosts.
    marker: Option<Record>,
    has_fresh_ids: bool,
}

impl Inventory {
    /// Reads all that is stored of a host, with its claims of some kinds. `None`: there is no such host.
    pub(super) async fn read_stored(
        &self,
        host: Uuid,
        kinds: &BTreeSet<TableKind>,
    ) -> Result<Option<Stored>, Error> {
        let claims = kinds.iter().map(|kind| claim_key(host, *kind));
        let keys: Vec<Key> = [host_key(host), host_discovery_key(host)].into_iter().chain(claims).collect();
        let mut records = self.store.get(&keys).await?.into_iter();
        let (Some(Some(record)), Some(state)) = (records.next(), records.next()) else { return Ok(None) };
        let claims = records.flatten().collect();
        Ok(Some(Stored { record, state, claims }))
    }
}

impl Plan {
    /// Estimates the number of bytes to be decoded and encoded.
    fn size(&self) -> usize {
        let of_stored = |stored: &Stored| {
            let state = stored.state.as_ref().map_or(0, |state| state.body.len());
            let claims: usize = stored.claims.iter().map(|claim| claim.body.len()).sum();
            stored.record.body.len() + state + claims
        };
        let stored = self.known.iter().flat_map(|known| std::iter::once(&known.host).chain(&known.others));
        let rows: usize = self.device.tables.summaries().iter().map(|table| table.rows).sum();
        stored.map(of_stored).sum::<usize>().saturating_add(rows.saturating_mul(ROW_BYTES))
    }
}

/// Estimated size of a row, as it is stored in a claim, in the host and in its state.
const ROW_BYTES: usize = 1_024;

const NO_IDENTITY: &str = "The device has no identity by which it could be recognized again.";

/// Returns whether an error is due to the device, so that others can still be stored.
fn concerns_device(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::QuotaExceeded { .. }
            | ErrorKind::TooLarge { .. }
            | ErrorKind::Invalid { .. }
            | ErrorKind::AlreadyExists { .. }
    )
}

/// Returns the name that a device reports.
fn name_of(device: &Device) -> String {
    let names = [&device.sys_name, &device.hostname, &device.cdp_device_id];
    names.into_iter().flatten().next().cloned().unwrap_or_default()
}

fn ignored(device: &Device, reason: String) -> DiscoveredHost {
    DiscoveredHost {
        id: None,
        name: name_of(device),
        outcome: DiscoveryOutcome::Ignored,
        matched_by: None,
        changes: Vec::new(),
        reason: Some(reason),
    }
}

fn recognized(device: &Device, id: Uuid, matched_by: MatchedBy) -> DiscoveredHost {
    DiscoveredHost {
        id: Some(id),
        name: name_of(device),
        outcome: DiscoveryOutcome::Unchanged,
        matched_by: Some(matched_by),
        changes: Vec::new(),
        reason: None,
    }
}

fn ambiguous(device: &Device, key: MatchedBy, hosts: &[Uuid]) -> DiscoveredHost {
    let hosts: Vec<String> = hosts.iter().take(8).map(Uuid::to_string).collect();
    DiscoveredHost {
        id: None,
        name: name_of(device),
        outcome: DiscoveryOutcome::Ambiguous,
        matched_by: Some(key),
        changes: Vec::new(),
        reason: Some(format!("The device may be any of the hosts {}.", hosts.join(", "))),
    }
}
