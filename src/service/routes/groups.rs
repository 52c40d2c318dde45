//! Groups of query parameters and the fields of bodies. The rows of the route table share them.

#[cfg(feature = "discovery")]
use super::parameter::RequestContent;
use super::parameter::{Kind, Parameter};
use crate::access::PasswordHasher;
use crate::inventory::{
    BulkHost, HOST_FIELDS, IF_ENTRY_FIELDS, INTERFACE_FIELDS, ListOrderField, PORT_FIELDS, SERVICE_FIELDS,
};
use crate::model::{HostOrderField, OrderDirection, Permission, SourceType, SubnetType, TopologyView};
use crate::service::input::{DEFAULT_LIMIT, MAX_IDS, MAX_OFFSET, MAX_TERMS};
use crate::wire::MAX_LIMIT;

const fn text(min: usize, max: usize) -> Kind {
    Kind::Text { min, max }
}

/// Texts of hosts, which devices send.
pub(super) const DEVICE_TEXT: Kind = text(0, 65_536);
/// The text of a filter. Servers refuse addresses above 64 KiB, and percent-encoding makes text up to twelve times as long.
const FILTER_TEXT: Kind = text(0, 1_024);
const NAME: Kind = Kind::Name;
const DESCRIPTION: Parameter = Parameter::nullable("description", text(0, 500), "Free text.");
const TAG_IDS: Kind = Kind::Ids { min: 0, max: MAX_IDS };
const IS_ENABLED: Parameter = Parameter::optional("is_enabled", Kind::Boolean, "Whether it is accepted.");
const EXPIRES_AT: Parameter = Parameter::nullable("expires_at", Kind::Time, "When it expires; null: never.");
const PERMISSIONS: Kind = Kind::Choice(Permission::TEXTS);
const ALL_NETWORKS: Parameter = Parameter::optional(
    "all_networks",
    Kind::Boolean,
    "Whether the key reaches all networks of its user, later ones included.",
);
const PASSWORD: Kind =
    Kind::Secret { min: PasswordHasher::MIN_LENGTH, max: Some(PasswordHasher::MAX_LENGTH) };
/// A secret that is compared with the stored one, whatever its length.
const ANY_SECRET: Kind = Kind::Secret { min: 0, max: None };
const DIRECTIONS: Kind = Kind::Choice(OrderDirection::TEXTS);

pub(super) const PAGE: &[Parameter] = &[
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

pub(super) const IDS: &[Parameter] =
    &[Parameter::optional("ids", TAG_IDS, "Only items with these ids, repeated or separated by commas.")];

pub(super) const NETWORK: &[Parameter] =
    &[Parameter::optional("network_id", Kind::Id, "Only items of this network.")];

pub(super) const TAGS: &[Parameter] =
    &[Parameter::optional("tag_ids", TAG_IDS, "Only items with any of these tags.")];

const CREATED_AT: &str = ListOrderField::CreatedAt.as_str();
const UPDATED_AT: &str = ListOrderField::UpdatedAt.as_str();
const BY_NAME: &str = ListOrderField::Name.as_str();
const NUMBER: &str = ListOrderField::Number.as_str();
const IF_INDEX: &str = ListOrderField::IfIndex.as_str();

const fn order(fields: &'static [&'static str]) -> [Parameter; 2] {
    let by = "The field to order by. The id, ascending, breaks ties.";
    [
        Parameter::optional("order_by", Kind::Choice(fields), by),
        Parameter::optional("order_direction", DIRECTIONS, "The direction of the order."),
    ]
}

pub(super) const ORDER: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT, BY_NAME]);
#[cfg(any(feature = "discovery", feature = "topology"))]
pub(super) const ORDER_BY_TIME: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT]);
pub(super) const PORT_ORDER: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT, NUMBER]);
pub(super) const IF_ENTRY_ORDER: &[Parameter] = &order(&[CREATED_AT, UPDATED_AT, BY_NAME, IF_INDEX]);

pub(super) const HOST_ID: &[Parameter] =
    &[Parameter::optional("host_id", Kind::Id, "Only parts of this host.")];

const HOST_ORDER_FIELDS: Kind = Kind::Choice(HostOrderField::TEXTS);

pub(super) const HOST_ORDER: &[Parameter] = &[
    Parameter::nullable("group_by", HOST_ORDER_FIELDS, "The primary order field, always ascending."),
    Parameter::optional("order_by", HOST_ORDER_FIELDS, "The field to order by, within groups."),
    Parameter::optional("order_direction", DIRECTIONS, "The direction of `order_by`."),
];

const fn texts(format: &'static str) -> Kind {
    Kind::Texts { format, max: MAX_TERMS }
}

const SOURCES: Kind = Kind::Choices { of: SourceType::TEXTS, max: MAX_TERMS };

pub(super) const HOST_FILTERS: &[Parameter] = &[
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

const fn selection(of: &'static [&'static str]) -> Parameter {
    Parameter::optional(
        "fields",
        Kind::Choices { of, max: of.len() },
        "Returns only these top-level fields of each record. The others are missing, even required ones.",
    )
}

pub(super) const HOST_SELECTION: &[Parameter] = &[selection(HOST_FIELDS)];
pub(super) const INTERFACE_SELECTION: &[Parameter] = &[selection(INTERFACE_FIELDS)];
pub(super) const PORT_SELECTION: &[Parameter] = &[selection(PORT_FIELDS)];
pub(super) const SERVICE_SELECTION: &[Parameter] = &[selection(SERVICE_FIELDS)];
pub(super) const IF_ENTRY_SELECTION: &[Parameter] = &[selection(IF_ENTRY_FIELDS)];

pub(super) const BULK: &[Parameter] = &[
    Parameter::required(
        "hosts",
        Kind::Sized { schema: "Host", min: 1, max: BulkHost::MAX },
        "The hosts, with or without ids.",
    ),
    Parameter::optional("atomic", Kind::Flag(true), "Whether all or none are stored."),
];

pub(super) const IMPORT: &[Parameter] = &[
    Parameter::optional("network_id", Kind::Id, "Refuses hosts of other networks."),
    Parameter::optional("dry_run", Kind::Flag(false), "Checks everything and stores nothing."),
];

pub(super) const HEALTH: &[Parameter] =
    &[Parameter::optional("write", Kind::Flag(false), "Whether the store must also accept a write.")];

pub(super) const LOGIN: &[Parameter] = &[
    Parameter::required("email", text(1, 254), "The e-mail address, in any case."),
    Parameter::required("password", Kind::Secret { min: 1, max: None }, "The password."),
];

const OF_HOST: Parameter = Parameter::required("host_id", Kind::Id, "The host of the part.");
const ON_NETWORK: Parameter = Parameter::required("network_id", Kind::Id, "The network of that host.");
const MAC: Kind = text(12, 59);
const INTEGER: Kind = Kind::Number { min: i64::MIN, max: i64::MAX, default: None };
const POSITION: Parameter = Parameter::optional("position", INTEGER, "The display position.");

const fn device_text(name: &'static str, description: &'static str) -> Parameter {
    Parameter::nullable(name, DEVICE_TEXT, description)
}

pub(super) const HOST: &[Parameter] = &[
    Parameter::required("network_id", Kind::Id, "The network the host is on."),
    Parameter::required("name", DEVICE_TEXT, "The display name."),
    device_text("hostname", "The DNS name, or the name the device reports for itself."),
    device_text("description", "Free text."),
    device_text("sys_name", "`sysName`: the name that the device reports for itself."),
    device_text("sys_descr", "`sysDescr`: hardware and software, as the device describes them."),
    device_text("sys_object_id", "`sysObjectID` in numeric form."),
    device_text("sys_location", "`sysLocation`."),
    device_text("sys_contact", "`sysContact`."),
    Parameter::nullable("chassis_id", Kind::Schema("LldpChassisId"), "The device's chassis id by LLDP."),
    device_text("manufacturer", "The manufacturer of the chassis."),
    device_text("model", "The model of the chassis."),
    device_text("serial_number", "The serial number of the chassis."),
    device_text("management_url", "The URL of the device's management interface."),
    Parameter::nullable("role", Kind::Schema("HostRole"), "The role of the device; derived if absent."),
    Parameter::optional("hidden", Kind::Boolean, "Whether user interfaces should hide the host."),
    Parameter::optional("tags", TAG_IDS, "The ids of the host's tags."),
    Parameter::optional("source", Kind::Schema("Source"), "The origin of the record."),
    Parameter::nullable("virtualization", Kind::Schema("HostVirtualization"), "The hypervisor service."),
    Parameter::optional("credential_assignments", Kind::Schemas("CredentialAssignment"), "Credentials."),
    Parameter::optional("interfaces", Kind::Schemas("InterfaceInput"), "The host's addresses."),
    Parameter::optional("ports", Kind::Schemas("PortInput"), "The host's open ports."),
    Parameter::optional("services", Kind::Schemas("ServiceInput"), "The services of the host."),
    Parameter::optional("if_entries", Kind::Schemas("IfEntryInput"), "The SNMP interface table."),
];

pub(super) const INTERFACE: &[Parameter] = &[
    OF_HOST,
    ON_NETWORK,
    Parameter::required("ip_address", Kind::Schema("IpAddress"), "The IP address."),
    Parameter::nullable("subnet_id", Kind::Id, "The subnet that contains the address."),
    device_text("name", "The interface's name on the device."),
    Parameter::nullable("mac_address", MAC, "The MAC address."),
    POSITION,
];

pub(super) const SERVICE: &[Parameter] = &[
    OF_HOST,
    ON_NETWORK,
    Parameter::required("name", DEVICE_TEXT, "The display name."),
    Parameter::required("service_definition", text(1, 65_536), "The name of the definition."),
    POSITION,
    Parameter::optional("source", Kind::Schema("Source"), "The origin of the record."),
    Parameter::optional("tags", TAG_IDS, "The ids of the service's tags."),
    Parameter::nullable("virtualization", Kind::Schema("ServiceVirtualization"), "The container."),
    Parameter::optional("bindings", Kind::Schemas("BindingInput"), "Where the service listens."),
];

pub(super) const IF_ENTRY: &[Parameter] = &[
    OF_HOST,
    ON_NETWORK,
    Parameter::required("if_index", INTEGER, "`ifIndex`."),
    Parameter::required("if_descr", DEVICE_TEXT, "`ifDescr`."),
    Parameter::nullable("interface_id", Kind::Id, "The host's interface on this port."),
    device_text("if_name", "`ifName`."),
    device_text("if_alias", "`ifAlias`."),
    Parameter::nullable("if_type", INTEGER, "`ifType`."),
    Parameter::nullable("speed_bps", Kind::Schema("Speed"), "The speed in bits per second."),
    Parameter::nullable("mac_address", MAC, "The MAC address."),
    Parameter::nullable("admin_status", Kind::Schema("AdminStatus"), "The configured state."),
    Parameter::nullable("oper_status", Kind::Schema("OperStatus"), "The current state."),
    Parameter::nullable("lag_id", Kind::Id, "The host's entry that is the aggregate of this port."),
    Parameter::nullable("vlans", Kind::Schema("Vlans"), "The VLANs of the port."),
    Parameter::nullable("neighbor", Kind::Schema("Neighbor"), "The neighbor, if it is a known host."),
    device_text("cdp_address", "The neighbor's address by CDP."),
    device_text("cdp_device_id", "The neighbor's device id by CDP."),
    device_text("cdp_platform", "The neighbor's model by CDP."),
    device_text("cdp_port_id", "The neighbor's port by CDP."),
    Parameter::nullable("lldp_chassis_id", Kind::Schema("LldpChassisId"), "The neighbor's chassis."),
    device_text("lldp_mgmt_addr", "The neighbor's management address by LLDP."),
    device_text("lldp_port_desc", "The neighbor's port description by LLDP."),
    Parameter::nullable("lldp_port_id", Kind::Schema("LldpPortId"), "The neighbor's port by LLDP."),
    device_text("lldp_sys_desc", "The neighbor's system description by LLDP."),
    device_text("lldp_sys_name", "The neighbor's system name by LLDP."),
];

pub(super) const PORT: &[Parameter] = &[
    Parameter::required("host_id", Kind::Id, "The host on which the port is open."),
    Parameter::required("network_id", Kind::Id, "The network of that host."),
    Parameter::required("number", Kind::Number { min: 1, max: 65_535, default: None }, "The port number."),
    Parameter::required("protocol", Kind::Schema("Protocol"), "The transport protocol, in any case."),
];

pub(super) const ORGANIZATION: &[Parameter] = &[Parameter::required("name", NAME, "The display name.")];

pub(super) const NETWORK_FIELDS: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    DESCRIPTION,
    Parameter::optional("tags", TAG_IDS, "The ids of the network's tags."),
];

const fn subnet_fields(network_id: Parameter, name: Parameter, subnet_type: Kind) -> [Parameter; 7] {
    [
        network_id,
        name,
        Parameter::required(
            "cidr",
            text(4, 43),
            "The addresses, such as 192.0.2.0/24; host bits must be zero.",
        ),
        DESCRIPTION,
        Parameter::optional("subnet_type", subnet_type, "What the subnet is used for."),
        Parameter::optional("source", Kind::Schema("Source"), "The origin of the record."),
        Parameter::optional("tags", TAG_IDS, "The ids of the subnet's tags."),
    ]
}

pub(super) const SUBNET: &[Parameter] = &subnet_fields(
    Parameter::required("network_id", Kind::Id, "The network that the subnet belongs to."),
    Parameter::required("name", NAME, "The display name."),
    Kind::Choice(SubnetType::TEXTS),
);

/// The fields of a subnet that a daemon reports.
///
/// Its type may be one that only newer versions know, and the key determines the network.
#[cfg(feature = "discovery")]
pub(in crate::service) const REPORTED_SUBNET: RequestContent = RequestContent::Fields(&subnet_fields(
    Parameter::optional("network_id", Kind::Id, "The network of the daemon's key."),
    Parameter::optional("name", NAME, "The display name; the addresses, if it is missing."),
    Kind::Schema("SubnetType"),
));

pub(super) const CONTAINS: &[Parameter] =
    &[Parameter::optional("contains", Kind::Schema("IpAddress"), "Only subnets that contain this address.")];

pub(super) const TAG: &[Parameter] = &[
    Parameter::required("name", NAME, "The tag's text."),
    DESCRIPTION,
    Parameter::nullable(
        "color",
        text(3, 7),
        "The color of the tag, as #rrggbb or by name, such as `emerald`.",
    ),
];

pub(super) const NEW_DAEMON_KEY: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    Parameter::required("network_id", Kind::Id, "The network the key may report to."),
    Parameter::required("tags", TAG_IDS, "The ids of the key's tags."),
    EXPIRES_AT,
    IS_ENABLED,
];

pub(super) const NEW_USER: &[Parameter] = &[
    Parameter::required("email", text(1, 254), "The e-mail address."),
    Parameter::required("permissions", PERMISSIONS, "The permission level."),
    Parameter::required("network_ids", TAG_IDS, "The networks granted to a Member or Viewer."),
    Parameter::optional("password", PASSWORD, "The password; without one, the user cannot log in."),
];

pub(super) const USER: &[Parameter] = &[
    Parameter::required("permissions", PERMISSIONS, "The permission level."),
    Parameter::required("network_ids", TAG_IDS, "The networks granted to a Member or Viewer."),
    Parameter::optional("is_enabled", Kind::Boolean, "Whether the user may log in."),
];

pub(super) const PASSWORD_CHANGE: &[Parameter] = &[
    Parameter::required("current_password", ANY_SECRET, "The present password."),
    Parameter::required("new_password", PASSWORD, "The new password."),
];

pub(super) const SHARE: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    Parameter::required("network_id", Kind::Id, "The network the share shows."),
    IS_ENABLED,
    EXPIRES_AT,
    Parameter::nullable("password", PASSWORD, "The password of the view; null: none."),
    Parameter::optional("options", Kind::Schema("ShareOptions"), "The controls that the view shows."),
    Parameter::optional("view", Kind::Choice(TopologyView::TEXTS), "The topology view."),
    Parameter::optional("redact", Kind::Schemas("Redaction"), "What is replaced by pseudonyms."),
];

pub(super) const SHARE_PASSWORD: &[Parameter] =
    &[Parameter::required("password", ANY_SECRET, "The password of the share.")];

pub(super) const NEW_USER_KEY: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    Parameter::required("permissions", PERMISSIONS, "The highest permission level of the key."),
    Parameter::optional("network_ids", TAG_IDS, "The networks the key may reach, unless it reaches all."),
    ALL_NETWORKS,
    Parameter::optional("tags", TAG_IDS, "The ids of the key's tags."),
    EXPIRES_AT,
    IS_ENABLED,
];

pub(super) const USER_KEY: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    Parameter::required("organization_id", Kind::Id, "The organization, which cannot change."),
    Parameter::required("user_id", Kind::Id, "The owner, who cannot change."),
    Parameter::required("tags", TAG_IDS, "The ids of the key's tags."),
    EXPIRES_AT,
    IS_ENABLED,
    Parameter::optional("network_ids", TAG_IDS, "The networks the key may reach."),
    ALL_NETWORKS,
    Parameter::optional("permissions", PERMISSIONS, "The highest permission level of the key."),
];

pub(super) const REFERRAL: &[Parameter] = &[
    Parameter::required("referral_source", text(1, 100), "One of the known sources, or any other text."),
    Parameter::nullable("referral_source_other", text(0, 500), "Details in the user's own words."),
];
