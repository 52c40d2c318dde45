//! Request targets.

use uuid::Uuid;

use super::endpoint::Endpoint;
use super::ground::{Ground, Person};
use crate::common::SplitMix64;

const PIECES: [&str; 54] = [
    "/",
    "/",
    "api",
    "v1",
    "hosts",
    "version",
    "ports",
    "auth",
    "keys",
    "login",
    "logout",
    "/api/v1/hosts",
    "/api/v1/hosts",
    "/api/version",
    "/api/v1/ports/",
    "/api/v1/auth/keys/",
    "/api/v1/auth/daemon",
    "/api/auth/logout",
    "?",
    "?",
    "&",
    "&",
    "=",
    "=",
    ",",
    "limit",
    "offset",
    "ids",
    "tag_ids",
    "network_id",
    "order_by",
    "group_by",
    "order_direction",
    "name",
    "desc",
    "interface_ip",
    "0",
    "1",
    "1000",
    "1001",
    "-1",
    "99999999999999999999",
    "%00",
    "%FF",
    "%",
    "%2",
    "%2F",
    "..",
    "+",
    ";",
    "null",
    "é",
    "00000000-0000-0000-0000-000000000001",
    "00000000000040008000000000001000",
];

/// Returns the path and query of an endpoint.
pub(super) fn right_target(
    endpoint: Endpoint,
    ground: &Ground,
    person: &Person,
    random: &mut SplitMix64,
) -> Vec<u8> {
    let id = match endpoint {
        Endpoint::UpdatePort => Some(random.choose(&ground.ports)),
        Endpoint::UpdateUserKey | Endpoint::DeleteUserKey => Some(person.subject),
        Endpoint::ShareMetadata => Some(random.choose(&ground.shares)),
        _ => None,
    };
    let path = endpoint.path();
    match id {
        Some(id) => [path.to_owned(), written(id, random)].concat().into_bytes(),
        None if endpoint == Endpoint::ListHosts => {
            format!("{path}?{}", hosts_query(ground, random)).into_bytes()
        }
        None => path.into(),
    }
}

/// Returns an id in one of its accepted spellings.
fn written(id: Uuid, random: &mut SplitMix64) -> String {
    match random.below(12) {
        0 => id.simple().to_string(),
        1 => id.urn().to_string(),
        2 => id.to_string().to_uppercase(),
        _ => id.to_string(),
    }
}

/// Returns a valid or nearly valid query of a list.
fn hosts_query(ground: &Ground, random: &mut SplitMix64) -> String {
    let ids = |random: &mut SplitMix64| {
        let ids: Vec<String> = (0..random.below(4)).map(|_| random.choose(&ground.ids).to_string()).collect();
        ids.join(",")
    };
    let fields =
        ["created_at", "updated_at", "name", "hostname", "network_id", "virtualized_by", "interface_ip"];
    let mut parts = Vec::new();
    for _ in 0..random.below(4) {
        parts.push(match random.below(8) {
            0 => format!("limit={}", random.choose(&["0", "1", "3", "1000", "1001", "", "x"])),
            1 => format!("offset={}", random.choose(&["0", "2", "2147483647", "2147483648"])),
            2 => format!("ids={}", ids(random)),
            3 => format!("tag_ids={}", ids(random)),
            4 => format!("network_id={}", random.choose(&ground.ids)),
            5 => format!("order_by={}", random.choose(&fields)),
            6 => format!("group_by={}", random.choose(&fields)),
            _ => format!("order_direction={}", random.choose(&["asc", "desc", "down"])),
        });
    }
    parts.join("&")
}

/// Returns an arbitrary target.
pub(super) fn any_target(random: &mut SplitMix64) -> Vec<u8> {
    let mut target =
        random.choose(&["/", "/", "/api/v1/hosts?", "/api/v1/", "", "http://h.example"]).to_owned();
    for _ in 0..random.below(10) {
        if random.once_in(8) {
            target.push(char::from(u8::try_from(random.below(0x5e) + 0x21).unwrap()));
        }
        target.push_str(random.choose(&PIECES));
    }
    target.into_bytes()
}

/// Returns the same endpoint for another record, or with a query that it does not accept.
pub(super) fn misdirect(target: &mut Vec<u8>, ground: &Ground, random: &mut SplitMix64) {
    if random.once_in(3) {
        target.extend_from_slice(
            random.choose(&["?", "?limit=1", "&x", "?\u{e9}=%FF", "/", "//", "#a"]).as_bytes(),
        );
    } else if let Some(place) = target.iter().rposition(|byte| *byte == b'/') {
        target.truncate(place + 1);
        target.extend_from_slice(random.choose(&ground.ids).to_string().as_bytes());
    }
}
