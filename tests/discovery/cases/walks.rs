//! Forms in which the SNMP tools print walks, their messages, and which tables a walk completes.

use toposcope::discovery::report::{TableKind, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, Report};

use super::file;
use super::neighbors::{case, complete, example, interfaces, lldp, neighbor, walk};
use crate::support::{count, rows};

const MIB: &str = "SNMPv2-MIB::sysName.0 = STRING: sw-a\n\
                   SNMPv2-MIB::sysObjectID.0 = OID: SNMPv2-SMI::enterprises.9.1.1\n\
                   IF-MIB::ifDescr.1 = STRING: GigabitEthernet0/1\n\
                   IF-MIB::ifType.1 = INTEGER: ethernetCsmacd(6)\n\
                   IF-MIB::ifPhysAddress.1 = STRING: 0:0:5e:0:53:1\n\
                   IF-MIB::ifOperStatus.1 = INTEGER: up(1)\n\
                   IP-MIB::ipAdEntIfIndex.192.0.2.1 = INTEGER: 1\n\
                   IP-MIB::ipAdEntNetMask.192.0.2.1 = IpAddress: 255.255.255.0\n\
                   LLDP-MIB::lldpRemChassisIdSubtype.0.1.1 = INTEGER: macAddress(4)\n\
                   LLDP-MIB::lldpRemChassisId.0.1.1 = Hex-STRING: 00 00 5E 00 53 99 \n\
                   LLDP-MIB::lldpRemPortIdSubtype.0.1.1 = INTEGER: interfaceName(5)\n\
                   LLDP-MIB::lldpRemPortId.0.1.1 = STRING: Gi1/0/9\n\
                   LLDP-MIB::lldpRemSysName.0.1.1 = STRING: core-1\n";

/// The report without what the form of the text changes.
fn tables(report: &Report) -> serde_json::Value {
    serde_json::to_value(&report.devices).unwrap()
}

/// Writes each line of a walk in another form.
fn rewritten(line: impl Fn(&str, &str, &str) -> String) -> String {
    let lines = MIB.lines().map(|text| {
        let (name, value) = text.split_once(" = ").unwrap();
        let (kind, value) = value.split_once(": ").unwrap();
        line(name, kind, value.trim_end()) + "\n"
    });
    lines.collect()
}

/// Returns a value as net-snmp prints it without its type.
fn untyped(kind: &str, value: &str) -> String {
    match kind {
        "Hex-STRING" => format!("\"{value} \""),
        "INTEGER" => value.split('(').next().unwrap().to_owned(),
        _ => value.to_owned(),
    }
}

/// Puts each part of an index in brackets, as `-OX` does.
fn bracketed(name: &str) -> String {
    let (object, index) = name.split_once('.').unwrap();
    match index.split('.').collect::<Vec<_>>().as_slice() {
        ["0"] => name.to_owned(),
        parts if object.contains("ipAd") => format!("{object}[{}]", parts.join(".")),
        parts => format!("{object}[{}]", parts.join("][")),
    }
}

fn without_module(name: &str) -> &str {
    name.split_once("::").unwrap().1
}

#[test]
fn every_form_of_the_tool_gives_the_same_tables() {
    let expected = tables(&walk(MIB));
    let time = |line: &str| format!("Nov  5 20:15:01 {line}");
    let forms: [(&str, String); 14] = [
        ("-OX", rewritten(|name, kind, value| format!("{} = {kind}: {value}", bracketed(name)))),
        (
            "-OXs",
            rewritten(|name, kind, value| format!("{} = {kind}: {value}", without_module(&bracketed(name)))),
        ),
        (
            "-OXsQ",
            rewritten(|name, kind, value| {
                format!("{} = {}", without_module(&bracketed(name)), untyped(kind, value))
            }),
        ),
        ("-OQ", rewritten(|name, kind, value| format!("{name} = {}", untyped(kind, value)))),
        (
            "-OsQ",
            rewritten(|name, kind, value| format!("{} = {}", without_module(name), untyped(kind, value))),
        ),
        ("-Oq", rewritten(|name, kind, value| format!("{name} {}", untyped(kind, value)))),
        ("-Osq", rewritten(|name, kind, value| format!("{} {}", without_module(name), untyped(kind, value)))),
        (
            "-Oe",
            rewritten(|name, kind, value| match value.split_once('(') {
                Some((_, number)) => format!("{name} = {kind}: {}", number.trim_end_matches(')')),
                None => format!("{name} = {kind}: {value}"),
            }),
        ),
        (
            "-OT",
            rewritten(|name, kind, value| match kind {
                "Hex-STRING" => format!("{name} = {kind}: {value}  [..^.S.]"),
                _ => format!("{name} = {kind}: {value}"),
            }),
        ),
        ("ts", rewritten(|name, kind, value| time(&format!("{name} = {kind}: {value}")))),
        (
            "ts, quick",
            rewritten(|name, kind, value| format!("[2026-11-25 20:15:01] {name} {}", untyped(kind, value))),
        ),
        (
            "logger",
            rewritten(|name, kind, value| format!("2026-11-25T20:15:01.25+01:00 {name} = {kind}: {value}")),
        ),
        (
            "Net::SNMP",
            rewritten(|name, kind, value| {
                let kind = if kind == "STRING" { "OCTET STRING" } else { kind };
                format!("{name} = {kind}: {value}")
            }),
        ),
        (
            "pysnmp",
            rewritten(|name, kind, value| match kind {
                "Hex-STRING" => format!("{name} = 0x{}", value.replace(' ', "").to_lowercase()),
                _ => format!("{name} = {}", untyped(kind, value)),
            }),
        ),
    ];
    for (form, text) in forms {
        assert_eq!(tables(&walk(&text)), expected, "{form}:\n{text}");
    }
}

#[test]
fn indexes_in_brackets_may_be_addresses() {
    let text = "SNMPv2-MIB::sysName.0 = STRING: r-1\n\
                IF-MIB::ifDescr[2] = STRING: eth0\n\
                IP-MIB::ipAddressIfIndex[ipv6][\"20:01:0d:b8:00:00:00:00:00:00:00:00:00:00:00:01\"] = INTEGER: 2\n\
                IP-MIB::ipNetToMediaPhysAddress[2][192.0.2.9] = STRING: 0:0:5e:0:53:9\n\
                IP-MIB::ipNetToPhysicalPhysAddress[2][ipv4][\"192.0.2.10\"] = STRING: 0:0:5e:0:53:a\n\
                BRIDGE-MIB::dot1dTpFdbPort[STRING: 0:0:5e:0:53:20] = INTEGER: 1\n\
                BRIDGE-MIB::dot1dTpFdbPort[0:0:5e:0:53:21] = INTEGER: 1\n\
                BRIDGE-MIB::dot1dBasePortIfIndex[1] = INTEGER: 2\n";
    let report = walk(text);
    let tables = &report.devices[0].tables;
    assert_eq!(rows(tables.addresses.as_deref())[0].ip_address.to_string(), "2001:db8::1");
    let arp: Vec<_> = rows(tables.arp.as_deref()).iter().map(|row| row.ip_address.to_string()).collect();
    assert_eq!(arp, ["192.0.2.9", "192.0.2.10"]);
    let fdb: Vec<_> =
        rows(tables.fdb.as_deref()).iter().map(|row| (row.mac_address.to_string(), row.if_index)).collect();
    assert_eq!(fdb, [("00:00:5E:00:53:20".to_owned(), Some(2)), ("00:00:5E:00:53:21".to_owned(), Some(2))]);
}

#[test]
fn brackets_of_other_tools_are_read_or_skipped_with_a_warning() {
    let Some(report) = case("walk_OX.walk") else { return };
    assert_eq!(rows(report.devices[0].tables.if_entries.as_deref()).len(), 2);
    assert_eq!(lldp(&report)[0].if_index, Some(1));
    for index in ["[1", "[]", "[1][", "[x]"] {
        let report = walk(&format!("IF-MIB::ifName.1 = STRING: e1\nIF-MIB::ifDescr{index} = STRING: e\n"));
        assert_eq!(rows(report.devices[0].tables.if_entries.as_deref()).len(), 1, "{index}");
        assert!(!report.warnings.is_empty(), "{index}");
    }
}

#[test]
fn values_without_identifiers_are_refused_with_the_reason() {
    let error = complete(Format::Snmpwalk, "STRING: sw-a\nINTEGER: 1\n").unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)));
    assert!(error.to_string().contains("-Ov"), "{error}");
}

#[test]
fn blanks_in_front_of_all_lines_and_types_of_other_tools_change_nothing() {
    let usual = ".1.3.6.1.2.1.1.2.0 = OID: .1.3.6.1.4.1.9.1.1\n.1.3.6.1.2.1.2.2.1.2.1 = STRING: eth0\n\
        .1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 00 00 5E \n00 53 01 \n";
    let indented: String = usual.lines().map(|line| format!("  \t{line}\n")).collect();
    let other = usual.replace("OID:", "ObjectIdentifier:").replace(": eth0", ": \"eth0\"");
    let other = other.replace(" STRING", " OctetString").replace("Hex-STRING", "Hex");
    let expected = walk(usual);
    assert!(expected.warnings.is_empty());
    for input in [indented, other] {
        let report = walk(&input);
        assert_eq!(tables(&report), tables(&expected), "{input}");
        assert!(report.warnings.is_empty(), "{input}");
    }
}

#[test]
fn dots_in_place_of_bytes_are_refused_where_no_byte_has_digits() {
    let interface =
        ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"eth0\"\n.1.3.6.1.2.1.2.2.1.6.1 = STRING: \"..!<M^\"\n";
    let quick = ".1.3.6.1.2.1.4.22.1.2.1.192.0.2.1 \"..!<M^\"\n";
    for walk in [interface, quick] {
        let error = complete(Format::Snmpwalk, walk).unwrap_err();
        assert!(error.to_string().contains("`-Oa`"), "{error}");
    }
    let other = ".1.3.6.1.2.1.2.2.1.6.2 = Hex-STRING: 00 00 5E 00 53 01 \n";
    let report = walk(&format!("{interface}{other}"));
    let rows = rows(report.devices[0].tables.if_entries.as_deref());
    let addresses: Vec<_> = rows.iter().map(|row| row.mac_address.unwrap().to_string()).collect();
    assert_eq!(addresses, ["2E:2E:21:3C:4D:5E", "00:00:5E:00:53:01"]);
}

#[test]
fn two_devices_in_one_file_are_refused() {
    let Some(input) = file("walk_two_devices.walk") else { return };
    let error = complete(Format::Snmpwalk, input).unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)));
    assert_eq!(error.line(), Some(12 + 1));
    assert!(error.to_string().contains("`sysName.0` is `sw-a` and `sw-z`"), "{error}");
}

#[test]
fn any_variable_that_identifies_a_device_shows_a_second_one() {
    let name = ".1.3.6.1.2.1.1.5.0 = STRING: \"a\"\n";
    for (variable, first, second) in [
        (".1.3.6.1.2.1.1.1.0", "STRING: \"one\"", "STRING: \"two\""),
        (".1.3.6.1.2.1.1.2.0", "OID: .1.3.6.1.4.1.9.1.1", "OID: .1.3.6.1.4.1.9.1.2"),
        (".1.0.8802.1.1.2.1.3.2.0", "Hex-STRING: 00 00 5E 00 53 01 ", "Hex-STRING: 00 00 5E 00 53 02 "),
        (".1.3.6.1.4.1.9.9.23.1.3.4.0", "STRING: \"a\"", "STRING: \"b\""),
        (".1.3.6.1.2.1.2.2.1.2.7", "STRING: \"e7\"", "STRING: \"Gi0/7\""),
        (".1.3.6.1.2.1.2.2.1.6.7", "Hex-STRING: 00 00 5E 00 53 01 ", "Hex-STRING: 00 00 5E 00 53 02 "),
    ] {
        let text = format!("{name}{variable} = {first}\n{variable} = {second}\n");
        let error = complete(Format::Snmpwalk, text).unwrap_err();
        assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{variable}: {error}");
        let same = format!("{name}{variable} = {first}\n{name}{variable} = {first}\n");
        assert!(complete(Format::Snmpwalk, same).is_ok(), "{variable}");
    }
    let recording = "1.3.6.1.2.1.1.5.0|4|a\n1.3.6.1.2.1.1.5.0|4|b\n";
    assert!(matches!(
        complete(Format::Snmprec, recording).unwrap_err().kind(),
        ParseErrorKind::SeveralDevices(_)
    ));
}

#[test]
fn messages_of_the_tool_are_no_part_of_a_value_and_truncate() {
    let Some(report) = case("walk_timeout_prefix.walk") else { return };
    assert_eq!(rows(report.devices[0].tables.if_entries.as_deref())[0].if_name.as_deref(), Some("Gi0/1"));
    assert!(!lldp(&report).is_empty());
    for message in [
        "snmpwalk: Timeout",
        "snmpbulkwalk: Timeout",
        "Timeout",
        "Timeout: No Response from udp:192.0.2.1:161",
        "Error in packet.\nReason: (noSuchName) There is no such variable name in this MIB.\nFailed object: IF-MIB::ifName.1",
        "Error: OID not increasing: IF-MIB::ifName.2\n >= IF-MIB::ifName.1",
        "snmpget: Unknown Object Identifier (Sub-id not found: (top) -> ifDescrx)",
        "Authentication failure (incorrect password, community or key)",
    ] {
        let text = format!(
            "SNMPv2-MIB::sysName.0 = STRING: sw-a\nIF-MIB::ifName.1 = STRING: e1\n{message}\nIF-MIB::ifAlias.1 = STRING: desk\n"
        );
        let report = walk(&text);
        let table = report.devices[0].tables.if_entries.clone().unwrap();
        let row = &table.rows[0];
        assert_eq!(
            (row.if_name.as_deref(), row.if_alias.as_deref()),
            (Some("e1"), Some("desk")),
            "{message}"
        );
        assert!(!table.complete, "{message}");
        let first = message.lines().next().unwrap();
        assert_eq!(example(&report, WarningCode::InputTruncated), first);
    }
}

#[test]
fn ends_of_walks_and_notices_leave_the_tables_complete() {
    for (message, skipped) in [
        ("End of MIB", 0),
        ("No more variables left in this MIB View (It is past the end of the MIB tree)", 0),
        (
            "IF-MIB::ifName.2 = No more variables left in this MIB View (It is past the end of the MIB tree)",
            0,
        ),
        ("Variables found: 2", 0),
        ("Total traversal time = 0.2 seconds", 0),
        ("MIB search path: /usr/share/snmp/mibs", 1),
        ("Cannot find module (LLDP-MIB): At line 0 in (none)", 1),
        ("admin@mon:~$ snmpwalk -v2c -c public 192.0.2.1 ifAlias", 1),
    ] {
        let text = format!(
            "SNMPv2-MIB::sysName.0 = STRING: sw-a\nIF-MIB::ifName.1 = STRING: e1\n{message}\nIF-MIB::ifAlias.1 = STRING: desk\n"
        );
        let report = walk(&text);
        let table = report.devices[0].tables.if_entries.clone().unwrap();
        assert_eq!(table.rows[0].if_name.as_deref(), Some("e1"), "{message}");
        assert!(table.complete, "{message}");
        assert_eq!(count(&report, WarningCode::RowMalformed), skipped, "{message}");
    }
}

#[test]
fn lines_behind_a_number_are_counted_and_shown() {
    let text = ".1.3.6.1.2.1.1.5.0 = STRING: \"a\"\nstray\n.1.3.6.1.2.1.2.2.1.3.1 = INTEGER: 6\n7 stray\n";
    let report = walk(text);
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("a"));
    assert_eq!(rows(report.devices[0].tables.if_entries.as_deref())[0].if_type, Some(6));
    assert_eq!(count(&report, WarningCode::RowMalformed), 2);
    assert_eq!(example(&report, WarningCode::RowMalformed), "stray");
}

#[test]
fn variables_of_other_mibs_are_counted_with_an_example() {
    for (text, unread, subtree) in [
        (".1.3.6.1.2.1.25.1.1.0 = INTEGER: 1\n.1.3.6.1.2.1.25.1.2.0 = INTEGER: 1\n", 2, "1.3.6.1.2.1.25"),
        (".1.3.6.1.4.1.9.9.109.1.1 = INTEGER: 1\n", 1, "1.3.6.1.4.1.9.9.109"),
        ("HOST-RESOURCES-MIB::hrSystemProcesses.0 = Gauge32: 1\n", 1, "HOST-RESOURCES-MIB"),
        ("hrSystemProcesses.0 = Gauge32: 1\n", 1, "hrSystemProcesses"),
        ("IF-MIB::ifInOctets.1 = Counter32: 1\n", 0, ""),
        ("ifInOctets.1 = Counter32: 1\n", 0, ""),
    ] {
        let report = walk(&format!("SNMPv2-MIB::sysName.0 = STRING: sw-a\n{text}"));
        assert_eq!(count(&report, WarningCode::VariableUnread), unread, "{text}");
        assert_eq!(example(&report, WarningCode::VariableUnread), subtree, "{text}");
        assert_eq!(report.skipped_rows, 0, "{text}");
    }
}

/// Returns which tables there are, and whether they are complete.
fn completeness(report: &Report) -> Vec<(TableKind, bool)> {
    let summaries = report.devices[0].tables.summaries();
    summaries.into_iter().map(|summary| (summary.kind, summary.complete)).collect()
}

#[test]
fn table_that_lost_a_row_is_the_only_one_that_adds() {
    let text = [
        interfaces(&[(1, "e1", 6)]),
        neighbor("0.1.1", 1, "Gi1", "sw-b"),
        ".1.0.8802.1.1.2.1.4.1.1.6.0.1.2 = INTEGER: 5\n".to_owned(),
        ".1.0.8802.1.1.2.1.4.1.1.7.0.1.2 = STRING: \"Gi2\"\n".to_owned(),
    ];
    assert_eq!(completeness(&walk(&text.concat())), [(TableKind::IfEntries, true), (TableKind::Lldp, false)]);
    let text = [interfaces(&[(1, "e1", 6)]), neighbor("0.1.1", 1, "Gi1", "sw-b")];
    let malformed = ".1.0.8802.1.1.2.1.4.1.1.5.0.1.99999999999999999999 = STRING: \"x\"\n";
    assert_eq!(
        completeness(&walk(&(text.concat() + malformed))),
        [(TableKind::IfEntries, true), (TableKind::Lldp, false)]
    );
}

#[test]
fn table_that_the_device_was_asked_for_and_has_no_row_is_empty() {
    let interfaces = interfaces(&[(1, "e1", 6)]);
    let chassis =
        ".1.0.8802.1.1.2.1.3.1.0 = INTEGER: 4\n.1.0.8802.1.1.2.1.3.2.0 = Hex-STRING: 00 00 5E 00 53 01 \n";
    let cdp =
        ".1.3.6.1.4.1.9.9.23.1.1.1.1.6.1 = STRING: \"e1\"\n.1.3.6.1.4.1.9.9.23.1.3.4.0 = STRING: \"sw-a\"\n";
    for (text, kind) in [
        (chassis, TableKind::Lldp),
        (cdp, TableKind::Cdp),
        (".1.3.6.1.2.1.17.4.2.0 = INTEGER: 300\n", TableKind::Fdb),
        (".1.3.6.1.2.1.17.2.1.0 = INTEGER: 3\n", TableKind::Stp),
        (".1.3.6.1.2.1.4.1.0 = INTEGER: 2\n", TableKind::Arp),
        (".1.2.840.10006.300.43.1.2.1.1.13.1 = INTEGER: 0\n", TableKind::Lag),
    ] {
        let report = walk(&format!("{interfaces}{text}"));
        assert!(completeness(&report).contains(&(kind, true)), "{kind:?}");
        // Input that may lack rows says nothing about what is not there.
        let partial = crate::support::parsed(Format::Snmpwalk, &format!("{interfaces}{text}"));
        assert!(!completeness(&partial).iter().any(|(present, _)| *present == kind), "{kind:?}");
    }
}

#[test]
fn walk_of_the_own_data_of_a_device_did_not_ask_for_neighbors() {
    let chassis = ".1.0.8802.1.1.2.1.3.1.0 = INTEGER: 4\n.1.0.8802.1.1.2.1.3.2.0 = Hex-STRING: 00 00 5E 00 53 01 \n\
                   .1.0.8802.1.1.2.1.3.7.1.2.1 = INTEGER: 5\n.1.0.8802.1.1.2.1.3.7.1.3.1 = STRING: \"e1\"\n";
    let kinds: Vec<_> = completeness(&walk(chassis)).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [TableKind::IfEntries]);
}
