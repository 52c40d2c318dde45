//! Neighbor tables in JSON and CSV.

use toposcope::discovery::report::{AddressFamily, NeighborState, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, parse};

use crate::neighbor_tables::{entries, read, read_whole};
use crate::support::{count, is_syntax, parsed, refused, rows, with_reporter};

#[test]
fn nested_tables_in_json_name_their_interfaces() {
    let cases: &[(&str, &[&str])] = &[
        // Arista EOS
        (
            r#"{"dynamicEntries":2,"ipV4Neighbors":[
            {"hwAddress":"0000.5e00.5301","address":"192.0.2.1","interface":"Vlan100, Port-Channel1","age":0},
            {"hwAddress":"0000.5e00.5302","address":"192.0.2.2","interface":"Management1"}],"totalEntries":2}"#,
            &["1 Vlan100", "2 Management1"],
        ),
        (
            r#"{"ipV6Neighbors":[{"hwAddress":"0000.5e00.5301","state":"REACH","address":"fe80::1","age":12.5,
            "interface":"Ethernet3"}],"totalEntries":1}"#,
            &["1 Ethernet3"],
        ),
        (
            r#"{"vrfs":{"default":{"ipV4Neighbors":[{"hwAddress":"0000.5e00.5301","address":"192.0.2.1",
            "interface":"Et1"}]},"red":{"ipV4Neighbors":[]}}}"#,
            &["1 Et1"],
        ),
        (
            r#"[{"ipV4Neighbors":[{"hwAddress":"0000.5e00.5301","address":"192.0.2.1","interface":"Et1"}]},
            {"ipV6Neighbors":[{"hwAddress":"0000.5e00.5302","address":"fe80::2","interface":"Et2"}]}]"#,
            &["1 Et1", "2 Et2"],
        ),
        // NX-OS
        (
            r#"{"TABLE_vrf":{"ROW_vrf":{"vrf-name-out":"default","cnt-total":"1","TABLE_adj":{"ROW_adj":
            {"intf-out":"Vlan10","ip-addr-out":"192.0.2.1","time-stamp":"PT13M","mac":"0000.5e00.5301"}}}}}"#,
            &["1 Vlan10"],
        ),
        (
            r#"{"TABLE_vrf":[{"ROW_vrf":[{"vrf-name-out":"default","cnt-total":2,"TABLE_adj":[{"ROW_adj":[
            {"intf-out":"Vlan10","ip-addr-out":"192.0.2.1","mac":"0000.5e00.5301"},
            {"intf-out":"mgmt0","ip-addr-out":"192.0.2.2","mac":"0000.5e00.5302","phy-intf":"mgmt0"}]}]}]}]}"#,
            &["1 Vlan10", "2 mgmt0"],
        ),
        (
            r#"{"ins_api":{"type":"cli_show","outputs":{"output":{"body":{"TABLE_vrf":{"ROW_vrf":{
            "vrf-name-out":"default","TABLE_afi":{"ROW_afi":{"afi":"ipv6","TABLE_adj":{"ROW_adj":[
            {"ipv6-addr":"2001:db8::1","mac":"0000.5e00.5301","pref":"50","owner":"icmpv6","intf-out":"Eth1/1"}
            ]}}}}}},"code":"200","msg":"Success"}}}}"#,
            &["1 Eth1/1"],
        ),
        // Junos
        (
            r#"{"arp-table-information":[{"attributes":{"junos:style":"normal"},"arp-table-entry":[
            {"mac-address":[{"data":"00:00:5e:00:53:01"}],"ip-address":[{"data":"192.0.2.1"}],
            "interface-name":[{"data":"irb.20 [ae0.0]"}],"arp-table-entry-flags":[{"none":[{"data":[null]}]}]},
            {"mac-address":[{"data":"00:00:5e:00:53:02"}],"ip-address":[{"data":"192.0.2.2"}],
            "interface-name":[{"data":"ge-0/0/1.0"}]}],"arp-entry-count":[{"data":"2"}]}]}"#,
            &["1 irb.20", "2 ge-0/0/1.0"],
        ),
        (
            r#"{"ipv6-nd-information":[{"ipv6-nd-entry":[{"ipv6-nd-neighbor-address":[{"data":"fe80::1"}],
            "ipv6-nd-neighbor-l2-address":[{"data":"00:00:5e:00:53:01"}],"ipv6-nd-state":[{"data":"stale"}],
            "ipv6-nd-interface-name":[{"data":"ge-0/0/0.0"}]}],"ipv6-nd-total":[{"data":"1"}]}]}"#,
            &["1 ge-0/0/0.0"],
        ),
        // The search of OPNsense, and PowerShell with a single entry.
        (
            r#"{"total":1,"rowCount":1,"current":1,"rows":[{"mac":"00:00:5e:00:53:01","ip":"192.0.2.1","intf":"igb0"}]}"#,
            &["1 igb0"],
        ),
        (
            r#"{"IPAddress":"192.0.2.1","InterfaceAlias":"Local Area Connection* 1","InterfaceIndex":12,
            "LinkLayerAddress":"00-00-5E-00-53-01","State":5}"#,
            &["1 12 Local Area Connection* 1"],
        ),
        (
            "sw-1# show ip arp | json\n{\"TABLE_vrf\":{\"ROW_vrf\":{\"TABLE_adj\":{\"ROW_adj\":{\"intf-out\":\"Vlan10\",\
             \"ip-addr-out\":\"192.0.2.1\",\"mac\":\"0000.5e00.5301\"}}}}}\nsw-1#\n",
            &["1 Vlan10"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read_whole(text, expected).skipped_rows, 0, "{text}");
    }
    let states = [("STALE", NeighborState::Stale), ("REACH", NeighborState::Reachable)];
    for (name, state) in states {
        let entry = format!(
            r#"{{"address":"fe80::1","hwAddress":"0000.5e00.5301","interface":"Et1","state":"{name}"}}"#
        );
        let report = read(&format!(r#"{{"ipV6Neighbors":[{entry}]}}"#));
        assert_eq!(rows(report.devices[0].tables.arp.as_deref())[0].state, Some(state));
    }
}

#[test]
fn table_without_entries_in_json_is_empty_for_the_family_that_it_names() {
    let (ipv4, ipv6) = (Some(AddressFamily::Ipv4), Some(AddressFamily::Ipv6));
    for (text, family) in [
        (r#"{"ipV4Neighbors":[],"totalEntries":0}"#, ipv4),
        (r#"{"ipV6Neighbors":[]}"#, ipv6),
        (r#"{"vrfs":{"default":{"ipV4Neighbors":[]}}}"#, ipv4),
        (r#"{"arp-table-information":[{"arp-entry-count":[{"data":"0"}]}]}"#, ipv4),
        (r#"{"ipv6-nd-information":[{"ipv6-nd-total":[{"data":"0"}]}]}"#, ipv6),
        (r#"{"ipV4Neighbors":[]} {"ipV6Neighbors":[]}"#, None),
        (r#"{"ipV4Neighbors":null}"#, ipv4),
        ("admin@gw:~$ ip -j -6 neigh\n[ ]\n", ipv6),
        ("admin@gw:~$ ip -j -4 neigh\n[]\n", ipv4),
    ] {
        let report = read(text);
        let table = report.devices[0].tables.arp.as_deref().unwrap();
        assert_eq!((table.rows.len(), table.family, table.complete), (0, family, true), "{text}");
    }
    let unknown = read(r#"{"TABLE_vrf":{"ROW_vrf":{"vrf-name-out":"default","cnt-total":"0"}}}"#);
    assert!(!unknown.devices[0].tables.arp.as_deref().unwrap().complete, "the family is unknown");
}

#[test]
fn entries_in_json_that_cannot_be_read_are_counted() {
    let entry = r#"{"address":"192.0.2.1","hwAddress":"0000.5e00.5301","interface":"Et1"}"#;
    let cases: &[(&str, u64, u64)] = &[
        (r#"{"address":"192.0.2.9","interface":"Et1"}"#, 1, 0),
        (r#"{"address":"192.0.2.9","hwAddress":"","interface":"Et1"}"#, 1, 0),
        (r#"{"address":"192.0.2.9","hwAddress":"INCOMPLETE","interface":"Et1"}"#, 1, 0),
        (r#"{"address":"192.0.2.9","hwAddress":null,"interface":null}"#, 1, 0),
        (r#"{"address":"192.0.2.9","hwAddress":[[{"x":7}]],"interface":{}}"#, 1, 0),
        (r#"{"address":"192.0.2.9","hwAddress":99999999999999999999}"#, 0, 1),
        (r#"{"address":"192.0.2.9","hwAddress":"00:00:5e:00:53","interface":"Et1"}"#, 0, 1),
        (r#"{"address":"192.0.2.9","hwAddress":"198.51.100.1","interface":"Tunnel1"}"#, 1, 0),
        (r#"{"address":18446744073709551615,"hwAddress":"0000.5e00.5302"}"#, 0, 1),
        (r#"{"address":"printer","hwAddress":"0000.5e00.5302"}"#, 0, 1),
        (r#"{"address":["192.0.2.7","192.0.2.8"],"hwAddress":"0000.5e00.5302"}"#, 0, 1),
        (r#"{"hwAddress":"0000.5e00.5302","interface":"Et1"}"#, 0, 1),
        (r#"{"interface":"Et1"}"#, 0, 1),
        ("7", 0, 1),
        ("\"192.0.2.9\"", 0, 1),
        ("true", 0, 1),
        ("{}", 0, 0),
        ("[]", 0, 0),
        ("null", 0, 0),
    ];
    for (other, incomplete, malformed) in cases {
        let report = read(&format!(r#"{{"ipV4Neighbors":[{other},{entry}]}}"#));
        assert_eq!(entries(&report), ["1 Et1"], "{other}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), *incomplete, "{other}");
        assert_eq!(count(&report, WarningCode::RowMalformed), *malformed, "{other}");
        assert_eq!(report.devices[0].tables.arp.as_deref().unwrap().complete, *malformed == 0, "{other}");
        assert_eq!(report.read_rows, report.used_rows + report.skipped_rows, "{other}");
    }
    let shared =
        r#"{"ipV4Neighbors":[{"address":"192.0.2.1","hwAddress":"0100.5e00.5301","interface":"Et1"}]}"#;
    assert_eq!(count(&read(shared), WarningCode::AddressShared), 1);
}

#[test]
fn other_documents_in_json_are_no_neighbor_tables() {
    for text in [
        "{}",
        "[{}, 7]",
        "{\"a\":[1,\"192.0.2.1\",{\"ip\":\"192.0.2.1\"}]}",
        r#"{"stdout":"Internet  192.0.2.1  5  0000.5e00.5301  ARPA  Vlan10"}"#,
        r#"{"TABLE_vrf":{"ROW_vrf":{"TABLE_prefix":{"ROW_prefix":{"ipprefix":"192.0.2.0/24"}}}}}"#,
        r#"[{"ip":"192.0.2.1","vendor":{"mac":{"ip":1}}},{"ip":"x"}]"#,
    ] {
        assert_ne!(Format::detect(text.as_bytes()), Some(Format::Arp), "{text}");
        if !text.contains("vendor") {
            let error = refused(Format::Arp, text);
            assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
            assert!(error.to_string().chars().count() <= 200, "{error}");
        }
    }
    for text in
        ["{\"ipV4Neighbors\":[", "{\"ipV4Neighbors\":[]} 7", "{\"ipV4Neighbors\":1e999}", "[{\"dst\" 1}]"]
    {
        assert!(is_syntax(&refused(Format::Arp, text)), "{text}");
    }
    let deep = format!("{{\"ipV4Neighbors\":{}", "[".repeat(100_000));
    assert!(is_syntax(&refused(Format::Arp, deep)));
}

#[test]
fn documents_with_many_values_are_bounded() {
    let entry = r#"{"address":"192.0.2.1","hwAddress":"0000.5e00.5301","interface":"Et1"},"#;
    let text = format!("{{\"ipV4Neighbors\":[{}{{}}]}}", entry.repeat(40));
    let report = parse(Format::Arp, text.as_bytes(), &with_reporter().with_max_rows(0)).unwrap();
    assert!(rows(report.devices[0].tables.arp.as_deref()).is_empty());
    assert_eq!(count(&report, WarningCode::RowLimitReached), 40);
    let text = format!("{{\"ipV4Neighbors\":[{}{{}}]}}", entry.repeat(400));
    let error = parse(Format::Arp, text.as_bytes(), &with_reporter().with_max_rows(0)).unwrap_err();
    assert!(error.to_string().contains("too many values"), "{error}");
}

#[test]
fn tables_with_separators_name_their_interfaces() {
    let cases: &[(&str, &[&str])] = &[
        // OPNsense
        (
            "ip,mac,manufacturer,intf,intf_description,expired,expires,permanent,type,hostname\n\
             192.0.2.1,00:00:5e:00:53:01,\"Example Systems, Inc\",igb0,LAN,0,1200,0,ethernet,\n\
             192.0.2.2,00:00:5e:00:53:02,,igb1_vlan20,\"Guests \"\"2\"\"\",0,900,0,ethernet,printer\n",
            &["1 igb0", "2 igb1_vlan20"],
        ),
        (
            "\u{feff}\"IP\";\"MAC\";\"Manufacturer\";\"Interface\";\"Interface name\";\"Hostname\"\r\n\
             \"192.0.2.1\";\"00:00:5e:00:53:01\";\"\";\"igb0\";\"LAN\";\"\"\r\n",
            &["1 igb0"],
        ),
        // PowerShell
        (
            "#TYPE Microsoft.Management.Infrastructure.CimInstance\n\
             \"Caption\",\"InterfaceAlias\",\"InterfaceIndex\",\"IPAddress\",\"LinkLayerAddress\",\"State\"\n\
             ,\"Local Area Connection* 1\",\"12\",\"192.0.2.1\",\"00-00-5E-00-53-01\",\"Reachable\"\n\
             ,\"Ethernet 2\",\"7\",\"fe80::2\",\"00-00-5E-00-53-02\",\"Stale\"\n",
            &["1 12 Local Area Connection* 1", "2 7 Ethernet 2"],
        ),
        (
            "IP Address\tMAC Address\tManufacturer\tInterface\tHostname\n\
             192.0.2.1\t00:00:5e:00:53:01\t\tigb0123\tprinter\n\
             192.0.2.2\t00:00:5e:00:53:02\tExample\tigb1\t\n",
            &["1 igb0123", "2 igb1"],
        ),
        ("IP, MAC, Interface\n192.0.2.1, 00:00:5e:00:53:01, eth0\n", &["1 eth0"]),
        ("Host,IP,MAC,ifIndex\nprinter,192.0.2.1,00:00:5e:00:53:01,7\n", &["1 7"]),
        // Tabs that align columns.
        (
            "Address\t\tMAC\t\t\tInterface\n192.0.2.1\t00:00:5e:00:53:01\teth0\n\
             198.51.100.20\t00:00:5e:00:53:02\teth1\n",
            &["1 eth0", "2 eth1"],
        ),
        ("Address\tMAC\tInterface\n192.0.2.1\t\t00:00:5e:00:53:01\teth0\n", &["1 eth0"]),
    ];
    for (text, expected) in cases {
        assert_eq!(read_whole(text, expected).skipped_rows, 0, "{text}");
    }
}

#[test]
fn device_is_the_interface_unless_a_column_names_that() {
    let cases: &[(&str, &[&str])] = &[
        ("IP,MAC,Device\n192.0.2.1,00:00:5e:00:53:01,eth0\n", &["1 eth0"]),
        ("Device,Interface,IP,MAC\ncore1,eth0,192.0.2.1,00:00:5e:00:53:01\n", &["1 eth0"]),
        (
            "Device,Interface,IP,MAC\ncore1,eth0,192.0.2.1,00:00:5e:00:53:01\n\
             core1.example.net,eth1,192.0.2.2,00:00:5e:00:53:02\n",
            &["1 eth0", "2 eth1"],
        ),
        // Remarks about the neighbors.
        (
            "IP,MAC,Interface,Device\n192.0.2.1,00:00:5e:00:53:01,eth0,printer\n\
             192.0.2.2,00:00:5e:00:53:02,eth1,camera\n",
            &["1 eth0", "2 eth1"],
        ),
        (
            "Device    Interface  IP Address   MAC Address\n\
             core1     eth0       192.0.2.1    00:00:5e:00:53:01\n",
            &["1 eth0"],
        ),
        (
            "IP Address : 192.0.2.1\nMAC Address : 00:00:5e:00:53:01\nDevice : core1\nInterface : eth0\n",
            &["1 eth0"],
        ),
    ];
    for (text, expected) in cases {
        read_whole(text, expected);
    }
    let error = refused(
        Format::Arp,
        "Device,Interface,IP,MAC\ncore1,eth0,192.0.2.1,00:00:5e:00:53:01\ncore2,eth0,192.0.2.2,00:00:5e:00:53:02\n",
    );
    assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{error}");
    assert!(error.to_string().contains("`core1` and `core2`"), "{error}");
}

#[test]
fn titles_without_entries_show_no_family() {
    for (text, family, is_complete) in
        [("ip,mac,intf\n", None, false), ("IPv6 address;MAC;Interface\n", Some(AddressFamily::Ipv6), true)]
    {
        let report = read(text);
        let table = report.devices[0].tables.arp.as_deref().unwrap();
        assert_eq!((table.rows.len(), table.family, table.complete), (0, family, is_complete), "{text}");
    }
}

#[test]
fn lines_with_separators_that_cannot_be_read_are_counted() {
    let long = format!("192.0.2.9,{}", "x".repeat(100_000));
    let many = ",".repeat(100_000);
    let cases: &[(&str, u64, u64)] = &[
        ("192.0.2.9,,igb0", 1, 0),
        ("192.0.2.9,(incomplete),igb0", 1, 0),
        ("192.0.2.9,00:00:00:00:00:00,igb0", 1, 0),
        ("printer,00:00:5e:00:53:09,igb0", 0, 1),
        ("192.0.2.9,00:00:5e:00:53:09", 0, 1),
        ("192.0.2.9,00:00:5e:00:53:09,igb0,LAN", 0, 1),
        ("192.0.2.9,\"00:00:5e:00:53:09,igb0", 0, 1),
        ("\"192.0.2.9\"x,00:00:5e:00:53:09,igb0", 0, 1),
        (",,", 0, 0),
        ("\"\",,", 0, 0),
        (",,igb0", 0, 1),
        (&long, 0, 1),
        (&many, 0, 1),
        ("", 0, 0),
    ];
    for (other, incomplete, malformed) in cases {
        let report = read(&format!("ip,mac,intf\n{other}\n192.0.2.1,00:00:5e:00:53:01,igb0\n"));
        let start: String = other.chars().take(40).collect();
        assert_eq!(entries(&report), ["1 igb0"], "{start}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), *incomplete, "{start}");
        assert_eq!(count(&report, WarningCode::RowMalformed), *malformed, "{start}");
        assert_eq!(report.devices[0].tables.arp.as_deref().unwrap().complete, *malformed == 0, "{start}");
    }
}

#[test]
fn leases_and_lists_of_clients_with_separators_are_no_neighbor_tables() {
    for text in [
        "address,hwaddr,client_id,valid_lifetime,expire,subnet_id\n192.0.2.1,00:00:5e:00:53:01,,3600,1,1\n",
        "Interface,IP Address,MAC Address,Hostname,Lease type\nLAN,192.0.2.1,00:00:5e:00:53:01,printer,dynamic\n",
        "Interface,IP Address,MAC Address,Lifetime,Expire\nLAN,192.0.2.1,00:00:5e:00:53:01,3600,1\n",
        "Name;IP;MAC address;Port\nprinter;192.0.2.1;00:00:5e:00:53:01;7\n",
    ] {
        assert_eq!(Format::detect(text.as_bytes()), None, "{text}");
        assert!(matches!(refused(Format::Arp, text).kind(), ParseErrorKind::WrongFormat(_)), "{text}");
    }
}

#[test]
fn table_with_separators_may_precede_one_without() {
    let report = read(
        "ip,mac,intf\n192.0.2.1,00:00:5e:00:53:01,igb0\n\nAddress      MAC                Interface\n\
         192.0.2.2    00:00:5e:00:53:02  Vlan10, Ethernet1\n",
    );
    assert_eq!(entries(&report), ["1 igb0", "2 Vlan10"]);
    assert_eq!(report.skipped_rows, 0);
}

#[test]
fn prompt_in_braces_is_no_document() {
    let report = parsed(Format::Arp, "{master:0}\n192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n");
    assert_eq!(entries(&report), ["1 eth0"]);
}
