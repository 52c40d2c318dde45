//! Storing of parsed lines: together where that succeeds, else one by one.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::checked_hosts::CheckedHosts;
use super::chunk::{Chunk, split_repeated_ids};
use super::described::CompleteLine;
use super::options::ImportTarget;
use super::parse::{LineFacts, LineHost, ParsedLine, refusal};
use crate::access::Caller;
use crate::inventory::hosts::{Before, EncodedHost, rename_host};
use crate::inventory::records::belongs_to;
use crate::inventory::schema::network_key;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{HostId, Network, NetworkId};
use crate::store::Key;
use crate::wire::{ImportReport, Reassignment, Refusal};

/// The storing of a chunk.
#[derive(Debug)]
pub(super) struct Storing<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) target: &'a ImportTarget,
    pub(super) report: &'a mut ImportReport,
    pub(super) checked_hosts: &'a mut CheckedHosts,
    /// Whether lines are rows of a CSV, which keep the fields of a host that they do not have.
    pub(super) are_rows: bool,
    pub(super) chunk: &'a mut Chunk,
}

impl Storing<'_> {
    /// Stores the accepted lines. Refused ones are added to the refusals of the chunk.
    pub(super) async fn store(mut self) -> Result<(), Error> {
        self.place_rows().await?;
        if let Some(caller) = &self.target.caller {
            self.refuse_denied_networks(caller).await?;
        }
        let lines = std::mem::take(&mut self.chunk.accepted);
        if self.target.create_networks {
            self.create_missing_networks(&lines).await?;
        }
        let lines = self.reassign_foreign_ids(lines).await?;
        for part in split_repeated_ids(lines) {
            let part = self.checked_hosts.refuse(part, &mut self.chunk.refusals);
            let part = self.complete_lines(part).await?;
            self.store_lines(part).await?;
        }
        Ok(())
    }

    /// Refuses lines of the organization's networks that the caller cannot access.
    ///
    /// Other networks outside of the scope do not exist for the organization, and are refused like unknown ones.
    async fn refuse_denied_networks(&mut self, caller: &Caller) -> Result<(), Error> {
        let networks = self.chunk.accepted.iter().map(|line| line.host().network_id);
        let outside: BTreeSet<NetworkId> = networks.filter(|id| !caller.scope().allows(*id)).collect();
        let keys: Vec<Key> = outside.into_iter().map(network_key).collect();
        let mut denied = HashSet::new();
        for record in self.inventory.store.get(&keys).await?.into_iter().flatten() {
            if belongs_to(caller.organization_id(), Some(&record))? {
                denied.insert(NetworkId::new(record.key.id));
            }
        }
        self.chunk.refuse(|host| {
            let id = host.network_id;
            denied
                .contains(&id)
                .then(|| ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.to_string())
        });
        Ok(())
    }

    /// Notes that a given host is as its line describes it.
    pub(super) fn note_stored(&mut self, host: HostId) {
        if self.are_rows { self.checked_hosts.count(host) } else { self.checked_hosts.forget(host) }
    }

    /// Adds a refusal of a line of this host.
    pub(super) fn refuse(&mut self, host: HostId, refusal: Refusal) {
        self.checked_hosts.count(host);
        self.chunk.refusals.push(refusal);
    }

    /// Gives random ids to hosts whose ids belong to other organizations.
    ///
    /// A host that occurs again gets the same id, as long as the report contains it.
    async fn reassign_foreign_ids(&self, lines: Vec<ParsedLine>) -> Result<Vec<ParsedLine>, Error> {
        let (inventory, organization) = (self.inventory, self.target.organization);
        let ids = lines.iter().map(|line| line.host().id).collect();
        let foreign = inventory.foreign_host_ids(organization, ids).await?;
        if foreign.is_empty() {
            return Ok(lines);
        }
        let known = self.report.reassignments.iter().map(|known| (known.given_id, known.id));
        let mut new_ids: HashMap<HostId, HostId> = known.collect();
        let mut reassigned = Vec::with_capacity(lines.len());
        for mut line in lines {
            let given = line.host().id;
            if foreign.contains(&given) {
                let id = match new_ids.get(&given) {
                    Some(id) => *id,
                    None => inventory.new_random_id()?,
                };
                new_ids.insert(given, id);
                line.host = match line.host {
                    LineHost::Encoded(encoded) => {
                        let encoded = inventory.reassign_host(organization, *encoded, id).await?;
                        LineHost::Encoded(Box::new(encoded))
                    }
                    LineHost::Incomplete(mut host, left_out) => {
                        rename_host(&mut host, id);
                        LineHost::Incomplete(host, left_out)
                    }
                };
                line.facts.reassignment = Some(Reassignment { line: line.facts.line, given_id: given, id });
            }
            reassigned.push(line);
        }
        Ok(reassigned)
    }

    /// Stores lines together or, if that fails, one by one.
    ///
    /// Thus only faulty lines are refused.
    async fn store_lines(&mut self, lines: Vec<CompleteLine>) -> Result<(), Error> {
        let (facts, encoded): (Vec<LineFacts>, Vec<EncodedHost>) = lines.into_iter().unzip();
        let together = self.put_lines(&facts, &encoded).await?;
        if let Ok(before) = &together {
            self.count_removed_parts(&encoded, before).await?;
        }
        for (facts, host) in facts.iter().zip(&encoded) {
            let replaced = match &together {
                Ok(before) => Ok(before.contains_key(&host.host.id)),
                Err(_) if facts.is_new => self
                    .put_new_line(host)
                    .await?
                    .map(|()| false)
                    .map_err(|error| refusal(facts.line, &error)),
                Err(error) if encoded.len() == 1 => Err(refusal(facts.line, error)),
                Err(_) => self.put_line(facts, host).await?,
            };
            match replaced {
                Ok(replaced) => {
                    if !facts.is_new {
                        self.note_stored(host.host.id);
                    }
                    self.report.accept(replaced, &facts.alterations, facts.reassignment);
                }
                Err(refusal) => self.refuse(host.host.id, refusal),
            }
        }
        Ok(())
    }

    /// Stores one line. Returns whether its host replaced another.
    async fn put_line(
        &mut self,
        facts: &LineFacts,
        host: &EncodedHost,
    ) -> Result<Result<bool, Refusal>, Error> {
        let hosts = std::slice::from_ref(host);
        let before = match self.put_lines(std::slice::from_ref(facts), hosts).await? {
            Ok(before) => before,
            Err(error) => return Ok(Err(refusal(facts.line, &error))),
        };
        self.count_removed_parts(hosts, &before).await?;
        Ok(Ok(!before.is_empty()))
    }

    /// Stores hosts with distinct ids. Separates errors that refuse a host from those that end the import.
    async fn put_lines(
        &self,
        facts: &[LineFacts],
        hosts: &[EncodedHost],
    ) -> Result<Result<Before, Error>, Error> {
        let expected = facts.iter().zip(hosts);
        let expected = expected.filter_map(|(facts, put)| Some((put.host.id, facts.expected_updated_at?)));
        let expected = expected.collect();
        unless_fatal(self.inventory.put_hosts(&self.target.importer(), hosts, &expected).await)
    }

    /// Stores the host of a line without an id. Its parts get new ids where parts of other hosts have theirs.
    async fn put_new_line(&self, host: &EncodedHost) -> Result<Result<(), Error>, Error> {
        let stored = self.inventory.put_new_host(&self.target.importer(), host).await;
        unless_fatal(stored)
    }

    /// Creates missing networks named by the lines, and counts them.
    async fn create_missing_networks(&mut self, lines: &[ParsedLine]) -> Result<(), Error> {
        let named: BTreeSet<NetworkId> = lines.iter().map(|line| line.host().network_id).collect();
        let keys: Vec<Key> = named.iter().map(|id| network_key(*id)).collect();
        let found = self.inventory.store.get(&keys).await?;
        let system = Caller::system(self.target.organization);
        for (id, _) in named.into_iter().zip(found).filter(|(_, record)| record.is_none()) {
            let network = Network::new(id.to_string());
            match self.inventory.networks().create_with_id(&system, id, network).await {
                Ok(_) => self.report.created_networks += 1,
                // Another writer created it. The validation of the hosts determines the owner.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Separates errors that refuse a host from those that end the import.
fn unless_fatal<T>(stored: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match stored.as_ref().map_err(Error::kind) {
        Err(
            ErrorKind::StoreUnavailable
            | ErrorKind::PolicyUnavailable
            | ErrorKind::Internal
            | ErrorKind::Busy,
        ) => stored.map(Ok),
        _ => Ok(stored),
    }
}
