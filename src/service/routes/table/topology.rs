//! Topologies.

use http::Method;

use super::row::CollectionNames;
use super::row::{MEMBER, UNIQUE, VIEWER, route};
use crate::inventory::MAX_POSITIONS;
use crate::model::{HostRole, LinkEnd, NetworkId, TopologyLink, TopologyView};
use crate::service::endpoints::collections::Template;
use crate::service::endpoints::topology;
use crate::service::input::{MAX_DEPTH, MAX_IDS, MAX_TERMS, MAX_VLAN, MIN_VLAN};
use crate::service::routes::groups;
use crate::service::routes::parameter::{Kind, Parameter, RequestContent};
use crate::service::routes::route::{ResponseContent, Route};
use crate::service::sender::AllowedSenders;
use crate::topology::graph::{Detail, GraphOptions, GroupBy};
use crate::topology::links::Confidence;
use crate::topology::render::{ColorScheme, Format};
use crate::wire::ErrorCode;

pub(super) const NETWORK: &[Parameter] = &[Parameter::required("network_id", Kind::Id, "The network.")];

const LINK: &[Parameter] = &[
    Parameter::required("network_id", Kind::Id, "The network of both hosts."),
    Parameter::required("source", Kind::Schema("LinkEnd"), "One end."),
    Parameter::required("target", Kind::Schema("LinkEnd"), "The other end, on another host."),
    Parameter::optional("suppressed", Kind::Boolean, "Whether to leave out links instead of showing one."),
];

const LAYOUT: &[Parameter] = &[Parameter::required("positions", POSITIONS, "The positions of nodes.")];

const POSITIONS: Kind = Kind::Sized { schema: "NodePosition", min: 0, max: MAX_POSITIONS };

const VIEW: Parameter = Parameter::optional("view", Kind::Choice(TopologyView::TEXTS), "The view.");

const ONE_VIEW: &[Parameter] = &[VIEW];

const ONE_GROUPING: &[Parameter] = &[GROUP_BY];

const GRAPH: &[Parameter] = &[
    VIEW,
    Parameter::nullable("focus", Kind::Id, "The node around which the graph is drawn."),
    Parameter::optional(
        "depth",
        Kind::Number { min: 0, max: MAX_DEPTH as i64, default: Some(GraphOptions::DEPTH as i64) },
        "The distance from the focus up to which nodes are drawn. Without `focus`, it has no effect.",
    ),
    Parameter::optional(
        "role",
        Kind::Matching { pattern: HostRole::PATTERN, max: MAX_TERMS },
        "Only hosts and devices with any of these roles, and what connects them. Roles of the host application begin with \
         `x.`.",
    ),
    Parameter::nullable(
        "vlan",
        Kind::Number { min: MIN_VLAN as i64, max: MAX_VLAN as i64, default: None },
        "Only links that are known to carry this VLAN, and what they connect.",
    ),
    Parameter::nullable(
        "group_by",
        Kind::Choice(GroupBy::TEXTS),
        "What containers of the view `l2` stand for. Positions that users have given to nodes do not apply then.",
    ),
    Parameter::nullable(
        "detail",
        Kind::Choice(Detail::TEXTS),
        "Whether nodes are devices, or one node stands for each location or block of devices. Without it, nodes are devices; \
         on a page, where their names would be smaller than 9 pixels, the page begins with the overview.",
    ),
    Parameter::optional(
        "collapse",
        Kind::Flag(GraphOptions::COLLAPSE),
        "Whether end devices of a device become one node, the largest groups first, until names have 7 points on A3.",
    ),
    Parameter::optional(
        "expand",
        Kind::Ids { min: 0, max: MAX_IDS },
        "The nodes whose end devices are drawn in full, and the nodes of an overview whose devices are drawn.",
    ),
    Parameter::optional(
        "min_confidence",
        Kind::Choice(CONFIDENCES),
        "The least certain links to draw. Conflicting ones are always drawn.",
    ),
    Parameter::optional(
        "show_stale",
        Kind::Flag(GraphOptions::SHOW_STALE),
        "Whether hosts are drawn that recent scans do not show any more.",
    ),
];

const CONFIDENCES: &[&str] =
    &[Confidence::Inferred.as_str(), Confidence::Reported.as_str(), Confidence::Confirmed.as_str()];

const WITH_LAYOUT: &[Parameter] =
    &[Parameter::optional("layout", Kind::Flag(true), "Whether nodes have positions."), TIDY];

const TIDY: Parameter = Parameter::optional(
    "tidy",
    Kind::Flag(false),
    "Whether nodes are placed without regard to where they were.",
);

const GROUP_BY: Parameter = Parameter::nullable(
    "group_by",
    Kind::Choice(GroupBy::TEXTS),
    "What the containers of the picture stand for.",
);

const FILE: &[Parameter] = &[
    Parameter::optional("format", Kind::Choice(Format::TEXTS), "The format of the file."),
    Parameter::optional("theme", Kind::Choice(ColorScheme::TEXTS), "The colors of an SVG."),
    TIDY,
];

/// Texts that may have commas in them.
pub(super) const NETWORK_ERRORS: &[ErrorCode] = &[ErrorCode::EntityAccessDenied, ErrorCode::EntityNotFound];

const GONE: &[ErrorCode] = &[ErrorCode::PositionGone];

pub(super) const TOO_LARGE: &[ErrorCode] = &[ErrorCode::AnswerTooLarge];

pub(super) fn topology() -> Vec<Route> {
    [graphs(), pages(), links(), layouts(), shares()].into_iter().flatten().collect()
}

fn graphs() -> Vec<Route> {
    let in_network = |route: Route| route.access(VIEWER).tagged().errors(NETWORK_ERRORS);
    vec![
        in_network(
            route(
                Method::GET,
                "/api/v1/topology/graph",
                "get_topology_graph",
                "Returns the graph of a network.",
                topology::get_graph,
            )
            .query(&[NETWORK, GRAPH, groups::TAGS, groups::GRAPH_MOMENTS, WITH_LAYOUT])
            .value("Graph")
            .errors(TOO_LARGE)
            .errors(GONE),
        ),
        in_network(
            Route {
                answer: ResponseContent::TopologyFile,
                ..route(
                    Method::GET,
                    "/api/v1/topology/export",
                    "export_topology",
                    "Returns the graph of a network as a file.",
                    topology::export_topology,
                )
            }
            .query(&[NETWORK, GRAPH, groups::TAGS, groups::GRAPH_MOMENTS, FILE])
            .errors(TOO_LARGE)
            .errors(GONE),
        ),
        in_network(
            route(
                Method::GET,
                "/api/v1/topology/edges/{id}",
                "get_topology_edge",
                "Returns an edge with everything that supports and contradicts it.",
                topology::get_edge,
            )
            .query(&[NETWORK, ONE_VIEW])
            .value("EdgeDetails"),
        ),
        in_network(
            route(
                Method::GET,
                "/api/v1/topology/blind-spots",
                "get_blind_spots",
                "Lists what to scan next.",
                topology::list_blind_spots,
            )
            .query(&[NETWORK])
            .list("BlindSpot"),
        ),
    ]
}

fn pages() -> Vec<Route> {
    vec![
        Route {
            answer: ResponseContent::NetworkPage,
            ..route(
                Method::GET,
                "/topology/{network_id}",
                "get_network_page",
                "Returns the page for people who work with a network.",
                topology::get_network_page,
            )
        }
        .access(VIEWER)
        .query(&[GRAPH, groups::TAGS, groups::GRAPH_MOMENTS])
        .tagged()
        .errors(GONE),
    ]
}

/// The graph that a viewer of a share has already.
const KNOWN: &[Parameter] = &[Parameter::nullable(
    "revision",
    // A digest.
    Kind::Text { min: 0, max: 64 },
    "The revision of the graph that the client has. The topology is null if it is still the same.",
)];

fn shares() -> Vec<Route> {
    vec![
        Route {
            body: RequestContent::Optional(KNOWN),
            ..route(
                Method::POST,
                "/api/v1/shares/public/{id}/topology",
                "open_share",
                "Returns what a share shows.",
                topology::open_share,
            )
        }
        .access(AllowedSenders::Share)
        .value("OpenedShare")
        .errors(&[ErrorCode::SharePasswordRequired])
        .errors(TOO_LARGE)
        .no_errors(&[ErrorCode::EntityConflict]),
        Route {
            answer: ResponseContent::Picture,
            ..route(
                Method::GET,
                "/api/v1/shares/public/{id}/topology.svg",
                "get_shared_picture",
                "Returns the picture of what a share shows.",
                topology::get_shared_picture,
            )
        }
        .access(AllowedSenders::Share)
        .tagged()
        .errors(&[ErrorCode::SharePasswordRequired])
        .errors(TOO_LARGE),
        Route {
            answer: ResponseContent::SharePage,
            ..route(
                Method::GET,
                "/share/{id}",
                "get_share_page",
                "Returns the page of a share.",
                topology::get_share_page,
            )
        }
        .access(AllowedSenders::Public),
    ]
}

fn links() -> Vec<Route> {
    let links = CollectionNames {
        path: "/api/v1/topology/links",
        item: "/api/v1/topology/links/{id}",
        bulk_delete: "",
        singular: "topology_link",
        plural: "topology_links",
        one: "a link that a user has entered",
        many: "the links of a network that users have entered",
        schema: "TopologyLink",
    };
    let list = Route {
        handler: topology::list_links,
        ..links.list::<TopologyLink>(&[groups::PAGE, groups::IDS, NETWORK, groups::ORDER_BY_TIME])
    };
    // A single link has no path to get it by.
    let create = Route { creates_in: None, ..links.create::<TopologyLink>(LINK).errors(UNIQUE) };
    let revert = links.revert::<TopologyLink>("/api/v1/topology/links/{id}/revert", UNIQUE);
    let history = links.history::<TopologyLink>("/api/v1/topology/links/{id}/history");
    vec![list.errors(NETWORK_ERRORS), create, revert, links.delete::<TopologyLink>(), history]
}

impl Template for TopologyLink {
    fn template() -> Self {
        Self::new(NetworkId::nil(), LinkEnd::default(), LinkEnd::default())
    }
}

fn layouts() -> Vec<Route> {
    let path = "/api/v1/topology/layouts/{network_id}/{view}";
    let put = route(
        Method::PUT,
        path,
        "put_topology_layout",
        "Replaces the positions that users have given to nodes.",
        topology::update_layout,
    )
    .access(MEMBER)
    .fields(LAYOUT)
    .value("TopologyLayout")
    .tagged()
    .errors(&[ErrorCode::PreconditionFailed]);
    let patch = Route {
        method: Method::PATCH,
        operation_id: Some("patch_topology_layout".to_owned()),
        summary: "Changes single fields of the positions that users have given to nodes.".to_owned(),
        // Layouts have no `updated_at`.
        body: RequestContent::Patch { fields: LAYOUT, lock: None },
        ..put.clone()
    };
    vec![
        route(
            Method::GET,
            path,
            "get_topology_layout",
            "Returns the positions that users have given to nodes.",
            topology::get_layout,
        )
        .access(VIEWER)
        .value("TopologyLayout")
        .tagged(),
        put,
        patch,
        route(
            Method::POST,
            "/api/v1/topology/layouts/{network_id}/{view}/tidy",
            "tidy_topology_layout",
            "Places the nodes of a view anew, but for those that users have placed, and keeps that layout.",
            topology::tidy_layout,
        )
        .access(MEMBER)
        .query(&[ONE_GROUPING])
        .errors(NETWORK_ERRORS),
    ]
}
