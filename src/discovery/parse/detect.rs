//! Recognition of a format by the beginning of the input.

mod keys;

use std::borrow::Cow;

use memchr::memmem;

use self::keys::{Keys, keys};
use super::{Format, arp, encoding, plain_json, terminal, walk};
use crate::invariant::Invariant;

/// Maximum number of lines that are read. Some tools print a few lines before their output.
const MAX_LINES: usize = 200;

impl Format {
    /// Recognizes the format by the first bytes of the input; 16 KiB are enough. `None`: it has none of the
    /// formats.
    ///
    /// ```
    /// use toposcope::discovery::Format;
    ///
    /// let neighbors = br#"[{"dst":"192.0.2.1","dev":"eth0","lladdr":"00:00:5e:00:53:01"}]"#;
    /// assert_eq!(Format::detect(neighbors), Some(Format::Arp));
    /// assert_eq!(Format::detect(b"Dear reader,\n"), None);
    /// ```
    #[must_use]
    pub fn detect(input: &[u8]) -> Option<Self> {
        let head = encoding::decoded_head(input)?;
        let plain = plain_json::plain(&head);
        if is_json(Self::Auto, &plain) { detect(&plain) } else { detect(&head) }
    }
}

/// Recognizes the format of decoded input.
pub(super) fn detect(head: &[u8]) -> Option<Format> {
    let text = head.trim_ascii_start();
    text.first()?;
    if is_structured(text) {
        return structured(text);
    }
    match before_recorded(Format::Auto, text) {
        Some(length) => structured(text.get(length..)?),
        None => lines(text),
    }
}

/// Returns whether input of a format is JSON, or a recording whose documents are.
pub(super) fn is_json(format: Format, head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'{' | b'[') if is_structured(text) => true,
        _ => before_recorded(format, head)
            .and_then(|length| head.get(length))
            .is_some_and(|first| *first != b'<'),
    }
}

/// Returns the length of the lines before the first document of a recording. `None` for input that is no recording.
///
/// A document below a table in text is no recording, because the table would be skipped as text beside the document.
pub(super) fn before_recorded(format: Format, text: &[u8]) -> Option<usize> {
    let is_table = |before: &[u8]| match format {
        Format::Auto => table(before).is_some(),
        Format::Arp => table(before) == Some(Format::Arp),
        _ => false,
    };
    let reads_text_alone = matches!(format, Format::Snmpwalk | Format::Snmprec);
    let length = if reads_text_alone { None } else { before_document(text) }?;
    (!is_table(text.get(..length)?)).then_some(length)
}

/// Recognizes the format of XML and JSON. That of JSON is the format of the first document that has keys.
fn structured(text: &[u8]) -> Option<Format> {
    if text.first() == Some(&b'<') {
        return memmem::find(text, b"<nmaprun").map(|_| Format::Nmap);
    }
    let mut rest = text;
    loop {
        let (keys, behind) = keys(rest);
        if !keys.is_empty() || behind.is_empty() {
            return by_keys(rest, &keys);
        }
        rest = behind;
    }
}

/// Recognizes the format of a document of JSON, whatever follows it.
pub(super) fn of_document(text: &[u8]) -> Option<Format> {
    by_keys(text, &keys(text).0)
}

fn by_keys(text: &[u8], keys: &Keys<'_>) -> Option<Format> {
    match text.first()? {
        b'{' => object(keys),
        b'[' => list(keys),
        _ => None,
    }
}

/// Maximum number of lines that begin like a document of a recording and are none. Any number of others may precede it.
const MAX_LIKE_DOCUMENTS: usize = 20;

/// Returns the length of the lines before the first line that begins a document of a known format. `None` if the text
/// begins with a document, or if there is none.
fn before_document(text: &[u8]) -> Option<usize> {
    if is_structured(text.trim_ascii_start()) {
        return None;
    }
    let (mut length, mut others) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let controls = terminal::controls_before(line);
        let rest = text.get(length + controls..)?;
        if matches!(rest.first(), Some(b'{' | b'[' | b'<')) {
            let is_like_document = is_structured(rest);
            if is_like_document && structured(rest).is_some() {
                return Some(length + controls).filter(|length| *length > 0);
            }
            others += usize::from(is_like_document);
        }
        // Each of them was compared with all that follows.
        if others > MAX_LIKE_DOCUMENTS {
            return None;
        }
        length += line.len();
    }
    None
}

/// Returns whether text that begins with a bracket is JSON or markup. Prompts such as `<switch>`, `[admin@router] >` and `{master:0}` also begin
/// with one.
pub(super) fn is_structured(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    let next = rest.trim_ascii_start().first();
    match first {
        b'{' => next.is_none_or(|next| matches!(next, b'"' | b'}')),
        b'[' => next.is_none_or(|next| matches!(next, b'{' | b'[' | b'"' | b']')),
        b'<' => next.is_none_or(|next| matches!(next, b'?' | b'!')) || memmem::find(text, b"</").is_some(),
        _ => false,
    }
}

/// Recognizes a JSON object by its keys.
fn object(keys: &Keys<'_>) -> Option<Format> {
    let has = |key: &str| keys.has(1, key);
    if has("lldp") {
        Some(Format::Lldpctl)
    } else if has("devices") || (has("reporter") && has("observed_at")) {
        Some(Format::Report)
    } else if has_neighbors(keys) {
        Some(Format::Arp)
    } else {
        has_vlans_by_name(keys).then_some(Format::BridgeVlan)
    }
}

/// Returns whether a document has lists of VLANs by the names of interfaces, as iproute2 before 4.20 prints them. Those of
/// other systems have a key `vlan` at the same depth.
fn has_vlans_by_name(keys: &Keys<'_>) -> bool {
    let is_of_vlan = |key: &&[u8]| VLAN_KEYS.iter().any(|known| known.as_bytes() == *key);
    !keys.has_other_values && keys.has(3, "vlan") && keys.at(3).iter().all(is_of_vlan)
}

/// The keys of a VLAN in the lists of iproute2 before 4.20, also with `-s`.
const VLAN_KEYS: [&str; 7] = ["vlan", "vlanEnd", "flags", "rx_bytes", "rx_packets", "tx_bytes", "tx_packets"];

/// Recognizes a JSON list by the keys of its objects.
fn list(keys: &Keys<'_>) -> Option<Format> {
    let has = |key: &str| keys.has(2, key);
    // Neighbors have a state, and routes none.
    let is_route = ["gateway", "via", "nexthops", "protocol", "scope", "flags"].into_iter().any(has);
    if has("dst") && !has("mac") {
        Some(if is_route && !has("state") { Format::IpRoute } else { Format::Arp })
    } else if has_neighbors(keys) {
        Some(Format::Arp)
    } else if has("mac") && (has("ifname") || has("dev")) {
        Some(Format::BridgeFdb)
    } else if has("ifindex") && has("ifname") {
        Some(Format::IpAddr)
    } else if has("vlans") && has("ifname") {
        Some(Format::BridgeVlan)
    } else {
        None
    }
}

/// Returns whether a document of another system than Linux has neighbors, at any depth.
fn has_neighbors(keys: &Keys<'_>) -> bool {
    let depths = || 1..keys.depths();
    let is_entry =
        |depth: usize| NEIGHBOR_KEYS.iter().any(|names| names.iter().all(|name| keys.has(depth, name)));
    let has = |name: &str| depths().any(|depth| keys.has(depth, name));
    let has_table = NEIGHBOR_TABLES.iter().any(|names| names.iter().all(|name| has(name)));
    has_table || depths().any(is_entry)
}

/// The keys of an entry of OPNsense, FortiOS, RouterOS, PowerShell, Arista EOS, NX-OS and Junos. Leases have no interface,
/// and those of FortiOS no age.
const NEIGHBOR_KEYS: [&[&str]; 9] = [
    &["ip", "mac", "intf"],
    &["ip", "mac", "interface", "age"],
    &["address", "mac-address", "interface"],
    &["IPAddress", "LinkLayerAddress", "InterfaceAlias"],
    &["address", "hwAddress", "interface"],
    &["ip-addr-out", "mac", "intf-out"],
    &["ipv6-addr", "mac", "intf-out"],
    &["ip-address", "mac-address", "interface-name"],
    &["ipv6-nd-neighbor-address", "ipv6-nd-neighbor-l2-address", "ipv6-nd-interface-name"],
];
/// The keys of tables that may have no entries, of Arista EOS, Junos and NX-OS.
const NEIGHBOR_TABLES: [&[&str]; 5] = [
    &["ipV4Neighbors"],
    &["ipV6Neighbors"],
    &["arp-table-information"],
    &["ipv6-nd-information"],
    &["TABLE_vrf", "cnt-total"],
];

/// Recognizes text by its first lines.
fn lines(text: &[u8]) -> Option<Format> {
    let text = &*without_escapes(text);
    variables(text, 1).or_else(|| arp::is_table(text, MAX_LINES).then_some(Format::Arp))
}

/// The fewest variables of a walk before a document. `snmpget` prints one.
const MIN_VARIABLES: usize = 2;

/// Recognizes a table before a document by its rows. The command and the heading may be those of a single entry.
fn table(text: &[u8]) -> Option<Format> {
    let text = &*without_escapes(text);
    variables(text, MIN_VARIABLES).or_else(|| arp::has_entries(text, MAX_LINES).then_some(Format::Arp))
}

fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(0x1B, text).is_some() { Cow::Owned(walk::plain(text)) } else { Cow::Borrowed(text) }
}

/// Recognizes the variables of an agent, of which there must be at least `min`.
fn variables(text: &[u8], min: usize) -> Option<Format> {
    let are_enough = |is_variable: fn(&[u8]) -> bool| {
        let lines = text.split(|byte| *byte == b'\n').take(MAX_LINES);
        lines.filter(|line| is_variable(line)).take(min).count() == min
    };
    if are_enough(is_recorded) {
        return Some(Format::Snmprec);
    }
    are_enough(|line| is_walked(line) || walk::is_named_variable(line)).then_some(Format::Snmpwalk)
}

/// Returns whether a line has the form `OID|TAG|value`.
fn is_recorded(line: &[u8]) -> bool {
    let mut parts = line.splitn(3, |byte| *byte == b'|');
    let (Some(oid), Some(tag), Some(_)) = (parts.next(), parts.next(), parts.next()) else { return false };
    is_oid(oid) && tag.first().is_some_and(u8::is_ascii_digit)
}

/// Returns whether a line has the form `OID = TYPE: value`.
fn is_walked(line: &[u8]) -> bool {
    let Some(place) = memmem::find(line, b" =").or_else(|| memmem::find(line, b"\t=")) else { return false };
    let (name, value) = line.split_at(place);
    let value = value.get(2..).asserted_or_default().trim_ascii();
    if name.contains(&b' ') && !name.contains(&b'"') {
        return false;
    }
    let kind = value.split(|byte| *byte == b':').next().asserted_or_default();
    let is_typed = value.len() > kind.len()
        && !kind.is_empty()
        && kind.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' '));
    is_oid(name)
        || name.starts_with(b".iso")
        || name.starts_with(b"iso.")
        || memmem::find(name, b"::").is_some()
        || (is_typed && name.contains(&b'.') && name.first().is_some_and(u8::is_ascii_alphabetic))
}

fn is_oid(name: &[u8]) -> bool {
    name.contains(&b'.') && name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}
