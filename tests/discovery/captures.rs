//! Recordings of terminals: pagers, colors, prompts, and several commands in one file.

use toposcope::discovery::report::{AddressFamily, WarningCode};
use toposcope::discovery::{Format, ParseErrorKind, Report, parse};

use crate::support::{count, refused, rows, with_reporter};

/// Reads input whose format is recognized by its content.
fn read(format: Format, text: &str) -> Report {
    assert_eq!(Format::detect(text.as_bytes()), Some(format), "{text}");
    parse(Format::Auto, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap()
}

/// Returns the entries of a neighbor table as `last byte of the address, index, interface`.
fn entries(report: &Report) -> Vec<String> {
    let rows = rows(report.devices[0].tables.arp.as_deref());
    let entry = rows.iter().map(|row| {
        let index = row.if_index.map(|index| format!(" {index}")).unwrap_or_default();
        let name = row.if_name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{}{index}{name}", row.mac_address.octets()[5])
    });
    entry.collect()
}

const IOS: &str = "Protocol  Address     Age (min)  Hardware Addr   Type   Interface\n";

#[test]
fn rows_behind_a_pager_are_whole() {
    let first = "Internet  192.0.2.1          0  0000.5e00.5301  ARPA   Vlan1\n";
    let second = "Internet  192.0.2.2          0  0000.5e00.5302  ARPA   Gi0/2\n";
    for pager in [
        " --More-- \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}          \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}",
        "---(more 52%)---\r                                        \r",
        "  ---- More ----\u{1B}[16D                \u{1B}[16D",
        "\u{1B}[7m--More--\u{1B}[m\r\u{1B}[K",
        " --More--         ",
        "<--- More --->\n",
        "-- MORE --, next page: Space, next line: Enter, quit: Control-C\n",
        "--More-- or (q)uit\n",
        "Press any key to continue (Q to quit)\n",
    ] {
        let report = read(Format::Arp, &format!("sw-1#show ip arp\r\n{IOS}{first}{pager}{second}sw-1#\n"));
        assert_eq!(entries(&report), ["1 Vlan1", "2 Gi0/2"], "{pager:?}");
        assert!(report.devices[0].tables.arp.as_deref().unwrap().complete, "{pager:?}");
    }
}

#[test]
fn colors_are_no_part_of_names() {
    let text = "\u{1B}[36m192.0.2.1\u{1B}[0m dev \u{1B}[36mbr0 \u{1B}[0mlladdr \u{1B}[33m00:00:5e:00:53:01\u{1B}[0m STALE\n";
    assert_eq!(entries(&read(Format::Arp, text)), ["1 br0"]);
    let text = "\u{1B}[01;31m\u{1B}[K.1.3.6.1.2.1.1.5\u{1B}[m\u{1B}[K.0 = STRING: \"sw-1\"\n\
                \u{1B}[01;31m\u{1B}[K.1.3.6.1.2.1.2.2.1.2\u{1B}[m\u{1B}[K.1 = STRING: \"p1\"\n";
    let report = read(Format::Snmpwalk, text);
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("sw-1"));
    assert_eq!(rows(report.devices[0].tables.if_entries.as_deref())[0].if_descr.as_deref(), Some("p1"));
}

#[test]
fn commands_of_one_device_are_one_table_and_those_of_two_are_refused() {
    let table = |last: u8| {
        format!("{IOS}Internet  192.0.2.{last}          0  0000.5e00.530{last}  ARPA   Vlan{last}\n")
    };
    for [first, second] in [
        ["sw-1#show ip arp vrf a", "sw-1(config)#do show ip arp"],
        ["admin@fw-1> show arp all", "admin@fw-1(active)# run show arp"],
        ["RP/0/RP0/CPU0:pe-1#show arp", "RP/0/RP1/CPU0:pe-1#show arp"],
        ["* X440-48p.1 # show iparp", "* X440-48p.2 # show iparp"],
        ["<core>display arp", "[core-Vlanif10]display arp"],
        ["[admin@r-1] > ip arp print", "[admin@r-1] /ip arp> print"],
        ["C:\\Users\\a>arp -a", "D:\\>arp -a"],
        ["core1#show ip arp vrf a", "core1.example.net#show ip arp"],
        ["root@core1.example.net:~# arp -n", "root@CORE1:~# arp -n 192.0.2.2"],
    ] {
        let report = read(Format::Arp, &format!("{first}\n{}{second}\n{}", table(1), table(2)));
        assert_eq!(entries(&report), ["1 Vlan1", "2 Vlan2"], "{first}");
    }
    for [first, second] in [
        ["sw-1#show ip arp", "sw-2#show ip arp"],
        ["admin@fw-1> show arp all", "admin@fw-2> show arp all"],
        ["RP/0/RP0/CPU0:pe-1#show arp", "RP/0/RP0/CPU0:pe-2#show arp"],
        ["<core-1>display arp", "<core-2>display arp"],
        ["[admin@r-1] > ip arp print", "[admin@r-2] > ip arp print"],
        ["root@r1:~# arp -n", "root@r2:~# arp -n 192.0.2.2"],
        ["root@r1.a.example:~# arp -n", "root@r1.b.example:~# arp -n 192.0.2.2"],
        ["core1#show ip arp", "core1-b.example.net#show ip arp"],
    ] {
        let error = refused(Format::Arp, format!("{first}\n{}{second}\n{}", table(1), table(2)));
        assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{first}: {error}");
    }
    let neighbors = "root@r1:~# ndp -an\n2001:db8::1  00:00:5e:00:53:01  em0 permanent R\nfe80::9%em0  (incomplete)  em0 expired N\n";
    let report = read(Format::Arp, neighbors);
    assert_eq!((entries(&report).len(), count(&report, WarningCode::RowIncomplete)), (1, 1));
    let walks = "$ snmpwalk -v2c -c public 192.0.2.1 ifDescr\nIF-MIB::ifDescr.1 = STRING: lo\n\
                 $ snmpwalk -v2c -c public 192.0.2.2 ifAlias\nIF-MIB::ifAlias.1 = STRING: x\n";
    assert!(matches!(refused(Format::Snmpwalk, walks).kind(), ParseErrorKind::SeveralDevices(_)));
    let same = walks.replace("192.0.2.2", "udp:192.0.2.1:161");
    assert_eq!(rows(read(Format::Snmpwalk, &same).devices[0].tables.if_entries.as_deref()).len(), 1);
}

#[test]
fn documents_between_prompts_are_read_and_other_lines_counted() {
    let addresses = r#"[{"ifindex":2,"ifname":"eth0","operstate":"UP","link_type":"ether","flags":[],"addr_info":[{"local":"192.0.2.7","prefixlen":24}]}]"#;
    let report =
        read(Format::IpAddr, &format!("[root@r1 ~]# ip -j addr\r\n{addresses}\r\n[root@r1 ~]# exit\n"));
    assert_eq!(rows(report.devices[0].tables.addresses.as_deref())[0].ip_address.to_string(), "192.0.2.7");
    assert_eq!(count(&report, WarningCode::TextIgnored), 2);
    let routes = "$ ip -j route\n[{\"dst\":\"default\",\"gateway\":\"192.0.2.1\",\"dev\":\"eth0\",\"flags\":[]}]\n\
                  $ ip -j -6 route\n[ ]\n$ \n";
    let report = read(Format::IpRoute, routes);
    let table = report.devices[0].tables.routes.as_deref().unwrap();
    assert_eq!((table.rows.len(), table.complete), (1, true));
    let neighbors = "$ lldpctl -f json\n{\"lldp\":{\"interface\":{\"e]0\":{\"via\":\"LLDP\",\"chassis\":{\"id\":{\"id\":{\
                     \"type\":\"mac\",\"value\":\"00:00:5e:00:53:07\"}}},\"port\":{\"id\":{\"type\":\"ifname\",\"value\":\"a\\\"}\"}}}}}}\n";
    let report = read(Format::Lldpctl, neighbors);
    let row = &rows(report.devices[0].tables.lldp.as_deref())[0];
    assert_eq!((row.if_name.as_deref(), row.sys_name.as_deref()), (Some("e]0"), Some("id")));
    // A reader that hands out single bytes cuts every line.
    let cut = std::io::BufReader::with_capacity(1, neighbors.as_bytes());
    let again = parse(Format::Lldpctl, cut, &with_reporter().with_complete_tables()).unwrap();
    assert_eq!(again.devices, report.devices);
    let scan = "Starting Nmap 7.94 ( https://nmap.org ) at 2026-11-28 10:00 UTC\n<?xml version=\"1.0\"?>\n\
                <nmaprun scanner=\"nmap\"><host><status state=\"up\"/><address addr=\"192.0.2.1\" addrtype=\"ipv4\"/></host></nmaprun>\n";
    assert_eq!(read(Format::Nmap, scan).devices.len(), 1);
}

#[test]
fn tables_of_further_systems_name_their_interfaces() {
    let cases: &[(&str, &[&str])] = &[
        (
            "index=5 ifname=port1 192.0.2.1 00:00:5e:00:53:01 state=00000002 use=51 confirm=47 update=47 ref=3\n",
            &["1 5 port1"],
        ),
        (
            "/ip arp\nadd address=192.0.2.5 comment=\"a b\" interface=lan mac-address=\\\n    00:00:5E:00:53:05\n\
             add address=192.0.2.6 interface=lan mac-address=00:00:5E:00:53:06\n",
            &["5 lan", "6 lan"],
        ),
        (
            "VR            Destination\n              Mac                Age  Static  VLAN          VID   Port\n\
             VR-Default    2001:db8::1\n              00:00:5e:00:53:01    3      NO  Default       1     1:5\n\
             Total Entries    :    1\n",
            &["1 1:5"],
        ),
        (
            "| Interface | Neighbor  | Origin  | Link layer address |\n+-----------+-----------+---------+--------------------+\n\
             | mgmt0     | 192.0.2.2 | dynamic | 00:00:5E:00:53:02  |\n",
            &["2 mgmt0"],
        ),
        (
            "Interface  IP/IPV6                   LLADR(MAC)         State      Flag\n\
             ---------  ------------------------  -----------------  ---------  ------\n\
             eth0       192.0.2.1                 00:00:5e:00:53:01  reachable\n\
             \x20          fe80::200:5eff:fe00:5302  00:00:5e:00:53:02  stale      router\n",
            &["1 eth0", "2 eth0"],
        ),
        (
            " IP Addr     Hardware Addr       Type      Flags  Port    Interface  Name\n\
             \x20192.0.2.1   00:00:5e:00:53:01   DYNAMIC          1/1/1   vlan 10    gw\n",
            &["1 vlan 10"],
        ),
        (
            "    IP Addr        Hardware Addr      Type     Flags   Port        Interface     Name\n\
             -----------+-------------------+---------+-------+------+-----------------+--------\n\
             \x20192.0.2.1   00:00:5e:00:53:01   DYNAMIC           1/1/1  vlan45\n",
            &["1 vlan45"],
        ),
        (
            "Name        Address    HWaddress          Vlan              Status\n\
             192.0.2.1   192.0.2.1  00:00:5e:00:53:01  /Common/internal  resolved\n",
            &["1 /Common/internal"],
        ),
        (
            "IP Address   MAC Address         VLAN  Type\n192.0.2.1    00:00:5e:00:53:01   10    static\n",
            &["1"],
        ),
        (
            "No.   IP Address  MAC Address    Type     Age Port         Status\n\
             1     192.0.2.2   0000.5e00.5302 Dynamic  2   ve10*1/1/24  Valid\n",
            &["2 ve10"],
        ),
        ("gw (192.0.2.1) auf 00:00:5e:00:53:01 [ether] PERM auf br-lan\n", &["1 br-lan"]),
        (
            "アドレス     HWタイプ HWアドレス          フラグ マスク   インタフェース\n\
             192.0.2.1  ether   00:00:5e:00:53:01   C              eth0\n",
            &["1 eth0"],
        ),
        (
            "Protocol  Address    Age(min)  Hardware        Type  Interface\n\
             Internet  192.0.2.2  12        0000.5e00.5302  arpa  GigabitEthernet 0/1\n\
             Requests sent : 12\nReplies         :  7\n",
            &["2 GigabitEthernet 0/1"],
        ),
        (
            "IPv6 Address                              Interface\n  MAC Address               State      Expiry\n\
             ------------------------------------------------------------\n\
             2001:db8::2                               to-pe2\n  00:00:5e:00:53:02         STALE      02h10m12s\n\
             fe80::200:5eff:fe00:5303                  to-pe3\n  00:00:5e:00:53:03         STALE      02h10m12s\n",
            &["2 to-pe2", "3 to-pe3"],
        ),
        (
            "IP_ADDRESS          MAC_ADDRESS        VLAN   PORT           TYPE\n\
             192.0.2.1           00:00:5e:00:53:01  10     1/1            DYNAMIC\n\
             2 out of 2 ARP entries displayed\n",
            &["1 1/1"],
        ),
        (
            "  VLAN    Interface     IP address        HW address          status\n\
             --------------------- --------------- ------------------- ---------------\n\
             vlan 20               192.0.2.2       00:00:5e:00:53:02   static\n",
            &["2 vlan 20"],
        ),
        (
            "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
             VR-Mgmt       192.0.2.2        00:00:5e:00:53:02   12      NO  Mgmt          4095\n",
            &["2 Mgmt"],
        ),
        (
            "IPv6 Address                             Age Link-layer Addr State Interface            Location\n\
             2001:db8:1::2                            45  0000.5e00.5302 REACH Gi0/0/0/0            0/0/CPU0\n\
             [Mcast adjacency]                           - 0000.0000.0000 REACH Gi0/0/0/0            0/0/CPU0\n",
            &["2 Gi0/0/0/0"],
        ),
        (
            "index=7 ifname=lan 192.0.2.1 00:00:5e:00:53:01 state=00000002\nindex=7 ifname=lan 192.0.2.2 state=00000020\n",
            &["1 7 lan"],
        ),
        (
            "WARNING: Cannot open MAC/Vendor file\nInterface: en0, type: EN10MB, MAC: 00:00:5e:00:53:aa, IPv4: 192.0.2.10\n\
             192.0.2.2\t00:00:5e:00:53:02\tMaker 3\n192.0.2.2\t00:00:5e:00:53:02\tMaker 3 (DUP: 2)\n",
            &["2 en0"],
        ),
    ];
    for (text, expected) in cases {
        let report = read(Format::Arp, text);
        assert_eq!(entries(&report), *expected, "{text}");
        assert!(report.devices[0].tables.arp.as_deref().unwrap().complete, "{text}\n{:?}", report.warnings);
    }
}

#[test]
fn titles_and_interfaces_on_two_lines_are_joined() {
    let zte = "IP                       Hardware                    Exter  Inter  Sub\n\
               Address         Age      Address        Interface    VlanID VlanID Interface\n\
               ----------------------------------------------------------------------------\n\
               192.0.2.1       H        0000.5e00.5301 xgei-1/1/0/1 201    N/A    N/A\n\
               \x20                                       .201\n\
               192.0.2.2       00:14:17 0000.5e00.5302 xgei-1/1/0/1 201    N/A    xgei-1/1/0/1.\n\
               \x20                                       .201                       201\n\
               192.0.2.9       H        0000.5e00.5309 mgmt_eth     N/A    N/A    N/A\n";
    let framed = "+-------------+--------+-----------+--------------------+\n\
                  | Interface   | Subint | Neighbor  | Link layer address |\n\
                  |             |  erf   |           |                    |\n\
                  +=============+========+===========+====================+\n\
                  | ethernet-1/ |      0 | 192.0.2.1 | 00:00:5E:00:53:01  |\n\
                  | 1           |        |           |                    |\n\
                  | mgmt0       |      0 | 192.0.2.2 | 00:00:5E:00:53:02  |\n\
                  +-------------+--------+-----------+--------------------+\n";
    for (text, expected) in [
        (zte, vec!["1 xgei-1/1/0/1.201", "2 xgei-1/1/0/1.201", "9 mgmt_eth"]),
        (framed, vec!["1 ethernet-1/1", "2 mgmt0"]),
    ] {
        let report = read(Format::Arp, text);
        assert_eq!(entries(&report), expected, "{text}");
        assert!(report.devices[0].tables.arp.as_deref().unwrap().complete, "{:?}", report.warnings);
    }
}

#[test]
fn neighbor_table_is_limited_to_the_family_of_its_entries() {
    let ipv4 = "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n";
    let ipv6 = "fe80::1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n";
    for (text, family) in [
        (ipv4.to_owned(), Some(AddressFamily::Ipv4)),
        (ipv6.to_owned(), Some(AddressFamily::Ipv6)),
        (format!("{ipv4}{ipv6}"), None),
        ("sw#show ip arp\nsw#\n".to_owned(), Some(AddressFamily::Ipv4)),
        ("sw#show ipv6 neighbors\nsw#\n".to_owned(), Some(AddressFamily::Ipv6)),
        ("root@h:~# ip -6 neigh\nroot@h:~# \n".to_owned(), Some(AddressFamily::Ipv6)),
        // The last command that prints a table decides.
        (
            "sw#show ipv6 neighbors\n% Invalid input\nsw#show ip arp\nsw#\n".to_owned(),
            Some(AddressFamily::Ipv4),
        ),
        ("sw#show ip arp\nsw#show cdp neighbors\nsw#\n".to_owned(), Some(AddressFamily::Ipv4)),
        (
            "sw#show ip arp\n%BGP-5-ADJCHANGE: neighbor 10.0.0.1 Up\nsw#\n".to_owned(),
            Some(AddressFamily::Ipv4),
        ),
        ("[]".to_owned(), None),
    ] {
        let report = parse(Format::Arp, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
        assert_eq!(report.devices[0].tables.arp.as_deref().unwrap().family, family, "{text}");
    }
}

#[test]
fn two_addresses_of_one_device_are_no_two_devices() {
    let walk =
        |address: &str, variables: &str| format!("$ snmpwalk -v2c -c public {address} 1.3.6.1\n{variables}");
    let own =
        "IP-MIB::ipAdEntIfIndex.192.0.2.1 = INTEGER: 1\nIP-MIB::ipAdEntIfIndex.198.51.100.1 = INTEGER: 2\n";
    let port = "IF-MIB::ifDescr.1 = STRING: p1\n";
    let of_itself = "IP-MIB::ipAdEntIfIndex.198.51.100.1 = INTEGER: 2\n";
    for (first, second, is_one) in
        [(own, port, true), (port, own, true), (port, of_itself, false), (own, "", true)]
    {
        let text = format!("{}{}", walk("192.0.2.1", first), walk("198.51.100.1", second));
        let read = parse(Format::Snmpwalk, text.as_bytes(), &with_reporter());
        assert_eq!(read.is_ok(), is_one, "{text}");
        let again = format!("{text}{}", walk("198.51.100.1", port));
        assert_eq!(parse(Format::Snmpwalk, again.as_bytes(), &with_reporter()).is_ok(), is_one, "{again}");
    }
}

#[test]
fn damaged_entries_are_counted() {
    let heading = "IP Address   MAC Address         Interface\n192.0.2.1    00:00:5e:00:53:01   eth0\n";
    for entry in [
        "192.0.2.x    00:11:22:33:44:5   eth0",
        " 192.0.2.x   00:11:22:33:44:5",
        "192.0.x.2 11:22:33:44:55  1",
    ] {
        let report = read(Format::Arp, &format!("{heading}{entry}\n"));
        assert_eq!(entries(&report), ["1 eth0"], "{entry}");
        let counted = report.warnings.iter().any(|warning| warning.code == WarningCode::RowMalformed);
        assert!(counted, "{entry}: {:?}", report.warnings);
    }
}

#[test]
fn beginnings_and_ends_of_sessions_are_no_entries() {
    let entry = "? (192.0.2.1) at 0:0:5e:0:53:1 on en0 [ethernet]\n";
    for (before, behind) in [
        ("admin@mac ~ % arp -an\n", "admin@mac ~ % exit\n"),
        (
            "Script started on 2026-11-28 10:00:00+01:00 [TERM=\"xterm\"]\n$ arp -an\n",
            "Script done on 2026-11-28\n",
        ),
        ("\u{1B}]0;root@r: ~\u{7}root@r:~# arp -an\n", "\u{1B}[?2004h\u{1B}]0;root@r: ~\u{1B}\\root@r:~# \n"),
        ("r1#show arp\n", "r1#exit\nConnection to r1 closed by foreign host.\n"),
    ] {
        let report = read(Format::Arp, &format!("{before}{entry}{behind}"));
        assert_eq!(entries(&report), ["1 en0"], "{before}");
        assert!(report.devices[0].tables.arp.as_deref().unwrap().complete, "{before}: {:?}", report.warnings);
    }
}

#[test]
fn documents_behind_escape_sequences_are_read() {
    let entry = |address: &str| {
        format!(r#"[{{"dst":"{address}","dev":"eth0","lladdr":"00:00:5e:00:53:01","state":["STALE"]}}]"#)
    };
    let run = |entry: &str| format!("\u{1B}[?2004hroot@r:~# ip -j neigh\r\n\u{1B}[?2004l\r{entry}\r\n");
    let report = read(Format::Arp, &format!("{}{}", run(&entry("192.0.2.1")), run(&entry("192.0.2.2"))));
    assert_eq!(entries(&report), ["1 eth0", "1 eth0"]);
}

#[test]
fn entries_behind_leases_are_read() {
    for (text, expected) in [
        (
            "[admin@rb] > /ip dhcp-server lease print\n[admin@rb] > /ip arp print\n\
             \x20#   ADDRESS      MAC-ADDRESS       INTERFACE\n 0 D 192.0.2.1   00:00:5E:00:53:01 ether1\n",
            "1 ether1",
        ),
        (
            "r1#show ip dhcp binding\nr1#show ip arp | exclude Incomplete\n\
             Internet  192.0.2.2    5   0000.5e00.5302  ARPA   Gi0/1\n",
            "2 Gi0/1",
        ),
        (
            "/ip dhcp-server lease\nadd address=192.0.2.5 mac-address=00:00:5E:00:53:05 server=dhcp1\n\
             /ip arp\nadd address=192.0.2.3 interface=ether3 mac-address=00:00:5E:00:53:03\n",
            "3 ether3",
        ),
    ] {
        assert_eq!(entries(&read(Format::Arp, text)), [expected], "{text}");
    }
}

#[test]
fn line_at_the_edge_is_no_rest_of_an_interface() {
    let text = "Interface  IP Address   MAC Address\nEthernet1  192.0.2.1    00:00:5e:00:53:01\nlogout\n";
    assert_eq!(entries(&read(Format::Arp, text)), ["1 Ethernet1"]);
}

#[test]
fn answer_about_one_address_and_messages_alone_are_no_empty_table() {
    for text in [
        "sw#show arp 10.9.9.9\nNo ARP entries found.\n",
        "%LINK-3-UPDOWN: Interface Gi0/1, changed state to up\n",
    ] {
        let error = refused(Format::Arp, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
}

#[test]
fn tables_of_leases_are_refused() {
    for text in [
        "[admin@rb] > /ip dhcp-server lease print\n #   ADDRESS      MAC-ADDRESS       STATUS\n\
         \x20 0 D 192.0.2.1   00:00:5E:00:53:01 bound\n",
        "IP address          Client-ID/              Lease expiration        Type\n\
         192.0.2.2           0000.5e00.5302          Infinite                Manual\n",
        "/ip dhcp-server lease\nadd address=192.0.2.5 mac-address=00:00:5E:00:53:05 server=dhcp1\n",
    ] {
        let error = refused(Format::Arp, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
}

#[test]
fn lines_beside_a_table_alone_are_no_empty_table() {
    for text in [
        "Total number of entries in the ARP table: 42.\nTotal number of Dynamic ARP entries: 40.\n",
        "sw-1#show ip arp summary\nsw-1#\n",
        "1732790000 00:00:5e:00:53:01 192.0.2.10 laptop-7 01:00:00:5e:00:53:01\n",
    ] {
        let error = refused(Format::Arp, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
}

#[test]
fn fields_of_a_line_take_linear_time() {
    // Each of these names was once searched for to the end of the line.
    let line = format!("{}address=192.0.2.1 mac-address=00:00:5e:00:53:01\n", "a ".repeat(1_900));
    let text = line.repeat(200);
    let report = parse(Format::Arp, text.as_bytes(), &with_reporter()).unwrap();
    assert_eq!(entries(&report), ["1"]);
}

#[test]
fn documents_of_a_recording_take_linear_time() {
    // The end of the document was once searched for from every byte.
    let name = "x".repeat(2 << 20);
    let route = r#"[{"dst":"default","gateway":"192.0.2.1","flags":[],"dev":""#;
    let report = read(Format::IpRoute, &format!("$ ip -j route\n{route}{name}\"}}]\n$ \n"));
    assert_eq!(rows(report.devices[0].tables.routes.as_deref()).len(), 1);
    assert_eq!(count(&report, WarningCode::TextIgnored), 2);
}

#[test]
fn agents_without_variables_and_of_other_families_are_no_further_devices() {
    let walk = |arguments: &str| format!("$ snmpwalk -v2c -c public {arguments}\n");
    let variable = |number: u8| format!("IF-MIB::ifDescr.{number} = STRING: p{number}\n");
    for [first, second] in [
        ["192.0.2.1 ifDescr\nTimeout: No Response from 192.0.2.1", "192.0.2.2 ifDescr"],
        ["192.0.2.2 ifDescr", "192.0.2.1 ifDescr\nTimeout: No Response from 192.0.2.1"],
        ["192.0.2.1 ifDescr\nTimeout: No Response from 192.0.2.1", "core-sw ifDescr"],
        ["core-sw 1.3.6.1", "192.0.2.2 ifDescr"],
    ] {
        let text = format!("{}{}{}", walk(first), walk(second), variable(1));
        let text = if second.contains("Timeout") {
            format!("{}{}{}", walk(first), variable(1), walk(second))
        } else {
            text
        };
        let report = parse(Format::Snmpwalk, text.as_bytes(), &with_reporter()).unwrap();
        assert_eq!(rows(report.devices[0].tables.if_entries.as_deref()).len(), 1, "{text}");
    }
    for [first, second] in [
        ["192.0.2.1 ifDescr", "udp6:[2001:db8::1] ifDescr"],
        ["core-sw 1.3.6.1", "192.0.2.1 1.3.6.1"],
        ["core-sw 1.3.111.2", "192.0.2.1 1.3.6.1"],
    ] {
        let text = format!("{}{}{}{}", walk(first), variable(1), walk(second), variable(2));
        let report = parse(Format::Snmpwalk, text.as_bytes(), &with_reporter()).unwrap();
        assert_eq!(rows(report.devices[0].tables.if_entries.as_deref()).len(), 2, "{text}");
    }
}

#[test]
fn prompts_of_other_devices_and_sentences_are_passed_over() {
    let table = format!("{IOS}Internet  192.0.2.1          0  0000.5e00.5301  ARPA   Vlan1\n");
    for [before, behind] in [
        ["user@jump:~$ ssh admin@sw-1\n", "sw-1#exit\nuser@jump:~$ logout\n"],
        ["sw-9#ssh 192.0.2.7\n", ""],
        ["CPU 5% busy\n", ""],
        ["Location > Building 5\n", ""],
    ] {
        let report = read(Format::Arp, &format!("{before}sw-1#show ip arp\n{table}{behind}"));
        assert_eq!(entries(&report), ["1 Vlan1"], "{before}");
        assert!(report.devices[0].tables.arp.as_deref().unwrap().complete, "{before}");
    }
    let jump = "user@jump:~$ arp -n\n192.0.2.9 dev eth0 lladdr 00:00:5e:00:53:09 STALE\n";
    for prompt in ["sw-1#", "sw-1 # ", "sw-1 (root) # ", "root@sw-1:~# "] {
        let error = refused(Format::Arp, format!("{jump}{prompt}show ip arp\n{table}"));
        assert!(matches!(error.kind(), ParseErrorKind::SeveralDevices(_)), "{prompt}: {error}");
    }
    let sentence =
        format!("{jump}CPU 5% busy\nLocation > Building 5\n192.0.2.8 dev eth0 lladdr 00:00:5e:00:53:08\n");
    let report = parse(Format::Arp, sentence.as_bytes(), &with_reporter()).unwrap();
    assert_eq!(entries(&report), ["9 eth0", "8 eth0"]);
}

#[test]
fn command_or_total_without_entries_is_an_empty_table() {
    for text in [
        "root@h:~# ip neigh\n",
        "root@h:~# ip neigh\nroot@h:~# \n",
        "C:\\Users\\a>arp -a\n",
        "sw#show arp\nTotal number of ARP entries: 0\n",
        "Total:0         Dynamic:0       Static:0\n",
        "sw#show ipv6 neighbors\nsw#\n",
        "No ARP Entries Found.\n",
        "C:\\>arp -a\nEs wurden keine ARP-Einträge gefunden.\n",
        "C:\\>arp -a\nAucune entrée ARP trouvée.\n",
        "<core>display arp\nInfo: The ARP table is empty.\n",
        "sw#show arp\n*Mar  1 00:05:12.3: %SYS-5-CONFIG_I: Configured from console by console\nsw#\n",
        "<sw>display arp\n%Nov 28 10:00:00:123 2026 sw SHELL/5/SHELL_LOGIN: admin logged in.\n",
        "<sw>display arp\nNov 28 2026 10:11:12+01:00 sw %%01SHELL/5/CMDRECORD(s)[3]:Recorded. (Ip=-)\n",
    ] {
        assert_eq!(Format::detect(text.as_bytes()).is_some(), !text.starts_with("Total"), "{text}");
        let report = parse(Format::Arp, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
        let table = report.devices[0].tables.arp.as_deref().unwrap();
        assert_eq!((table.rows.len(), table.complete), (0, true), "{text}");
    }
    for text in [
        "sw#show arp\nTotal number of ARP entries: 3\n",
        "sw#show arp\n% Invalid input detected at '^' marker.\n",
        "root@h:~# ip neigh\n-bash: ip: command not found\n",
        "sw#show arp 192.0.2.9\nsw#\n",
        "sw#show arp | include Vlan9\nsw#\n",
        "sw#clear arp\nsw#\n",
        "sw#show cdp neighbors\nsw#\n",
    ] {
        let error = refused(Format::Arp, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
    }
}

#[test]
fn lines_with_escape_sequences_are_as_long_as_others() {
    let gap = " ".repeat(1_000);
    for color in ["", "\u{1B}[36m"] {
        let text = format!("{color}192.0.2.1 dev br0{gap}lladdr 00:00:5e:00:53:01 STALE\n");
        assert_eq!(entries(&read(Format::Arp, &text)), ["1 br0"], "{color:?}");
    }
    // Erasures do not repeat the same gap any number of times.
    let erased = "\u{1B}[2K\u{1B}[999Gx".repeat(300);
    let text = format!("{erased}\r\u{1B}[2K192.0.2.1 dev br0 lladdr 00:00:5e:00:53:01 STALE\n");
    assert_eq!(entries(&parse(Format::Arp, text.as_bytes(), &with_reporter()).unwrap()), ["1 br0"]);
}
