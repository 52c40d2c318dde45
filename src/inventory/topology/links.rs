//! Links that users enter.

use crate::access::Caller;
use crate::inventory::collections::{
    CollectionRecord, Creatable, Deletable, Reference, Requirements, Revertable, handle,
};
use crate::inventory::schema::{
    HOST, LINK_ENDS_UNIQUE_KEY, LINKED_HOST, TOPOLOGY_LINK, UPDATED_AT, decode, exists, facets, host_key,
    network_key, on_network, time_sort_key, unique_key_within,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem};
use crate::model::{
    ChangedEntity, Host, LinkEnd, NetworkId, OrganizationId, Permission, Timestamp, TopologyLink,
    TopologyLinkId,
};
use crate::store::{Batch, Facets, Link, LinkFilter, Name, Query, UniqueKey};

/// The maximum number of links that users may enter for a network. Concurrent requests may exceed it by a few.
const MAX_LINKS: u64 = 10_000;

impl TopologyLink {
    /// Creates a link between hosts of a network, for [`Collection::create`](crate::inventory::Collection::create), which sets id and times.
    #[must_use]
    pub fn new(network_id: NetworkId, source: LinkEnd, target: LinkEnd) -> Self {
        let now = Timestamp::now();
        let id = TopologyLinkId::nil();
        Self { id, network_id, source, target, suppressed: false, created_at: now, updated_at: now }
    }

    fn ends(&self) -> [(&'static str, LinkEnd); 2] {
        [("source", self.source), ("target", self.target)]
    }

    /// Returns the ends in ascending order, because a link has no direction.
    pub(super) fn sorted_ends(&self) -> (LinkEnd, LinkEnd) {
        (self.source.min(self.target), self.source.max(self.target))
    }

    /// Returns whether a link states the same about the same ends.
    ///
    /// A link that is added and one that is suppressed are different: together they replace what devices report.
    fn is_equal(&self, other: &Self) -> bool {
        (self.sorted_ends(), self.suppressed) == (other.sorted_ends(), other.suppressed)
    }

    /// Returns the unique key of [equal](Self::is_equal) links.
    fn unique_key(&self, organization: OrganizationId) -> UniqueKey {
        let text = |end: LinkEnd| format!("{}/{}", end.host_id, end.if_entry_id.unwrap_or_default());
        let (one, other) = self.sorted_ends();
        let text = format!("{} {} {} {}", self.network_id, self.suppressed, text(one), text(other));
        unique_key_within(LINK_ENDS_UNIQUE_KEY, organization, &text)
    }
}

impl CollectionRecord for TopologyLink {
    type Id = TopologyLinkId;

    const ENTITY: Entity = Entity::TopologyLink;
    const KIND: Name = TOPOLOGY_LINK;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);
    const LABEL_IS_UNIQUE_KEY: bool = false;

    fn id(&self) -> TopologyLinkId {
        self.id
    }

    fn label(&self) -> String {
        self.id.to_string()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: TopologyLinkId, _organization: OrganizationId, now: Timestamp) {
        (self.id, self.created_at, self.updated_at) = (id, now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.network_id, self.created_at) = (stored.id, stored.network_id, stored.created_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        if self.source.host_id == self.target.host_id {
            return Err(Error::invalid("target.host_id", Problem::Duplicate));
        }
        Ok(())
    }

    fn references(&self) -> Vec<Reference> {
        let field = "network_id".to_owned();
        vec![Reference { entity: Entity::Network, key: network_key(self.network_id), field }]
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        facets(organization, self.created_at)
            .with_sort_keys([time_sort_key(UPDATED_AT, self.updated_at)])
            .with_network(self.network_id.uuid())
            .with_links(self.ends().map(|(_, end)| Link::new(LINKED_HOST, end.host_id.uuid())))
            .with_unique_keys([self.unique_key(organization)])
    }

    async fn prepare(
        inventory: &Inventory,
        caller: &Caller,
        stored: Option<&Self>,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let organization = caller.organization_id();
        let of_network = on_network(TOPOLOGY_LINK, organization, record.network_id);
        if stored.is_none() && inventory.count(of_network).await? >= MAX_LINKS {
            return Err(ErrorKind::QuotaExceeded { entity: Self::ENTITY, limit: MAX_LINKS }.into());
        }
        for (side, end) in record.ends() {
            inventory.check_link_end(organization, record.network_id, side, end).await?;
            batch.guard(exists(host_key(end.host_id)));
        }
        inventory.refuse_equal_link(organization, record).await
    }
}

handle! {
    /// The links that users have entered.
    pub struct TopologyLinks(TopologyLink) = topology_links;
}

impl Creatable for TopologyLink {}

impl Revertable for TopologyLink {
    const CHANGED: ChangedEntity = ChangedEntity::TopologyLink;
}

impl Deletable for TopologyLink {}

impl Inventory {
    /// Refuses a link if there is an [equal](TopologyLink::is_equal) one, which the error names.
    ///
    /// Links of earlier versions have no unique key, so that they are found by their hosts.
    async fn refuse_equal_link(
        &self,
        organization: OrganizationId,
        link: &TopologyLink,
    ) -> Result<(), Error> {
        let hosts = link.ends().map(|(_, end)| LinkFilter::new(LINKED_HOST, [end.host_id.uuid()]));
        let between =
            Query { links: hosts.into(), ..on_network(TOPOLOGY_LINK, organization, link.network_id) };
        for record in self.store.list(&between).await?.records {
            let other: TopologyLink = decode(&record)?;
            if other.id != link.id && other.is_equal(link) {
                let name = other.id.to_string();
                return Err(ErrorKind::AlreadyExists { entity: TopologyLink::ENTITY, name }.into());
            }
        }
        Ok(())
    }

    /// Checks that an end is a host of the network. Its interface entry, if any, must be an entry of the host.
    async fn check_link_end(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        side: &str,
        end: LinkEnd,
    ) -> Result<(), Error> {
        let own = Query { ids: Some(vec![end.host_id.uuid()]), ..on_network(HOST, organization, network) };
        let Some(record) = self.store.list(&own).await?.records.pop() else {
            let field = format!("{side}.host_id");
            return Err(ErrorKind::ReferenceInvalid { entity: Entity::Host, field }.into());
        };
        let Some(entry) = end.if_entry_id else { return Ok(()) };
        let host: Host = self.decode_host(organization, &record).await?;
        if host.if_entries.iter().any(|own| own.id == entry) {
            return Ok(());
        }
        let field = format!("{side}.if_entry_id");
        Err(ErrorKind::ReferenceInvalid { entity: Entity::IfEntry, field }.into())
    }
}
