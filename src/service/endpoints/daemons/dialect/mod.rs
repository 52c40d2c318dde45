//! The forms of the requests and answers of daemons, by their version.
//!
//! Everything else in the service and the inventory knows one form: that of the records of this crate, which daemons of
//! version 0.14 use. [`WIRES`] lists the differences; [`requests`] and [`answers`] translate.
//!
//! The header `X-Daemon-Version` determines the form. A version newer than all known ones gets the newest form. Without
//! the header, the form of the request decides. Names of members in the body have precedence over the version, because
//! releases between two versions have both.

mod answers;
mod ids;
mod requests;
mod rows;

use http::{HeaderMap, HeaderName};
use serde_json::Value;

pub(super) use self::ids::{VLAN_NUMBERS, vlan_id};
pub(super) use self::requests::{GivenHost, ListNames};
use crate::model::DaemonMode;
use crate::wire::ErrorCode;

const DAEMON_ID: HeaderName = HeaderName::from_static("x-daemon-id");
const DAEMON_VERSION: HeaderName = HeaderName::from_static("x-daemon-version");

/// A version of daemons: major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u64, u64, u64);

/// The form of the requests and answers of the daemons of some versions.
#[derive(Debug)]
struct Wire {
    /// The first version with this form.
    since: Version,
    /// The names of the modes in which a daemon polls and is polled.
    modes: [&'static str; 2],
    /// Whether the daemon does all of its work as one type of discovery.
    is_unified: bool,
    /// Whether the daemon calls `interfaces` `ip_addresses`, and `if_entries` `interfaces`.
    has_ip_addresses: bool,
    /// The name of the id of a network.
    network_id: &'static str,
    /// The code with which a daemon that asks for work learns that it is not registered.
    unknown_daemon: ErrorCode,
    /// Types of subnets that the daemon cannot read.
    unread_subnet_types: &'static [&'static str],
}

/// The forms of all versions, the oldest first.
const WIRES: [Wire; 5] = [
    Wire {
        since: Version(0, 13, 0),
        modes: ["Pull", "Push"],
        is_unified: false,
        has_ip_addresses: false,
        network_id: "network_id",
        unknown_daemon: ErrorCode::EntityNotFound,
        unread_subnet_types: &["Loopback", "PodmanBridge"],
    },
    Wire { since: Version(0, 14, 0), modes: POLL_MODES, ..SEED },
    Wire {
        since: Version(0, 15, 0),
        is_unified: true,
        unknown_daemon: ErrorCode::DaemonNotRegistered,
        ..SEED
    },
    Wire { since: Version(0, 16, 0), ..RENAMED },
    Wire { since: Version(0, 17, 22), network_id: "site_id", ..RENAMED },
];

const POLL_MODES: [&str; 2] = [DaemonMode::DaemonPoll.as_str(), DaemonMode::ServerPoll.as_str()];

/// The form of the records of this crate.
const SEED: Wire = Wire {
    since: Version(0, 14, 0),
    modes: POLL_MODES,
    is_unified: false,
    has_ip_addresses: false,
    network_id: "network_id",
    unknown_daemon: ErrorCode::EntityNotFound,
    unread_subnet_types: &[],
};

/// The form since addresses are no longer called interfaces.
const RENAMED: Wire = Wire {
    since: Version(0, 16, 0),
    is_unified: true,
    has_ip_addresses: true,
    unknown_daemon: ErrorCode::DaemonNotRegistered,
    ..SEED
};

/// The form of one request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    wire: &'static Wire,
    /// Whether the sender is a daemon of the product whose versions these are. Others use the form of this crate.
    is_versioned: bool,
    /// The name of the id of a network in the answer.
    network_id: &'static str,
}

impl Dialect {
    /// Determines the form by the headers of a request.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let version = headers.get(DAEMON_VERSION).and_then(|version| version.to_str().ok());
        let is_versioned = version.is_some() || headers.contains_key(DAEMON_ID);
        Self { is_versioned, ..Self::of_version(version) }
    }

    fn of_version(version: Option<&str>) -> Self {
        let wire = version.and_then(Version::parse).map_or(&SEED, Wire::of);
        Self { wire, is_versioned: version.is_some(), network_id: wire.network_id }
    }

    /// Refines the form by the version that a request states in its body, if its headers state none.
    pub(super) fn or_version(self, headers: &HeaderMap, version: Option<&str>) -> Self {
        let is_known = headers.contains_key(DAEMON_VERSION);
        match version.filter(|_| !is_known) {
            Some(version) => {
                let Self { wire, network_id, .. } = Self::of_version(Some(version));
                // Only a daemon that has sent the headers is one of these versions.
                let network_id = if self.is_versioned { network_id } else { self.network_id };
                Self { wire, network_id, ..self }
            }
            None => self,
        }
    }

    /// Refines the form by the names in the body of a request.
    pub(super) fn with_names_of(self, body: &Value) -> Self {
        if has_member(body, "site_id") { self.with_sites() } else { self }
    }

    /// Refines the form of a daemon that calls networks sites.
    pub(super) const fn with_sites(self) -> Self {
        Self { network_id: "site_id", ..self }
    }

    /// Refines the form of a host without a version by values that only daemons of the product send. Such a value is a
    /// chassis id as text, or a list with the name of newer versions.
    pub(super) fn with_lists(self, has_ip_addresses: bool) -> Self {
        let is_renamed = has_ip_addresses && !self.wire.has_ip_addresses;
        Self { is_versioned: true, wire: if is_renamed { &RENAMED } else { self.wire }, ..self }
    }

    /// Returns the name of the id of a network in the answer. With [`is_versioned`](Self::is_versioned), it determines
    /// the form of a subnet.
    pub(super) const fn network_id(self) -> &'static str {
        self.network_id
    }

    /// Returns whether the form of the answer differs from that of this crate.
    pub(super) const fn is_versioned(self) -> bool {
        self.is_versioned
    }

    /// Returns whether the daemon does all of its work as one type of discovery.
    pub(super) const fn is_unified(self) -> bool {
        self.wire.is_unified
    }

    /// Returns the code with which a daemon that asks for work learns that it is not registered.
    pub(super) const fn unknown_daemon(self) -> ErrorCode {
        self.wire.unknown_daemon
    }
}

impl Wire {
    /// Returns the form of a version. Versions older than all known ones have the oldest.
    fn of(version: Version) -> &'static Self {
        let [oldest, ..] = &WIRES;
        WIRES.iter().rev().find(|wire| wire.since <= version).unwrap_or(oldest)
    }
}

impl Version {
    /// Reads a version such as `0.17.22` or `0.17.22-rc.1`. `None` if it does not begin with two numbers.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().trim_start_matches('v').splitn(3, '.');
        let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        let patch = numbers.next().unwrap_or_default();
        let digits = patch.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(patch.len());
        Some(Self(major, minor, patch.get(..digits)?.parse().unwrap_or_default()))
    }
}

/// Reads a mode by any of its names. `None` for other names.
pub(super) fn mode_named(name: &str) -> Option<DaemonMode> {
    let is = |index: usize| WIRES.iter().any(|wire| wire.modes.get(index) == Some(&name));
    match (is(0), is(1)) {
        (true, _) => Some(DaemonMode::DaemonPoll),
        (_, true) => Some(DaemonMode::ServerPoll),
        _ => None,
    }
}

/// Returns whether an object, or an object that is directly in it or in one of its lists, has a member of this name.
fn has_member(value: &Value, name: &str) -> bool {
    let has = |value: &Value| value.get(name).is_some();
    let Value::Object(members) = value else { return false };
    has(value)
        || members.values().any(|member| match member {
            Value::Array(items) => items.iter().any(has),
            member => has(member),
        })
}
