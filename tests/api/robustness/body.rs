//! Request bodies: valid ones, and the faults that they can have.

use serde_json::{Value, json};
use uuid::Uuid;

use super::endpoint::Endpoint;
use super::ground::{BODY_LIMIT, Ground, Person};
use super::spoil::{cut_somewhere, spoil_bytes};
use crate::common::{PASSWORD, SplitMix64};

/// The fields of a body, each with its value as text, which may be invalid JSON.
pub(super) type Fields = Vec<(String, String)>;

/// Values that are invalid, or valid, in most fields.
const ODD: [&str; 46] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1",
    "65535",
    "65536",
    "80.0",
    "8e1",
    "1e400",
    "-1e-400",
    "1E5",
    "99999999999999999999999",
    "18446744073709551616",
    "01",
    "1.",
    "--1",
    "NaN",
    "'x'",
    "tru",
    "",
    "\"\"",
    "\" \"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\x\"",
    "\"é\"",
    "\"a",
    "[]",
    "[[]]",
    "[null]",
    "[1,2]",
    "{}",
    "{\"a\":1}",
    "{\"Tcp\":null}",
    "{\"Owner\":[]}",
    "\"Owner\"",
    "\"Udp\"",
    "\"tcp\"",
    "\"2026-08-14T12:00:00Z\"",
    "\"9999-12-31T23:59:60Z\"",
    "\"0000-01-01T00:00:00+23:59\"",
    "\"+10000-01-01T00:00:00Z\"",
    "\"00000000-0000-0000-0000-000000000000\"",
];

fn field(name: &str, value: impl Into<Value>) -> (String, String) {
    (name.to_owned(), value.into().to_string())
}

/// A well-formed body, mostly about existing records; `None` if the endpoint takes none.
pub(super) fn right_fields(
    endpoint: Endpoint,
    ground: &Ground,
    person: &Person,
    random: &mut SplitMix64,
) -> Fields {
    match endpoint {
        Endpoint::LogIn => vec![field("email", random.choose(&ground.emails)), field("password", PASSWORD)],
        Endpoint::UpdatePort => port(ground, random),
        Endpoint::CreateDaemonKey => daemon_key(ground, random),
        Endpoint::UpdateUserKey => user_key(ground, person, random),
        Endpoint::SubmitReferral => {
            let mut fields = vec![field("referral_source", random.choose(&["reddit", "other"]))];
            if random.once_in(2) {
                fields.push(field("referral_source_other", "a fortune cookie\u{0}"));
            }
            fields
        }
        _ => Vec::new(),
    }
}

fn port(ground: &Ground, random: &mut SplitMix64) -> Fields {
    let (host, its) = random.choose(&ground.hosts);
    let network = if random.once_in(8) { random.choose(&ground.home.networks) } else { its };
    let mut fields = vec![
        field("host_id", host.to_string()),
        field("network_id", network.to_string()),
        field("number", random.choose(&[22, 80, 443, 1, 161, 8080, 65_535])),
        field("protocol", random.choose(&["Tcp", "Udp"])),
    ];
    if random.once_in(4) {
        fields.extend([field("type", "Http"), field("id", Uuid::nil().to_string())]);
    }
    fields
}

fn daemon_key(ground: &Ground, random: &mut SplitMix64) -> Fields {
    let mut fields = vec![
        field("name", "a daemon"),
        field("network_id", random.choose(&ground.home.networks[..2]).to_string()),
        field("tags", json!(random.some_of(&ground.home.tags))),
    ];
    if random.once_in(2) {
        fields.push(field("expires_at", Ground::any_time(random).to_string()));
    }
    if random.once_in(2) {
        fields.push(field("is_enabled", random.once_in(2)));
    }
    fields
}

fn user_key(ground: &Ground, person: &Person, random: &mut SplitMix64) -> Fields {
    let mut fields = vec![
        field("name", "a key"),
        field("organization_id", person.user.organization_id.to_string()),
        field("user_id", person.user.id.to_string()),
        field("tags", json!(random.some_of(&ground.home.tags))),
    ];
    if random.once_in(2) {
        fields.push(field("expires_at", Ground::any_time(random).to_string()));
    }
    if random.once_in(2) {
        fields.push(field("is_enabled", random.once_in(2)));
    }
    if random.once_in(2) {
        fields.push(field("network_ids", json!(random.some_of(&ground.home.networks[..2]))));
    }
    if random.once_in(2) {
        fields.push(field("permissions", random.choose(&["Owner", "Admin", "Member", "Viewer"])));
    }
    fields
}

/// Changes one field: its name, its value, or its number of occurrences.
pub(super) fn spoil_fields(fields: &mut Fields, ground: &Ground, random: &mut SplitMix64) {
    if fields.is_empty() {
        return fields.push(("name".to_owned(), odd_value(ground, random)));
    }
    let place = random.below(fields.len());
    match random.below(8) {
        0 => drop(fields.remove(place)),
        1 => {
            let again = fields[place].clone();
            fields.insert(random.below(fields.len() + 1), again);
        }
        2 => {
            let mut name = std::mem::take(&mut fields[place].0).into_bytes();
            spoil_bytes(&mut name, random);
            fields[place].0 = String::from_utf8_lossy(&name).into_owned();
        }
        3 => fields.push(("unheard of".to_owned(), odd_value(ground, random))),
        _ => fields[place].1 = odd_value(ground, random),
    }
}

fn odd_value(ground: &Ground, random: &mut SplitMix64) -> String {
    let id = random.choose(&ground.ids);
    match random.below(13) {
        0..=2 => format!("\"{id}\""),
        3 => format!("[\"{id}\",\"{}\"]", random.choose(&ground.ids)),
        4 | 5 => format!("\"{}\"", "ä".repeat(random.choose(&[0, 1, 2, 9, 100, 101, 501, 1001]))),
        6 => {
            let depth = random.choose(&[1, 127, 128, 129, 2000]);
            let (open, close) = random.choose(&[("[", "]"), ("{\"a\":", "}")]);
            let inner = if open == "[" { "" } else { "0" };
            // Mostly cut off at the body limit.
            [open.repeat(depth), inner.to_owned(), close.repeat(depth)].concat()
        }
        7 => format!("\"{}\"", random.choose(&ground.home.networks)),
        8 => "9".repeat(random.below(400) + 1),
        _ => random.choose(&ODD).to_owned(),
    }
}

/// Returns the text of a body.
pub(super) fn render(fields: &Fields, random: &mut SplitMix64) -> Vec<u8> {
    let space = random.choose(&["", "", "", " ", "\n", "\r\n\t"]);
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{space}{value}", Value::from(&**name))).collect();
    format!("{{{space}{}{space}}}", fields.join(&format!(",{space}"))).into_bytes()
}

/// Changes a complete body: its tokens, its bytes, or its size.
pub(super) fn spoil_text(body: &mut Vec<u8>, random: &mut SplitMix64) {
    match random.below(10) {
        0..=2 => spoil_tokens(body, random),
        3..=5 => spoil_bytes(body, random),
        6 => cut_somewhere(body, random),
        7 => {
            let size = BODY_LIMIT + random.below(3) - 1;
            body.resize(size.max(body.len()), b' ');
        }
        8 => *body = random.choose(&ODD).as_bytes().to_vec(),
        _ => body.clear(),
    }
}

fn spoil_tokens(body: &mut Vec<u8>, random: &mut SplitMix64) {
    let is_end = |byte: &u8| b"{}[]:,".contains(byte);
    let mut tokens: Vec<Vec<u8>> = body.split_inclusive(is_end).map(<[u8]>::to_vec).collect();
    if tokens.is_empty() {
        return;
    }
    let (place, other) = (random.below(tokens.len()), random.below(tokens.len()));
    match random.below(4) {
        0 => drop(tokens.remove(place)),
        1 => tokens.swap(place, other),
        2 => {
            let again = tokens[other].clone();
            tokens.insert(place, again);
        }
        _ => tokens[place] = random.choose(&ODD).as_bytes().to_vec(),
    }
    *body = tokens.concat();
}
