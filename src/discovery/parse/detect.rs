//! Recognition of a format by the beginning of the input.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;

use super::{Format, arp, encoding, plain_json, terminal, walk};

use crate::invariant::Invariant;

/// Maximum number of lines that are read. Some tools print a few lines before their output.
const MAX_LINES: usize = 200;
/// The deepest nesting of JSON in which keys are read. The answers of NX-OS have their entries at up to 18 levels.
const MAX_DEPTH: usize = 20;

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
        if is_json(&plain) { detect(&plain) } else { detect(&head) }
    }
}

/// Recognizes the format of decoded input.
pub(super) fn detect(head: &[u8]) -> Option<Format> {
    let text = head.trim_ascii_start();
    text.first()?;
    if is_structured(text) {
        return structured(text);
    }
    let recorded = || structured(text.get(before_document(text)?..)?);
    recorded().or_else(|| lines(text))
}

/// Returns whether input is JSON, or a recording whose documents are.
pub(super) fn is_json(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'{' | b'[') if is_structured(text) => true,
        _ => before_document(head).and_then(|length| head.get(length)).is_some_and(|first| *first != b'<'),
    }
}

/// Recognizes the format of XML and JSON. That of JSON is the format of the first document that has keys.
fn structured(text: &[u8]) -> Option<Format> {
    if text.first() == Some(&b'<') {
        return memmem::find(text, b"<nmaprun").map(|_| Format::Nmap);
    }
    let mut rest = text;
    loop {
        let (keys, behind) = keys(rest);
        if !keys.0.is_empty() || behind.is_empty() {
            return by_keys(rest, &keys);
        }
        rest = behind;
    }
}

/// Recognizes the format of a document of JSON, whatever follows it.
pub(super) fn of_document(text: &[u8]) -> Option<Format> {
    by_keys(text, &keys(text).0)
}

fn by_keys(text: &[u8], keys: &Keys) -> Option<Format> {
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
pub(super) fn before_document(text: &[u8]) -> Option<usize> {
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
fn is_structured(text: &[u8]) -> bool {
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
fn object(keys: &Keys) -> Option<Format> {
    let has = |key: &str| keys.has(1, key);
    if has("lldp") {
        Some(Format::Lldpctl)
    } else if has("devices") || (has("reporter") && has("observed_at")) {
        Some(Format::Report)
    } else if has_neighbors(keys) {
        Some(Format::Arp)
    } else {
        // iproute2 before 4.20: lists of VLANs by the name of the interface.
        keys.has(3, "vlan").then_some(Format::BridgeVlan)
    }
}

/// Recognizes a JSON list by the keys of its objects.
fn list(keys: &Keys) -> Option<Format> {
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
fn has_neighbors(keys: &Keys) -> bool {
    let is_entry =
        |depth: usize| NEIGHBOR_KEYS.iter().any(|names| names.iter().all(|name| keys.has(depth, name)));
    let has = |name: &str| (1..=MAX_DEPTH).any(|depth| keys.has(depth, name));
    let has_table = NEIGHBOR_TABLES.iter().any(|names| names.iter().all(|name| has(name)));
    has_table || (1..=MAX_DEPTH).any(is_entry)
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

/// The keys of a JSON document by depth. Those of the outermost object have depth 1.
#[derive(Default)]
struct Keys(BTreeSet<(usize, String)>);

impl Keys {
    fn has(&self, depth: usize, key: &str) -> bool {
        self.0.contains(&(depth, key.to_owned()))
    }
}

/// Collects the keys of a document that may be cut off. Returns them with the text behind the document.
fn keys(text: &[u8]) -> (Keys, &[u8]) {
    let mut keys = Keys::default();
    let (mut depth, mut last) = (0_usize, None);
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'"' => {
                let end = end_of_string(behind);
                last = behind.get(..end);
                // Nothing is behind a string that does not end.
                rest = behind.get(end + 1..).unwrap_or(&[]);
            }
            b':' => {
                if let Some(key) = last.take().filter(|_| depth <= MAX_DEPTH) {
                    keys.0.insert((depth, String::from_utf8_lossy(key).into_owned()));
                }
            }
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' if depth <= 1 => return (keys, rest.trim_ascii_start()),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    (keys, &[])
}

/// Returns the length of a string up to its closing quote.
fn end_of_string(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

/// Recognizes text by its first lines.
fn lines(text: &[u8]) -> Option<Format> {
    let text = &*if memchr::memchr(0x1B, text).is_some() {
        Cow::Owned(walk::plain(text))
    } else {
        Cow::Borrowed(text)
    };
    let lines = || text.split(|byte| *byte == b'\n').take(MAX_LINES);
    if lines().any(is_recorded) {
        return Some(Format::Snmprec);
    }
    if lines().any(|line| is_walked(line) || walk::is_named_variable(line)) {
        return Some(Format::Snmpwalk);
    }
    arp::is_table(text, MAX_LINES).then_some(Format::Arp)
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
