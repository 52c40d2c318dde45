//! Lists of interfaces from several commands, with and without details.

use toposcope::discovery::report::{IfEntryRow, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, Report, parse};

use crate::support::{count, refused, rows, with_reporter};

fn complete(text: &str) -> Report {
    parse(Format::IpAddr, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap()
}

/// Returns an interface as `ip -j` prints it. `more` are further fields, each with a comma behind it.
fn interface(index: u8, name: &str, more: &str) -> String {
    format!(
        r#"{{"ifindex":{index},"ifname":"{name}","flags":["UP"],"operstate":"UP",{more}"link_type":"ether","address":"00:00:5e:00:53:0{index}"}}"#
    )
}

/// Name, type and tagged VLANs of an interface.
type Described<'r> = (&'r str, Option<i64>, Option<&'r [u16]>);

fn described(rows: &[IfEntryRow]) -> Vec<Described<'_>> {
    rows.iter()
        .map(|row| {
            let vlans = row.vlans.as_ref().map(|vlans| vlans.tagged.as_slice());
            (row.if_name.as_deref().unwrap(), row.if_type, vlans)
        })
        .collect()
}

const BRIDGE: &str = r#""linkinfo":{"info_kind":"bridge"},"#;
const PORT: &str = r#""master":"br0","linkinfo":{"info_slave_kind":"bridge"},"#;

/// Returns the fields of a VLAN interface on another one.
fn vlan_on(parent: &str, vlan: u16) -> String {
    format!(r#""link":"{parent}","linkinfo":{{"info_kind":"vlan","info_data":{{"id":{vlan}}}}},"#)
}

#[test]
fn vlans_of_bridges_and_their_ports_are_left_to_the_bridge_table() {
    let text = format!(
        "[{},{},{},{},{},{}]",
        interface(1, "br0", BRIDGE),
        interface(2, "eth1", PORT),
        interface(3, "eth2", ""),
        interface(4, "br0.7", &vlan_on("br0", 7)),
        interface(5, "eth1.8", &vlan_on("eth1", 8)),
        interface(6, "eth2.9", &vlan_on("eth2", 9)),
    );
    let rows = rows(complete(&text).devices[0].tables.if_entries.as_deref());
    let expected = [
        ("br0", Some(209), None),
        ("eth1", Some(6), None),
        ("eth2", Some(6), Some([9].as_slice())),
        ("br0.7", Some(135), None),
        ("eth1.8", Some(135), None),
        ("eth2.9", Some(135), None),
    ];
    assert_eq!(described(&rows), expected);
}

#[test]
fn lists_with_and_without_details_are_joined_in_any_order() {
    let addresses = r#""master":"team0","addr_info":[{"local":"192.0.2.7","prefixlen":24}],"#;
    let plain = format!("[{},{}]", interface(2, "eth0", addresses), interface(3, "team0", ""));
    let details = format!(
        "[{},{}]",
        interface(2, "eth0", r#""master":"team0","ifalias":"uplink","linkinfo":{"info_slave_kind":"team"},"#),
        interface(3, "team0", r#""linkinfo":{"info_kind":"team"},"#)
    );
    for text in
        [format!("{plain}\n{details}\n"), format!("{details}\n{plain}\n"), format!("{plain}{details}{plain}")]
    {
        let report = complete(&text);
        let tables = &report.devices[0].tables;
        let entries = rows(tables.if_entries.as_deref());
        assert_eq!(described(&entries), [("eth0", Some(6), None), ("team0", Some(161), None)]);
        assert_eq!(entries[0].if_alias.as_deref(), Some("uplink"), "{text}");
        let lag = tables.lag.as_deref().unwrap();
        let members: Vec<_> = lag.rows.iter().map(|row| (row.if_index, row.lag_id)).collect();
        assert_eq!((members, lag.complete), (vec![(2, 3)], true), "{text}");
        assert_eq!(rows(tables.addresses.as_deref()).len(), 1, "{text}");
        assert!(tables.if_entries.as_deref().unwrap().complete, "{text}");
    }
    let twice = complete(&format!("{plain}{plain}"));
    assert_eq!(count(&twice, WarningCode::RowRepeated), 1);
}

#[test]
fn lists_without_details_leave_types_and_members_as_they_are() {
    let plain = format!("[{},{}]", interface(2, "br0", ""), interface(3, "eth0", r#""master":"team0","#));
    let tables = complete(&plain).devices.remove(0).tables;
    let entries = tables.if_entries.as_deref().unwrap();
    assert_eq!(described(&entries.rows), [("br0", None, None), ("eth0", None, None)]);
    assert!(!entries.complete && tables.lag.is_none());
    // `-d` prints details of all interfaces, also where none has a kind.
    let details = format!("[{}]", interface(2, "eth0", r#""promiscuity":0,"#));
    let tables = complete(&details).devices.remove(0).tables;
    assert_eq!(described(&rows(tables.if_entries.as_deref())), [("eth0", Some(6), None)]);
    assert!(tables.if_entries.unwrap().complete && tables.lag.unwrap().complete);
}

#[test]
fn details_of_one_interface_show_no_type_of_another() {
    let plain = format!("[{},{}]", interface(2, "eth0", ""), interface(3, "br0", ""));
    let detailed = format!("[{}]", interface(2, "eth0", r#""promiscuity":0,"#));
    for (text, missing) in [(format!("{plain}{detailed}"), 1), (plain, 2)] {
        let report = complete(&text);
        let tables = &report.devices[0].tables;
        let entries = tables.if_entries.as_deref().unwrap();
        assert_eq!((entries.rows[1].if_type, entries.complete, tables.lag.is_none()), (None, false, true));
        assert_eq!(count(&report, WarningCode::DetailsMissing), missing, "{text}");
    }
    let text = format!("[{}]", interface(2, "eth0", ""));
    let report = parse(Format::IpAddr, text.as_bytes(), &with_reporter()).unwrap();
    assert_eq!(count(&report, WarningCode::DetailsMissing), 0, "no table is stated to be complete");
}

#[test]
fn lists_of_two_devices_are_refused() {
    let first = interface(2, "eth0", "");
    let other_mac = first.replace("53:02", "53:09");
    for (second, conflict) in [
        (other_mac.as_str(), "eth0 has the addresses 00:00:5e:00:53:02 and 00:00:5e:00:53:09"),
        (&interface(2, "eth1", ""), "interface 2 is eth0 and eth1"),
        (&interface(3, "eth0", ""), "eth0 has the indexes 2 and 3"),
    ] {
        let error = refused(Format::IpAddr, format!("[{first}]\n[{second}]\n"));
        assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{error}");
        assert!(error.to_string().contains(conflict), "{error}");
    }
}

#[test]
fn list_that_ends_early_gives_its_whole_interfaces() {
    let text = format!("[{},{{\"ifindex\":3,", interface(2, "eth0", r#""promiscuity":0,"#));
    let report = complete(&text);
    let table = report.devices[0].tables.if_entries.as_deref().unwrap();
    assert_eq!((table.rows.len(), table.complete), (1, false));
    assert_eq!(count(&report, WarningCode::InputTruncated), 1);
    for (format, text) in [
        (Format::IpAddr, &text[..30]),
        (Format::Arp, "[{\"dst\":\"192.0.2.1\","),
        (Format::IpRoute, "[{\"dst\":\"192.0.2.1\","),
    ] {
        let error = refused(format, text);
        assert!(error.to_string().contains("ends early"), "{error}");
    }
    let neighbors = "[{\"dst\":\"192.0.2.1\",\"dev\":\"eth0\",\"lladdr\":\"00:00:5e:00:53:01\",\"state\":[\"STALE\"]},{\"dst\":";
    let report = parse(Format::Arp, neighbors.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    let table = report.devices[0].tables.arp.as_deref().unwrap();
    assert_eq!((table.rows.len(), table.complete), (1, false));
}
