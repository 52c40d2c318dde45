use std::collections::BTreeMap;
use std::net::IpAddr;

use uuid::Uuid;

use super::PageCursor;
use crate::model::{Cidr, NetworkId, OrderDirection, TagId};
use crate::text_enum::text_enum;

/// Filters, order and page of a list of records other than hosts.
///
/// Filters are combined with AND. The default is every record visible to the caller, oldest first.
///
/// ```
/// use toposcope::inventory::{ListOrderField, ListQuery};
///
/// let mut query = ListQuery::default();
/// query.order_by = ListOrderField::Name;
/// query.limit = Some(50);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only records of this network. A network invisible to the caller gives an empty list.
    pub network_id: Option<NetworkId>,
    /// Only these records.
    pub ids: Option<Vec<Uuid>>,
    /// Only records with any of these tags.
    pub tag_ids: Option<Vec<TagId>>,
    /// Only subnets that contain this address. Ignored for other records.
    pub contains: Option<IpAddr>,
    /// Only the subnets with exactly these addresses, one in each network at most. Ignored for other records.
    pub cidr: Option<Cidr>,
    /// Only the tag or network with this name, in any case. Ignored for other records.
    pub name: Option<String>,
    /// Only networks whose custom fields have these texts. A number or a boolean has the text of its JSON.
    ///
    /// The fields must be [indexed](crate::Inventory::with_custom_index). [Records of the host
    /// application](crate::inventory::ApplicationRecord) are filtered by their own facets. Lists of other records refuse such filters.
    pub custom: BTreeMap<String, String>,
    /// The field to order by. Records that are equal in it are ordered by id.
    pub order_by: ListOrderField,
    /// The custom field to order networks by, in place of `order_by`. It must be
    /// [indexed](crate::Inventory::with_custom_index). [Records of the host application](crate::inventory::ApplicationRecord) are
    /// ordered by their own facets. Lists of other records refuse it.
    ///
    /// Records without it come first in ascending order, then numbers, `false`, `true`, and texts by their first 128 bytes.
    pub order_by_custom: Option<String>,
    /// The direction of `order_by` or `order_by_custom`.
    pub order_direction: OrderDirection,
    /// The maximum number of records; `None`: all, and 0: none. Over HTTP, `limit=0` stands for all.
    pub limit: Option<usize>,
    /// The number of records to skip. Ignored with a cursor.
    pub offset: u64,
    /// The position to start from: `next` of the previous page.
    pub cursor: Option<PageCursor>,
}

text_enum! {
    /// A field by which lists of records other than hosts can be ordered.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum ListOrderField {
        /// When the record was created.
        #[default]
        CreatedAt = "created_at",
        /// When the record last changed.
        UpdatedAt = "updated_at",
        /// The record's name, by Unicode code point. Records without names are all equal.
        Name = "name",
        /// The `ifIndex` of an interface entry. Other records are all equal.
        IfIndex = "if_index",
        /// The number of a port. Other records are all equal.
        Number = "number",
    }

    /// The error for text that names no order field.
    #[error("not a field that records can be ordered by")]
    pub struct ListOrderFieldError;
}
