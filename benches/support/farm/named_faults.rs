//! The named faults, each from a public report of a device.

use std::time::Duration;

use async_snmp::Version;
use toposcope::collect::snmp::{ObjectId, SnmpValue};

use super::agent::Agent;
use super::device::{CDP, LLDP, MIB, VLAN, mac, text};
use super::fault::Fault;
use super::faulty::{Group, NamedFault, Sight};
use super::network::Family::{self, Managed, Numbered, Router};

/// `ifDescr`, `ifTable` and `lldpRemTable`.
const IF_DESCR: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2, 1, 2];
const IF_TABLE: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2];
const LLDP_REMOTE: &[u32] = &[1, 0, 8802, 1, 1, 2, 1, 4, 1];

/// LLDP-V2-MIB.
const LLDP_V2: [u32; 9] = [1, 3, 111, 2, 802, 1, 1, 13, 1];

/// `dot1dTpFdbTable`, `dot1dBasePortIfIndex` and `dot1qTpFdbTable`.
const FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 4, 3];
const BASE_PORTS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2];
const Q_FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2];

/// `vtpVlanState` of the first domain.
const VTP_VLAN_STATE: [u32; 15] = [1, 3, 6, 1, 4, 1, 9, 9, 46, 1, 3, 1, 1, 2, 1];

/// A fault of a device that reports its neighbors all the same.
const fn fault(name: &'static str, family: Family, apply: fn(&mut Group<'_>)) -> NamedFault {
    NamedFault { name, family, reports: true, has_user: false, apply }
}

/// A fault of a device that may not report all of its neighbors.
const fn partial(name: &'static str, apply: fn(&mut Group<'_>)) -> NamedFault {
    NamedFault { reports: false, ..fault(name, Managed, apply) }
}

/// A fault of a device that speaks SNMPv3 alone.
const fn with_user(name: &'static str, family: Family, apply: fn(&mut Group<'_>)) -> NamedFault {
    NamedFault { has_user: true, ..fault(name, family, apply) }
}

/// All named faults.
pub(crate) const FAULTS: &[NamedFault] = &[
    // Requests and answers.
    fault("ignores GETBULK", Managed, |group| group.add(Fault::IgnoresBulk)),
    fault("refuses GETBULK", Managed, |group| group.add(Fault::RefusesBulk)),
    fault("answers GETBULK with nothing", Managed, |group| group.add(Fault::AnswersBulkWithNothing)),
    fault("answers too big above 3 variables", Managed, |group| group.add(Fault::TooBigAbove(3))),
    fault("answers too big always", Managed, |group| group.add(Fault::TooBigAbove(0))),
    fault("drops every tenth packet", Managed, |group| group.add(Fault::DropsEvery(10))),
    fault("drops every second packet", Managed, |group| group.add(Fault::DropsEvery(2))),
    fault("takes 4 seconds", Managed, |group| group.add(Fault::Takes(Duration::from_secs(4)))),
    fault("answers after the request was given up", Managed, |group| {
        group.add(Fault::TakesForEvery(7, Duration::from_millis(2_500)));
    }),
    fault("sends each answer twice", Managed, |group| group.add(Fault::Duplicates)),
    fault("sends answers with other ids", Managed, |group| group.add(Fault::WrongIds)),
    fault("answers from another address", Managed, |group| {
        group.add(Fault::AnswersFrom([127, 1, 9, 9].into()));
    }),
    fault("speaks SNMPv1 alone", Managed, |group| group.own().is_v1 = true),
    fault("refuses SNMPv2c", Managed, |group| group.add(Fault::Denies(Version::V2c, 16))),
    fault("reboots in the middle", Managed, |group| group.add(Fault::RebootsAfter(9))),
    partial("dies in the middle", |group| group.add(Fault::DiesAfter(4))),
    // Tables.
    fault("fails below the names of its interfaces", Managed, |group| group.add(Fault::FailsBelow(IF_DESCR))),
    fault("is silent below the names of its interfaces", Managed, |group| {
        group.add(Fault::SilentBelow(IF_DESCR));
    }),
    partial("is silent below its neighbors", |group| group.add(Fault::SilentBelow(LLDP_REMOTE))),
    fault("fails below its bridge ports", Numbered, |group| group.add(Fault::FailsBelow(BASE_PORTS))),
    partial("repeats a neighbor without end", |group| {
        group.add(Fault::RepeatsAt([LLDP_REMOTE, &[1, 5, 0, 2, 2]].concat()));
    }),
    fault("circles in the table of interfaces", Managed, |group| group.add(Fault::Circles(IF_TABLE))),
    fault("circles in the table of neighbors", Managed, |group| group.add(Fault::Circles(LLDP_REMOTE))),
    fault("goes back behind the table of neighbors", Managed, |group| {
        group.add(Fault::GoesBackBehind(LLDP_REMOTE));
    }),
    fault("has an unsorted table of neighbors", Managed, |group| group.add(Fault::Unsorted(LLDP_REMOTE))),
    fault("has an unsorted table and ignores GETBULK", Managed, |group| {
        group.own().faults.extend([Fault::Unsorted(LLDP_REMOTE), Fault::IgnoresBulk]);
    }),
    fault("answers genErr behind its last object", Managed, |group| group.add(Fault::FailsAtEnd)),
    fault("lacks instances in the middle of a table", Managed, |group| {
        let hole = [LLDP_REMOTE, &[1, 4, 0, 1, 0]].concat();
        group.own().set(&[&hole], SnmpValue::NoSuchInstance);
    }),
    // SNMPv3.
    with_user("reboots in the middle by SNMPv3", Managed, |group| group.add(Fault::RebootsAfter(9))),
    with_user("has an engine whose time jumps", Managed, |group| group.add(Fault::EngineTimeJumps(7))),
    with_user("has an engine whose id changes", Managed, |group| group.add(Fault::EngineChangesAfter(8))),
    with_user("has the engine id of another device", Managed, |group| {
        if let Some(engine) = &mut group.own().engine {
            engine.id = vec![0x80, 0, 0, 9, 4, b's', b'a', b'm', b'e'];
        }
    }),
    with_user("has the engine id of that device as well", Managed, |group| {
        if let Some(engine) = &mut group.own().engine {
            engine.id = vec![0x80, 0, 0, 9, 4, b's', b'a', b'm', b'e'];
        }
    }),
    // Forwarding databases.
    fault("has a forwarding database for each VLAN", Router, split_by_vlan),
    with_user("has a forwarding database for each VLAN by SNMPv3", Router, split_by_vlan),
    fault("has forwarding databases by FID", Managed, |group| {
        let agent = group.own();
        agent.rename(Q_FDB, |rest| [&rest[..2], &[4_242], &rest[3..]].concat());
        agent.set(&[&MIB, &[17, 7, 1, 4, 2, 1, 3, 0, VLAN]], SnmpValue::Gauge32(4_242));
    }),
    fault("has forwarding entries without a VLAN", Managed, |group| {
        group.own().rename(Q_FDB, |rest| [&rest[..2], &rest[3..]].concat());
    }),
    fault("has forwarding entries behind port 0", Managed, |group| {
        group.own().replace(Q_FDB, |rest, value| {
            let is_port = rest[1] == 2;
            vec![(rest.to_vec(), if is_port { SnmpValue::Integer(0) } else { value.clone() })]
        });
    }),
    fault("learns each address on all ports", Managed, |group| {
        let near = mac(group.place + 1, 0).map(u32::from);
        for port in 1..=24 {
            let row = |column| [Q_FDB, &[1, column, 100 + port], &near].concat();
            group.own().set(&[&row(2)], SnmpValue::Integer(port.cast_signed()));
            group.own().set(&[&row(3)], SnmpValue::Integer(3));
        }
    }),
    // Interfaces and addresses.
    fault("has one MAC address on all ports", Managed, |group| {
        let own = mac(group.place, 0);
        group.interfaces(6, |_| SnmpValue::Bytes(own.into()));
    }),
    fault("has no MAC addresses on its ports", Managed, |group| {
        group.interfaces(6, |_| SnmpValue::Bytes([].into()));
    }),
    fault("has interfaces without short names", Managed, |group| {
        let device = group.device().clone();
        group.own().remove(&[&MIB[..], &[31, 1, 1, 1, 1]].concat());
        group.interfaces(2, |index| if index <= 24 { text(device.port_name(index)) } else { text("Vlan10") });
    }),
    fault("has interface indexes of nine digits", Managed, |group| {
        let far = |index: u32| if index <= 24 { 436_207_616 + index * 4_096 } else { index };
        let agent = group.own();
        for column in 1..=8 {
            agent.rename(&[IF_TABLE, &[1, column]].concat(), |rest| vec![far(rest[0])]);
        }
        for column in [1, 15, 18] {
            agent.rename(&[&MIB[..], &[31, 1, 1, 1, column]].concat(), |rest| vec![far(rest[0])]);
        }
        agent.replace(BASE_PORTS, |rest, _| {
            vec![(rest.to_vec(), SnmpValue::Integer(far(rest[0]).cast_signed()))]
        });
    }),
    fault("states a wrong number of interfaces", Managed, |group| {
        group.own().set(&[&MIB, &[2, 1, 0]], SnmpValue::Integer(1));
    }),
    fault("has 998 VLAN interfaces", Router, |group| {
        for number in 1..=998_u32 {
            let index = 5_000 + number;
            let agent = group.own();
            agent.set(&[IF_TABLE, &[1, 2, index]], text(format!("Vlan{number}")));
            agent.set(&[IF_TABLE, &[1, 3, index]], SnmpValue::Integer(53));
            agent.set(&[&MIB, &[31, 1, 1, 1, 1, index]], text(format!("Vl{number}")));
            address(agent, [10, (number >> 8) as u8, number as u8, 1], index, 24);
        }
    }),
    fault("states 2,000 subnets of four addresses", Router, |group| {
        for number in 0..2_000_u32 {
            let low = number * 4 + 1;
            address(group.own(), [127, 1, 100 + (low >> 8) as u8, low as u8], 1_000, 30);
        }
    }),
    fault("is a stack", Managed, |group| {
        let agent = group.own();
        for port in 1..=24 {
            let index = 200 + port;
            agent.set(&[IF_TABLE, &[1, 2, index]], text(format!("interface Gi2/0/{port}")));
            agent.set(&[IF_TABLE, &[1, 3, index]], SnmpValue::Integer(6));
            agent.set(&[&MIB, &[31, 1, 1, 1, 1, index]], text(format!("Gi2/0/{port}")));
            agent.set(&[BASE_PORTS, &[index]], SnmpValue::Integer(index.cast_signed()));
        }
        for (part, class, serial) in [(1, 11, ""), (2, 3, "STACK1"), (3, 3, "STACK2")] {
            agent.set(&[&MIB, &[47, 1, 1, 1, 1, 4, part]], SnmpValue::Integer(i32::from(part > 1)));
            agent.set(&[&MIB, &[47, 1, 1, 1, 1, 5, part]], SnmpValue::Integer(class));
            agent.set(&[&MIB, &[47, 1, 1, 1, 1, 11, part]], text(serial));
            agent.set(&[&MIB, &[47, 1, 1, 1, 1, 13, part]], text("Managed"));
        }
    }),
    fault("has a clock that jumps", Managed, |group| group.add(Fault::UpTimeJumps)),
    // LLDP and CDP: identities.
    fault("has 127.0.0.1 as its management address", Managed, |group| {
        group.announce_address(Some([127, 0, 0, 1]));
    }),
    fault("announces no management address", Managed, |group| group.announce_address(None)),
    fault("has the chassis id of its neighbor", Managed, |group| {
        let other = SnmpValue::Bytes(mac(group.place + 2, 0).into());
        group.announce(5, |_| other.clone());
        group.own().set(&[&LLDP, &[3, 2, 0]], other);
    }),
    fault("has a chassis id without a subtype", Managed, |group| {
        group.announce(4, |_| SnmpValue::Integer(0));
        group.own().set(&[&LLDP, &[3, 1, 0]], SnmpValue::Integer(0));
    }),
    fault("has a chassis id as text", Managed, |group| {
        let id = mac(group.place, 0).map(|octet| format!("{octet:02X}")).join(":");
        group.announce(4, |_| SnmpValue::Integer(7));
        group.announce(5, |_| text(&*id));
        group.own().set(&[&LLDP, &[3, 1, 0]], SnmpValue::Integer(7));
        group.own().set(&[&LLDP, &[3, 2, 0]], text(id));
    }),
    fault("ends its ids with a NUL", Managed, |group| {
        let device = group.device().clone();
        group.announce(7, |port| text(format!("{}\0", device.port_name(port))));
        group.announce(9, |_| text(format!("{}\0", device.name)));
        group.announce_own(3, |port| text(format!("{}\0", device.port_name(port))));
        group.own().set(&[&LLDP, &[3, 3, 0]], text(format!("{}\0", device.name)));
    }),
    fault("announces its name with a domain", Managed, |group| {
        let name = format!("{}.example.net", group.device().name);
        group.announce(9, |_| text(&*name));
        group.own().set(&[&LLDP, &[3, 3, 0]], text(name));
    }),
    fault("has MAC addresses as port ids", Managed, |group| {
        let place = group.place;
        group.announce(6, |_| SnmpValue::Integer(3));
        group.announce(7, |port| SnmpValue::Bytes(mac(place, port).into()));
        group.announce_own(2, |_| SnmpValue::Integer(3));
        group.announce_own(3, |port| SnmpValue::Bytes(mac(place, port).into()));
    }),
    fault("numbers its ports for LLDP as bridge ports, and announces the numbers", Numbered, |_| {}),
    // LLDP and CDP: tables.
    fault("numbers its ports for LLDP otherwise", Managed, |group| {
        let agent = group.own();
        for column in [2, 3, 4] {
            agent.rename(&[&LLDP[..], &[3, 7, 1, column]].concat(), |rest| vec![5_000 - rest[0] * 7]);
        }
        agent.rename(LLDP_REMOTE, |rest| [&rest[..3], &[5_000 - rest[3] * 7], &rest[4..]].concat());
        agent.remove(&[&LLDP[..], &[4, 2]].concat());
    }),
    fault("has neighbors by port and number", Managed, |group| {
        group.own().rename(LLDP_REMOTE, |rest| [&rest[..2], &rest[3..]].concat());
    }),
    fault("has neighbors by time and port", Managed, |group| {
        group.own().rename(LLDP_REMOTE, |rest| rest[..4].to_vec());
    }),
    partial("has neighbors by number alone", |group| {
        group.own().rename(LLDP_REMOTE, |rest| [&rest[..2], &rest[4..]].concat());
    }),
    fault("has LLDP-V2-MIB alone", Managed, |group| {
        add_version_2(group.own());
        group.own().remove(&LLDP);
    }),
    fault("has LLDP-MIB and LLDP-V2-MIB", Managed, |group| add_version_2(group.own())),
    fault("lists ports without a neighbor", Managed, |group| {
        for port in 10..=20 {
            let row = |column| [LLDP_REMOTE, &[1, column, 0, port, 1]].concat();
            group.own().set(&[&row(4)], SnmpValue::Integer(4));
            group.own().set(&[&row(5)], SnmpValue::Bytes([0; 6].into()));
            group.own().set(&[&row(6)], SnmpValue::Integer(5));
            group.own().set(&[&row(7)], text("\0"));
            group.own().set(&[&row(9)], text(""));
        }
    }),
    fault("lists each neighbor twice", Managed, |group| {
        group.own().replace(LLDP_REMOTE, |rest, value| {
            let again = [&rest[..2], &[987_654], &rest[3..4], &[rest[4] + 100]].concat();
            vec![(rest.to_vec(), value.clone()), (again, value.clone())]
        });
    }),
    fault("has management addresses without a length", Managed, |group| {
        for agent in &mut group.agents[group.place..group.place + 3] {
            let root = [&LLDP[..], &[4, 2, 1]].concat();
            agent.rename(&root, |rest| [&rest[..5], &rest[6..]].concat());
        }
    }),
    fault("has zeros as addresses by CDP", Router, |group| {
        for Sight { from, port, .. } in group.sights() {
            let row = [&CDP[..], &[1, 2, 1, 1, 4, port, 1]].concat();
            if let Some(address) = group.agents[from].variables.get_mut(&row) {
                *address = SnmpValue::Bytes([0; 4].into());
            }
        }
    }),
];

/// Moves the forwarding entries into the contexts of two VLANs, as Cisco's switches have them.
fn split_by_vlan(group: &mut Group<'_>) {
    let agent = group.own();
    let id = ObjectId::new([1, 3, 6, 1, 4, 1, 9, 1, 516]);
    agent.set(&[&MIB, &[1, 2, 0]], SnmpValue::ObjectId(id));
    for vlan in [1, 10, 20, 1_002] {
        agent.set(&[&VTP_VLAN_STATE, &[vlan]], SnmpValue::Integer(1));
    }
    for (position, vlan) in [10, 20].into_iter().enumerate() {
        let is_of_vlan = |id: &[u32]| {
            let last = id.last().map_or(0, |arc| *arc as usize);
            id.starts_with(BASE_PORTS) || (id.starts_with(FDB) && last % 2 == position)
        };
        let variables = agent.variables.iter().filter(|(id, _)| is_of_vlan(id));
        let variables = variables.map(|(id, value)| (id.clone(), value.clone())).collect();
        agent.vlans.insert(vlan, Agent::new(&[], variables));
    }
    agent.remove(FDB);
    agent.remove(BASE_PORTS);
}

/// Adds LLDP-V2-MIB with what LLDP-MIB has.
fn add_version_2(agent: &mut Agent) {
    let mut added = Vec::new();
    for (id, value) in agent.variables.range(LLDP.to_vec()..).take_while(|(id, _)| id.starts_with(&LLDP)) {
        let rest = match &id[LLDP.len()..] {
            [4, 1, 1, column, time, port, number] => vec![4, 1, 1, column + 1, *time, *port, 1, *number],
            [4, 2, 1, column, time, port, number, address @ ..] => {
                [&[4, 2, 1, *column, *time, *port, 1, *number], address].concat()
            }
            rest => rest.to_vec(),
        };
        added.push(([&LLDP_V2[..], &rest].concat(), value.clone()));
    }
    agent.variables.extend(added);
}

/// Adds an own address.
fn address(agent: &mut Agent, octets: [u8; 4], index: u32, length: u32) {
    let mask = (u32::MAX << (32 - length)).to_be_bytes();
    let row = |column| [&MIB[..], &[4, 20, 1, column], &octets.map(u32::from)].concat();
    agent.set(&[&row(1)], SnmpValue::IpAddress(octets));
    agent.set(&[&row(2)], SnmpValue::Integer(index.cast_signed()));
    agent.set(&[&row(3)], SnmpValue::IpAddress(mask));
}
