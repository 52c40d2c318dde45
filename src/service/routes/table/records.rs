//! Organizations, networks, subnets and tags.

use http::Method;

#[cfg(feature = "discovery")]
use super::daemons::or_by_daemons;
use super::row::CollectionNames;
use super::row::{ANY_SESSION, IN_USE, UNIQUE, route};
use crate::model::{Cidr, Network, NetworkId, Organization, OrganizationId, Subnet, Tag, Timestamp};
use crate::service::endpoints::collections::Template;
#[cfg(feature = "discovery")]
use crate::service::endpoints::daemons;
use crate::service::endpoints::general;
use crate::service::routes::groups;
use crate::service::routes::route::Route;
use crate::wire::ErrorCode;

pub(super) fn organizations() -> Vec<Route> {
    let organizations = CollectionNames {
        path: "/api/v1/organizations",
        item: "/api/v1/organizations/{id}",
        bulk_delete: "",
        singular: "organization",
        plural: "organizations",
        one: "the caller's organization",
        many: "the caller's organization",
        schema: "Organization",
    };
    vec![
        organizations.list::<Organization>(&[groups::PAGE, groups::IDS, groups::ORDER]),
        organizations.get::<Organization>(),
        organizations.history::<Organization>("/api/v1/organizations/{id}/history"),
        organizations.update::<Organization>(groups::ORGANIZATION),
        route(
            Method::POST,
            "/api/v1/organizations/referral-source",
            "submit_referral_source",
            "Records where the user heard of the product.",
            general::submit_referral,
        )
        .access(ANY_SESSION)
        .fields(groups::REFERRAL)
        .no_errors(&[ErrorCode::PolicyRefused]),
    ]
}

pub(super) fn networks() -> Vec<Route> {
    let networks = CollectionNames {
        path: "/api/v1/networks",
        item: "/api/v1/networks/{id}",
        bulk_delete: "",
        singular: "network",
        plural: "networks",
        one: "a network",
        many: "networks",
        schema: "Network",
    };
    vec![
        networks.list::<Network>(&[
            groups::PAGE,
            groups::IDS,
            groups::TAGS,
            groups::UNIQUE_NAME,
            groups::CUSTOM_FILTERS,
            groups::NETWORK_ORDER,
        ]),
        networks.get::<Network>(),
        networks.history::<Network>("/api/v1/networks/{id}/history"),
        networks.create::<Network>(groups::NETWORK_FIELDS).errors(UNIQUE),
        networks.update::<Network>(groups::NETWORK_FIELDS).errors(UNIQUE),
        networks.delete::<Network>().errors(IN_USE),
    ]
}

impl Template for Organization {
    fn template() -> Self {
        let (id, now) = (OrganizationId::nil(), Timestamp::UNIX_EPOCH);
        Self { id, name: String::new(), api_access: false, created_at: now, updated_at: now }
    }
}

impl Template for Network {
    fn template() -> Self {
        Self::new("")
    }
}

pub(super) fn subnets() -> Vec<Route> {
    let subnets = CollectionNames {
        path: "/api/v1/subnets",
        item: "/api/v1/subnets/{id}",
        bulk_delete: "/api/v1/subnets/bulk-delete",
        singular: "subnet",
        plural: "subnets",
        one: "a subnet",
        many: "subnets",
        schema: "Subnet",
    };
    let create = subnets.create::<Subnet>(groups::SUBNET).errors(UNIQUE);
    #[cfg(feature = "discovery")]
    let create = or_by_daemons(create, daemons::create_subnet);
    let list = subnets.list::<Subnet>(&[
        groups::PAGE,
        groups::IDS,
        groups::NETWORK,
        groups::TAGS,
        groups::SUBNET_ADDRESSES,
        groups::ORDER,
    ]);
    #[cfg(feature = "discovery")]
    let list = or_by_daemons(list, daemons::list_subnets);
    vec![
        list,
        subnets.get::<Subnet>(),
        subnets.history::<Subnet>("/api/v1/subnets/{id}/history"),
        create,
        // A subnet keeps its reserved addresses.
        subnets.update::<Subnet>(groups::SUBNET).errors(UNIQUE).errors(IN_USE),
        subnets.revert::<Subnet>("/api/v1/subnets/{id}/revert", UNIQUE).errors(IN_USE),
        subnets.delete::<Subnet>(),
        subnets.bulk_delete::<Subnet>(),
    ]
}

impl Template for Subnet {
    fn template() -> Self {
        Self::new(NetworkId::nil(), "", Cidr::DEFAULT_ROUTE)
    }
}

pub(super) fn tags() -> Vec<Route> {
    let tags = CollectionNames {
        path: "/api/v1/tags",
        item: "/api/v1/tags/{id}",
        bulk_delete: "/api/v1/tags/bulk-delete",
        singular: "tag",
        plural: "tags",
        one: "a tag",
        many: "tags",
        schema: "Tag",
    };
    vec![
        tags.list::<Tag>(&[groups::PAGE, groups::IDS, groups::UNIQUE_NAME, groups::ORDER]),
        tags.get::<Tag>(),
        tags.history::<Tag>("/api/v1/tags/{id}/history"),
        tags.create::<Tag>(groups::TAG).errors(UNIQUE),
        tags.update::<Tag>(groups::TAG).errors(UNIQUE),
        tags.revert::<Tag>("/api/v1/tags/{id}/revert", UNIQUE),
        tags.delete::<Tag>(),
        tags.bulk_delete::<Tag>(),
    ]
}

impl Template for Tag {
    fn template() -> Self {
        Self::new("")
    }
}
