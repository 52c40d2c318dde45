//! Groups of query parameters and the fields of bodies. The rows of the route table share them.

mod history;
mod lists;

#[cfg(feature = "topology")]
pub(super) use self::history::GRAPH_MOMENTS;
pub(super) use self::history::{
    AT, CHANGES_FILTERS, CHANGES_PAGE, CHANGES_STREAM, DIFF, ERASE, REVERT, SUMMARY,
};
#[cfg(any(feature = "discovery", feature = "topology"))]
pub(super) use self::lists::ORDER_BY_TIME;
pub(super) use self::lists::{
    CUSTOM_FILTERS, HOST_FILTERS, HOST_ID, HOST_ORDER, HOST_SELECTION, IDS, IF_ENTRY_ORDER,
    IF_ENTRY_SELECTION, INTERFACE_SELECTION, NETWORK, NETWORK_ORDER, ORDER, PAGE, PORT_ORDER, PORT_SELECTION,
    SERVICE_SELECTION, TAGS, UNIQUE_NAME,
};
#[cfg(feature = "discovery")]
use super::parameter::RequestContent;
use super::parameter::{Kind, Parameter, Presence};
use crate::access::PasswordHasher;
use crate::inventory::BulkHost;
use crate::model::{
    Form, Host, IfEntry, Interface, OrderDirection, Permission, Port, Record, Service, Setter, SubnetType,
    TopologyView,
};
use crate::service::input::MAX_IDS;

const fn text(min: usize, max: usize) -> Kind {
    Kind::Text { min, max }
}

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

pub(super) const BULK: &[Parameter] = &[
    Parameter::required(
        "hosts",
        Kind::Sized { schema: "Host", min: 1, max: BulkHost::MAX },
        "The hosts, with or without ids.",
    ),
    Parameter::optional("atomic", Kind::Flag(true), "Whether all or none are stored."),
];

pub(super) const IMPORT: &[Parameter] = &[
    Parameter::optional(
        "network_id",
        Kind::Id,
        "Refuses hosts of other networks. A host without a network is on this one.",
    ),
    Parameter::optional("dry_run", Kind::Flag(false), "Checks everything and stores nothing."),
];

pub(super) const HEALTH: &[Parameter] =
    &[Parameter::optional("write", Kind::Flag(false), "Whether the store must also accept a write.")];

pub(super) const LOGIN: &[Parameter] = &[
    Parameter::required("email", text(1, 254), "The e-mail address, in any case."),
    Parameter::required("password", Kind::Secret { min: 1, max: None }, "The password."),
    Parameter::optional(
        "organization_id",
        Kind::Id,
        "The organization of the user, if the password is right for users of several.",
    ),
];

const OF_HOST: Parameter = Parameter::required("host_id", Kind::Id, "The host of the part.");
const ON_NETWORK: Parameter = Parameter::required("network_id", Kind::Id, "The network of that host.");
const PORT_OF_HOST: Parameter =
    Parameter::required("host_id", Kind::Id, "The host on which the port is open.");

const HOST_OF_PART: &[Parameter] = &[OF_HOST, ON_NETWORK];

pub(super) const HOST: &[Parameter] = &set_by_clients::<Host, { count::<Host>(&[]) }>(&[]);
pub(super) const INTERFACE: &[Parameter] =
    &set_by_clients::<Interface, { count::<Interface>(HOST_OF_PART) }>(HOST_OF_PART);
pub(super) const SERVICE: &[Parameter] =
    &set_by_clients::<Service, { count::<Service>(HOST_OF_PART) }>(HOST_OF_PART);
pub(super) const IF_ENTRY: &[Parameter] =
    &set_by_clients::<IfEntry, { count::<IfEntry>(HOST_OF_PART) }>(HOST_OF_PART);
pub(super) const PORT: &[Parameter] =
    &set_by_clients::<Port, { count::<Port>(HOST_OF_PART) }>(&[PORT_OF_HOST, ON_NETWORK]);

/// Returns the number of these fields and of those of a record that clients set.
const fn count<R: Record>(more: &[Parameter]) -> usize {
    let mut count = more.len();
    let mut fields = R::FIELDS;
    while let [field, rest @ ..] = fields {
        if !matches!(field.setter, Setter::Server) {
            count += 1;
        }
        fields = rest;
    }
    count
}

/// Returns these fields and those of a record that clients set, required ones first.
#[allow(clippy::indexing_slicing, reason = "a wrong number of fields does not compile")]
const fn set_by_clients<R: Record, const N: usize>(more: &[Parameter]) -> [Parameter; N] {
    let mut parameters = [ON_NETWORK; N];
    let mut length = 0;
    while length < more.len() {
        parameters[length] = more[length];
        length += 1;
    }
    let mut is_required = true;
    loop {
        let mut fields = R::FIELDS;
        while let [field, rest @ ..] = fields {
            let presence = match field.setter {
                Setter::Required => Some(Presence::Required),
                Setter::Optional if field.is_nullable => Some(Presence::Nullable),
                Setter::Optional => Some(Presence::Optional),
                Setter::Server => None,
            };
            if let Some(presence) = presence
                && matches!(presence, Presence::Required) == is_required
            {
                let (name, kind, description) = (field.name, kind_of(field.form), field.description);
                parameters[length] = Parameter { name, kind, presence, description };
                length += 1;
            }
            fields = rest;
        }
        if !is_required {
            return parameters;
        }
        is_required = false;
    }
}

const fn kind_of(form: Form) -> Kind {
    match form {
        Form::Id => Kind::Id,
        Form::Ids => TAG_IDS,
        Form::Boolean => Kind::Boolean,
        Form::Time => Kind::Time,
        Form::Text { min, max } => text(min, max),
        Form::Integer { min, max } => Kind::Number { min, max, default: None },
        Form::Plain(schema) | Form::Object(schema) => Kind::Schema(schema),
        Form::List(schema) => Kind::Schemas(schema),
    }
}

pub(super) const ORGANIZATION: &[Parameter] = &[Parameter::required("name", NAME, "The display name.")];

pub(super) const NETWORK_FIELDS: &[Parameter] = &[
    Parameter::required("name", NAME, "The display name."),
    DESCRIPTION,
    Parameter::optional("tags", TAG_IDS, "The ids of the network's tags."),
    Parameter::nullable(
        "custom",
        Kind::Schema("Custom"),
        "Fields of the host application or of users, by name.",
    ),
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
    Parameter::required(
        "network_id",
        Kind::Id,
        "The network that the subnet belongs to. A daemon that reports it may leave this out: its key determines the network.",
    ),
    Parameter::required(
        "name",
        NAME,
        "The display name. A daemon that reports it may leave this out: the addresses are then the name.",
    ),
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

pub(super) const SUBNET_ADDRESSES: &[Parameter] = &[
    Parameter::optional("contains", Kind::Schema("IpAddress"), "Only subnets that contain this address."),
    Parameter::optional(
        "cidr",
        text(4, 43),
        "Only subnets with exactly these addresses, such as 192.0.2.0/24.",
    ),
];

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_TEXT;
    use crate::model::extended::Extended;

    #[test]
    fn new_field_of_the_table_may_be_set_and_selected() {
        const FIELDS: &[Parameter] = &set_by_clients::<Extended, { count::<Extended>(&[]) }>(&[]);
        let rack = FIELDS.iter().find(|parameter| parameter.name == "rack").unwrap();
        assert_eq!((rack.kind, rack.presence), (text(0, MAX_TEXT), Presence::Nullable));
        assert_eq!(FIELDS.len(), HOST.len() + 1);
        let Kind::Choices { of, .. } = lists::selection(Extended::NAMES).kind else {
            panic!("fields are chosen")
        };
        assert!(of.contains(&"rack"));
    }
}
