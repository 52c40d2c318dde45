//! Neighbor tables of many systems: prompts, languages, sections and wrapped entries.

use toposcope::discovery::report::{ArpRow, WarningCode};
use toposcope::discovery::{Format, Report, parse};

use crate::support::{count, refused, rows, with_reporter};

/// Reads a table whose format is recognized by its content, and states that it is complete.
pub(crate) fn read(text: &str) -> Report {
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::Arp), "{text}");
    parse(Format::Auto, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap()
}

/// Returns the entries as `last byte of the address, interface`, with the index before a name.
pub(crate) fn entries(report: &Report) -> Vec<String> {
    let entry = |row: &ArpRow| {
        let index = row.if_index.map(|index| format!(" {index}")).unwrap_or_default();
        let name = row.if_name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{}{index}{name}", row.mac_address.octets()[5])
    };
    rows(report.devices[0].tables.arp.as_deref()).iter().map(entry).collect()
}

/// Returns whether nothing of a table was lost. Addresses without a MAC address and those of groups are no loss.
pub(crate) fn is_whole(report: &Report) -> bool {
    let table = report.devices[0].tables.arp.as_deref().unwrap();
    table.complete && count(report, WarningCode::RowMalformed) == 0
}

/// Reads a table, whose entries are these and which is whole.
pub(crate) fn read_whole(text: &str, expected: &[&str]) -> Report {
    let report = read(text);
    assert_eq!(entries(&report), expected, "{text}");
    assert!(is_whole(&report), "{text}\n{:?}", report.warnings);
    report
}

#[test]
fn tables_of_many_systems_name_their_interfaces() {
    let cases: &[(&str, &[&str])] = &[
        (
            "\nSchnittstelle: 192.0.2.5 --- 0xb\n  Internetadresse       Physische Adresse     Typ\n  \
             192.0.2.1             00-00-5e-00-53-01     dynamisch \n",
            &["1 11"],
        ),
        (
            "\nИнтерфейс: 192.0.2.5 --- 0x4\n  адрес в Интернете      Физический адрес      Тип\n  \
             192.0.2.1             00-00-5e-00-53-01     динамический\n",
            &["1 4"],
        ),
        (
            "\nInterface 12: Ethernet 2\n\n\nInternet Address      Physical Address   Type\n\
             --------------------  -----------------  -----------\n\
             192.0.2.1             00-00-5e-00-53-01  Reachable\n\
             192.0.2.9             Unreachable        Unreachable\n",
            &["1 12 Ethernet 2"],
        ),
        (
            "ifIndex IPAddress        LinkLayerAddress      State       PolicyStore\n\
             ------- ---------        ----------------      -----       -----------\n\
             12      192.0.2.1        00-00-5E-00-53-01     Reachable   ActiveStore\n\
             1       224.0.0.22                             Permanent   ActiveStore\n",
            &["1 12"],
        ),
        (
            "<switch> display arp\nIP address      MAC address    VLAN/VSI name Interface                Aging Type\n\
             192.0.2.1       0000-5e00-5301 10            GE1/0/1                  16    D\n",
            &["1 GE1/0/1"],
        ),
        (
            "{master:0}\nMAC Address       Address         Interface               Flags\n\
             00:00:5e:00:53:01 192.0.2.1       vlan.10                 none\n\
             00:00:5e:00:53:02 192.0.2.2       irb.20 [ge-0/0/3.0]     none\n\n{master:0}\n",
            &["1 vlan.10", "2 irb.20"],
        ),
        (
            "[admin@router] > ip arp print\nColumns: ADDRESS, MAC-ADDRESS, INTERFACE\n\
             #    ADDRESS       MAC-ADDRESS        INTERFACE\n;;; printer\n\
             0 DC 192.0.2.1     00:00:5E:00:53:01  bridge1\n[admin@router] >\n",
            &["1 bridge1"],
        ),
        (
            " 0 D address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=\"ether1 wan\" \n      \
             status=\"stale\" \n\n 1   address=192.0.2.2 mac-address=00:00:5E:00:53:02 \n     interface=bridge1",
            &["1 ether1 wan", "2 bridge1"],
        ),
        (
            "Interface: eth0, type: EN10MB, MAC: 00:00:5e:00:53:aa, IPv4: 192.0.2.10\n\
             Starting arp-scan 1.10.0 with 256 hosts\n192.0.2.1\t00:00:5e:00:53:01\tNetgear\n\
             192.0.2.2\t00:00:5e:00:53:02\tExample Systems, Inc\n\n4 packets received by filter\n\
             Ending arp-scan 1.10.0: 256 hosts scanned in 1.9 seconds. 2 responded\n",
            &["1 eth0", "2 eth0"],
        ),
        ("192.0.2.2 00:00:5e:00:53:02 Example Systems, Inc\n", &["2"]),
        ("192.0.2.2   H   0000.5e00.5302    vlan10       N/A    N/A    N/A\n", &["2 vlan10"]),
        (
            "\tinside 192.0.2.2 0000.5e00.5302 10\n\toutside 192.0.2.3 0000.5e00.5303 alias\n",
            &["2 inside", "3 outside"],
        ),
        (
            "Adresse                  Hardware-Typ Hardware-Adresse    Optionen Maske    Schnittstelle\n\
             192.0.2.1                ether   00:00:5e:00:53:01   C                     eth0\n\
             192.0.2.9                        (unvollständig)                           eth0\n",
            &["1 eth0"],
        ),
        (
            "<switch>display ipv6 neighbors\n\
             -----------------------------------------------------------------------------\n\
             IPv6 Address : 2001:DB8::1\n\
             Link-layer   : 0000-5e00-5301     State : REACH\n\
             Interface    : GE0/0/1            Age   : 0\n\
             VLAN         : -                  CEVLAN: -\n\
             VPN name     :                    Is Router: TRUE\n\
             Secure FLAG  : UN-SECURE\n\
             -----------------------------------------------------------------------------\n\
             IPv6 Address : FE80::9\n\
             Link-layer   : -                  State : INCMP\n\
             Interface    : Vlanif10           Age   : -\n\
             -----------------------------------------------------------------------------\n\
             Total: 2      Dynamic: 2    Static: 0\n<switch>\n",
            &["1 GE0/0/1"],
        ),
        (
            "\r\n\r\nIPAddress        : 192.0.2.1\r\nInterfaceIndex   : 12\r\nInterfaceAlias   : Ethernet 2\r\n\
             LinkLayerAddress : 00-00-5E-00-53-01\r\nState            : Reachable\r\n\r\n\
             IPAddress        : 192.0.2.9\r\nInterfaceIndex   : 12\r\nInterfaceAlias   : Ethernet 2\r\n\
             LinkLayerAddress :\r\nState            : Unreachable\r\n",
            &["1 12 Ethernet 2"],
        ),
        (
            "<switch> display ipv6 neighbors all verbose\n IPv6 address: 2001:DB8::1\n \
             MAC address : 0000-5e00-5301           Type: D\n State: REACH    Aging: 16   VLAN: 10  Interface: GE1/0/2\n \
             IPv6 address: 2001:DB8::2\n MAC address : 0000-5e00-5302           Type: S\n State: REACH    Interface: GE1/0/3\n",
            &["1 GE1/0/2", "2 GE1/0/3"],
        ),
        (
            "\nInterface 12 : Ethernet\n\n\nAdresse Internet      Adresse physique   Type\n\
             --------------------  -----------------  -----------\n\
             192.0.2.1             00-00-5e-00-53-01  Joignable\n\
             224.0.0.22                               Permanent\n",
            &["1 12 Ethernet"],
        ),
        (
            "\n接口 15: 以太网\n\n\nInternet 地址         物理地址           类型\n\
             --------------------  -----------------  -----------\n\
             192.0.2.1             00-00-5e-00-53-01  可以访问\n\
             224.0.0.22                               永久\n",
            &["1 15 以太网"],
        ),
        (
            "[root@esx1:~] esxcli network ip neighbor list\n\
             Neighbor      Mac Address        Vmknic    Expiry  State  Type   \n\
             ------------  -----------------  ------  --------  -----  -------\n\
             192.0.2.1     00:00:5e:00:53:01  vmk0    1113 sec         Unknown\n",
            &["1 vmk0"],
        ),
        (
            "r1#show arp\nProtocol  Address          Age (min)  Hardware Addr   Type   Interface\n\
             Internet  192.0.2.1               2   0000.5e00.5301  ARPA   Vlan40 pv 401\n\
             Internet  192.0.2.2               2   0000.5e00.5302  ARPA   Vlan40\n",
            &["1 Vlan40", "2 Vlan40"],
        ),
        (
            "192.0.2.1                               eth0             00:00:5e:00:53:01 \n\
             2001:db8::2                             br-lan           00:00:5e:00:53:02 \n\
             192.0.2.9                               eth0              \n",
            &["1 eth0", "2 br-lan"],
        ),
    ];
    for (text, expected) in cases {
        read_whole(text, expected);
    }
}

#[test]
fn lists_of_other_systems_in_json_are_read() {
    let cases = [
        (
            r#"[{"mac":"00:00:5e:00:53:01","ip":"192.0.2.1","intf":"igb0","expired":false,"expires":1200,
            "permanent":false,"type":"ethernet","manufacturer":"","hostname":"","intf_description":"LAN"}]"#,
            vec!["1 igb0"],
        ),
        (
            r#"[{".id":"*1","address":"192.0.2.1","complete":"true","interface":"bridge1",
            "mac-address":"00:00:5E:00:53:01","status":"reachable"},
            {".id":"*2","address":"192.0.2.9","complete":"false","interface":"bridge1","status":"failed"}]"#,
            vec!["1 bridge1"],
        ),
        (
            r#"[{"IPAddress":"192.0.2.1","InterfaceAlias":"Ethernet 2","InterfaceIndex":12,
            "LinkLayerAddress":"00-00-5E-00-53-01","State":5},
            {"IPAddress":"192.0.2.9","InterfaceAlias":"Ethernet 2","InterfaceIndex":12,"LinkLayerAddress":"","State":0}]"#,
            vec!["1 12 Ethernet 2"],
        ),
    ];
    for (text, expected) in cases {
        let report = read(text);
        assert_eq!(entries(&report), expected, "{text}");
        assert!(is_whole(&report), "{text}");
    }
    let leases = r#"[{".id":"*1","address":"192.0.2.1","mac-address":"00:00:5E:00:53:01","server":"dhcp1"}]"#;
    assert_eq!(Format::detect(leases.as_bytes()), None);
}

#[test]
fn named_values_without_a_mac_address_are_no_entry() {
    let lines = "IP Address : 192.0.2.9\nMask : 255.255.255.0\n";
    refused(Format::Arp, lines);
    let report = read(&format!("{lines}192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n"));
    assert_eq!(entries(&report), ["1 eth0"]);
}

#[test]
fn named_values_without_a_mac_address_between_entries_are_counted() {
    let entry = |last: u8| {
        format!(
            "IPv6 Address : 2001:DB8::{last}\nLink-layer : 0000-5e00-530{last}\nInterface : GE0/0/{last}\n\n"
        )
    };
    let other = "IPv6 Address : 2001:DB8::9\nInterface    : GE0/0/9\n-----------\n";
    let total = "Total: 2      Dynamic: 2    Static: 0\n";
    for text in [
        format!("{}{other}{}{total}", entry(1), entry(2)),
        format!("{other}{}{}{total}", entry(1), entry(2)),
        format!("{}{}{other}{total}", entry(1), entry(2)),
        format!("{}{}IPv6 Address : 2001:DB8::9\n", entry(1), entry(2)),
    ] {
        let report = read(&text);
        assert_eq!(entries(&report), ["1 GE0/0/1", "2 GE0/0/2"], "{text}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), 1, "{text}");
        assert!(is_whole(&report), "{text}\n{:?}", report.warnings);
    }
    // Other names than that of the entries, and settings before other text.
    for text in [
        format!("{}IP Address : 192.0.2.9\nMask : 255.255.255.0\n", entry(1)),
        format!("IPv6 Address : 2001:DB8::9\nPrefix : 64\ndisplay ipv6 neighbors\n{}", entry(1)),
    ] {
        let report = read(&text);
        assert_eq!(entries(&report), ["1 GE0/0/1"], "{text}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), 0, "{text}");
    }
}

#[test]
fn many_named_values_without_a_mac_address_take_bounded_memory() {
    let lines = "IP Address : 192.0.2.9\nMask : 255.255.255.0\n\n".repeat(20_000);
    let report =
        read(&format!("<switch> display arp\n{lines}IP Address : 192.0.2.1\nMAC : 0000-5e00-5301\n"));
    assert_eq!(entries(&report), ["1"]);
    assert!(count(&report, WarningCode::RowIncomplete) < 20_000);
}

#[test]
fn table_that_ends_within_named_values_is_not_complete() {
    for end in ["IPv6 Address : 2001:DB8::2", "IPv6 Address : 2001:DB8::2\nLink-layer   : 0000-5e00-53"] {
        let report = read(&format!("IPv6 Address : 2001:DB8::1\nLink-layer   : 0000-5e00-5301\n\n{end}"));
        assert_eq!(entries(&report), ["1"], "{end}");
        assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete, "{end}");
    }
}

#[test]
fn fields_that_continue_no_entry_are_counted() {
    let report = read("192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n      status=\"stale\"\n");
    assert_eq!((entries(&report).len(), count(&report, WarningCode::RowMalformed)), (1, 1));
}

#[test]
fn forwarding_entries_and_routes_are_no_neighbors() {
    let forwarding = "00:00:5e:00:53:02 dev vxlan10 dst 192.0.2.9 self permanent\n";
    let routes = r#"[{"dst":"192.0.2.9","gateway":"192.0.2.1","dev":"eth0","flags":[]}]"#;
    assert_eq!(Format::detect(forwarding.as_bytes()), None);
    assert_eq!(Format::detect(routes.as_bytes()), Some(Format::IpRoute));
    refused(Format::Arp, forwarding);
    refused(
        Format::Arp,
        r#"[{"mac":"00:00:5e:00:53:02","ifname":"vxlan10","dst":"192.0.2.9","flags":["self"],"state":"permanent"}]"#,
    );
}

#[test]
fn last_name_with_a_number_is_the_interface_of_a_line_without_heading() {
    for (line, expected) in [
        ("192.0.2.1 ether 00:00:5e:00:53:01 C eth0", "1 eth0"),
        ("192.0.2.1 0000-5e00-5301 20 D-0 GE0/0/1", "1 GE0/0/1"),
        ("192.0.2.1 00:00:5e:00:53:01 Example Systems, Inc", "1"),
    ] {
        assert_eq!(entries(&read(&format!("{line}\n"))), [expected], "{line}");
    }
}

#[test]
fn neighbors_within_other_json_are_no_table() {
    for text in [
        "[\"Internet  192.0.2.1  5  0000.5e00.5301  ARPA  Vlan10\",\n\"Internet  192.0.2.2  5  0000.5e00.5302  ARPA  Vlan10\"]",
        "{\n  \"stdout\": \"Internet  192.0.2.1  5  0000.5e00.5301  ARPA  Vlan10\"}",
        "<html>\n<pre>\n192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n</pre>",
    ] {
        assert_eq!(Format::detect(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn leases_are_counted_and_numbers_below_a_heading_are_no_leases() {
    let text = "192.0.2.2 dev eth0 lladdr 00:00:5e:00:53:02 STALE\n\
                1732790000 00:11:5e:00:53:01 192.0.2.10 laptop-7 *\n1732790000 00:aa:5e:00:53:01 192.0.2.11 laptop-8 *\n";
    let report = read(text);
    assert_eq!(entries(&report), ["2 eth0"]);
    assert_eq!(count(&report, WarningCode::RowMalformed), 2);
    assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete);
    let report =
        read("#  MAC-Address        IP-Address  Interface\n0  00:11:5e:00:53:01  192.0.2.1   eth0\n");
    assert_eq!(entries(&report), ["1 eth0"]);
}
