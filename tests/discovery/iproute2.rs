//! JSON of `ip` and `bridge`.

use toposcope::discovery::report::{
    AddressFamily, FdbStatus, IfEntryRow, Report, RouteRow, Table, WarningCode,
};
use toposcope::discovery::{Format, ParseErrorKind, parse};
use toposcope::model::{AdminStatus, OperStatus, Vlans};

use crate::support::{
    BRIDGE_FDB, BRIDGE_VLAN, IP_ADDR, IP_ROUTE, count, device, options, parsed, refused, rows, with_reporter,
};

fn complete(format: Format, text: &str) -> Report {
    parse(format, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap()
}

fn vlans(untagged: Option<u16>, tagged: &[u16]) -> Vlans {
    Vlans { untagged, tagged: tagged.to_vec(), ..Vlans::default() }
}

fn entry(rows: &[IfEntryRow], name: &str) -> IfEntryRow {
    rows.iter().find(|row| row.if_name.as_deref() == Some(name)).unwrap().clone()
}

#[test]
fn interfaces_have_types_states_and_addresses() {
    let report = complete(Format::IpAddr, IP_ADDR);
    let tables = &report.devices[0].tables;
    let entries = rows(tables.if_entries.as_deref());
    let types: Vec<_> = entries.iter().map(|row| (row.if_name.clone().unwrap(), row.if_type)).collect();
    let expected = [
        ("lo", Some(24)),
        ("eth0", Some(6)),
        ("eth1", Some(6)),
        ("bond0", Some(161)),
        ("br0", Some(209)),
        ("eth2", Some(6)),
        ("bond0.10", Some(135)),
        ("wg0", Some(131)),
    ];
    assert!(types.iter().map(|(name, kind)| (name.as_str(), *kind)).eq(expected), "{types:?}");
    let eth0 = entry(&entries, "eth0");
    assert_eq!((eth0.if_index, eth0.if_alias.as_deref()), (2, Some("to the core")));
    assert_eq!((eth0.admin_status, eth0.oper_status), (Some(AdminStatus::Up), Some(OperStatus::Up)));
    assert_eq!(eth0.mac_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:02"));
    let down = entry(&entries, "eth2");
    assert_eq!((down.admin_status, down.oper_status), (Some(AdminStatus::Down), Some(OperStatus::Down)));
    assert_eq!(entry(&entries, "lo").oper_status, Some(OperStatus::Up));
    assert!(entry(&entries, "lo").mac_address.is_none() && entry(&entries, "wg0").mac_address.is_none());

    let addresses = rows(tables.addresses.as_deref());
    let described: Vec<_> =
        addresses.iter().map(|row| (row.ip_address.to_string(), row.prefix_length, row.if_index)).collect();
    let expected = [
        ("127.0.0.1", Some(8), Some(1)),
        ("192.0.2.7", Some(24), Some(7)),
        ("2001:db8::7", Some(64), Some(7)),
        ("fe80::7", Some(64), Some(7)),
        ("198.51.100.7", Some(32), Some(8)),
    ];
    assert!(
        described.iter().map(|(address, prefix, index)| (address.as_str(), *prefix, *index)).eq(expected),
        "{described:?}"
    );
    assert_eq!(count(&report, WarningCode::AddressUnusable), 1);
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (14, 13, 1));
}

#[test]
fn members_of_a_bond_are_a_table_and_ports_of_a_bridge_are_not() {
    let report = complete(Format::IpAddr, IP_ADDR);
    let lag = report.devices[0].tables.lag.as_deref().unwrap();
    let members: Vec<_> = lag.rows.iter().map(|row| (row.if_index, row.lag_id)).collect();
    assert_eq!((members, lag.complete), (vec![(2, 4), (3, 4)], true));
}

#[test]
fn interface_below_a_vlan_interface_has_the_tagged_vlan() {
    let report = complete(Format::IpAddr, IP_ADDR);
    let entries = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(entry(&entries, "bond0").vlans, Some(vlans(None, &[10])));
    assert_eq!(entry(&entries, "bond0.10").vlans, None);
}

#[test]
fn output_without_details_still_shows_bonds_by_their_flags() {
    let text = r#"[{"ifindex":2,"ifname":"eth0","flags":["SLAVE","UP"],"master":"bond0","link_type":"ether",
        "address":"00:00:5e:00:53:02"},{"ifindex":3,"ifname":"bond0","flags":["MASTER","UP"],"link_type":"ether"}]"#;
    let report = complete(Format::IpAddr, text);
    let tables = &report.devices[0].tables;
    assert_eq!(rows(tables.lag.as_deref()).len(), 1);
    assert!(tables.addresses.is_none(), "`ip link` says nothing about addresses");
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::IpAddr));
}

#[test]
fn objects_that_a_filter_left_empty_are_no_rows() {
    let text =
        r#"[{},{},{"ifindex":2,"ifname":"eth0","link_type":"ether","addr_info":[{},{"local":"192.0.2.1"}]}]"#;
    let report = parsed(Format::IpAddr, text);
    assert_eq!((report.read_rows, report.used_rows, count(&report, WarningCode::RowIncomplete)), (2, 2, 0));
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::IpAddr));
    assert_eq!(parsed(Format::BridgeFdb, "[{},{}]").read_rows, 0);
    assert_eq!(parsed(Format::BridgeVlan, "[{}]").read_rows, 0);
}

#[test]
fn address_that_cannot_be_read_leaves_its_table_incomplete() {
    let interface = |address: &str| {
        format!(
            r#"[{{"ifindex":2,"ifname":"eth0","link_type":"ether","addr_info":[{{"family":"inet","local":"192.0.2.1"}},{address}]}}]"#
        )
    };
    let addresses = |text: &str| complete(Format::IpAddr, text).devices[0].tables.addresses.clone().unwrap();
    for (address, is_complete) in
        [(r#"{"family":"mctp","local":"8"}"#, true), (r#"{"family":"inet","local":"192.0.2"}"#, false)]
    {
        let table = addresses(&interface(address));
        assert_eq!((table.rows.len(), table.complete), (1, is_complete), "{address}");
    }
    let entry = |mac: &str| format!(r#"{{"mac":"{mac}","ifname":"eth0","flags":[],"state":""}}"#);
    for (mac, is_complete) in [("00:00:00:00:00:00", true), ("00:00:5e:00:53", false)] {
        let text = format!("[{},{}]", entry("00:00:5e:00:53:01"), entry(mac));
        let table = complete(Format::BridgeFdb, &text).devices[0].tables.fdb.clone().unwrap();
        assert_eq!((table.rows.len(), table.complete), (1, is_complete), "{mac}");
    }
}

#[test]
fn forwarding_database_names_interfaces_and_leaves_out_groups() {
    let report = complete(Format::BridgeFdb, BRIDGE_FDB);
    let table = report.devices[0].tables.fdb.as_deref().unwrap();
    assert!(table.complete);
    let described: Vec<_> = table
        .rows
        .iter()
        .map(|row| {
            (row.mac_address.octets()[5], row.if_name.as_deref().unwrap(), row.vlan, row.status.unwrap())
        })
        .collect();
    let expected = [
        (0x11, "swp1", Some(10), FdbStatus::Learned),
        (0x12, "swp2", None, FdbStatus::Learned),
        (0x01, "swp1", Some(10), FdbStatus::SelfAddress),
        (0x13, "swp1", Some(20), FdbStatus::Configured),
        (0x14, "vxlan10", Some(10), FdbStatus::Learned),
    ];
    assert_eq!(described, expected);
    assert!(table.rows.iter().all(|row| row.if_index.is_none()));
    assert_eq!(
        (count(&report, WarningCode::AddressShared), count(&report, WarningCode::RowIncomplete)),
        (2, 1)
    );
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (8, 5, 3));
}

#[test]
fn permanent_entry_behind_a_tunnel_is_no_address_of_the_interface() {
    let entry = |more: &str| {
        let text = format!(
            r#"[{{"mac":"00:00:5e:00:53:01","ifname":"flannel.1",{more}"flags":["self"],"state":"permanent"}}]"#
        );
        rows(device(Format::BridgeFdb, &text).tables.fdb.as_deref())[0].status
    };
    assert_eq!(entry(""), Some(FdbStatus::SelfAddress));
    assert_eq!(entry(r#""dst":"192.0.2.9","#), Some(FdbStatus::Configured));
}

#[test]
fn vlans_of_ports_have_ranges_and_flags() {
    let report = complete(Format::BridgeVlan, BRIDGE_VLAN);
    let table = report.devices[0].tables.if_entries.as_deref().unwrap();
    assert!(!table.complete, "only ports of bridges have VLANs");
    let described: Vec<_> = table
        .rows
        .iter()
        .map(|row| (row.if_index, row.if_name.as_deref().unwrap(), row.vlans.clone().unwrap()))
        .collect();
    let expected = [
        (0, "swp1", vlans(Some(1), &[10, 20, 21, 22])),
        (0, "swp2", Vlans { other_untagged: vec![20], ..vlans(Some(10), &[]) }),
        (0, "swp3", vlans(None, &[99])),
        (0, "br0", vlans(None, &[])),
    ];
    assert_eq!(described, expected);
    assert_eq!((report.read_rows, report.used_rows), (4, 4));
}

#[test]
fn vlans_by_the_name_of_the_interface_are_those_of_older_versions() {
    let text = r#"{"swp1":[{"vlan":1,"flags":["PVID","Egress Untagged"]},{"vlan":10,"vlanEnd":12}],"br0":[{"vlan":99}]}"#;
    let report = parsed(Format::BridgeVlan, text);
    let rows = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(rows[0].vlans, Some(vlans(Some(1), &[10, 11, 12])));
    assert_eq!(rows[1].vlans, Some(vlans(None, &[99])));
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::BridgeVlan));
}

#[test]
fn vlan_out_of_range_is_reported_and_a_range_is_bounded() {
    let text = r#"[{"ifname":"swp1","vlans":[{"vlan":0},{"vlan":4095},{"vlan":9,"vlanEnd":99999999999},
        {"vlan":20,"vlanEnd":10},{"vlan":4094}]}]"#;
    let report = parsed(Format::BridgeVlan, text);
    assert_eq!(count(&report, WarningCode::ValueInvalid), 4);
    let rows = rows(report.devices[0].tables.if_entries.as_deref());
    assert_eq!(rows[0].vlans.as_ref().unwrap().tagged, [4094]);
    let port = |number: u32| format!(r#"{{"ifname":"a{number}","vlans":[{{"vlan":1,"vlanEnd":4094}}]}},"#);
    let many: String = (0..2_000).map(port).collect();
    let report = parsed(Format::BridgeVlan, &format!("[{many}{{}}]"));
    assert!(count(&report, WarningCode::RowLimitReached) > 1_000);
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows);
}

fn routes(report: &Report) -> &Table<RouteRow> {
    report.devices[0].tables.routes.as_deref().unwrap()
}

/// Writes routes as `destination next hop interface metric`, or `discarded` in place of the next hop.
fn described(table: &Table<RouteRow>) -> Vec<String> {
    let line = |row: &RouteRow| {
        let next = row.next_hop.map_or_else(|| "-".to_owned(), |address| address.to_string());
        let next = if row.discards { "discarded".to_owned() } else { next };
        let device = row.if_name.as_deref().unwrap_or("-");
        format!("{} {next} {device} {}", row.destination, row.metric.unwrap_or_default())
    };
    table.rows.iter().map(line).collect()
}

#[test]
fn routes_of_both_families_have_next_hops_and_interfaces() {
    let report = complete(Format::IpRoute, IP_ROUTE);
    let expected = [
        "0.0.0.0/0 192.0.2.1 eth0 100",
        "192.0.2.0/24 - eth0 100",
        "198.51.100.0/24 192.0.2.2 eth0 20",
        "198.51.100.0/24 192.0.2.4 eth2 20",
        "10.0.0.0/8 discarded - 0",
        "203.0.113.0/24 fe80::1 eth1 0",
        "2001:db8:7::/64 - eth0 256",
        "::/0 2001:db8:7::1 eth0 1024",
    ];
    assert_eq!(described(routes(&report)), expected);
    assert!(routes(&report).complete);
    assert_eq!(count(&report, WarningCode::EntryInvalid), 2, "a dead next hop, and a rule for another table");
}

#[test]
fn default_routes_and_single_addresses_have_the_family_that_their_route_shows() {
    let text = r#"[{"dst":"default","dev":"ppp0","scope":"link","flags":[]},
        {"dst":"default","dev":"tun0","metric":1024,"flags":[],"pref":"medium"},
        {"dst":"default","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","flags":[]},
        {"dst":"192.0.2.9","gateway":"192.0.2.1","dev":"eth0","flags":[]},
        {"dst":"2001:db8::9","dev":"eth0","flags":[],"pref":"medium"},
        {"type":"local","dst":"192.0.2.7","table":"local","dev":"eth0","flags":[]},
        {"dst":"198.51.100.0/24","gateway":"192.0.2.5","table":"100","flags":[]}]"#;
    let report = parsed(Format::IpRoute, text);
    let expected = [
        "0.0.0.0/0 - ppp0 0",
        "::/0 - tun0 1024",
        "0.0.0.0/0 fe80::1 eth0 0",
        "192.0.2.9/32 192.0.2.1 eth0 0",
        "2001:db8::9/128 - eth0 0",
    ];
    assert_eq!(described(routes(&report)), expected);
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (7, 5, 2));
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::IpRoute));
}

#[test]
fn table_with_too_many_or_malformed_routes_is_not_complete_and_one_command_has_one_family() {
    let route = |number: usize| {
        format!(r#"{{"dst":"10.{}.{}.0/24","gateway":"192.0.2.1","flags":[]}}"#, number / 256, number % 256)
    };
    let many: Vec<String> = (0..20_001).map(route).collect();
    let report = complete(Format::IpRoute, &format!("[{}]", many.join(",")));
    assert_eq!((routes(&report).rows.len(), routes(&report).complete), (20_000, false));
    assert_eq!(count(&report, WarningCode::RowLimitReached), 1);
    let malformed = r#"[{"dst":"10.0.0.0/24","gateway":"x","flags":[]},{"dst":"10.0.1.0/24","flags":[]}]"#;
    let report = complete(Format::IpRoute, malformed);
    assert_eq!((routes(&report).rows.len(), routes(&report).complete), (1, false));
    let later = r#"[{"dst":"default","gateway":"2001:db8::1","flags":[],"pref":"medium"}]"#;
    let earlier = r#"[{"dst":"default","gateway":"192.0.2.1","flags":[]}]"#;
    let (ipv4, ipv6) = (Some(AddressFamily::Ipv4), Some(AddressFamily::Ipv6));
    for (text, family) in [
        (later.to_owned(), ipv6),
        (earlier.to_owned(), ipv4),
        (format!("{earlier}\n{earlier}\n"), ipv4),
        (format!("{earlier}\n[ ]\n"), None),
        (format!("{earlier}\n{later}\n"), None),
    ] {
        let report = complete(Format::IpRoute, &text);
        assert_eq!((routes(&report).complete, routes(&report).family), (true, family), "{text}");
    }
    assert!(!routes(&complete(Format::IpRoute, "[ ]")).complete, "the family is unknown");
    refused(Format::IpRoute, "[{\"dst\":\"10.0.0.0/24\",\"flags\":[]}] []x");
}

#[test]
fn output_of_other_commands_is_refused() {
    for (format, text) in [
        (
            Format::IpRoute,
            r#"[{"dst":"203.0.113.9","gateway":"192.0.2.1","dev":"eth0","flags":[],"uid":0,"cache":[]}]"#,
        ),
        (
            Format::IpAddr,
            r#"[{"ifindex":3,"ifname":"swp1","flags":["UP"],"mtu":1500,"master":"br0","state":"forwarding"}]"#,
        ),
        (
            Format::IpAddr,
            r#"[{"ifindex":1,"ifname":"lo","maddr":[{"family":"inet","address":"224.0.0.1"}]}]"#,
        ),
        (
            Format::BridgeVlan,
            r#"[{"ifname":"br0","vlans":[{"vlan":1,"vlanEnd":4,"mcast_snooping":1,"mcast_querier":0,
            "mcast_igmp_version":2,"mcast_mld_version":1,"mcast_last_member_count":2,"msti":0}]}]"#,
        ),
        (
            Format::BridgeVlan,
            r#"[{"ifname":"swp1","vlans":[{"vlan":1}]},{"ifname":"br0","vlans":[{"vlan":1},{"vlan":2,"msti":[]}]}]"#,
        ),
    ] {
        let error = refused(format, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
        assert!(error.to_string().chars().count() <= 200, "{error}");
    }
}

#[test]
fn details_of_the_vlans_of_ports_are_no_options_of_the_bridge() {
    let text = r#"[{"ifname":"swp1","vlans":[{"vlan":10,"flags":["PVID","Egress Untagged"],"state":"forwarding",
        "mcast_router":1,"mcast_n_groups":0,"mcast_max_groups":0,"neigh_suppress":false}]}]"#;
    let rows = rows(parsed(Format::BridgeVlan, text).devices[0].tables.if_entries.as_deref());
    assert_eq!(rows[0].vlans, Some(vlans(Some(10), &[])));
}

#[test]
fn lists_of_several_commands_are_one_table() {
    let interface = |addresses: &str| {
        format!(
            r#"[{{"ifindex":2,"ifname":"eth0","operstate":"UP","link_type":"ether","flags":[],"addr_info":[{addresses}]}}]"#
        )
    };
    let [ipv4, ipv6] =
        [r#"{"local":"192.0.2.7","prefixlen":24}"#, r#"{"local":"2001:db8::7","prefixlen":64}"#];
    let report = complete(Format::IpAddr, &format!("{}\n{}\n", interface(ipv4), interface(ipv6)));
    let tables = &report.devices[0].tables;
    let counts = (rows(tables.if_entries.as_deref()).len(), rows(tables.addresses.as_deref()).len());
    assert_eq!(counts, (1, 2));
    let neighbor = |dst: &str| {
        format!(r#"[{{"dst":"{dst}","dev":"eth0","lladdr":"00:00:5e:00:53:01","state":["STALE"]}}]"#)
    };
    let report = complete(Format::Arp, &format!("{}\n{}\n", neighbor("192.0.2.1"), neighbor("fe80::1")));
    assert_eq!(rows(report.devices[0].tables.arp.as_deref()).len(), 2);
}

#[test]
fn formats_of_linux_need_a_reporter_and_refuse_each_other() {
    let samples = [
        (Format::Arp, crate::support::IP_NEIGH),
        (Format::IpAddr, IP_ADDR),
        (Format::IpRoute, IP_ROUTE),
        (Format::BridgeFdb, BRIDGE_FDB),
        (Format::BridgeVlan, BRIDGE_VLAN),
    ];
    for (format, text) in samples {
        assert_eq!(Format::detect(text.as_bytes()), Some(format));
        let error = parse(format, text.as_bytes(), &options()).unwrap_err();
        assert!(matches!(error.kind(), ParseErrorKind::ReporterRequired), "{format}: {error}");
        for (other, text) in samples {
            if other != format {
                refused(format, text);
            }
        }
        assert!(matches!(
            refused(format, "192 = 0").kind(),
            ParseErrorKind::Syntax(_) | ParseErrorKind::WrongFormat(_)
        ));
    }
}
