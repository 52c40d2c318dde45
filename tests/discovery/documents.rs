//! JSON documents of several commands in one file, and as terminals and programs leave them.

use toposcope::discovery::report::{AddressFamily, WarningCode};
use toposcope::discovery::{Format, ParseError, ParseErrorKind, Report, parse};

use crate::support::{count, refused, rows, with_reporter};

const ADDRESSES: &str = r#"[{"ifindex":2,"ifname":"eth0","flags":["UP"],"operstate":"UP","link_type":"ether","promiscuity":0,"addr_info":[{"local":"192.0.2.7","prefixlen":24}]}]"#;
const NEIGHBORS: &str =
    r#"[{"dst":"192.0.2.1","dev":"eth0","lladdr":"00:00:5e:00:53:01","state":["REACHABLE"]}]"#;
const NEIGHBORS_6: &str =
    r#"[{"dst":"fe80::1","dev":"eth0","lladdr":"00:00:5e:00:53:01","state":["STALE"]}]"#;
const ROUTES: &str = r#"[{"dst":"default","gateway":"192.0.2.1","dev":"eth0","flags":[]}]"#;
const ROUTES_6: &str = r#"[{"dst":"2001:db8::/64","dev":"eth0","protocol":"kernel","flags":[]}]"#;
const FORWARDING: &str =
    r#"[{"mac":"00:00:5e:00:53:11","ifname":"eth0","vlan":10,"flags":[],"master":"br0","state":""}]"#;
const VLANS: &str = r#"[{"ifname":"eth0","vlans":[{"vlan":10}]},{"ifname":"br0","vlans":[{"vlan":20}]}]"#;
const LLDP: &str = r#"{"lldp":{"interface":[{"eth0":{"via":"LLDP","rid":"1","chassis":{"id":{"type":"mac","value":"00:00:5e:00:53:21"}},"port":{"id":{"type":"local","value":"7"}}}}]}}"#;

fn read(text: &str) -> Result<Report, ParseError> {
    parse(Format::Auto, text.as_bytes(), &with_reporter().with_complete_tables())
}

/// Returns the kinds of the tables, with their numbers of rows.
fn tables(report: &Report) -> Vec<String> {
    let summaries = report.devices[0].tables.summaries();
    summaries.iter().map(|table| format!("{} {}", table.kind, table.rows)).collect()
}

#[test]
fn documents_of_different_commands_are_read_by_their_own_kinds() {
    for (documents, expected) in [
        (vec![ADDRESSES, NEIGHBORS], vec!["if_entries 1", "addresses 1", "arp 1", "lag 0"]),
        (vec![ADDRESSES, ROUTES], vec!["if_entries 1", "addresses 1", "lag 0", "routes 1"]),
        (vec![NEIGHBORS, FORWARDING], vec!["fdb 1", "arp 1"]),
        (vec![FORWARDING, VLANS], vec!["if_entries 2", "fdb 1"]),
        (vec![LLDP, NEIGHBORS], vec!["lldp 1", "arp 1"]),
        (vec![NEIGHBORS, ROUTES, NEIGHBORS_6, ROUTES_6], vec!["arp 2", "routes 2"]),
        (vec![ROUTES, "[]", NEIGHBORS], vec!["arp 1", "routes 1"]),
        (
            vec![LLDP, VLANS, FORWARDING, ADDRESSES, ROUTES, ROUTES_6, NEIGHBORS],
            vec!["if_entries 2", "addresses 1", "lldp 1", "fdb 1", "arp 1", "lag 0", "routes 2"],
        ),
    ] {
        let recording = documents.iter().map(|document| format!("root@r1:~# ip -j …\r\n{document}\r\n"));
        for text in [documents.concat(), documents.join("\n"), recording.collect::<String>()] {
            let report = read(&text).unwrap();
            assert_eq!(tables(&report), expected, "{text}");
            assert_eq!(report.read_rows, report.used_rows + report.skipped_rows, "{text}");
            // A reader that hands out single bytes cuts every document.
            let cut = std::io::BufReader::with_capacity(1, text.as_bytes());
            let again = parse(Format::Auto, cut, &with_reporter().with_complete_tables()).unwrap();
            assert_eq!(again.devices, report.devices, "{text}");
            let first = Format::detect(documents[0].as_bytes()).unwrap();
            let stated = parse(first, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
            assert_eq!(stated.devices, report.devices, "{text}");
        }
    }
    let report = read(&format!("{NEIGHBORS}{ROUTES}{NEIGHBORS_6}")).unwrap();
    let neighbors = report.devices[0].tables.arp.as_deref().unwrap();
    assert_eq!((neighbors.family, neighbors.complete), (None, true));
}

#[test]
fn vlans_of_ports_are_joined_with_the_interfaces() {
    for text in [format!("{ADDRESSES}{VLANS}"), format!("{VLANS}{FORWARDING}{ADDRESSES}")] {
        let report = read(&text).unwrap();
        let table = report.devices[0].tables.if_entries.as_deref().unwrap();
        let entries: Vec<_> = table.rows.iter().map(|row| (row.if_index, row.if_name.as_deref())).collect();
        assert_eq!(entries, [(2, Some("eth0")), (0, Some("br0"))], "{text}");
        let vlans = table.rows.iter().map(|row| row.vlans.as_ref().unwrap().tagged[0]);
        assert_eq!((vlans.collect::<Vec<_>>(), table.complete), (vec![10, 20], true), "{text}");
    }
}

#[test]
fn tables_in_two_places_and_unknown_documents_are_refused() {
    let error = read(&format!("{ADDRESSES}{NEIGHBORS}{ADDRESSES}")).unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::TableRepeated(_)), "{error}");
    assert!(error.to_string().contains("if_entries"), "{error}");
    let error = read(&format!("{ADDRESSES}\n{ROUTES}\n{{\"a\":1}}")).unwrap_err();
    assert_eq!(error.line(), Some(3), "{error}");
    let rules = r#"[{"priority":0,"src":"all","table":"local"}]"#;
    let report = read(&format!("{ADDRESSES}\n{rules}")).unwrap();
    assert!(!report.devices[0].tables.if_entries.as_deref().unwrap().complete);
}

#[test]
fn any_number_of_messages_may_precede_a_document() {
    let messages = "Welcome to Ubuntu 24.04 LTS\n[  OK  ] Started a service.\n\n".repeat(40);
    let report = read(&format!("{messages}$ ip -j neigh\n{NEIGHBORS}\n")).unwrap();
    assert_eq!((tables(&report), count(&report, WarningCode::TextIgnored)), (vec!["arp 1".to_owned()], 81));
    let like_documents = "{\"a\":1}\n".repeat(2_000);
    assert_eq!(Format::detect(format!("x\n{like_documents}{NEIGHBORS}").as_bytes()), None);
}

#[test]
fn colors_and_pagers_within_a_document_are_left_out() {
    let expected = read(NEIGHBORS).unwrap();
    let colored: String = NEIGHBORS
        .chars()
        .flat_map(|character| ["\u{1B}[1;39m".to_owned(), format!("{character}\u{1B}[0m")])
        .collect();
    let lines = NEIGHBORS.replace(",\"", ",\r\n   \"");
    let mut texts = vec![colored, lines.clone()];
    for pager in [
        "--More--\r        \r",
        "--More--(52%)\r             \r",
        "\u{1B}[7m--More--\u{1B}[m\r\u{1B}[K",
        " --More-- \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}          \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}",
        "---(more 52%)---\r                \r",
        "--More--\u{1B}[16D        \u{1B}[16D",
    ] {
        texts.push(lines.replacen("\r\n   ", &format!("\r\n{pager}   "), 2));
        texts.push(NEIGHBORS.replacen(",\"", &format!(",{pager}\""), 2));
    }
    texts.push(NEIGHBORS.replace("REACH", "RE--More--\r        \rACH"));
    texts.push(lines.replacen("\r\n", "\r\n--More--\r\n", 1));
    for text in texts {
        for text in [text.clone(), format!("$ ip -j neigh | more\r\n{text}\r\n$ \r\n")] {
            assert_eq!(Format::detect(text.as_bytes()), Some(Format::Arp), "{text:?}");
            let report = read(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
            assert_eq!(report.devices, expected.devices, "{text:?}");
            let cut = std::io::BufReader::with_capacity(1, text.as_bytes());
            let again = parse(Format::Arp, cut, &with_reporter().with_complete_tables()).unwrap();
            assert_eq!(again.devices, expected.devices, "{text:?}");
        }
    }
    // Text within a string stays as it is.
    let named = NEIGHBORS.replace("eth0", "a--More-- (1%)>");
    let report = read(&named).unwrap();
    assert_eq!(rows(report.devices[0].tables.arp.as_deref())[0].if_name.as_deref(), Some("a--More-- (1%)>"));
}

#[test]
fn fillers_behind_a_document_are_no_text() {
    let expected = read(NEIGHBORS).unwrap();
    for filler in ["\u{1A}", "\0\0\0\0", "\r\n\u{1A}\r\n", "\n\0"] {
        let report = read(&format!("{NEIGHBORS}{filler}")).unwrap();
        assert_eq!((report.devices, report.warnings.len()), (expected.devices.clone(), 0), "{filler:?}");
    }
    refused(Format::Arp, format!("{NEIGHBORS}\0x"));
}

#[test]
fn text_of_another_encoding_is_named_as_such() {
    let latin_1: Vec<u8> =
        ADDRESSES.replace("eth0", "caf\u{e9}").chars().map(|character| character as u8).collect();
    let error = refused(Format::IpAddr, &latin_1);
    assert!(error.to_string().contains("convert the input to UTF-8"), "{error}");
}

#[test]
fn many_documents_take_linear_time() {
    let empty = "[]\n".repeat(1 << 17);
    let report = read(&format!("{NEIGHBORS}{empty}{ROUTES}")).unwrap();
    assert_eq!(tables(&report), ["arp 1", "routes 1"]);
    let small: String = (0..1 << 14).map(|number| format!("{{\"a{number}\":[{{\"b\":1}}]}}\n")).collect();
    assert_eq!(tables(&read(&format!("{NEIGHBORS}{small}{ROUTES}")).unwrap()), ["arp 1", "routes 1"]);
    let long = " ".repeat(1 << 20);
    let report = read(&format!("{NEIGHBORS}{long}{ROUTES}")).unwrap();
    assert_eq!(tables(&report), ["arp 1", "routes 1"]);
}

const PORT_VLANS: &str = r#"[{"ifname":"eth0","vlans":[{"vlan":30}]}]"#;

#[test]
fn document_below_a_table_in_text_leaves_the_table() {
    let port = |number: u8| format!(".1.3.6.1.2.1.2.2.1.2.{number} = STRING: \"p{number}\"\n");
    let ports: String = (1..=30).map(port).collect();
    let walk = format!(".1.3.6.1.2.1.1.5.0 = STRING: \"core-1\"\n{ports}");
    let value = format!("{walk}.1.3.6.1.4.1.8072.1.3.2.3.1.2.1.97 = STRING: {{\n{LLDP}\n}}\n{}", port(31));
    let scan = "<?xml version=\"1.0\"?>\n<nmaprun scanner=\"nmap\"></nmaprun>\n";
    let neighbor = |number: u8| format!("192.0.2.{number} dev eth0 lladdr 00:00:5e:00:53:0{number} STALE\n");
    let neighbors: String = (1..=9).map(neighbor).collect();
    let session = format!("admin@r1:~$ ip neigh\n{neighbors}admin@r1:~$ lldpctl -f json\n{LLDP}\n");
    for (format, text, expected) in [
        (Format::Snmpwalk, format!("{walk}{LLDP}\n"), "if_entries 30"),
        (Format::Snmpwalk, value, "if_entries 31"),
        (Format::Snmpwalk, format!("{walk}{scan}"), "if_entries 30"),
        (Format::Arp, format!("{neighbors}{LLDP}\n"), "arp 9"),
        (Format::Arp, session, "arp 9"),
    ] {
        for format in [Format::Auto, format] {
            let report = parse(format, text.as_bytes(), &with_reporter()).unwrap();
            assert!(tables(&report).iter().any(|table| table == expected), "{format}: {text}");
        }
        let stated = parse(Format::Lldpctl, text.as_bytes(), &with_reporter());
        assert!(stated.is_err() || tables(&stated.unwrap()) == ["lldp 1"], "{text}");
    }
}

#[test]
fn document_below_single_entries_is_read() {
    let titles = "Address                  HWtype  HWaddress           Flags Mask            Iface\n";
    let entry = "192.0.2.254              ether   00:00:5e:00:53:09   C                     eth0\n";
    for text in [
        format!("$ arp -n 192.0.2.254\n{titles}{entry}"),
        format!("$ arp -n 192.0.2.254\n{titles}"),
        "$ ip route\ndefault via 192.0.2.254 dev eth0\n192.0.2.254 dev eth0 scope link\n\
         192.0.2.253 dev eth0 scope link\n"
            .to_owned(),
        "$ ip route get 192.0.2.254\n192.0.2.254 dev eth0 src 192.0.2.1 uid 1000\n    cache\n".to_owned(),
        "$ ip -6 route\n2001:db8::1 dev eth0 proto ra metric 100 pref medium\n".to_owned(),
        "IP address: 192.0.2.1\nMAC address: 00:00:5e:00:53:01\n".to_owned(),
        "$ snmpget -v2c -c public sw1 sysName.0\nSNMPv2-MIB::sysName.0 = STRING: sw1\n".to_owned(),
        "1.3.6.1.2.1.1.5.0|4|sw1\n".to_owned(),
    ] {
        let report = read(&format!("{text}$ ip -j neigh\n{NEIGHBORS}\n")).unwrap();
        let table = report.devices[0].tables.arp.as_deref().unwrap();
        assert_eq!((tables(&report), table.complete), (vec!["arp 1".to_owned()], true), "{text}");
        assert_ne!(count(&report, WarningCode::TextIgnored), 0, "{text}");
    }
}

#[test]
fn document_below_a_neighbor_table_makes_it_incomplete() {
    let neighbor = |number: u8| format!("192.0.2.{number} dev eth0 lladdr 00:00:5e:00:53:0{number} STALE\n");
    let wrapped = "IPv6 Address                              Interface\n  MAC Address               State      Expiry\n\
                   2001:db8::2                               to-pe2\n  00:00:5e:00:53:02         STALE      02h10m12s\n\
                   2001:db8::3                               to-pe3\n  00:00:5e:00:53:03         STALE      02h10m12s\n";
    let unanswered = r#"[{"dst":"127.0.0.1","dev":"lo","lladdr":"00:00:00:00:00:00","state":["NOARP"]}]"#;
    for (text, document) in [
        (neighbor(1) + &neighbor(2), unanswered),
        (neighbor(1) + &neighbor(2), NEIGHBORS),
        (neighbor(1) + &neighbor(2), "<?xml version=\"1.0\"?>"),
        (
            "IP,MAC,Interface\n192.0.2.1,00:00:5e:00:53:01,a\n192.0.2.2,00:00:5e:00:53:02,b\n".to_owned(),
            unanswered,
        ),
        (wrapped.to_owned(), NEIGHBORS),
    ] {
        let report = read(&format!("{text}{document}\n")).unwrap();
        let table = report.devices[0].tables.arp.as_deref().unwrap();
        assert_eq!((table.rows.len(), table.complete), (2, false), "{text}{document}");
        assert_eq!(count(&report, WarningCode::RowMalformed), 1, "{text}{document}");
    }
}

#[test]
fn empty_list_among_several_commands_shows_no_family() {
    let ipv4 = Some(AddressFamily::Ipv4);
    for (documents, expected) in [
        (vec![ROUTES, "[]"], (None, true)),
        (vec!["[]", ROUTES], (None, true)),
        (vec![ROUTES, ROUTES_6], (None, true)),
        (vec![ROUTES, "[]", "[]"], (ipv4, true)),
        (vec![ADDRESSES, ROUTES, "[]"], (ipv4, true)),
        (vec![ROUTES, "[]", NEIGHBORS], (ipv4, true)),
        (vec![ROUTES, NEIGHBORS, ROUTES_6, FORWARDING], (None, true)),
    ] {
        let report = read(&documents.join("\n")).unwrap();
        let routes = report.devices[0].tables.routes.as_deref().unwrap();
        assert_eq!((routes.family, routes.complete), expected, "{documents:?}");
    }
}

#[test]
fn lists_of_vlans_that_differ_are_refused() {
    let report = read(&format!("{VLANS}\n{VLANS}")).unwrap();
    assert_eq!(
        (tables(&report), count(&report, WarningCode::RowRepeated)),
        (vec!["if_entries 2".to_owned()], 2)
    );
    let error = read(&format!("{VLANS}\n{PORT_VLANS}")).unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{error}");
    assert!(error.to_string().contains("eth0 has different VLANs"), "{error}");
    for documents in [[VLANS, FORWARDING, PORT_VLANS], [VLANS, ADDRESSES, PORT_VLANS]] {
        let error = read(&documents.concat()).unwrap_err();
        assert!(matches!(error.kind(), ParseErrorKind::TableRepeated(_)), "{error}");
    }
}

#[test]
fn documents_that_only_look_like_another_kind_stay_in_their_run() {
    let nxos = r#"{"TABLE_vrf":{"ROW_vrf":{"cnt-total":"1","TABLE_adj":{"ROW_adj":{"intf-out":"mgmt0","ip-addr-out":"192.0.2.7","mac":"0000.5e00.5307"}}}}}"#;
    let status = r#"{"TABLE_interface":{"ROW_interface":{"interface":"Eth1/1","vlan":"1"}}}"#;
    let named = r#"{"data":[{"name":"eth1","vlan":1}]}"#;
    let entry = |number: u8| {
        format!(r#"[{{"ip":"192.0.2.{number}","mac":"00:00:5e:00:53:0{number}","dev":"eth0"}}]"#)
    };
    for (text, expected) in [
        (format!("{nxos}\n{status}"), vec!["arp 1"]),
        (format!("{NEIGHBORS}\n{named}"), vec!["arp 1"]),
        (format!("{}\n{}", entry(7), entry(8)), vec!["arp 2"]),
        (format!("{}\n{ROUTES}", entry(7)), vec!["arp 1", "routes 1"]),
        (
            format!("{NEIGHBORS}\n{{\"eth1\":[{{\"vlan\":1,\"flags\":[]}}],\"eth2\":null}}"),
            vec!["if_entries 1", "arp 1"],
        ),
    ] {
        let report = parse(Format::Arp, text.as_bytes(), &with_reporter()).unwrap();
        assert_eq!(tables(&report), expected, "{text}");
    }
}

#[test]
fn faults_have_the_line_of_the_file_and_rows_have_none() {
    let lines = |text: &str| text.replace(",\"", ",\n\"");
    let (addresses, routes) = (lines(ADDRESSES), lines(ROUTES));
    let incomplete = r#"[{"dst":"192.0.2.9","dev":"eth0","state":["FAILED"]}]"#;
    for before in ["", "\n\n\n", "$ ip -j addr\n\n"] {
        let between = if before.starts_with('$') { "$ \n\n$ ip -j route\n" } else { "\n" };
        let text = format!("{before}{addresses}\n{between}{}", routes.replace(']', " x]"));
        let expected = text.lines().position(|line| line.contains(" x]")).unwrap() as u64 + 1;
        let error = read(&text).unwrap_err();
        assert_eq!(error.line(), Some(expected), "{text:?}: {error}");
        let report = read(&format!("{before}{addresses}\n{between}{incomplete}")).unwrap();
        let warning = report.warnings.iter().find(|one| one.code == WarningCode::RowIncomplete).unwrap();
        assert_eq!(warning.line, None, "{text:?}");
    }
    let repeated = format!("{ADDRESSES}\n\n{NEIGHBORS}\n{ADDRESSES}\n");
    assert_eq!(read(&repeated).unwrap_err().line(), Some(4));
}

#[test]
fn document_of_a_recording_may_begin_anywhere_in_a_chunk() {
    let name = "x".repeat(20_000);
    let addresses = ADDRESSES.replace("\"flags\"", &format!("\"ifalias\":\"{name}\",\"flags\""));
    let text =
        format!("$ ip -j addr\n{addresses}\n$ ip -j neigh\n\u{1B}[0m{NEIGHBORS}\n[  OK  ] Started\n$ \n");
    for capacity in [1, 7, 1 << 16] {
        let input = std::io::BufReader::with_capacity(capacity, text.as_bytes());
        let report = parse(Format::Auto, input, &with_reporter()).unwrap();
        assert_eq!(tables(&report), ["if_entries 1", "addresses 1", "arp 1"], "{capacity}");
        assert_eq!(count(&report, WarningCode::TextIgnored), 4, "{capacity}");
    }
}

#[test]
fn document_that_ends_early_leaves_those_before_it() {
    let report = read(&format!("{ADDRESSES}\n{}", &NEIGHBORS[..30])).unwrap();
    let found = &report.devices[0].tables;
    assert_eq!(tables(&report), ["if_entries 1", "addresses 1", "arp 0", "lag 0"]);
    let complete = (found.if_entries.as_deref().unwrap().complete, found.arp.as_deref().unwrap().complete);
    assert_eq!((complete, count(&report, WarningCode::InputTruncated)), ((true, false), 1));
}

#[test]
fn escape_characters_of_a_name_swallow_nothing() {
    for (alias, expected) in [
        ("a\u{1B}]b", "a]b"),
        ("a\u{1B}[", "a["),
        ("a\u{1B}", "a"),
        ("a\u{1B}[12\\n", "a[12\n"),
        ("a\u{1B}]0;title\u{7}b", "ab"),
        ("a\u{1B}]0;title\u{1B}\\b", "ab"),
        ("a\u{1B}[31mb", "ab"),
    ] {
        let addresses = ADDRESSES.replace("\"flags\"", &format!("\"ifalias\":\"{alias}\",\"flags\""));
        for text in [addresses.clone(), format!("{addresses}\n{NEIGHBORS}\n")] {
            let report = read(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
            let entries = rows(report.devices[0].tables.if_entries.as_deref());
            assert_eq!(entries[0].if_alias.as_deref(), Some(expected), "{text:?}");
        }
    }
}
