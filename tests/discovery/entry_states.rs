//! The states of entries that neighbor tables write as letters, flags or columns.

use toposcope::discovery::report::{NeighborState, WarningCode};

use crate::neighbor_tables::{is_whole, read};
use crate::support::{count, rows};

/// Returns the last bytes of the addresses of static entries and of others, and the number of unreachable ones.
fn states(text: &str) -> (Vec<u8>, Vec<u8>, u64) {
    let report = read(text);
    assert!(is_whole(&report), "{text}{:?}", report.warnings);
    let rows = rows(report.devices[0].tables.arp.as_deref());
    let (of_static, others): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.state == Some(NeighborState::Static));
    let bytes = |rows: Vec<toposcope::discovery::report::ArpRow>| {
        rows.iter().map(|row| row.mac_address.octets()[5]).collect::<Vec<u8>>()
    };
    (bytes(of_static), bytes(others), count(&report, WarningCode::RowIncomplete))
}

#[test]
fn letters_flags_and_columns_of_states_are_read() {
    let cases: &[(&str, &[u8], &[u8], u64)] = &[
        // RouterOS: an entry that is not dynamic is static.
        (
            "Flags: X - disabled, I - invalid, H - DHCP, D - dynamic, P - published, C - complete\n\
             \x20#    ADDRESS         MAC-ADDRESS       INTERFACE\n\
             \x200 DC 192.0.2.1       00:00:5E:00:53:01 ether2\n\
             \x201    192.0.2.2       00:00:5E:00:53:02 ether5\n\
             \x202 X  192.0.2.3       00:00:5E:00:53:03 ether5\n\
             \x203 DHC 192.0.2.4      00:00:5E:00:53:04 ether5\n",
            &[2],
            &[1, 4],
            1,
        ),
        (
            "Flags: D - DYNAMIC; C - COMPLETE\nColumns: ADDRESS, MAC-ADDRESS, INTERFACE\n\
             #    ADDRESS       MAC-ADDRESS        INTERFACE\n\
             0 DC 192.0.2.1     00:00:5E:00:53:01  bridge1\n\
             1  C 192.0.2.2     00:00:5E:00:53:02  bridge1\n",
            &[2],
            &[1],
            0,
        ),
        (
            " 0 DC address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=ether2 published=no\n\
             \x201    address=192.0.2.2 mac-address=00:00:5E:00:53:02 interface=ether5 published=no\n\
             \x202 X  address=192.0.2.3 mac-address=00:00:5E:00:53:03 interface=ether5 published=no\n",
            &[2],
            &[1],
            1,
        ),
        ("/ip arp\nadd address=192.0.2.2 interface=ether5 mac-address=00:00:5E:00:53:02\n", &[2], &[], 0),
        (
            " 0 R  address=2001:db8::1 interface=ether1 mac-address=00:00:5E:00:53:01 router=yes status=\"reachable\"\n\
             \x201    address=2001:db8::2 interface=ether1 mac-address=00:00:5E:00:53:02 router=no\n",
            &[],
            &[1, 2],
            0,
        ),
        (
            "/ip arp add address=192.0.2.2 interface=ether5 mac-address=00:00:5E:00:53:02\n\
             /ip arp add address=192.0.2.3 disabled=yes interface=ether5 mac-address=00:00:5E:00:53:03\n",
            &[2],
            &[],
            1,
        ),
        // The legend of one command is not that of the next.
        (
            "[admin@r1] > /ip arp print\nFlags: D - DYNAMIC; C - COMPLETE\n\
             #    ADDRESS       MAC-ADDRESS        INTERFACE\n\
             0  C 192.0.2.1     00:00:5E:00:53:01  bridge1\n\
             [admin@r1] > /ipv6 neighbor print\n\
             #    ADDRESS       MAC-ADDRESS        INTERFACE\n\
             0    192.0.2.2     00:00:5E:00:53:02  bridge1\n",
            &[1],
            &[2],
            0,
        ),
        // RouterOS and OPNsense, in JSON.
        (
            r#"[{"address":"192.0.2.1","mac-address":"00:00:5E:00:53:01","interface":"ether1","dynamic":"true","disabled":"false"},
            {"address":"192.0.2.2","mac-address":"00:00:5E:00:53:02","interface":"ether1","dynamic":"false","disabled":"false"},
            {"address":"192.0.2.3","mac-address":"00:00:5E:00:53:03","interface":"ether1","dynamic":"false","disabled":"true"}]"#,
            &[2],
            &[1],
            1,
        ),
        (
            r#"[{"mac":"00:00:5e:00:53:01","ip":"192.0.2.1","intf":"igb0","expired":false,"permanent":false},
            {"mac":"00:00:5e:00:53:02","ip":"192.0.2.2","intf":"igb0","expired":false,"permanent":true}]"#,
            &[2],
            &[1],
            0,
        ),
        // Comware.
        (
            "  Type: S-Static   D-Dynamic   O-Openflow   R-Rule   M-Multiport  I-Invalid\n\
             IP address      MAC address    VLAN/VSI   Interface                Aging Type\n\
             192.0.2.1       0000-5e00-5301 10         GE1/0/1                  16    D\n\
             192.0.2.2       0000-5e00-5302 N/A        GE1/0/2                  N/A   S\n\
             192.0.2.3       0000-5e00-5303 10         GE1/0/3                  N/A   I\n",
            &[2],
            &[1],
            1,
        ),
        // VRP.
        (
            "IP ADDRESS      MAC ADDRESS     EXPIRE(M) TYPE        INTERFACE   VPN-INSTANCE\n\
             192.0.2.1       0000-5e00-5301  16        D-0         GE0/0/1\n\
             192.0.2.2       0000-5e00-5302            S--         GE0/0/2\n",
            &[2],
            &[1],
            0,
        ),
        // PAN-OS.
        (
            "maximum of entries supported :      1500\ntotal ARP entries in table :        4\n\
             status: s - static, c - complete, e - expiring, i - incomplete\n\n\
             interface         ip address      hw address        port              status   ttl\n\
             --------------------------------------------------------------------------------\n\
             ethernet1/1       192.0.2.1       00:00:5e:00:53:01 ethernet1/1         c      1500\n\
             ethernet1/1       192.0.2.2       00:00:5e:00:53:02 ethernet1/1         s      0\n\
             ethernet1/1       192.0.2.3       00:00:5e:00:53:03 ethernet1/1         i      1\n\
             ethernet1/1       192.0.2.4       00:00:5e:00:53:04 ethernet1/1         e      9\n",
            &[2],
            &[1, 4],
            1,
        ),
        // EXOS.
        (
            "VR            Destination      Mac                Age  Static  VLAN          VID   Port\n\
             VR-Default    192.0.2.1        00:00:5e:00:53:01   20      NO  blue          4092  1:25\n\
             VR-Default    192.0.2.2        00:00:5e:00:53:02    0     YES  blue          4092  1:25\n",
            &[2],
            &[1],
            0,
        ),
        // Linux.
        (
            "Address                  HWtype  HWaddress           Flags Mask            Iface\n\
             192.0.2.1                ether   00:00:5e:00:53:01   C                     eth0\n\
             192.0.2.2                ether   00:00:5e:00:53:02   CM                    eth0\n",
            &[2],
            &[1],
            0,
        ),
        (
            "IP address       HW type     Flags       HW address            Mask     Device\n\
             192.0.2.1        0x1         0x2         00:00:5e:00:53:01     *        br-lan\n\
             192.0.2.2        0x1         0x6         00:00:5e:00:53:02     *        br-lan\n\
             192.0.2.3        0x1         0x0         00:00:5e:00:53:03     *        br-lan\n",
            &[2],
            &[1],
            1,
        ),
        // PowerShell, whose JSON may have numbers.
        (
            r#"[{"State":5,"InterfaceAlias":"Ethernet","IPAddress":"192.0.2.1","LinkLayerAddress":"00-00-5E-00-53-01"},
            {"State":6,"InterfaceAlias":"Ethernet","IPAddress":"192.0.2.2","LinkLayerAddress":"00-00-5E-00-53-02"},
            {"State":0,"InterfaceAlias":"Ethernet","IPAddress":"192.0.2.3","LinkLayerAddress":"00-00-5E-00-53-03"}]"#,
            &[2],
            &[1],
            1,
        ),
    ];
    for (text, of_static, others, unreachable) in cases {
        assert_eq!(states(text), (of_static.to_vec(), others.to_vec(), *unreachable), "{text}");
    }
}

#[test]
fn lists_below_a_table_are_no_entries_and_damaged_entries_are() {
    let table = "  IP Address    MAC Address  Vlan  Interface             Probe-Timeout   State    Source\n\
                 192.0.2.1     0000.5e00.5301 1    GigabitEthernet1/0/9   30              ACTIVE   ARP\n\n\
                 Total number interfaces enabled: 3\nEnabled interfaces:\n  Vl1, Vl3, Gi1/0/1,\n  Gi1/0/2, Gi1/0/3\n";
    assert!(is_whole(&read(table)));
    for damaged in ["192.0.2, 0000.5e00\n", "192.0.2.\n", "something,else\n"] {
        assert!(!is_whole(&read(&format!("{table}{damaged}"))), "{damaged}");
    }
}
