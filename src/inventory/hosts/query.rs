use crate::inventory::collections::fingerprint;
use crate::inventory::schema::HOST;
use crate::model::{OrganizationId, Timestamp};
use crate::wire::HostQuery;

impl HostQuery {
    /// Returns a number that identifies the list, whatever its page.
    pub(super) fn fingerprint(&self, organization: OrganizationId) -> u64 {
        let order = (self.group_by, self.order_by, self.order_direction);
        let filters =
            (self.network_id, &self.ids, &self.tag_ids, &self.subnet_ids, self.hidden, &self.search);
        let parts = (&self.ips, &self.macs, &self.ports, &self.service_definitions, &self.sources);
        let tags = (&self.tag_ids_all, &self.tag_ids_none, self.without_tags);
        let times = [self.seen_since, self.updated_since].map(|time| time.map(Timestamp::unix_micros));
        let custom = (&self.custom, &self.order_by_custom);
        let others = (times, self.stale, &self.name, &self.hostname, tags, custom, &self.at);
        fingerprint(&(HOST, organization, order, filters, parts, others))
    }
}
