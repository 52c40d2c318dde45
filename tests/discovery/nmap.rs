//! XML of nmap.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind, parse};
use toposcope::model::{PortNumber, Protocol};

use crate::support::{SCAN, count, is_syntax, options, parsed, refused, rows};

#[test]
fn hosts_that_are_up_have_addresses_names_and_open_ports() {
    let report = parsed(Format::Nmap, SCAN);
    assert_eq!((report.reporter.name.as_str(), report.reporter.version.as_deref()), ("nmap", Some("7.91")));
    assert_eq!(report.observed_at.to_string(), "2021-04-29T09:26:50Z");
    assert_eq!(report.devices.len(), 2);
    let web = &report.devices[0];
    assert_eq!(web.hostname.as_deref(), Some("www.example.net"));
    let addresses = rows(web.tables.addresses.as_deref());
    assert_eq!(addresses[0].ip_address.to_string(), "192.0.2.1");
    assert_eq!(addresses[0].mac_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:01"));
    let ports = rows(web.tables.ports.as_deref());
    assert_eq!(ports.iter().map(|port| port.number.get()).collect::<Vec<_>>(), [22, 443]);
    assert_eq!((ports[0].service.as_deref(), ports[0].version.as_deref()), (Some("ssh"), Some("8.4")));
    assert_eq!((ports[1].product.as_deref(), ports[1].tunnel.as_deref()), (Some("nginx <1>"), Some("ssl")));
    assert!(report.devices[1].tables.ports.is_none(), "ports of this host were not scanned");
    assert_eq!(count(&report, WarningCode::RowIncomplete), 1);
    let unread = report.warnings.iter().find(|warning| warning.code == WarningCode::ProtocolUnread).unwrap();
    assert_eq!((unread.count, unread.example.as_deref()), (1, Some("7/sctp")));
    assert_eq!((count(&report, WarningCode::PortNotOpen), count(&report, WarningCode::HostDown)), (1, 2));
    assert_eq!(report.skipped_rows, 5);
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows);
}

#[test]
fn scanned_port_ranges_bound_what_a_complete_table_means() {
    let report = parse(Format::Nmap, SCAN.as_bytes(), &options().with_complete_tables()).unwrap();
    let scanned = |number: u16| {
        let number = PortNumber::try_from(number).unwrap();
        report.scanned_ports.iter().any(|range| range.contains(Protocol::Tcp, number))
    };
    assert!(scanned(22) && scanned(443) && !scanned(23) && !scanned(444));
    assert!(report.devices[0].tables.ports.as_deref().unwrap().complete);
    assert!(!report.devices[0].tables.addresses.as_deref().unwrap().complete);
}

#[test]
fn port_that_cannot_be_read_leaves_the_ports_of_its_host_incomplete() {
    for (port, is_complete) in [
        (r#"protocol="tcp" portid="0""#, true),
        (r#"protocol="sctp" portid="7""#, true),
        (r#"protocol="tcp" portid="70000""#, false),
        (r#"portid="80""#, false),
    ] {
        let host = format!(
            "<host><address addr=\"192.0.2.9\" addrtype=\"ipv4\"/><ports><port protocol=\"tcp\" portid=\"22\">\
             <state state=\"open\"/></port><port {port}><state state=\"open\"/></port></ports></host>"
        );
        let text = format!(
            "<nmaprun scanner=\"nmap\">{host}<runstats><finished time=\"1619688410\"/></runstats></nmaprun>"
        );
        let report = parse(Format::Nmap, text.as_bytes(), &options().with_complete_tables()).unwrap();
        let ports = report.devices[0].tables.ports.as_deref().unwrap();
        assert_eq!((ports.rows.len(), ports.complete), (1, is_complete), "{port}");
    }
}

#[test]
fn interrupted_run_keeps_its_hosts_and_truncates_their_tables() {
    let end = SCAN.find("<host><status state=\"down\"").unwrap();
    for cut in [end, end - 3, end + 9] {
        let report = parse(Format::Nmap, &SCAN.as_bytes()[..cut], &options().with_complete_tables()).unwrap();
        assert_eq!(report.devices.len(), 1, "{cut}");
        assert!(!report.devices[0].tables.ports.as_deref().unwrap().complete, "{cut}");
        assert_eq!(count(&report, WarningCode::InputTruncated), 1, "{cut}");
    }
}

#[test]
fn time_in_the_future_is_replaced_by_that_of_the_options() {
    let scan = SCAN.replace("1619688410", "4102444800");
    assert_eq!(parsed(Format::Nmap, &scan).observed_at, options().observed_at);
}

#[test]
fn broken_xml_is_refused_with_its_byte() {
    let broken = SCAN.replace("</hostnames>", "</wrong>");
    let error = refused(Format::Nmap, &broken);
    assert!(is_syntax(&error), "{error}");
    assert_eq!(error.byte(), broken.find("</wrong>").unwrap() as u64);
    let other = refused(Format::Nmap, "<html></html>");
    assert!(matches!(other.kind(), ParseErrorKind::WrongFormat(_)));
    assert!(matches!(refused(Format::Nmap, "text").kind(), ParseErrorKind::WrongFormat(_)));
    assert!(matches!(refused(Format::Nmap, "").kind(), ParseErrorKind::WrongFormat(_)));
}

#[test]
fn banners_of_masscan_that_are_facts_about_a_service_name_none() {
    let host = |name: &str| {
        format!(
            "<host><address addr=\"192.0.2.9\" addrtype=\"ipv4\"/><ports><port protocol=\"tcp\" portid=\"443\">\
             <state state=\"open\"/><service name=\"{name}\" banner=\"x\"></service></port></ports></host>"
        )
    };
    for names in [["X509", "ssl"], ["ssl", "http.server"], ["title", "ssl"]] {
        let hosts: String = names.map(host).concat();
        let report = parsed(Format::Nmap, &format!("<nmaprun scanner=\"masscan\">{hosts}</nmaprun>"));
        let ports = rows(report.devices[0].tables.ports.as_deref());
        assert_eq!((ports.len(), ports[0].service.as_deref()), (1, Some("ssl")), "{names:?}");
    }
    let title = format!("<nmaprun scanner=\"masscan\">{}</nmaprun>", host("title"));
    assert_eq!(rows(parsed(Format::Nmap, &title).devices[0].tables.ports.as_deref())[0].service, None);
    let nmap = SCAN.replace("name=\"ssh\"", "name=\"title\"");
    let ports = rows(parsed(Format::Nmap, &nmap).devices[0].tables.ports.as_deref());
    assert_eq!(ports[0].service.as_deref(), Some("title"));
}

#[test]
fn names_have_no_control_characters_at_their_ends_and_port_0_is_no_range() {
    let scan = SCAN.replace("www.example.net", "&#10; www.example.net&#13;&#10;");
    assert_eq!(parsed(Format::Nmap, &scan).devices[0].hostname.as_deref(), Some("www.example.net"));
    let text = "<nmaprun scanner=\"nmap\"><scaninfo type=\"syn\" protocol=\"tcp\" numservices=\"1\" services=\"0\"/></nmaprun>";
    let report = parsed(Format::Nmap, text);
    assert_eq!((report.scanned_ports.len(), count(&report, WarningCode::ValueInvalid)), (0, 0));
}
