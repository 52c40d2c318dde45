use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fastrand::Rng;
use ipnet::{IpNet, Ipv4Net};
use toposcope::collect::snmp::{AskError, SnmpAgent};
use toposcope::collect::{AllowList, AllowListError};

use crate::farm::{Agent, Farm};
use crate::support::{COMMUNITY, community, farm_of, gate, ip, variables};

/// Says whether a packet may be sent, in the words of the rule.
fn model(entries: &[IpNet], address: IpAddr) -> bool {
    let IpAddr::V4(address) = address.to_canonical() else {
        let special: [IpNet; 3] = ["::1/128", "fe80::/10", "ff00::/8"].map(|range| range.parse().unwrap());
        let range = special.iter().find(|range| range.contains(&address));
        let within = |entry: &IpNet| range.is_none_or(|range| range.contains(entry));
        return !address.is_unspecified()
            && entries.iter().any(|entry| entry.contains(&address) && within(entry));
    };
    let special: [Ipv4Net; 4] =
        ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4"].map(|range| range.parse().unwrap());
    let range = special.iter().find(|range| range.contains(&address));
    let entries: Vec<Ipv4Net> = entries
        .iter()
        .filter_map(|entry| match entry {
            IpNet::V4(net) => Some(*net),
            IpNet::V6(_) => None,
        })
        .collect();
    let allowing: Vec<&Ipv4Net> = entries
        .iter()
        .filter(|entry| entry.contains(&address) && range.is_none_or(|range| range.contains(*entry)))
        .collect();
    let is_edge = |entry: &Ipv4Net| {
        entry.prefix_len() < 31 && (entry.network() == address || entry.broadcast() == address)
    };
    let is_named = allowing.iter().any(|entry| entry.prefix_len() >= 31);
    !allowing.is_empty()
        && (is_named || !entries.iter().any(is_edge))
        && !address.is_unspecified()
        && !address.is_broadcast()
}

#[test]
fn random_lists_allow_the_addresses_of_the_model() {
    let mut random = Rng::with_seed(1);
    let bases = [0x7F00_0000_u32, 0xC000_0200, 0xC000_0300, 0xA9FE_0000, 0xE000_0000, 0, 0xFFFF_FF00];
    let address = |random: &mut Rng| {
        let base = bases[random.usize(..bases.len())] & !0xF | (random.u32(..8) * 0x21);
        let address = Ipv4Addr::from(base | random.u32(..16));
        if random.u8(..8) == 0 { IpAddr::V6(address.to_ipv6_mapped()) } else { IpAddr::V4(address) }
    };
    for _ in 0..20_000 {
        let count = random.usize(1..4);
        let entries: Vec<IpNet> = (0..count)
            .map(|_| {
                let IpAddr::V4(address) = address(&mut random).to_canonical() else { panic!("all are IPv4") };
                let lengths = [0, 4, 8, 16, 24, 28, 30, 31, 32];
                IpNet::V4(Ipv4Net::new(address, lengths[random.usize(..lengths.len())]).unwrap().trunc())
            })
            .collect();
        let list = AllowList::new(entries.clone()).unwrap();
        for _ in 0..16 {
            let address = address(&mut random);
            assert_eq!(list.contains(address), model(&entries, address), "{entries:?} {address}");
        }
    }
}

#[test]
fn ipv6_addresses_are_allowed_by_their_prefixes() {
    let list: AllowList = "2001:db8::/64 fe80::/64".parse().unwrap();
    for (address, allowed) in [
        ("2001:db8::", true),
        ("2001:db8::ffff", true),
        ("2001:db8:0:1::1", false),
        ("fe80::1", true),
        ("fe80:0:0:1::1", false),
        ("::1", false),
        ("::ffff:192.0.2.1", false),
    ] {
        assert_eq!(list.contains(ip(address)), allowed, "{address}");
    }
    let everything: AllowList = "::/0".parse().unwrap();
    for address in ["::1", "::", "fe80::1", "ff02::1", "::ffff:192.0.2.1", "192.0.2.1"] {
        assert!(!everything.contains(ip(address)), "{address}");
    }
}

#[test]
fn mapped_entry_is_the_ipv4_entry() {
    let list: AllowList = "::ffff:192.0.2.0/120".parse().unwrap();
    assert_eq!(list.to_string(), "192.0.2.0/24");
    assert!(list.contains(ip("192.0.2.9")) && !list.contains(ip("::ffff:192.0.2.0")));
}

#[test]
fn text_that_is_no_list_is_refused() {
    assert_eq!("".parse::<AllowList>(), Err(AllowListError::Empty));
    assert_eq!("192.0.2.0/33".parse::<AllowList>(), Err(AllowListError::Entry("192.0.2.0/33".to_owned())));
    assert_eq!("192.0.2.1".parse::<AllowList>().unwrap().to_string(), "192.0.2.1/32");
}

#[tokio::test(start_paused = true)]
async fn address_outside_of_the_list_gets_no_packet() {
    let agent = || Agent::new(COMMUNITY, variables(1));
    let outside = [ip("198.51.100.1"), ip("192.0.2.0"), ip("192.0.2.255"), ip("127.0.0.1")];
    let farm = Farm::with(outside.into_iter().map(|address| (address, agent())));
    let gate = gate(&farm, "192.0.2.0/24");
    let mapped = IpAddr::V6(Ipv6Addr::from_bits(0xFFFF_C633_6401));
    for address in outside.into_iter().chain([mapped]) {
        let found = SnmpAgent::find(&gate, SocketAddr::new(address, 161), community()).await;
        assert_eq!(found.unwrap_err(), AskError::NotAllowed);
    }
    assert!(farm.sent().is_empty());
}

#[tokio::test(start_paused = true)]
async fn edges_of_a_learned_subnet_get_no_packet() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(1)));
    let gate = gate(&farm, "192.0.2.0/24, 192.0.2.16/32");
    gate.learn_subnet("192.0.2.16/28".parse().unwrap());
    assert!(!gate.allows(ip("192.0.2.31")) && gate.allows(ip("192.0.2.30")));
    // An entry of 32 bits names it.
    assert!(gate.allows(ip("192.0.2.16")));
}
