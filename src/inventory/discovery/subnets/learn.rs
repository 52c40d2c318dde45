//! Creation of the subnets that devices are attached to.

use std::collections::BTreeSet;

use crate::discovery::report::{Warning, WarningCode};
use crate::inventory::collections::CollectionRecord;
use crate::inventory::discovery::Reconciler;
use crate::inventory::discovery::subnets::Subnets;
use crate::inventory::schema::{
    DELETED_SUBNET, SUBNET, encode, exists, facets, network_key, on_network, subnet_key,
};
use crate::inventory::subnets::cidr_bytes;
use crate::inventory::{Entity, Error};
use crate::model::{Cidr, NetworkId, Source, Subnet, SubnetId, Timestamp, derived_id};
use crate::store::{Batch, Key, Precondition};
use crate::wire::DiscoveredSubnet;

/// Maximum number of subnets that one report creates.
const MAX_PER_REPORT: usize = 1_000;

/// Maximum number of subnets of a network to which discovery still adds others.
const MAX_PER_NETWORK: usize = 10_000;

/// Number of subnets that are created in one commit.
const SUBNETS: usize = 128;

impl Reconciler {
    /// Creates the subnets with these addresses that the network lacks, and assigns interfaces to them.
    ///
    /// Subnets that a user has deleted stay deleted.
    pub(in crate::inventory::discovery) async fn learn_subnets(
        &mut self,
        prefixes: BTreeSet<Cidr>,
    ) -> Result<(), Error> {
        let missing = self.missing_subnets(prefixes).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let room = self.room_for_subnets().await?;
        if let Some(first) = missing.get(room) {
            self.note_left_out(missing.len() - room, *first);
        }
        let created: Vec<Cidr> = missing.into_iter().take(room).collect();
        for cidrs in created.chunks(SUBNETS) {
            self.create_subnets(cidrs).await?;
        }
        if !created.is_empty() {
            self.inventory.assign_subnets_within((self.organization, self.network), None, &created).await?;
        }
        Ok(())
    }

    /// Returns the addresses for which there is no subnet, and for which a user has not deleted one.
    async fn missing_subnets(&mut self, prefixes: BTreeSet<Cidr>) -> Result<Vec<Cidr>, Error> {
        let prefixes: Vec<Cidr> = prefixes.into_iter().collect();
        self.look_up_subnets(&prefixes).await?;
        let unknown: Vec<Cidr> = prefixes.into_iter().filter(|cidr| !self.subnets.contains(*cidr)).collect();
        if unknown.is_empty() {
            return Ok(unknown);
        }
        let keys: Vec<Key> = unknown.iter().map(|cidr| deleted_subnet_key(self.network, *cidr)).collect();
        let deleted = self.inventory.store.get(&keys).await?;
        let missing = unknown.into_iter().zip(deleted).filter(|(_, deleted)| deleted.is_none());
        Ok(missing.map(|(cidr, _)| cidr).collect())
    }

    /// Returns the number of subnets that the report may still create.
    async fn room_for_subnets(&self) -> Result<usize, Error> {
        let of_report = MAX_PER_REPORT.saturating_sub(self.answer.subnets.len());
        let count = self.inventory.count(on_network(SUBNET, self.organization, self.network)).await?;
        let of_network = MAX_PER_NETWORK.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(of_report.min(of_network))
    }

    async fn look_up_subnets(&mut self, prefixes: &[Cidr]) -> Result<(), Error> {
        let place = (self.organization, self.network);
        self.inventory.look_up_subnets(place, prefixes.iter().copied(), &mut self.subnets).await
    }

    fn note_left_out(&mut self, count: usize, example: Cidr) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let warnings = &mut self.answer.warnings;
        match warnings.iter_mut().find(|warning| warning.code == WarningCode::SubnetLimitReached) {
            Some(warning) => warning.count = warning.count.saturating_add(count),
            None => {
                let warning = Warning::new(WarningCode::SubnetLimitReached, count, None);
                warnings.push(warning.with_example(&example.to_string()));
            }
        }
    }

    async fn create_subnets(&mut self, cidrs: &[Cidr]) -> Result<(), Error> {
        let inventory = self.inventory.clone();
        let mut transaction = inventory.transaction(self.sender.actor(), Entity::Network, self.network);
        loop {
            let missing: Vec<Cidr> =
                cidrs.iter().filter(|cidr| !self.subnets.contains(**cidr)).copied().collect();
            if missing.is_empty() {
                return Ok(());
            }
            let created = self.new_subnets(&missing).await?;
            let mut batch = Batch::new();
            for subnet in &created {
                let facets = subnet.facets(self.organization);
                batch.put(subnet_key(subnet.id), Precondition::Absent, facets, encode(subnet)?);
            }
            batch.guard(exists(network_key(self.network)));
            let is_created = transaction.commit(batch).await?;
            // Another request may have created some of them.
            if !is_created {
                self.subnets = Subnets::default();
                self.look_up_subnets(cidrs).await?;
                continue;
            }
            for subnet in &created {
                self.subnets.insert(subnet.cidr, subnet.id);
                self.answer.subnets.push(DiscoveredSubnet { id: subnet.id, cidr: subnet.cidr });
            }
        }
    }

    /// Returns the records of new subnets. Their ids follow from network and addresses unless these ids are taken.
    async fn new_subnets(&self, cidrs: &[Cidr]) -> Result<Vec<Subnet>, Error> {
        let now = self.inventory.now();
        let ids: Vec<SubnetId> = cidrs.iter().map(|cidr| derived_subnet_id(self.network, *cidr)).collect();
        let keys: Vec<Key> = ids.iter().map(|id| subnet_key(*id)).collect();
        let holders = self.inventory.store.get(&keys).await?;
        let mut subnets = Vec::with_capacity(cidrs.len());
        for ((cidr, id), holder) in cidrs.iter().zip(ids).zip(holders) {
            let id = if holder.is_none() { id } else { self.inventory.new_random_id()? };
            let mut subnet = Subnet::new(self.network, cidr.to_string(), *cidr);
            subnet.source = Source::Discovery { metadata: Vec::new() };
            subnet.begin(id, self.organization, now);
            subnets.push(subnet);
        }
        Ok(subnets)
    }
}

/// Adds the record that discovery must not create a subnet again to the batch that removes the subnet.
pub(in crate::inventory) fn put_deleted_subnet(
    subnet: &Subnet,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<(), Error> {
    let key = deleted_subnet_key(subnet.network_id, subnet.cidr);
    let facets = facets(subnet.organization_id, now).with_network(subnet.network_id.uuid());
    batch.put(key, Precondition::Any, facets, encode(&subnet.cidr)?);
    Ok(())
}

/// Returns the key of the record of a deleted subnet.
fn deleted_subnet_key(network: NetworkId, cidr: Cidr) -> Key {
    Key::new(DELETED_SUBNET, derived_id("deleted subnet", &[network.as_bytes(), &cidr_bytes(cidr)]))
}

fn derived_subnet_id(network: NetworkId, cidr: Cidr) -> SubnetId {
    derived_id("discovered subnet", &[network.as_bytes(), cidr.to_string().as_bytes()])
}
