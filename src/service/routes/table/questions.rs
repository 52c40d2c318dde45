//! Questions about the links of a network.

use http::Method;

use super::row::{VIEWER, route};
use super::topology::{NETWORK, NETWORK_ERRORS, TOO_LARGE};
use crate::service::endpoints::topology;
use crate::service::input::{MAX_ANSWER_LIMIT, MAX_FAILURES, MAX_NODE_TEXT, MAX_VLAN, MIN_VLAN};
use crate::service::routes::parameter::{Kind, Parameter};
use crate::service::routes::route::Route;
use crate::topology::paths::{DEFAULT_LIMIT, DEFAULT_PATHS, MAX_PATHS};
use crate::wire::ErrorCode;

const NODE_TEXT: Kind = Kind::Text { min: 1, max: MAX_NODE_TEXT };

const NODE_TEXTS: Kind = Kind::Matching { pattern: "^.+$", max: MAX_FAILURES };

const LOCATE: &[Parameter] = &[
    Parameter::nullable(
        "mac",
        NODE_TEXT,
        "The MAC address of the device. One of `mac`, `ip` and `name` is required.",
    ),
    Parameter::nullable("ip", NODE_TEXT, "The IP address of the device."),
    Parameter::nullable("name", NODE_TEXT, "The name, the address or the id of the host."),
];

const PATH_ENDS: &[Parameter] = &[
    Parameter::required("from", NODE_TEXT, "The id, the address or the name of the sender."),
    Parameter::required("to", NODE_TEXT, "The id, the address or the name of the receiver."),
    Parameter::optional(
        "k",
        Kind::Number { min: 1, max: MAX_PATHS as i64, default: Some(DEFAULT_PATHS as i64) },
        "The maximum number of paths.",
    ),
];

const ONE_VLAN: &[Parameter] = &[Parameter::nullable(
    "vlan",
    Kind::Number { min: MIN_VLAN as i64, max: MAX_VLAN as i64, default: None },
    "Only this VLAN.",
)];

const FAILURES: &[Parameter] = &[
    Parameter::optional(
        "node",
        NODE_TEXTS,
        "The nodes that fail: ids, addresses or names. One of `node`, `edge` and `location` is required.",
    ),
    Parameter::optional("edge", Kind::Ids { min: 0, max: MAX_FAILURES }, "The links that fail."),
    Parameter::optional(
        "location",
        NODE_TEXTS,
        "The locations, as devices report them, of which all devices fail.",
    ),
    Parameter::optional(
        "from",
        NODE_TEXTS,
        "The nodes from which others are cut off. Without them, it is the top of the network.",
    ),
];

const PAIRS: &[Parameter] = &[Parameter::optional(
    "pairs",
    Kind::Flag(false),
    "Whether to list pairs of devices whose joint loss cuts off others. Devices at the same location, and above the same device, are \
     compared.",
)];

const LEAVES: &[Parameter] = &[Parameter::optional(
    "leaves",
    Kind::Flag(false),
    "Whether to list links that are the only one of a device.",
)];

pub(super) const ANSWER_LIMIT: &[Parameter] = &[Parameter::optional(
    "limit",
    Kind::Number { min: 1, max: MAX_ANSWER_LIMIT as i64, default: Some(DEFAULT_LIMIT as i64) },
    "The maximum number of items of each list.",
)];

const AMBIGUOUS: &[ErrorCode] = &[ErrorCode::ValidationAmbiguous];

pub(super) fn questions() -> Vec<Route> {
    let ask = |route: Route| route.access(VIEWER).tagged().errors(NETWORK_ERRORS).errors(TOO_LARGE);
    vec![
        ask(route(
            Method::GET,
            "/api/v1/topology/locate",
            "locate_device",
            "Returns where a device is connected.",
            topology::locate,
        )
        .query(&[NETWORK, LOCATE])
        .value("Location")
        .errors(AMBIGUOUS)),
        ask(route(
            Method::GET,
            "/api/v1/topology/path",
            "find_paths",
            "Returns how a device is reached.",
            topology::find_paths,
        )
        .query(&[NETWORK, PATH_ENDS, ONE_VLAN])
        .value("Paths")
        .errors(AMBIGUOUS)),
        ask(route(
            Method::GET,
            "/api/v1/topology/impact",
            "get_impact",
            "Returns what breaks if nodes and links fail.",
            topology::get_impact,
        )
        .query(&[NETWORK, FAILURES, ANSWER_LIMIT])
        .value("Impact")
        .errors(AMBIGUOUS)),
        ask(route(
            Method::GET,
            "/api/v1/topology/fragile",
            "get_fragile",
            "Returns what must not fail.",
            topology::get_fragile,
        )
        .query(&[NETWORK, LEAVES, PAIRS, ANSWER_LIMIT])
        .value("Fragile")),
        ask(route(
            Method::GET,
            "/api/v1/topology/vlans",
            "get_vlans",
            "Returns the VLANs of a network.",
            topology::get_vlans,
        )
        .query(&[NETWORK, ONE_VLAN, ANSWER_LIMIT])
        .value("VlanList")),
    ]
}
