//! Parameters of lists: pages, orders, filters and selections of fields.

use super::{DIRECTIONS, FILTER_TEXT, TAG_IDS, text};
use crate::inventory::ListOrderField;
use crate::model::{Host, HostOrderField, IfEntry, Interface, PORT_NAMES, Record, Service, SourceType};
use crate::service::input::{DEFAULT_LIMIT, MAX_OFFSET, MAX_TERMS};
use crate::service::routes::parameter::{Kind, Parameter};
use crate::wire::MAX_LIMIT;

pub(in crate::service::routes) const PAGE: &[Parameter] = &[
    Parameter::optional(
        "limit",
        Kind::Number { min: 0, max: MAX_LIMIT as i64, default: Some(DEFAULT_LIMIT as i64) },
        "The maximum number of items; 0: no limit.",
    ),
    Parameter::optional(
        "offset",
        Kind::Number { min: 0, max: MAX_OFFSET as i64, default: Some(0) },
        "The number of items to skip.",
    ),
    Parameter::optional(
        "cursor",
        text(0, 2_048),
        "The `next_cursor` of the previous page, in place of an offset; empty: the start of the list.",
    ),
];

pub(in crate::service::routes) const IDS: &[Parameter] =
    &[Parameter::optional("ids", TAG_IDS, "Only items with these ids, repeated or separated by commas.")];

pub(in crate::service::routes) const NETWORK: &[Parameter] =
    &[Parameter::optional("network_id", Kind::Id, "Only items of this network.")];

pub(in crate::service::routes) const TAGS: &[Parameter] =
    &[Parameter::optional("tag_ids", TAG_IDS, "Only items with any of these tags.")];

/// A filter of lists of records whose names are unique.
pub(in crate::service::routes) const UNIQUE_NAME: &[Parameter] =
    &[Parameter::optional("name", FILTER_TEXT, "Only the item with this name, in any case.")];

const CREATED_AT: &str = ListOrderField::CreatedAt.as_str();
const UPDATED_AT: &str = ListOrderField::UpdatedAt.as_str();
const BY_NAME: &str = ListOrderField::Name.as_str();
const NUMBER: &str = ListOrderField::Number.as_str();
const IF_INDEX: &str = ListOrderField::IfIndex.as_str();

const fn order(fields: &'static [&'static str]) -> [Parameter; 2] {
    [
        Parameter::optional("order_by", Kind::Choice(fields), ORDER_FIELD),
        Parameter::optional("order_direction", DIRECTIONS, "The direction of the order."),
    ]
}

pub(in crate::service::routes) const ORDER: &[Parameter] = &order(NAMED_ORDER);
const NAMED_ORDER: &[&str] = &[CREATED_AT, UPDATED_AT, BY_NAME];
const ORDER_BY: Parameter = Parameter::optional("order_by", Kind::Choice(NAMED_ORDER), ORDER_FIELD);
const ORDER_FIELD: &str = "The field to order by. The id, ascending, breaks ties.";
#[cfg(any(feature = "discovery", feature = "topology"))]
pub(in crate::service::routes) const ORDER_BY_TIME: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT]);
pub(in crate::service::routes) const PORT_ORDER: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT, NUMBER]);
pub(in crate::service::routes) const IF_ENTRY_ORDER: &[Parameter] =
    &order(&[CREATED_AT, UPDATED_AT, BY_NAME, IF_INDEX]);

pub(in crate::service::routes) const HOST_ID: &[Parameter] =
    &[Parameter::optional("host_id", Kind::Id, "Only parts of this host.")];

const HOST_ORDER_FIELDS: Kind = Kind::Choice(HostOrderField::TEXTS);

pub(in crate::service::routes) const HOST_ORDER: &[Parameter] = &[
    Parameter::nullable("group_by", HOST_ORDER_FIELDS, "The primary order field, always ascending."),
    Parameter::optional("order_by", HOST_ORDER_FIELDS, "The field to order by, within groups."),
    ORDER_BY_CUSTOM,
    DIRECTION_OF_EITHER,
];

const ORDER_BY_CUSTOM: Parameter = Parameter::optional(
    "order_by_custom",
    text(0, 64),
    "The name of the indexed custom field to order by, in place of `order_by`.",
);
const DIRECTION_OF_EITHER: Parameter =
    Parameter::optional("order_direction", DIRECTIONS, "The direction of `order_by` or `order_by_custom`.");

pub(in crate::service::routes) const NETWORK_ORDER: &[Parameter] =
    &[ORDER_BY, ORDER_BY_CUSTOM, DIRECTION_OF_EITHER];

pub(in crate::service::routes) const CUSTOM_FILTERS: &[Parameter] = &[Parameter::optional(
    "custom",
    Kind::Custom { max: 1_024 },
    "Only items whose indexed custom fields have these values, such as `custom.asset_tag=A-17`.",
)];

const fn texts(format: &'static str) -> Kind {
    Kind::Texts { format, max: MAX_TERMS }
}

const SOURCES: Kind = Kind::Choices { of: SourceType::TEXTS, max: MAX_TERMS };

pub(in crate::service::routes) const HOST_FILTERS: &[Parameter] = &[
    Parameter::optional("ip", texts("cidr"), "Only hosts with an address in any of these prefixes."),
    Parameter::optional("mac", texts("mac-prefix"), "Only hosts with a MAC address that begins so."),
    Parameter::optional(
        "port",
        texts("port"),
        "Only hosts with any of these ports, such as 443, 443/Tcp or 8000-8100/Tcp.",
    ),
    Parameter::optional("service_definition", texts("text"), "Only hosts with any of these services."),
    Parameter::optional("subnet_id", TAG_IDS, "Only hosts with an interface in any of these subnets."),
    Parameter::optional("source", SOURCES, "Only hosts with any of these types of source."),
    Parameter::optional("hidden", Kind::Boolean, "Only hidden hosts, or only the others."),
    Parameter::optional("name", FILTER_TEXT, "Only hosts with this name, in any case."),
    Parameter::optional("hostname", FILTER_TEXT, "Only hosts with this hostname, in any case."),
    Parameter::optional(
        "tag_ids_all",
        Kind::Ids { min: 0, max: MAX_TERMS },
        "Only hosts with all of these tags.",
    ),
    Parameter::optional("tag_ids_none", TAG_IDS, "Only hosts with none of these tags."),
    Parameter::optional("without_tags", Kind::Boolean, "Only hosts without tags, or only the others."),
    Parameter::optional("updated_since", Kind::Time, "Only hosts that changed at this time or later."),
    Parameter::optional(
        "seen_since",
        Kind::Time,
        "Only hosts that a report has shown in the hour of this time, or later.",
    ),
    Parameter::optional(
        "stale",
        Kind::Boolean,
        "Only hosts that reports no longer show, or only the others.",
    ),
    Parameter::optional("search", text(2, 100), "Only hosts that are found by every word of this text."),
];

pub(super) const fn selection(of: &'static [&'static str]) -> Parameter {
    Parameter::optional(
        "fields",
        Kind::Choices { of, max: of.len() },
        "Returns only these top-level fields of each record. The others are missing, even required ones.",
    )
}

pub(in crate::service::routes) const HOST_SELECTION: &[Parameter] = &[selection(Host::NAMES)];
pub(in crate::service::routes) const INTERFACE_SELECTION: &[Parameter] = &[selection(Interface::NAMES)];
pub(in crate::service::routes) const PORT_SELECTION: &[Parameter] = &[selection(PORT_NAMES)];
pub(in crate::service::routes) const SERVICE_SELECTION: &[Parameter] = &[selection(Service::NAMES)];
pub(in crate::service::routes) const IF_ENTRY_SELECTION: &[Parameter] = &[selection(IfEntry::NAMES)];
