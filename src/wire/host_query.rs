//! The filters, order and page of a list of hosts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::{Moment, PageCursor};
use crate::model::{
    Cidr, HostId, HostOrderField, MacPrefix, NetworkId, OrderDirection, PortNumber, Protocol, SourceType,
    SubnetId, TagId, Timestamp,
};

/// Filters, order and page of a list of hosts.
///
/// Filters are combined with AND. The default is every host visible to the caller, by `created_at`.
///
/// ```
/// use toposcope::inventory::HostQuery;
/// use toposcope::model::HostOrderField;
///
/// let mut query = HostQuery::default();
/// query.order_by = Some(HostOrderField::Name);
/// query.limit = Some(50);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostQuery {
    /// Only hosts of this network. A network invisible to the caller gives an empty list.
    pub network_id: Option<NetworkId>,
    /// Only these hosts.
    pub ids: Option<Vec<HostId>>,
    /// Only hosts with any of these tags.
    pub tag_ids: Option<Vec<TagId>>,
    /// Only hosts with all of these tags. At most 100.
    pub tag_ids_all: Option<Vec<TagId>>,
    /// Only hosts with none of these tags.
    pub tag_ids_none: Option<Vec<TagId>>,
    /// Only hosts without any tag, or only the others.
    pub without_tags: Option<bool>,
    /// Only hosts with this name, regardless of case.
    pub name: Option<String>,
    /// Only hosts with this hostname, regardless of case.
    pub hostname: Option<String>,
    /// Only hosts with an interface whose address is in any of these prefixes.
    ///
    /// An IPv4-mapped IPv6 address, such as `::ffff:192.0.2.1`, counts as both of its forms.
    pub ips: Option<Vec<Cidr>>,
    /// Only hosts with an interface whose MAC address begins with any of these prefixes.
    pub macs: Option<Vec<MacPrefix>>,
    /// Only hosts with any of these ports open.
    pub ports: Option<Vec<PortFilter>>,
    /// Only hosts with a service of any of these definitions.
    pub service_definitions: Option<Vec<String>>,
    /// Only hosts with an interface in any of these subnets.
    pub subnet_ids: Option<Vec<SubnetId>>,
    /// Only hosts with any of these types of source.
    pub sources: Option<Vec<SourceType>>,
    /// Only hosts that user interfaces should hide, or only the others.
    pub hidden: Option<bool>,
    /// Only hosts that have changed at this time or later.
    pub updated_since: Option<Timestamp>,
    /// Only hosts that a report has shown at this time or later. The time is rounded down to the hour.
    pub seen_since: Option<Timestamp>,
    /// Only hosts that reports no longer show, or only the others.
    pub stale: Option<bool>,
    /// Only hosts that are found by every word of this text. The text has 2 to 100 characters.
    ///
    /// A word is found if it begins a word of the host's name, hostname or description, of an interface's name, or an
    /// IP or MAC address. A word also begins after each of `-`, `_`, `.`, `:` and the like inside of it. A separator at
    /// the end ends an octet: `10.1.` finds 10.1.0.1, but not 10.15.0.1. Four and more hexadecimal digits also find the
    /// MAC addresses that end with them.
    ///
    /// Case, accents and Unicode normalization forms do not matter. Letters stay in their alphabet, so that Latin
    /// letters find no Greek or Cyrillic word. Words are compared by their first 64 bytes, and a host is found by its
    /// first 4,096 words. Only the first 16,384 words, repeated ones included, and about the first mebibyte of its
    /// names and of its description are read for that.
    pub search: Option<String>,
    /// Only hosts whose custom fields have these texts. A number or a boolean has the text of its JSON.
    ///
    /// The fields must be [indexed](crate::Inventory::with_custom_index).
    pub custom: BTreeMap<String, String>,
    /// The primary order field, always ascending, so that hosts of a group are adjacent.
    pub group_by: Option<HostOrderField>,
    /// The order within groups, or of the whole list; default: `created_at`.
    pub order_by: Option<HostOrderField>,
    /// The custom field to order by, in place of `order_by`. It must be [indexed](crate::Inventory::with_custom_index).
    ///
    /// Hosts without it come first in ascending order, then numbers, `false`, `true`, and texts by their first 128 bytes.
    pub order_by_custom: Option<String>,
    /// The direction of `order_by` or `order_by_custom`.
    pub order_direction: OrderDirection,
    /// The hosts as they were at this moment; `None`: as they are.
    ///
    /// The cost grows with the number of changes since. Fields that only the server sets are not recorded, so that
    /// `seen_since` compares their present values. The time of the last change of a host is that of its last entry in
    /// the history.
    pub at: Option<Moment>,
    /// The maximum number of hosts; `None`: all, and 0: none. Over HTTP, `limit=0` stands for all.
    pub limit: Option<usize>,
    /// The number of hosts to skip. Ignored with a cursor.
    pub offset: u64,
    /// The position to start from: `next` of the previous page.
    pub cursor: Option<PageCursor>,
}

/// Port numbers of any protocol, or of one: `443`, `443/Tcp` or `8000-8100/Tcp` in query strings.
///
/// ```
/// use toposcope::inventory::PortFilter;
///
/// let web: PortFilter = "8000-8100/tcp".parse()?;
/// assert_eq!(web.to_string(), "8000-8100/Tcp");
/// # Ok::<(), toposcope::inventory::PortFilterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PortFilter {
    /// The smallest port number.
    pub first: PortNumber,
    /// The greatest port number.
    pub last: PortNumber,
    /// The transport protocol; `None`: any.
    pub protocol: Option<Protocol>,
}

/// The error for text that names no ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a port number or a range of them, with or without a protocol, such as 443/Tcp or 8000-8100")]
#[non_exhaustive]
pub struct PortFilterError;

impl PortFilter {
    /// Creates a filter for a port number of any protocol.
    #[must_use]
    pub const fn new(number: PortNumber) -> Self {
        Self::range(number, number)
    }

    /// Creates a filter for the port numbers from `first` to `last`, of any protocol.
    #[must_use]
    pub const fn range(first: PortNumber, last: PortNumber) -> Self {
        Self { first, last, protocol: None }
    }
}

/// Accepts the protocol in any case.
impl FromStr for PortFilter {
    type Err = PortFilterError;

    fn from_str(text: &str) -> Result<Self, PortFilterError> {
        let (numbers, protocol) = match text.split_once('/') {
            Some((numbers, protocol)) => (numbers, Some(protocol.parse().map_err(|_| PortFilterError)?)),
            None => (text, None),
        };
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let (first, last) = (port_number(first)?, port_number(last)?);
        if last < first {
            return Err(PortFilterError);
        }
        Ok(Self { first, last, protocol })
    }
}

fn port_number(text: &str) -> Result<PortNumber, PortFilterError> {
    let number = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number: u16 = number.and_then(|text| text.parse().ok()).ok_or(PortFilterError)?;
    PortNumber::try_from(number).map_err(|_| PortFilterError)
}

impl fmt::Display for PortFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.first, formatter)?;
        if self.last != self.first {
            write!(formatter, "-{}", self.last)?;
        }
        self.protocol.iter().try_for_each(|protocol| write!(formatter, "/{protocol}"))
    }
}
