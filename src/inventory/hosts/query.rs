use crate::inventory::collections::fingerprint;
use crate::inventory::schema::HOST;
use crate::model::{OrganizationId, Timestamp};
use crate::wire::HostQuery;

impl HostQuery {
    /// Returns a number that identifies the list, whatever its page.
    pub(super) fn fingerprint(&self, organization: OrganizationId) -> u64 {
        let Self {
            network_id,
            ids,
            tag_ids,
            tag_ids_all,
            tag_ids_none,
            without_tags,
            subnet_ids,
            hidden,
            search,
            name,
            hostname,
            ips,
            macs,
            ports,
            service_definitions,
            sources,
            seen_since,
            updated_since,
            stale,
            custom,
            at,
            group_by,
            order_by,
            order_by_custom,
            order_direction,
            limit: _,
            offset: _,
            cursor: _,
        } = self;
        // The default may be written out on a further page.
        let order = (group_by, order_by.unwrap_or_default(), order_direction);
        let filters = (network_id, ids, tag_ids, subnet_ids, hidden, search);
        let parts = (ips, macs, ports, service_definitions, sources);
        let tags = (tag_ids_all, tag_ids_none, without_tags);
        let times = [seen_since, updated_since].map(|time| time.map(Timestamp::unix_micros));
        let custom = (custom, order_by_custom);
        let others = (times, stale, name, hostname, tags, custom, at);
        fingerprint(&(HOST, organization, order, filters, parts, others))
    }
}
