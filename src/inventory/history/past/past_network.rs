//! The records that the topology of a network is made from, as they were.
//!
//! Tables of devices, such as forwarding tables, are not in the history: hosts have no claims here.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::one_record::Document;
use super::past_hosts::PastHosts;
use super::past_records::{PastMoment, PastRecords, network_of};
use crate::access::Caller;
use crate::discovery::Claim;
use crate::inventory::history::log::position::Place;
use crate::inventory::network_changes::digest_records;
use crate::inventory::schema::{CLAIM, HOST, SUBNET, TAG, TOPOLOGY_LINK, on_network};
use crate::inventory::{ChangeQuery, Error, Inventory, KnownNetwork, Moment, NetworkChanges};
use crate::model::{
    ChangedEntity, Host, HostId, NetworkId, OrderDirection, Subnet, Tag, TagId, Timestamp, TopologyLink,
};
use crate::store::Query;

/// The number of changed hosts that are read at a time. They are in memory as documents and as hosts.
const HOSTS_AT_ONCE: usize = 32;

/// The size of a changed host, about, in bytes.
const BYTES_OF_HOST: usize = 16 * 1024;

/// The records of a network as they were.
#[derive(Debug)]
pub(crate) struct PastNetwork<T> {
    /// The records, as changes of a network without any.
    pub(crate) records: NetworkChanges<T>,
    /// The names of the organization's tags.
    pub(crate) tag_names: BTreeMap<TagId, String>,
    /// The number of tables of devices that are known now, and that the past state is without.
    pub(crate) tables: u64,
}

impl PastMoment {
    /// Returns whether the state of this moment is an earlier one than that of another moment, or the same.
    pub(crate) fn is_up_to(&self, other: &Self) -> bool {
        self.place <= other.place
    }

    /// Returns the later one of two moments.
    pub(crate) fn max(self, other: Self) -> Self {
        if self.is_up_to(&other) { other } else { self }
    }
}

impl Inventory {
    /// Returns the moment of the newest change that the caller may see.
    pub(crate) async fn present_moment(&self, caller: &Caller) -> Result<PastMoment, Error> {
        let newest = ChangeQuery { limit: Some(0), ..ChangeQuery::default() };
        let position = self.changes(caller, &newest).await?.next;
        let key = &self.history_mark().await?.mark.key;
        let place = key.open(caller.organization_id(), &position).unwrap_or(Place::BEGINNING);
        Ok(PastMoment { place })
    }

    /// Returns the time of a moment that a request names: of a position, that of the last change up to it that the caller may see.
    pub(crate) async fn time_of(
        &self,
        caller: &Caller,
        named: &Moment,
        moment: &PastMoment,
    ) -> Result<Timestamp, Error> {
        if let Moment::Time(time) = named {
            return Ok((*time).min(self.now()));
        }
        let mark = self.history_mark().await?.mark;
        let position = mark.key.seal(caller.organization_id(), moment.place);
        let last = ChangeQuery {
            until: Some(Moment::Position(position)),
            order_direction: OrderDirection::Descending,
            limit: Some(1),
            ..ChangeQuery::default()
        };
        let last = self.changes_with(caller, &last, false).await?.changes.pop();
        Ok(last.map_or(mark.began_at, |change| change.at))
    }

    /// Reads the records of a network, whose access was checked, as they were at a moment.
    ///
    /// `digest` converts a host to the value that the caller keeps. The work follows the number of hosts, and of changes on the
    /// network since.
    pub(crate) async fn network_at<T: Send + 'static>(
        &self,
        caller: &Caller,
        network: NetworkId,
        at: &PastMoment,
        digest: impl Fn(&Host, &[Claim]) -> T + Clone + Send + 'static,
    ) -> Result<PastNetwork<T>, Error> {
        let organization = caller.organization_id();
        let on = |kind| on_network(kind, organization, network);
        let (changed, bytes) = self.hosts_at(caller, network, at, digest).await?;
        let of_network = |entity| (entity, Some(network));
        let subnets: Vec<Subnet> =
            self.records_of(caller, of_network(ChangedEntity::Subnet), on(SUBNET), at).await?;
        let links: Vec<TopologyLink> =
            self.records_of(caller, of_network(ChangedEntity::TopologyLink), on(TOPOLOGY_LINK), at).await?;
        let all_tags = Query { organization: Some(organization.uuid()), ..Query::new(TAG) };
        let tags: Vec<Tag> = self.records_of(caller, (ChangedEntity::Tag, None), all_tags, at).await?;
        let (known, removed) = (KnownNetwork::default(), Vec::new());
        Ok(PastNetwork {
            records: NetworkChanges { known, bytes, changed, removed, subnets, links },
            tag_names: tags.into_iter().map(|tag| (tag.id, tag.name)).collect(),
            tables: self.count(on(CLAIM)).await?,
        })
    }

    /// Returns the digests of the hosts of a network as they were, and the size of the hosts that have not changed.
    async fn hosts_at<T: Send + 'static>(
        &self,
        caller: &Caller,
        network: NetworkId,
        at: &PastMoment,
        digest: impl Fn(&Host, &[Claim]) -> T + Clone + Send + 'static,
    ) -> Result<(Vec<T>, usize), Error> {
        let organization = caller.organization_id();
        let mut past = PastHosts::since(self, caller, at.clone(), Some(network)).await?;
        let mut present = self.store.list(&on_network(HOST, organization, network)).await?.records;
        // After the hosts were read, so that their changes up to then are known.
        past.catch_up().await?;
        let changed = past.changed();
        present.retain(|record| !past.has_changed(HostId::new(record.key.id)));
        let bytes = present.iter().map(|record| record.body.len()).sum();
        let hosts = present.into_iter().map(|record| (record, Vec::new()));
        let mut digests = digest_records(self, organization, hosts, digest.clone()).await?;
        for ids in changed.chunks(HOSTS_AT_ONCE) {
            let hosts = past.get(ids, false).await?;
            let digest = digest.clone();
            let on_network = move |host: &Host| (host.network_id == network).then(|| digest(host, &[]));
            let work = move || hosts.iter().filter_map(on_network).collect::<Vec<T>>();
            let size = ids.len() * BYTES_OF_HOST;
            digests.append(&mut self.state.offload.run(organization, size, work).await?);
        }
        Ok((digests, bytes))
    }

    /// Returns the records of a kind as they were. `present` finds those that are there now.
    async fn records_of<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        (entity, network): (ChangedEntity, Option<NetworkId>),
        present: Query,
        at: &PastMoment,
    ) -> Result<Vec<T>, Error> {
        let mut past = PastRecords::since(self, caller, (entity, network), at).await?;
        let mut documents: BTreeMap<Uuid, Option<Document>> = BTreeMap::new();
        for record in self.store.list(&present).await?.records {
            let document = serde_json::from_slice(&record.body).map_err(Error::internal)?;
            documents.insert(record.key.id, Some(document));
        }
        past.catch_up().await?;
        for id in past.changed() {
            documents.entry(id).or_default();
        }
        let mut records = Vec::with_capacity(documents.len());
        for (id, present) in documents {
            let document = past.document(id, present).await?;
            let document = document.filter(|document| network.is_none() || network_of(document) == network);
            let Some(document) = document else { continue };
            records.push(serde_json::from_value(Value::Object(document)).map_err(Error::internal)?);
            tokio::task::yield_now().await;
        }
        Ok(records)
    }
}
