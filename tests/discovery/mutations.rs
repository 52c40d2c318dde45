//! Damaged input for all parsers.
//!
//! No parser panics, does more work than 64 steps for each byte, or uses memory without bound.

use std::env;
use std::process::Command;

use fastrand::Rng;
use toposcope::discovery::{Format, ParseErrorKind, Report, parse};

use crate::support::{
    ARP, BRIDGE_FDB, BRIDGE_VLAN, IP_ADDR, IP_NEIGH, IP_ROUTE, JSON, JSON0, RECORDING, SCAN, SYMBOLIC_WALK,
    WALK, parsed, with_reporter,
};

/// Tokens of the formats.
const TOKENS: &[&str] = &[
    " = ",
    "STRING: ",
    "Hex-STRING: ",
    "INTEGER: ",
    "OID: ",
    "BITS: ",
    "\"",
    "'",
    "\\",
    ".1.3.6.1.2.1.",
    "iso",
    "::",
    "|4x|",
    "|2|",
    "\n",
    "\r\n",
    "<",
    ">",
    "/>",
    "</",
    "&",
    ";",
    "<![CDATA[",
    "]]>",
    "<!--",
    "<!DOCTYPE x [",
    "<?",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "-1",
    "99999999999999999999",
    "4294967295",
    "0",
    "\0",
    "\u{FFFD}",
    "ipv6.\"",
    "<host>",
    "<port>",
    "(",
    ")",
    "Address  HWaddress  Iface",
    "\"vlan\":",
    "\u{FEFF}",
];

#[test]
fn damaged_walks_are_reported_or_refused() {
    check(Format::Snmpwalk, WALK);
    check(Format::Snmpwalk, SYMBOLIC_WALK);
}

#[test]
fn damaged_recordings_are_reported_or_refused() {
    check(Format::Snmprec, RECORDING);
}

#[test]
fn damaged_scans_are_reported_or_refused() {
    check(Format::Nmap, SCAN);
}

#[test]
fn damaged_lldpctl_output_is_reported_or_refused() {
    check(Format::Lldpctl, JSON);
    check(Format::Lldpctl, JSON0);
}

#[test]
fn damaged_arp_tables_are_reported_or_refused() {
    check(Format::Arp, ARP);
    check(Format::Arp, IP_NEIGH);
    for sample in [NESTED_NEIGHBORS, SEPARATED_NEIGHBORS, NAMED_NEIGHBORS] {
        check(Format::Arp, sample);
    }
}

const NESTED_NEIGHBORS: &str = r#"{"TABLE_vrf":{"ROW_vrf":[{"vrf-name-out":"default","cnt-total":2,"TABLE_adj":{"ROW_adj":[
{"intf-out":"Vlan10","ip-addr-out":"192.0.2.1","time-stamp":"PT13M","mac":"0000.5e00.5301"},
{"intf-out":"Vlan20","ip-addr-out":"192.0.2.2","mac":"INCOMPLETE"}]}}]}}
{"arp-table-information":[{"arp-table-entry":[{"mac-address":[{"data":"00:00:5e:00:53:03"}],
"ip-address":[{"data":"192.0.2.3"}],"interface-name":[{"data":"irb.20 [ae0.0]"}]}]}]}"#;
const SEPARATED_NEIGHBORS: &str = "ip,mac,manufacturer,intf,hostname\n\
     192.0.2.1,00:00:5e:00:53:01,\"Example Systems, Inc\",igb0,\n192.0.2.2,,,igb1,printer\n\
     IP\tMAC\tInterface\n192.0.2.3\t00:00:5e:00:53:03\tigb2\n";
const NAMED_NEIGHBORS: &str = "IPv6 Address : 2001:DB8::1\nInterface    : GE0/0/1\n\n\
     IPv6 Address : 2001:DB8::2\nLink-layer   : 0000-5e00-5302     State : REACH\n\n\
     IPv6 Address : 2001:DB8::3\nVLAN         : 10\nTotal: 3\n";

#[test]
fn damaged_output_of_ip_and_bridge_is_reported_or_refused() {
    check(Format::IpAddr, IP_ADDR);
    check(Format::BridgeFdb, BRIDGE_FDB);
    check(Format::BridgeVlan, BRIDGE_VLAN);
    check(Format::IpRoute, IP_ROUTE);
}

#[test]
fn damaged_input_of_an_unnamed_format_is_reported_or_refused() {
    for sample in [WALK, RECORDING, SCAN, JSON, ARP, IP_ADDR, BRIDGE_VLAN] {
        check(Format::Auto, sample);
    }
}

#[test]
fn damaged_reports_are_reported_or_refused() {
    check(Format::Report, &serde_json::to_string(&parsed(Format::Snmpwalk, WALK)).unwrap());
}

fn check(format: Format, sample: &str) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("not a number"));
    let rounds = number("TOPOSCOPE_MUTATIONS").unwrap_or(1_000);
    let seed = number("TOPOSCOPE_SEED").unwrap_or_else(|| Rng::new().u64(..));
    println!("TOPOSCOPE_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let before = peak_memory();
    let mut accepted = 0_u64;
    for round in 0..rounds {
        let input = damaged(sample.as_bytes(), &mut random);
        match parse(format, input.as_slice(), &with_reporter()) {
            Ok(report) => {
                accepted += 1;
                // A report states its account itself.
                if format != Format::Report {
                    check_account(&report, round);
                }
            }
            Err(error) => {
                let too_complex = matches!(error.kind(), ParseErrorKind::TooComplex);
                assert!(!too_complex, "round {round}: {}", String::from_utf8_lossy(&input));
                assert!(error.byte() <= input.len() as u64, "round {round}: {error}");
            }
        }
    }
    println!("{format}: {accepted} of {rounds} accepted");
    if env::var_os(ALONE).is_some()
        && let (Some(before), Some(after)) = (before, peak_memory())
    {
        let more = after.saturating_sub(before);
        assert!(more <= MAX_MORE, "{format}: {more} bytes more");
    }
}

/// Set in a process that runs these tests alone and one after another, so that its memory is theirs.
const ALONE: &str = "TOPOSCOPE_MUTATIONS_ALONE";

/// Memory that damaged samples of a few kilobytes may take, also what the allocator keeps: 8 MiB.
const MAX_MORE: u64 = 8 << 20;

#[test]
fn memory_for_damaged_input_is_bounded() {
    if env::var_os(ALONE).is_some() {
        return;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["mutations::damaged", "--test-threads=1", "--nocapture"])
        .env(ALONE, "1")
        .env("TOPOSCOPE_MUTATIONS", "200")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("8 passed"), "{text}");
}

/// Checks that each row is used or skipped.
fn check_account(report: &Report, round: u64) {
    let (read, used, skipped) = (report.read_rows, report.used_rows, report.skipped_rows);
    assert_eq!(read, used + skipped, "round {round}");
    let reasons: u64 = report.warnings.iter().map(|warning| warning.count).sum();
    assert!(reasons >= skipped, "round {round}: {reasons} reasons for {skipped} rows");
}

/// Returns the sample with up to eight faults.
fn damaged(sample: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..random.usize(1..=8) {
        let length = bytes.len();
        let place = random.usize(0..=length);
        let end = (place + random.usize(0..64)).min(length);
        match random.u8(0..8) {
            0 => bytes.truncate(place),
            1 => drop(bytes.drain(place..end)),
            2 => {
                let copy = bytes[place..end].to_vec();
                let target = random.usize(0..=length);
                bytes.splice(target..target, copy);
            }
            3 | 4 => {
                let token = random.choice(TOKENS).unwrap();
                let end = if random.bool() { place } else { end };
                bytes.splice(place..end, token.bytes());
            }
            5 => {
                let repeated = random.u8(..);
                bytes.splice(place..place, std::iter::repeat_n(repeated, random.usize(1..2_000)));
            }
            _ if place < length => {
                bytes[place] = if random.bool() { random.u8(..) } else { random.u8(b'0'..b'z') }
            }
            _ => {}
        }
    }
    bytes
}

/// Returns the peak memory of this process. `None`: the system does not report it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
