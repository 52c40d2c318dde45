//! The cells of neighbor tables: MAC addresses with notes, and interfaces beside other columns.

use toposcope::discovery::report::WarningCode;

use crate::neighbor_tables::{entries, is_whole, read, read_whole};
use crate::support::count;

#[test]
fn mac_addresses_with_notes_are_read() {
    let cases: &[(&str, &[&str])] = &[
        (
            "    Network Layer Address    Link Layer Address     Interface  vlan   state\n\
             ND  192.0.2.1                0000.5e00.5301(S)      Gi1/0/7    39     STALE\n\
             L   192.0.2.2                0000.5e00.5302(R)      Vl39       39     REACHABLE\n\
             S   2001:db8::3              0000.5e00.5303(D)      Gi1/0/9    39     DOWN\n",
            &["1 Gi1/0/7", "2 Vl39", "3 Gi1/0/9"],
        ),
        (
            "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
             VR-Default    192.0.2.1        00:00:5e:00:53:01   20      NO  blue          4092  1:25\n\
             VR-Default    192.0.2.2        (00:00:5e:00:53:02)  0      NO  Default       4095\n",
            &["1 1:25", "2 Default"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read_whole(text, expected).skipped_rows, 0, "{text}");
    }
}

#[test]
fn unknown_notation_of_a_mac_address_is_no_word_for_none() {
    let heading = "Address          Age (min)  Hardware Addr         Interface\n\
                   192.0.2.1               2   0000.5e00.5301        Vlan10\n";
    for (cell, incomplete, malformed) in [
        ("0000.5e00.53", 0, 1),
        ("0000.5e00.5302/S", 0, 1),
        ("00:00:5e:00:53:02:03", 0, 1),
        ("xx:xx:xx:xx:xx:02", 0, 1),
        ("0x00005e005302", 0, 1),
        ("Incomplete", 1, 0),
        ("(unvollst\u{e4}ndig)", 1, 0),
        ("Resolving", 1, 0),
        ("-", 1, 0),
        ("", 1, 0),
        ("0000.0000.0000", 1, 0),
        ("198.51.100.1", 1, 0),
    ] {
        let report = read(&format!("{heading}192.0.2.2               -   {cell:<22}Vlan10\n"));
        assert_eq!(entries(&report), ["1 Vlan10"], "{cell}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), incomplete, "{cell}");
        assert_eq!(count(&report, WarningCode::RowMalformed), malformed, "{cell}");
        assert_eq!(is_whole(&report), malformed == 0, "{cell}");
    }
    // The same in cells with separators, fields and named values.
    for (text, is_complete) in [
        ("ip,mac,intf\n192.0.2.1,00:00:5e:00:53:01,em0\n192.0.2.2,00:00:5e:00:53,em0\n", false),
        ("ip,mac,intf\n192.0.2.1,00:00:5e:00:53:01,em0\n192.0.2.2,none,em0\n", true),
        (
            "192.0.2.1 dev em0 lladdr 00:00:5e:00:53:01 STALE\n192.0.2.2 dev em0 lladdr 00:00:5e:00:53 STALE\n",
            false,
        ),
        (
            "192.0.2.1 dev em0 lladdr 00:00:5e:00:53:01 STALE\n192.0.2.2 dev gre0 lladdr 198.51.100.1 NOARP\n",
            true,
        ),
        ("? (192.0.2.1) at 00:00:5e:00:53:01 on em0\n? (192.0.2.2) at 00:00:5e:00:53 on em0\n", false),
        ("? (192.0.2.1) at 00:00:5e:00:53:01 on em0\n? (192.0.2.2) at <incomplete> on em0\n", true),
        (
            "add address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=em0\n\
             add address=192.0.2.2 mac-address=00:00:5E:00:53 interface=em0\n",
            false,
        ),
        (
            "IPv6 Address : 2001:db8::1\nLink-layer : 0000-5e00-5301\nInterface : em0\n\n\
             IPv6 Address : 2001:db8::2\nLink-layer : 0000-5e00-53\nInterface : em0\n\n",
            false,
        ),
    ] {
        let report = read(text);
        assert_eq!(entries(&report), ["1 em0"], "{text}");
        assert_eq!(is_whole(&report), is_complete, "{text}");
    }
}

#[test]
fn entries_without_an_ethernet_address_leave_a_table_whole() {
    let cases: &[(&str, &[&str])] = &[
        // The age is beside the title of the MAC address.
        (
            "r1#show ipv6 neighbors\nIPv6 Address                              Age Link-layer Addr State Interface\n\
             2001:DB8::1                                 0 0000.5e00.5301  REACH Et0/0\n\
             2001:DB8::2                                 0 -               INCMP Et0/0\n",
            &["1 Et0/0"],
        ),
        (
            "r1#show ipv6 neighbors\nIPv6 Address                              Age Link-layer Addr State Interface\n\
             2001:DB8::2                                 0 -               INCMP Et0/0\n\
             2001:DB8::3                                 5                 INCMP Et0/0\n",
            &[],
        ),
    ];
    for (text, expected) in cases {
        assert_ne!(count(&read_whole(text, expected), WarningCode::RowIncomplete), 0, "{text}");
    }
}

#[test]
fn shortened_addresses_of_infiniband_are_counted_and_leave_the_table_incomplete() {
    let heading = "IP address       HW type     Flags       HW address            Mask     Device\n";
    let infiniband =
        "192.0.2.2        0x20        0x2         80:00:00:48:fe:80:00:00:00:00     *        ib0\n";
    let ethernet = "192.0.2.1        0x1         0x2         00:00:5e:00:53:01     *        eth0\n";
    for (text, expected) in [
        (format!("{heading}{ethernet}{infiniband}"), vec!["1 eth0"]),
        (format!("{heading}{infiniband}"), vec![]),
        (
            "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n\
             192.0.2.2 dev ib0 lladdr 80:00:00:48:fe:80:00:00:00:00 STALE\n"
                .to_owned(),
            vec!["1 eth0"],
        ),
        (
            r#"[{"dst":"192.0.2.2","dev":"ib0","lladdr":"80:00:00:48:fe:80:00:00:00:00","state":["STALE"]}]"#
                .to_owned(),
            vec![],
        ),
    ] {
        let report = read(&text);
        assert_eq!(entries(&report), expected, "{text}");
        let counts = [WarningCode::HardwareAddressShortened, WarningCode::RowMalformed];
        assert_eq!(counts.map(|code| count(&report, code)), [1, 0], "{text}");
        assert!(!report.devices[0].tables.arp.as_deref().unwrap().complete, "{text}");
    }
}

#[test]
fn addresses_in_brackets_of_a_sentence_are_no_entry() {
    let report = read(
        "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 STALE\n\
         Address 192.0.2.2 is also in use by (00:00:5e:00:53:02)\n",
    );
    assert_eq!(entries(&report), ["1 eth0"]);
    assert_eq!(count(&report, WarningCode::RowMalformed), 1);
}

#[test]
fn interface_is_found_although_cells_are_missing_or_not_below_their_titles() {
    let cases: &[(&str, &[&str])] = &[
        // SonicOS: the name of a vendor has spaces, and moves the cells behind it.
        (
            "IP Address     Type     MAC Address        Vendor      Interface  Timeout\n\
             192.0.2.1      Static   00:00:5E:00:53:01  EXAMPLE                     X0:V10     Permanent published\n\
             192.0.2.2      Dynamic  00:00:5E:00:53:02  EXAMPLE NETWORK SYSTEMS  X0:V10     Expires in 9 minutes  9\n",
            &["1 X0:V10", "2 X0:V10"],
        ),
        // macOS: the last column is empty, and the cells are to the left of their titles.
        (
            "Neighbor                Linklayer Address Expire(O) Expire(I)          Netif Refs Prbs\n\
             192.0.2.1              0:0:5e:0:53:1     1m20s     48s            en0    1\n\
             192.0.2.2              00:00:5e:00:53:02 1m5s      37s            en7    1\n",
            &["1 en0", "2 en7"],
        ),
        // ERS: the type is below the end of the title before it.
        (
            "IP_ADDRESS      MAC_ADDRESS        VLAN    PORT       TYPE    TTL(10 Sec)\n\
             --------------------------------------------------------------------------------\n\
             192.0.2.1       00:00:5e:00:53:01  255     3/7      DYNAMIC 1263\n\
             192.0.2.2       00:00:5e:00:53:02  255     3/8        DYNAMIC 1263\n\
             192.0.2.3       00:00:5e:00:53:03  255     -          LOCAL   2160\n",
            &["1 3/7", "2 3/8", "3"],
        ),
        // NX-OS: flags follow with a single space.
        (
            "Address         Age       MAC Address     Interface       Flags\n\
             192.0.2.1          -      0000.5e00.5301  Ethernet1/12 (D)\n\
             192.0.2.2       00:12:01  0000.5e00.5302  Ethernet1/13\n",
            &["1 Ethernet1/12", "2 Ethernet1/13"],
        ),
        // IOS-XR: a title is cut off.
        (
            "IPv6 Address                             Age  Link-layer Add State Interface            Location      Static Dynamic\n\
             2001:db8:0:1::1                                 82   0000.5e00.5301 REACH Gi0/0/0/0            0/0/CPU0        -      Y\n\
             2001:db8::2                              158  0000.5e00.5302 REACH Gi0/0/0/1            0/0/CPU0        -      Y\n",
            &["1 Gi0/0/0/0", "2 Gi0/0/0/1"],
        ),
        // Windows: words in brackets are a part of the name.
        (
            "IPAddress        LinkLayerAddress      InterfaceAlias              State\n\
             192.0.2.1        00-00-5E-00-53-01     vEthernet (Default Switch)  Reachable\n\
             192.0.2.2        00-00-5E-00-53-02     vEthernet (IT)              Reachable\n",
            &["1 vEthernet (Default Switch)", "2 vEthernet (IT)"],
        ),
        // Linux: the address of IP over InfiniBand moves the cells behind it beyond their titles.
        (
            "Address                  HWtype  HWaddress           Flags Mask            Iface\n\
             192.0.2.1                ether   00:00:5e:00:53:01   C                     eth0\n\
             192.0.2.2                infiniband 80:00:00:48:FE:80:00:00:00:00:00:00:00:00:5E:02:00:00:53:02   C                     ib0\n",
            &["1 eth0", "128 ib0"],
        ),
    ];
    for (text, expected) in cases {
        read_whole(text, expected);
    }
}

#[test]
fn interface_may_have_another_title_or_a_vlan_in_its_place() {
    let cases: &[(&str, &[&str])] = &[
        // Viptela: the title is on two lines, the first of which begins the file.
        (
            "     IF\nVPN  NAME  IP         MAC                STATE    IDLE TIMER  UPTIME\n\
             -----------------------------------------------------------------------------\n\
             0    eth0  192.0.2.1  00:00:5e:00:53:01  dynamic  0:00:11:33  0:00:08:28\n",
            &["1 eth0"],
        ),
        (
            "Host              Hardware address    Ttl    Type  Circuit\n\
             192.0.2.1         00:00:5e:00:53:01   2422   ARPA  1/26\n",
            &["1 1/26"],
        ),
        // ScreenOS: the name of the virtual router precedes that of the interface.
        (
            "            IP           Mac          VR/Interface  State   Age  Retry\n\
             ---------------------------------------------------------------------\n\
             192.0.2.1     00005e005301 trust-vr/eth3/1.1500    VLD   505      0\n",
            &["1 eth3/1.1500"],
        ),
        // FTOS: an address of the device itself has no port.
        (
            "Protocol    Address         Age(min)  Hardware Address    Interface  VLAN    CPU\n\
             --------------------------------------------------------------------------------\n\
             Internet    192.0.2.1             0   00:00:5e:00:53:01   Gi 0/24    Vl 2    CP\n\
             Internet    192.0.2.2             -   00:00:5e:00:53:02      -       Vl 2    CP\n\
             Internet    192.0.2.3             -   00:00:5e:00:53:03      -       -       CP\n",
            &["1 Gi 0/24", "2 Vl 2", "3"],
        ),
    ];
    for (text, expected) in cases {
        read_whole(text, expected);
    }
}
