//! ARP tables of routers, switches and hosts of many vendors.

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, ParseErrorKind, parse};

use super::formats::neighbors;
use crate::support::{count, refused, rows, with_reporter};

/// A table of a vendor or a tool, the entries expected of it, and the number of lines that are left out.
struct Sample {
    name: &'static str,
    text: &'static str,
    rows: &'static [(u8, u8, &'static str)],
    skipped: u64,
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "EdgeOS without aligned columns",
        text: "Address HWtype HWaddress Flags Mask Iface\n192.0.2.1 ether 00:00:5e:00:53:01 C eth0\n\
               192.0.2.2 (incomplete) eth1\n",
        rows: &[(1, 1, "eth0")],
        skipped: 1,
    },
    Sample {
        name: "VyOS",
        text: "Address    Interface    Link layer address    State\n\
               ---------  -----------  --------------------  ---------\n\
               192.0.2.1  eth0         00:00:5e:00:53:01     REACHABLE\n\
               192.0.2.2  eth1.20                            FAILED\n",
        rows: &[(1, 1, "eth0")],
        skipped: 1,
    },
    Sample {
        name: "Cisco IOS",
        text: "core#show ip arp\n\
               Protocol  Address          Age (min)  Hardware Addr   Type   Interface\n\
               Internet  192.0.2.1               12  0000.5e00.5301  ARPA   Vlan10\n\
               Internet  192.0.2.2                -  0000.5e00.5302  ARPA\n\
               Internet  192.0.2.3                0  Incomplete      ARPA\n\
               core#\n",
        rows: &[(1, 1, "Vlan10"), (2, 2, "")],
        skipped: 1,
    },
    Sample {
        name: "Cisco NX-OS",
        text: "\nFlags: * - Adjacencies learnt on non-active FHRP router\n\
               \x20      CP - Added via L2RIB, Control plane Adjacencies\n\n\
               IP ARP Table for context default\nTotal number of entries: 2\n\
               Address         Age       MAC Address     Interface       Flags\n\
               192.0.2.1       00:04:05  0000.5e00.5301  Vlan20\n\
               192.0.2.2       00:04:05  0000.5e00.5302  Ethernet1/3     *\n\n\
               IP ARP Table for context guests\nTotal number of entries: 1\n\
               Address         Age       MAC Address     Interface       Flags\n\
               192.0.2.3       00:00:05  0000.5e00.5303  Vlan30\n",
        rows: &[(1, 1, "Vlan20"), (2, 2, "Ethernet1/3"), (3, 3, "Vlan30")],
        skipped: 0,
    },
    Sample {
        name: "Cisco IOS-XR",
        text: "-------------------------------------------------------------------------------\n\
               0/0/CPU0\n\
               -------------------------------------------------------------------------------\n\
               Address         Age        Hardware Addr   State      Type  Interface\n\
               192.0.2.1       00:01:10   0000.5e00.5301  Dynamic    ARPA  GigabitEthernet0/0/0/0\n\
               192.0.2.2       -          0000.5e00.5302  Interface  ARPA  Bundle-Ether1.20\n\n\
               -------------------------------------------------------------------------------\n\
               0/1/CPU0\n\
               -------------------------------------------------------------------------------\n\
               Address         Age        Hardware Addr   State      Type  Interface\n\
               192.0.2.3       00:01:10   0000.5e00.5303  Dynamic    ARPA  TenGigE0/1/0/3\n",
        rows: &[(1, 1, "GigabitEthernet0/0/0/0"), (2, 2, "Bundle-Ether1.20"), (3, 3, "TenGigE0/1/0/3")],
        skipped: 0,
    },
    Sample {
        name: "Cisco ASA",
        text: "\tinside 192.0.2.1 0000.5e00.5301 12\n\tdmz 192.0.2.2 0000.5e00.5302 -\n",
        rows: &[(1, 1, "inside"), (2, 2, "dmz")],
        skipped: 0,
    },
    Sample {
        name: "Cisco Small Business",
        text: "Total number of entries: 1\n\n\
               \x20 VLAN                Interface           IP address        HW address          status\n\
               ---------------------  ---------------     ---------------   ------------------- ---------------\n\
               vlan 10               gi1/0/3             192.0.2.1         00:00:5e:00:53:01   dynamic\n",
        rows: &[(1, 1, "gi1/0/3")],
        skipped: 0,
    },
    Sample {
        name: "Junos with names",
        text: "MAC Address       Address         Name                      Interface               Flags\n\
               00:00:5e:00:53:01 192.0.2.1       gw.example.net            ge-0/0/0.0              none\n\
               00:00:5e:00:53:02 192.0.2.2       192.0.2.2                 irb.20 [ae1.0]          permanent\n\
               Total entries: 2\n\n{master:0}\n",
        rows: &[(1, 1, "ge-0/0/0.0"), (2, 2, "irb.20")],
        skipped: 0,
    },
    Sample {
        name: "FreeBSD",
        text: "? (192.0.2.1) at 00:00:5e:00:53:01 on em0 expires in 1134 seconds [ethernet]\n\
               gw.example.net (192.0.2.2) at 0:0:5e:0:53:2 on igb1.20 permanent [vlan]\n\
               ? (192.0.2.3) at (incomplete) on em0 expired [ethernet]\n",
        rows: &[(1, 1, "em0"), (2, 2, "igb1.20")],
        skipped: 1,
    },
    Sample {
        name: "OpenBSD",
        text: "Host                                 Ethernet Address    Netif Expire    Flags\n\
               192.0.2.1                            00:00:5e:00:53:01    vio0 19m54s\n\
               192.0.2.2                            00:00:5e:00:53:02    vio0 permanent l\n\
               192.0.2.3                            (incomplete)         vio0 expired\n",
        rows: &[(1, 1, "vio0"), (2, 2, "vio0")],
        skipped: 1,
    },
    Sample {
        name: "macOS IPv6",
        text: "Neighbor                                Linklayer Address  Netif Expire    St Flgs Prbs\n\
               2001:db8::1                             0:0:5e:0:53:1        en0 23h59m58s S  R\n\
               fe80::2%en0                             0:0:5e:0:53:2        en0 permanent R\n\
               2001:db8::3                             (incomplete)         en0 expired   N\n",
        rows: &[(1, 1, "en0"), (2, 2, "en0")],
        skipped: 1,
    },
    Sample {
        name: "Windows",
        text: "\r\nInterface: 192.0.2.5 --- 0xb\r\n\
               \x20 Internet Address      Physical Address      Type\r\n\
               \x20 192.0.2.1             00-00-5e-00-53-01     dynamic   \r\n\
               \x20 192.0.2.255           ff-ff-ff-ff-ff-ff     static    \r\n\
               \x20 224.0.0.22            01-00-5e-00-00-16     static    \r\n",
        rows: &[(1, 1, "")],
        skipped: 2,
    },
    Sample {
        name: "Windows in German",
        text: "\r\nSchnittstelle: 192.0.2.5 --- 0xb\r\n\
               \x20 Internetadresse       Physische Adresse     Typ\r\n\
               \x20 192.0.2.1             00-00-5e-00-53-01     dynamisch \r\n",
        rows: &[(1, 1, "")],
        skipped: 0,
    },
    Sample {
        name: "HP ProCurve",
        text: " IP ARP table\n\n  IP Address       MAC Address       Type    Port\n\
               \x20 ---------------  ----------------- ------- ----\n\
               \x20 192.0.2.1        00005e-005301     dynamic 24\n\
               \x20 192.0.2.2        00005e-005302     dynamic Trk1\n",
        rows: &[(1, 1, "24"), (2, 2, "Trk1")],
        skipped: 0,
    },
    Sample {
        name: "HPE Comware",
        text: "  Type: S-Static   D-Dynamic   O-Openflow   R-Rule   M-Multiport  I-Invalid\n\
               IP address      MAC address    VLAN/VSI name Interface                Aging Type\n\
               192.0.2.1       0000-5e00-5301 1             GE1/0/1                  15    D\n\
               192.0.2.2       0000-5e00-5302 20            BAGG1                    --    S\n",
        rows: &[(1, 1, "GE1/0/1"), (2, 2, "BAGG1")],
        skipped: 0,
    },
    Sample {
        name: "Aruba CX",
        text: "IPv4 Address     MAC                Port         Physical Port    State\n\
               -------------------------------------------------------------------------------\n\
               192.0.2.1        00:00:5e:00:53:01  vlan10       1/1/1            reachable\n\
               Total Number Of ARP Entries Listed: 1.\n",
        rows: &[(1, 1, "vlan10")],
        skipped: 0,
    },
    Sample {
        name: "FortiGate",
        text: "Address           Age(min)   Hardware Addr      Interface\n\
               192.0.2.1         0          00:00:5e:00:53:01 port1\n\
               192.0.2.2         3          00:00:5e:00:53:02 internal7\n",
        rows: &[(1, 1, "port1"), (2, 2, "internal7")],
        skipped: 0,
    },
    Sample {
        name: "PAN-OS",
        text: "maximum of entries supported :      2500\ndefault timeout:                    1800 seconds\n\
               total ARP entries in table :        2\ntotal ARP entries shown :           2\n\
               status: s - static, c - complete, e - expiring, i - incomplete\n\n\
               interface         ip address      hw address        port              status   ttl\n\
               --------------------------------------------------------------------------------\n\
               ethernet1/1       192.0.2.1       00:00:5e:00:53:01 ethernet1/1         c      1712\n\
               ae1.20            192.0.2.2       (incomplete)      ae1                 i      1\n",
        rows: &[(1, 1, "ethernet1/1")],
        skipped: 1,
    },
    Sample {
        name: "RouterOS 6",
        text: "Flags: X - disabled, I - invalid, H - DHCP, D - dynamic, P - published, C - complete\n\
               \x20#    ADDRESS         MAC-ADDRESS       INTERFACE\n\
               \x200 DC 192.0.2.1       00:00:5E:00:53:01 bridge-lan\n\
               \x201 D  192.0.2.2                         ether1\n",
        rows: &[(1, 1, "bridge-lan")],
        skipped: 1,
    },
    Sample {
        name: "RouterOS 7",
        text: "Flags: D - DYNAMIC; C - COMPLETE\nColumns: ADDRESS, MAC-ADDRESS, INTERFACE, STATUS\n\
               #    ADDRESS    MAC-ADDRESS        INTERFACE  STATUS\n\
               0 DC 192.0.2.1  00:00:5E:00:53:01  bridge     reachable\n\
               1 D  192.0.2.2                     ether1     failed\n",
        rows: &[(1, 1, "bridge")],
        skipped: 1,
    },
    Sample {
        name: "RouterOS, terse",
        text: " 0 DC address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=bridge published=no status=reachable\n\
               \x201 D  address=192.0.2.2 interface=ether1 published=no status=failed\n",
        rows: &[(1, 1, "bridge")],
        skipped: 1,
    },
    Sample {
        name: "Extreme EXOS",
        text: "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
               VR-Default    192.0.2.1        00:00:5e:00:53:01    0      NO  users         20    1:24\n\
               VR-Mgmt       192.0.2.2        00:00:5e:00:53:02   12      NO  Mgmt          4095\n\n\
               Dynamic Entries  :           2             Static Entries            :          0\n",
        // An entry without a port is in the VLAN.
        rows: &[(1, 1, "1:24"), (2, 2, "Mgmt")],
        skipped: 0,
    },
    Sample {
        name: "Huawei",
        text: "IP ADDRESS      MAC ADDRESS     EXPIRE(M) TYPE INTERFACE      VPN-INSTANCE\n\
               \x20                                         VLAN/CEVLAN PVC\n\
               ------------------------------------------------------------------------------\n\
               192.0.2.1       0000-5e00-5301            I -  Vlanif10\n\
               192.0.2.2       0000-5e00-5302  19        D-0  GE0/0/1\n\
               \x20                                         10/-\n\
               ------------------------------------------------------------------------------\n\
               Total:2         Dynamic:1       Static:0     Interface:1\n",
        rows: &[(1, 1, "Vlanif10"), (2, 2, "GE0/0/1")],
        skipped: 0,
    },
    Sample {
        name: "Nokia SR OS",
        text: "===============================================================================\n\
               ARP Table (Router: Base)\n\
               ===============================================================================\n\
               IP Address      MAC Address       Expiry    Type   Interface\n\
               -------------------------------------------------------------------------------\n\
               192.0.2.1       00:00:5e:00:53:01 00h00m00s Oth[I] to-core-1\n\
               -------------------------------------------------------------------------------\n\
               No. of ARP Entries: 1\n",
        rows: &[(1, 1, "to-core-1")],
        skipped: 0,
    },
    Sample {
        name: "Brocade FastIron",
        text: "Total number of ARP entries: 2\nEntries in default routing instance:\n\
               No.   IP Address       MAC Address      Type      Age Port               Status\n\
               1     192.0.2.1        0000.5e00.5301   Dynamic   0   1/1/1              Valid\n\
               2     192.0.2.2        None             Dynamic   1   1/1/2              Pend\n",
        rows: &[(1, 1, "1/1/1")],
        skipped: 1,
    },
    Sample {
        name: "ip neigh with other fields, in another order",
        text: "192.0.2.1 lladdr 00:00:5e:00:53:01 ref 1 used 12/34/5 probes 4 dev eth0 router REACHABLE\n\
               192.0.2.2 dev br0 lladdr 00:00:5e:00:53:02 extern_learn NOARP\n\
               192.0.2.3 lladdr 00:00:5e:00:53:03 STALE\n192.0.2.4 dev eth0 FAILED\n",
        rows: &[(1, 1, "eth0"), (2, 2, "br0"), (3, 3, "")],
        skipped: 1,
    },
    Sample {
        name: "Cisco IOS IPv6",
        text: "IPv6 Address                              Age Link-layer Addr State Interface\n\
               2001:DB8::1                                 0 0000.5e00.5301  REACH Vl10\n\
               FE80::2                                     - 0000.5e00.5302  STALE Gi0/1\n\
               2001:DB8::3                                 0 -               INCMP Vl10\n",
        rows: &[(1, 1, "Vl10"), (2, 2, "Gi0/1")],
        skipped: 1,
    },
    Sample {
        name: "Cisco NX-OS IPv6, long addresses on a line of their own",
        text: "Address         Age       MAC Address     Pref Source     Interface\n\
               2001:db8::1\n\
               \x20               00:01:00  0000.5e00.5301  50   icmpv6     Vlan10\n\
               2001:db8::2\n\
               \x20               00:02:00  0000.5e00.5302  50   icmpv6     Ethernet1/3\n",
        rows: &[(1, 1, "Vlan10"), (2, 2, "Ethernet1/3")],
        skipped: 0,
    },
];

#[test]
fn tables_of_every_vendor_are_read_by_one_reader() {
    for Sample { name, text, rows, skipped } in SAMPLES {
        let options = with_reporter();
        let report = parse(Format::Arp, text.as_bytes(), &options);
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected: Vec<_> = rows
            .iter()
            .map(|(ip, mac, interface)| {
                (*ip, *mac, Some(*interface).filter(|name| !name.is_empty()).map(str::to_owned))
            })
            .collect();
        assert_eq!(neighbors(&report), expected, "{name}");
        assert_eq!(report.skipped_rows, *skipped, "{name}: {:?}", report.warnings);
        let reasons: u64 = report.warnings.iter().map(|warning| warning.count).sum();
        assert_eq!(
            (report.read_rows, report.used_rows),
            (report.used_rows + skipped, rows.len() as u64),
            "{name}"
        );
        assert_eq!(reasons, *skipped, "{name}: {:?}", report.warnings);
        assert_eq!(Format::detect(text.as_bytes()), Some(Format::Arp), "{name}");
    }
}

#[test]
fn windows_states_the_index_of_the_interface() {
    let report = parse(Format::Arp, SAMPLES[11].text.as_bytes(), &with_reporter()).unwrap();
    assert_eq!(rows(report.devices[0].tables.arp.as_deref())[0].if_index, Some(11));
    assert_eq!(count(&report, WarningCode::AddressShared), 2);
}

#[test]
fn table_without_a_readable_row_is_refused_with_the_forms_that_are_read() {
    for text in [
        "IPv6 Address: 2001:db8::1\nPrefix length: 64\nInterface: GE0/0/1\n",
        "Address                  HWtype  HWaddress           Flags Mask            Iface\n\
         gateway                  ether   00:00:5e:00:53:01   C                     eth0\n",
        "MAC Address       Address         Interface\n00:00:5e:00:53:01 fe80:1::g         ge-0/0/0.0\n",
        "host,mac\nserver,00:00:5e:00:53:01\n",
        "hello\n",
        "[{\"mac\":\"00:00:5e:00:53:01\",\"dev\":\"eth0\"}]",
    ] {
        let error = refused(Format::Arp, text);
        assert!(matches!(error.kind(), ParseErrorKind::WrongFormat(_)), "{text}: {error}");
        let sentence = error.to_string();
        assert!(sentence.contains("`ip neigh`") && sentence.contains("heading"), "{sentence}");
    }
}

#[test]
fn known_heading_alone_is_an_empty_table() {
    let text = "Protocol  Address          Age (min)  Hardware Addr   Type   Interface\n";
    let report = parse(Format::Arp, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    let table = report.devices[0].tables.arp.as_deref().unwrap();
    assert!(table.rows.is_empty() && table.complete && report.warnings.is_empty());
}

#[test]
fn table_with_an_unreadable_line_is_not_complete() {
    let text = "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 REACHABLE\nsomething else\n";
    let report = parse(Format::Arp, text.as_bytes(), &with_reporter().with_complete_tables()).unwrap();
    let table = report.devices[0].tables.arp.as_deref().unwrap();
    assert!(table.rows.len() == 1 && !table.complete);
    let warning = &report.warnings[0];
    assert_eq!((warning.line, warning.example.as_deref()), (Some(2), Some("something else")));
}
