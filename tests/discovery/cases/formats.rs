//! Formats, encodings, and forms of the same tool.

use std::process::Command;

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind, Report, parse};
use toposcope::model::{PortNumber, Protocol};

use super::file;
use crate::support::{count, refused, rows, with_reporter};

fn read(format: Format, name: &str) -> Option<Report> {
    let bytes = file(name)?;
    let options = with_reporter().with_complete_tables();
    let report = parse(format, bytes.as_slice(), &options).unwrap();
    let detected = parse(Format::Auto, bytes.as_slice(), &options).unwrap();
    assert_eq!(detected, report, "{name} is recognized by its content");
    Some(report)
}

/// Returns the last byte of the addresses, and the interfaces, of an ARP table.
pub(super) fn neighbors(report: &Report) -> Vec<(u8, u8, Option<String>)> {
    let rows = rows(report.devices[0].tables.arp.as_deref());
    let last = |row: &toposcope::discovery::report::ArpRow| match row.ip_address {
        std::net::IpAddr::V4(address) => address.octets()[3],
        std::net::IpAddr::V6(address) => address.octets()[15],
    };
    rows.iter().map(|row| (last(row), row.mac_address.octets()[5], row.if_name.clone())).collect()
}

fn named(ip: u8, mac: u8, name: &str) -> (u8, u8, Option<String>) {
    (ip, mac, Some(name.to_owned()))
}

#[test]
fn junos_table_is_read_by_its_heading() {
    let Some(report) = read(Format::Arp, "arp_junos.arp") else { return };
    assert_eq!(neighbors(&report), [named(1, 1, "ge-0/0/0.0"), named(2, 2, "ge-0/0/1.0")]);
    assert!(report.devices[0].tables.arp.as_deref().unwrap().complete);
    assert_eq!(report.skipped_rows, 0);
}

#[test]
fn interface_of_linux_is_the_last_column_and_not_the_flags() {
    let Some(report) = read(Format::Arp, "arp_linux_table.arp") else { return };
    assert_eq!(neighbors(&report), [named(1, 1, "eth0"), named(9, 9, "eth1.30")]);
    assert_eq!(count(&report, WarningCode::RowIncomplete), 1);
}

#[test]
fn interface_of_arista_ends_at_the_comma() {
    let Some(report) = read(Format::Arp, "arp_arista.arp") else { return };
    assert_eq!(neighbors(&report), [named(1, 1, "Vlan100"), named(2, 2, "Ethernet3")]);
}

#[test]
fn interface_of_ftos_keeps_its_space() {
    let Some(report) = read(Format::Arp, "arp_force10.arp") else { return };
    assert_eq!(neighbors(&report), [named(5, 5, "Ma 0/0"), named(6, 6, "Te 0/12")]);
}

#[test]
fn utf_16_is_read_in_text_and_xml() {
    let Some(report) = read(Format::Arp, "arp_utf16.arp") else { return };
    assert_eq!(neighbors(&report), [named(1, 1, "eth0"), named(2, 2, "eth0")]);
    let report = read(Format::Snmpwalk, "walk_utf16.walk").unwrap();
    assert!(report.devices[0].sys_name.is_some());
    let report = read(Format::Nmap, "nmap_utf16.xml").unwrap();
    assert_eq!(report.devices.len(), 1);
}

#[test]
fn byte_order_mark_before_json_is_skipped() {
    let Some(report) = read(Format::Arp, "arp_json_bom.arp") else { return };
    assert_eq!(neighbors(&report), [named(1, 1, "eth0")]);
}

#[test]
fn documents_that_nmap_appended_are_all_read() {
    let Some(report) = read(Format::Nmap, "nmap_append.xml") else { return };
    let addresses = report.devices.iter().map(|device| rows(device.tables.addresses.as_deref()));
    let addresses: Vec<String> = addresses.map(|rows| rows[0].ip_address.to_string()).collect();
    assert_eq!(addresses, ["192.0.2.31", "192.0.2.32"]);
    assert!(!report.devices[0].tables.ports.as_deref().unwrap().complete);
}

#[test]
fn elements_of_masscan_are_joined_by_their_address() {
    for name in ["masscan_0.xml", "masscan_1.xml", "masscan_2.xml", "masscan_3.xml"] {
        let Some(report) = read(Format::Nmap, name) else { return };
        assert_eq!((report.devices.len(), report.reporter.name.as_str()), (1, "masscan"));
        let ports = report.devices[0].tables.ports.as_deref().unwrap();
        assert_eq!((ports.rows.len(), ports.complete), (4, true), "{name}");
        assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (12, 12, 0), "{name}");
    }
}

/// Returns text in UTF-16.
fn utf_16(text: &str, is_little_endian: bool, has_mark: bool) -> Vec<u8> {
    let mark = has_mark.then_some('\u{FEFF}');
    let units: Vec<u16> =
        mark.into_iter().chain(text.chars()).flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()).collect();
    units
        .iter()
        .flat_map(|unit| if is_little_endian { unit.to_le_bytes() } else { unit.to_be_bytes() })
        .collect()
}

#[test]
fn every_format_is_read_in_utf_16() {
    use crate::support::{ARP, IP_NEIGH, JSON, RECORDING, SCAN, WALK};
    let report = serde_json::to_string(&crate::support::parsed(Format::Snmprec, RECORDING)).unwrap();
    let declared = SCAN.replace("UTF-8", "UTF-16");
    for (format, text) in [
        (Format::Arp, ARP),
        (Format::Arp, IP_NEIGH),
        (Format::Lldpctl, JSON),
        (Format::Snmprec, RECORDING),
        (Format::Snmpwalk, WALK),
        (Format::Nmap, SCAN),
        (Format::Nmap, declared.as_str()),
        (Format::Report, report.as_str()),
    ] {
        let plain = parse(format, text.as_bytes(), &with_reporter()).unwrap();
        let marked = format!("\u{FEFF}{text}");
        assert_eq!(parse(format, marked.as_bytes(), &with_reporter()).unwrap(), plain, "{format}");
        for (is_little_endian, has_mark) in [(true, true), (true, false), (false, true), (false, false)] {
            let bytes = utf_16(text, is_little_endian, has_mark);
            let read = parse(format, bytes.as_slice(), &with_reporter()).unwrap();
            assert_eq!(read, plain, "{format}: {is_little_endian} {has_mark}");
            // A reader that hands out single bytes cuts every code unit.
            let cut = std::io::BufReader::with_capacity(1, bytes.as_slice());
            assert_eq!(parse(format, cut, &with_reporter()).unwrap(), plain, "{format}");
            assert_eq!(Format::detect(&bytes), Some(format));
        }
    }
}

#[test]
fn declared_latin_1_is_read_and_other_encodings_are_named() {
    let scan = |encoding: &str| {
        let head = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>");
        let rest = "<nmaprun><host><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/>\
                    <hostnames><hostname name=\"b\u{FC}ro.example.net\"/></hostnames></host></nmaprun>";
        let latin_1 = rest.chars().map(|character| u8::try_from(u32::from(character)).unwrap());
        head.bytes().chain(latin_1).collect::<Vec<u8>>()
    };
    let report = parse(Format::Nmap, scan("ISO-8859-1").as_slice(), &with_reporter()).unwrap();
    assert_eq!(report.devices[0].hostname.as_deref(), Some("b\u{FC}ro.example.net"));
    let error = refused(Format::Nmap, scan("Shift_JIS"));
    assert!(matches!(error.kind(), ParseErrorKind::UnsupportedEncoding(_)), "{error}");
    assert!(error.to_string().contains("Shift_JIS is not read; convert the input to UTF-8"), "{error}");
    let utf_32: Vec<u8> = "192.0.2.1".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert!(refused(Format::Arp, utf_32).to_string().contains("UTF-32"));
    let error = refused(Format::Auto, b"\x1F\x8B\x08\x00");
    assert!(error.to_string().contains("compressed with gzip; decompress it first"), "{error}");
}

#[test]
fn input_of_no_format_is_refused_with_the_list_of_formats() {
    for text in ["", "Dear reader,\n", "{\"hosts\": []}", "[]", "<html></html>", "a = b\n"] {
        let error = refused(Format::Auto, text);
        assert!(matches!(error.kind(), ParseErrorKind::FormatUnknown), "{text}: {error}");
        let sentence = error.to_string();
        for format in Format::ALL.iter().filter(|format| **format != Format::Auto) {
            assert!(sentence.contains(format.as_str()), "{sentence}");
        }
        assert_eq!(Format::detect(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn later_run_of_an_appended_scan_replaces_the_ports_that_it_scanned() {
    let run = |ports: &str, services: &str, name: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE nmaprun>\n<nmaprun scanner=\"nmap\" start=\"1700000000\">\n\
             <scaninfo type=\"syn\" protocol=\"tcp\" services=\"{services}\"/>\n\
             <host><status state=\"up\"/><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/>\
             <hostnames><hostname name=\"{name}\"/></hostnames><ports>{ports}</ports></host>\n</nmaprun>\n"
        )
    };
    let port =
        |number: u16| format!("<port protocol=\"tcp\" portid=\"{number}\"><state state=\"open\"/></port>");
    let first = run(&(port(22) + &port(80) + &port(8080)), "1-1000,8080", "old.example.net");
    let second = run(&port(443), "1-1000", "new.example.net");
    let text = format!("{first}{second}Nmap done: 1 IP address (1 host up) scanned\n");
    let report = parse(Format::Nmap, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    assert_eq!(report.devices.len(), 1);
    assert_eq!(report.devices[0].hostname.as_deref(), Some("new.example.net"));
    let ports = report.devices[0].tables.ports.as_deref().unwrap();
    let numbers: Vec<u16> = ports.rows.iter().map(|port| port.number.get()).collect();
    assert_eq!((numbers, ports.complete), (vec![8080, 443], false));
    assert_eq!(count(&report, WarningCode::RowReplaced), 2);
    assert_eq!(count(&report, WarningCode::TextIgnored), 1);
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows);
    assert_eq!(report.skipped_rows, 2);

    // The first run was killed before it closed its document.
    let cut = first.find("</host>").unwrap();
    let text = format!("{}{second}", &first[..cut]);
    let report = parse(Format::Nmap, text.as_bytes(), &with_reporter()).unwrap();
    assert_eq!((report.devices.len(), count(&report, WarningCode::InputTruncated)), (1, 1));
}

#[test]
fn masscan_with_banners_names_the_service_of_its_port() {
    let host = |inner: &str| {
        format!(
            "<host endtime=\"1700000001\"><address addr=\"192.0.2.9\" addrtype=\"ipv4\"/><ports>\
             <port protocol=\"tcp\" portid=\"80\"><state state=\"open\" reason=\"syn-ack\"/>{inner}</port></ports></host>"
        )
    };
    let text = format!(
        "<?xml version=\"1.0\"?>\n<!-- masscan v1.0 scan -->\n<nmaprun scanner=\"masscan\">\n{}{}</nmaprun>",
        host(""),
        host("<service name=\"http\" banner=\"nginx\"></service>")
    );
    let report = parse(Format::Nmap, text.as_bytes(), &with_reporter()).unwrap();
    let ports = rows(report.devices[0].tables.ports.as_deref());
    assert_eq!((ports.len(), ports[0].service.as_deref()), (1, Some("http")));
    assert_eq!((ports[0].number, ports[0].protocol), (PortNumber::try_from(80).unwrap(), Protocol::Tcp));
    assert_eq!((report.read_rows, report.used_rows), (6, 6));
}

#[test]
fn hosts_of_a_ping_scan_have_no_table_of_ports() {
    let text = "<nmaprun scanner=\"nmap\" args=\"nmap -sn 192.0.2.0/24\">\
                <hosthint><status state=\"up\"/><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/><hostnames/></hosthint>\
                <host><status state=\"down\"/><address addr=\"192.0.2.2\" addrtype=\"ipv4\"/></host>\
                <host><status state=\"up\"/><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/>\
                <address addr=\"00:00:5E:00:53:01\" addrtype=\"mac\"/></host></nmaprun>";
    let report = parse(Format::Nmap, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    assert_eq!(report.devices.len(), 1);
    assert!(report.devices[0].tables.ports.is_none());
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (5, 3, 2));
}

/// Returns the bytes of a file of the network of Linux machines, unpacked.
fn live(name: &str) -> Option<Vec<u8>> {
    let name = format!("../../live/s1/{name}");
    let bytes = file(&name)?;
    if !name.ends_with(".gz") {
        return Some(bytes);
    }
    let path = super::data().join("cases/discovery").join(name);
    Some(Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout)
}

#[test]
fn files_of_linux_machines_are_recognized_and_agree_with_their_walk() {
    for (name, format) in [
        ("neigh/fw1.arp", Format::Arp),
        ("arpan/fw1.arp", Format::Arp),
        ("nmap/scan.xml", Format::Nmap),
        ("truth.core1.addr.json", Format::IpAddr),
        ("lldp/core1.json", Format::Lldpctl),
        ("walk/core1.walk.gz", Format::Snmpwalk),
    ] {
        let Some(bytes) = live(name) else { return };
        assert_eq!(Format::detect(&bytes), Some(format), "{name}");
        parse(format, bytes.as_slice(), &with_reporter()).unwrap();
    }
    let tables = |format, name: &str| {
        let bytes = live(name).unwrap();
        parse(format, bytes.as_slice(), &with_reporter()).unwrap().devices.remove(0).tables
    };
    let walked = tables(Format::Snmpwalk, "walk/core1.walk.gz");
    let printed = tables(Format::IpAddr, "truth.core1.addr.json");
    for entry in rows(walked.if_entries.as_deref()) {
        let same = rows(printed.if_entries.as_deref()).into_iter().find(|row| row.if_index == entry.if_index);
        let same = same.unwrap_or_else(|| panic!("{entry:?}"));
        assert_eq!((same.if_name, same.mac_address), (entry.if_name, entry.mac_address));
    }
    let members = rows(printed.lag.as_deref());
    assert_eq!(members.len(), 2, "bond0 has two members");
    assert!(members[0].lag_id == members[1].lag_id && members[0].if_index != members[1].if_index);
}

#[test]
fn text_in_place_of_json_is_refused_with_the_command_that_prints_json() {
    for (format, command) in [
        (Format::Lldpctl, "lldpctl -f json"),
        (Format::IpAddr, "ip -j addr"),
        (Format::IpRoute, "ip -j route"),
        (Format::BridgeFdb, "bridge -j fdb"),
        (Format::BridgeVlan, "bridge -j vlan"),
        (Format::Report, "a report as JSON"),
    ] {
        for text in ["---------\nLLDP neighbors:\n", "1: lo: <LOOPBACK>\n", "\n\ndefault via 192.0.2.1\n"] {
            let error = parse(format, text.as_bytes(), &with_reporter()).unwrap_err();
            assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}");
            assert!(error.to_string().contains(command), "{error}");
        }
    }
}
