//! Neighbors by LLDP and CDP.

use serde_json::Value;

use super::recording::{Recording, Variables};
use super::tally::Tally;

/// The texts of a neighbor by which the poller may name it, and those by which it may name the port.
struct Neighbor {
    protocol: &'static str,
    names: Vec<String>,
    ports: Vec<String>,
    is_taken: bool,
}

pub(crate) fn compare(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    let mut neighbors = neighbors(recording);
    for expected in recording.rows("links") {
        let is_cdp = expected["protocol"] == "cdp";
        let (kind, protocol) = if is_cdp { ("CDP links", "cdp") } else { ("LLDP links", "lldp") };
        let name = plain(expected["remote_hostname"].as_str().unwrap_or_default());
        let port = port_text(without_mac(expected["remote_port"].as_str().unwrap_or_default()));
        let mut of_protocol =
            neighbors.iter_mut().filter(|neighbor| neighbor.protocol == protocol && !neighbor.is_taken);
        let found = of_protocol.find(|neighbor| {
            let is_name = name.is_empty() || neighbor.names.iter().any(|found| *found == name);
            is_name && (port.is_empty() || neighbor.ports.iter().any(|found| *found == port))
        });
        if let Some(neighbor) = found {
            neighbor.is_taken = true;
            tally.agree(kind);
            continue;
        }
        let example = || format!("{}: {}", recording.name, brief(expected));
        let sent = if is_cdp { "1.3.6.1.4.1.9.9.23" } else { "1.0.8802.1.1.2.1.4" };
        let others = ["1.3.111.2.802.1.1.13", "1.3.6.1.4.1.6527.3.1.2.59"];
        if !variables.has_any(sent) && (is_cdp || others.iter().all(|other| !variables.has_any(other))) {
            tally.theirs(kind, "the recording has nothing of the MIB", example);
        } else {
            tally.ours(kind, "no neighbor of this name and port", example);
        }
    }
}

fn neighbors(recording: &Recording) -> Vec<Neighbor> {
    let tables = &recording.device().tables;
    let lldp = tables.lldp.iter().flat_map(|table| &table.rows).map(|row| {
        let port = row.port_id.as_ref().map(|id| id.value.as_str());
        let chassis = Some(row.chassis_id.value.as_str());
        let texts = [row.sys_name.as_deref(), row.sys_desc.as_deref(), row.port_desc.as_deref(), chassis];
        Neighbor {
            protocol: "lldp",
            names: plain_all(&texts),
            ports: plain_all(&[port, row.port_desc.as_deref()]),
            is_taken: false,
        }
    });
    let cdp = tables.cdp.iter().flat_map(|table| &table.rows).map(|row| Neighbor {
        protocol: "cdp",
        names: plain_all(&[Some(row.device_id.as_str()), row.platform.as_deref()]),
        ports: plain_all(&[row.port_id.as_deref()]),
        is_taken: false,
    });
    lldp.chain(cdp).collect()
}

/// Removes the MAC address in parentheses that the poller appends to a port.
fn without_mac(port: &str) -> &str {
    let Some((before, mac)) = port.rsplit_once(" (") else { return port };
    let is_mac = mac.strip_suffix(')').is_some_and(|mac| mac.chars().all(|digit| digit.is_ascii_hexdigit()));
    if is_mac { before } else { port }
}

/// Returns the plain text of a port. The poller prints the bytes of text with NUL bytes.
fn port_text(port: &str) -> String {
    let octets: Option<Vec<u8>> = port.split(' ').map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
    match octets.as_deref() {
        Some([text @ .., 0]) if text.iter().all(u8::is_ascii_graphic) => {
            plain(&String::from_utf8_lossy(text))
        }
        _ => plain(port),
    }
}

fn plain_all(texts: &[Option<&str>]) -> Vec<String> {
    texts.iter().flatten().map(|text| plain(text)).collect()
}

/// Returns letters and digits in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn brief(link: &Value) -> String {
    format!("{} {}", link["remote_hostname"], link["remote_port"])
}
