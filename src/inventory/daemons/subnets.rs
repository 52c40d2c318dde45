use crate::access::DaemonCaller;
use crate::inventory::collections::CollectionRecord;
use crate::inventory::daemons::Daemons;
use crate::inventory::hosts::is_discovered;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{SUBNET, decode, encode, exists, network_key, on_network, subnet_key};
use crate::inventory::subnets::cidr_unique_key;
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{Source, Subnet, SubnetId};
use crate::store::{Batch, Query, Record};

/// A subnet to be stored: its id, and the record that it replaces.
type Placed = (SubnetId, Option<(Record, Subnet)>);

impl Daemons<'_> {
    /// Stores a subnet that a daemon reports, on the network of its key.
    ///
    /// If the network has a subnet with these addresses, it stays as it is and is returned. The subnet keeps its id if
    /// it is unused, or that of a discovered subnet of the network, which is then replaced. Tags are ignored, and the
    /// source becomes `Discovery` unless it is already.
    ///
    /// # Errors
    /// `Invalid` for a name of a wrong length, a description of more than 500 characters, or a `source` nested too deep.
    pub async fn report_subnet(self, caller: &DaemonCaller, subnet: Subnet) -> Result<Subnet, Error> {
        let (organization, now) = (caller.organization_id, self.inventory.now());
        let mut subnet = subnet;
        subnet.network_id = caller.network_id;
        subnet.tags = Vec::new();
        if !is_discovered(&subnet.source) {
            subnet.source = Source::Discovery { metadata: Vec::new() };
        }
        subnet.validate(None, now)?;
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Subnet, subnet.id);
        loop {
            let known = cidr_unique_key(caller.network_id, subnet.cidr);
            if let Some(record) = self.inventory.store.get_by_unique_key(&known).await? {
                return decode(&record);
            }
            let (id, stored) = self.inventory.place_subnet(caller, subnet.id).await?;
            let mut placed = subnet.clone();
            placed.begin(id, organization, now);
            if let Some((_, stored)) = &stored {
                (placed.created_at, placed.tags) = (stored.created_at, stored.tags.clone());
            }
            let before = stored.as_ref().map(|(_, subnet)| subnet);
            transaction.review(Actor::Daemon(caller), before, Some(&placed)).await?;
            let mut batch = Batch::new();
            let precondition = unchanged(stored.as_ref().map(|(record, _)| record));
            batch.put(subnet_key(id), precondition, placed.facets(organization), encode(&placed)?);
            batch.guard(exists(network_key(caller.network_id)));
            if transaction.attempt(batch).await? == Attempt::Committed {
                // Give up the turns, because assigning interfaces takes others.
                drop(transaction);
                let place = (organization, caller.network_id);
                self.inventory.follow_subnet_change(place, placed.id, placed.cidr).await;
                return Ok(placed);
            }
        }
    }
}

impl Inventory {
    /// Decides about the id of a subnet that a daemon reports.
    async fn place_subnet(&self, caller: &DaemonCaller, given: SubnetId) -> Result<Placed, Error> {
        if given.is_nil() {
            return Ok((self.new_id()?, None));
        }
        let own = on_network(SUBNET, caller.organization_id, caller.network_id);
        let own = Query { ids: Some(vec![given.uuid()]), ..own };
        let all = Query { ids: own.ids.clone(), ..Query::new(SUBNET) };
        match self.store.list(&own).await?.records.pop() {
            Some(record) => {
                let stored: Subnet = decode(&record)?;
                if is_discovered(&stored.source) {
                    return Ok((given, Some((record, stored))));
                }
            }
            None if self.count(all).await? == 0 => return Ok((given, None)),
            None => {}
        }
        Ok((self.new_random_id()?, None))
    }
}
