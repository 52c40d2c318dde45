//! Random lists of random hosts, compared with the simplest implementation: filter, sort, slice.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::IpAddr;

use fastrand::Rng;
use serde_json::json;
use toposcope::model::{Host, HostId, HostOrderField, NetworkId, Permission, Service, ServiceId, TagId};

use crate::backend::run;
use crate::common::{
    ELSEWHERE, Fixture, LAB, NOBODY, OFFICE, VAULT, at, guest, host, interface, key_for, natural, service,
};

const NETWORKS: [NetworkId; 3] = [OFFICE, LAB, VAULT];
const TEXTS: [&str; 7] = ["", "a", "b", "Z", "é", "😀", "\u{ffee}"];
const ADDRESSES: [&str; 5] = ["10.0.0.9", "10.0.0.10", "9.9.9.9", "::1", "::ffff:10.0.0.9"];

/// A random host with ties in every order. Services are numbered by their hosts.
fn random_host(random: &mut Rng, id: u128, tags: &[TagId]) -> Host {
    let network = *random.choice(&NETWORKS).unwrap();
    let mut host = if random.bool() {
        guest(id, network, 0x5_0000 + 1 + random.u128(0..200))
    } else {
        host(id, network)
    };
    host.name = random.choice(TEXTS).unwrap().to_owned();
    host.hostname = random.bool().then(|| random.choice(TEXTS).unwrap().to_owned());
    host.hidden = random.usize(0..4) == 0;
    host.created_at = at(random.i64(0..4));
    host.updated_at = at(-random.i64(0..4));
    host.tags = tags.iter().copied().filter(|_| random.bool()).collect();
    for place in 0..random.usize(0..3) {
        let address: IpAddr = random.choice(&ADDRESSES).unwrap().parse().unwrap();
        let position = random.i64(0..2);
        host.interfaces.push(interface((id << 64) + place as u128, &host, address, position));
    }
    if random.usize(0..3) == 0 {
        // Filters by tag ignore the tags of services.
        let tags = tags.iter().copied().filter(|_| random.bool()).collect();
        host.services.push(Service { tags, ..service(0x5_0000 + id, &host, random.choice(TEXTS).unwrap()) });
    }
    host
}

#[derive(Clone, Copy)]
struct Fields {
    group_by: Option<HostOrderField>,
    order_by: Option<HostOrderField>,
    is_descending: bool,
}

fn compare(names: &HashMap<ServiceId, String>, field: HostOrderField, left: &Host, right: &Host) -> Ordering {
    let virtualized_by = |host: &Host| {
        let service = host.virtualization.as_ref().map(|by| by.service_id());
        service.and_then(|id| names.get(&id)).cloned().unwrap_or_default()
    };
    // `IpAddr` orders IPv4 before IPv6; hosts without an address follow both.
    let address = |host: &Host| {
        let first = host.interfaces.iter().min_by_key(|interface| (interface.position, interface.id));
        first.map_or((true, IpAddr::from([0; 4])), |interface| (false, interface.ip_address))
    };
    let hostname = |host: &Host| host.hostname.clone().unwrap_or_default();
    let by_character = |left: &str, right: &str| left.chars().cmp(right.chars());
    match field {
        HostOrderField::CreatedAt => left.created_at.cmp(&right.created_at),
        HostOrderField::UpdatedAt => left.updated_at.cmp(&right.updated_at),
        HostOrderField::Name => by_character(&left.name, &right.name),
        HostOrderField::Hostname => by_character(&hostname(left), &hostname(right)),
        HostOrderField::NameNatural => natural(&left.name).cmp(&natural(&right.name)),
        HostOrderField::HostnameNatural => natural(&hostname(left)).cmp(&natural(&hostname(right))),
        HostOrderField::NetworkId => left.network_id.as_u128().cmp(&right.network_id.as_u128()),
        HostOrderField::VirtualizedBy => by_character(&virtualized_by(left), &virtualized_by(right)),
        HostOrderField::InterfaceIp => address(left).cmp(&address(right)),
        _ => panic!("an order without an oracle: {field}"),
    }
}

fn sort(hosts: &mut [&Host], names: &HashMap<ServiceId, String>, fields: Fields) {
    hosts.sort_by(|left, right| {
        let group = fields.group_by.map_or(Ordering::Equal, |field| compare(names, field, left, right));
        let within = compare(names, fields.order_by.unwrap_or_default(), left, right);
        let within = if fields.is_descending { within.reverse() } else { within };
        group.then(within).then(left.id.cmp(&right.id))
    });
}

fn random_fields(random: &mut Rng, query: &mut Vec<String>) -> Fields {
    let mut field = |name: &str, query: &mut Vec<String>| {
        let field = (random.usize(0..3) != 0).then(|| *random.choice(HostOrderField::ALL).unwrap());
        query.extend(field.map(|field| format!("{name}={field}")));
        field
    };
    let (group_by, order_by) = (field("group_by", query), field("order_by", query));
    let is_descending = random.bool();
    if is_descending {
        query.push("order_direction=desc".to_owned());
    } else if random.bool() {
        query.push("order_direction=asc".to_owned());
    }
    Fields { group_by, order_by, is_descending }
}

/// A list of ids as one parameter, or as several, or both.
fn push_list(random: &mut Rng, query: &mut Vec<String>, name: &str, ids: &[impl ToString]) {
    let length = 1 + random.usize(0..ids.len() + 2);
    for chunk in ids.chunks(length) {
        let ids: Vec<String> = chunk.iter().map(ToString::to_string).collect();
        query.push(format!("{name}={}", ids.join(",")));
    }
}

/// Adds filters to the query, and removes the hosts that they exclude.
fn random_filters(random: &mut Rng, query: &mut Vec<String>, hosts: &mut Vec<&Host>, tags: &[TagId]) {
    if random.usize(0..3) == 0 {
        let network = *random.choice(&[OFFICE, LAB, VAULT, ELSEWHERE, NOBODY.into()]).unwrap();
        query.push(format!("network_id={network}"));
        hosts.retain(|host| host.network_id == network);
    }
    if random.usize(0..3) == 0 {
        let mut ids: Vec<HostId> =
            (0..=random.usize(0..60)).map(|_| HostId::from_u128(random.usize(0..240) as u128)).collect();
        ids.push(NOBODY.into());
        random.shuffle(&mut ids);
        push_list(random, query, "ids", &ids);
        hosts.retain(|host| ids.contains(&host.id));
    }
    if random.usize(0..3) == 0 {
        let mut wanted: Vec<TagId> = tags.iter().copied().filter(|_| random.bool()).collect();
        wanted.push(if random.bool() { NOBODY.into() } else { tags[0] });
        push_list(random, query, "tag_ids", &wanted);
        hosts.retain(|host| host.tags.iter().any(|tag| wanted.contains(tag)));
    }
}

/// Puts a few hosts, both new ones and replacements, and deletes a few.
async fn churn(fixture: &Fixture, random: &mut Rng, hosts: &mut Vec<Host>, tags: &[TagId]) {
    for _ in 0..random.usize(0..6) {
        let id = 1 + random.usize(0..220) as u128;
        let host = random_host(random, id, tags);
        hosts.retain(|known| known.id != host.id);
        hosts.push(host.clone());
        fixture.put([host]).await;
    }
    for _ in 0..random.usize(0..3) {
        let place = random.usize(0..hosts.len());
        // Hosts whose services virtualize others stay.
        if fixture.inventory.hosts().delete(&fixture.system(), hosts[place].id).await.is_ok() {
            hosts.swap_remove(place);
        }
    }
}

async fn random_keys(fixture: &Fixture) -> Vec<(String, Vec<NetworkId>)> {
    let mut keys = vec![(fixture.key.clone(), NETWORKS.to_vec())];
    for (level, granted, chosen) in [
        (Permission::Admin, &[][..], &[OFFICE, VAULT][..]),
        (Permission::Member, &[LAB, OFFICE], &[LAB]),
        (Permission::Viewer, &[VAULT, LAB], &[LAB, VAULT]),
        (Permission::Owner, &[], &[]),
    ] {
        let owner = fixture.user(&fixture.home, level, granted).await;
        keys.push((fixture.issue(key_for(&owner, level, chosen)).await, chosen.to_vec()));
    }
    keys
}

#[test]
fn random_lists_match_filtering_sorting_and_slicing() {
    run(async || {
        let mut random = Rng::with_seed(7);
        let fixture = Fixture::new().await;
        let tags = fixture.home.tags;
        let keys = random_keys(&fixture).await;
        let mut hosts: Vec<Host> = (1..=200).map(|id| random_host(&mut random, id, &tags)).collect();
        random.shuffle(&mut hosts);
        fixture.put(hosts.clone()).await;
        for _ in 0..400 {
            if random.usize(0..4) == 0 {
                churn(&fixture, &mut random, &mut hosts, &tags).await;
            }
            let names: HashMap<ServiceId, String> = hosts
                .iter()
                .flat_map(|host| &host.services)
                .map(|service| (service.id, service.name.clone()))
                .collect();
            let (key, networks) = random.choice(&keys).unwrap();
            let mut query = Vec::new();
            let mut found: Vec<&Host> =
                hosts.iter().filter(|host| networks.contains(&host.network_id)).collect();
            random_filters(&mut random, &mut query, &mut found, &tags);
            sort(&mut found, &names, random_fields(&mut random, &mut query));
            let limit = *random
                .choice(&[None, None, Some(0), Some(1), Some(2), Some(7), Some(40), Some(1000)])
                .unwrap();
            let offset = *random
                .choice(&[None, None, Some(0), Some(1), Some(5), Some(60), Some(199), Some(500)])
                .unwrap();
            query.extend(limit.map(|limit| format!("limit={limit}")));
            query.extend(offset.map(|offset| format!("offset={offset}")));
            random.shuffle(&mut query);
            let query = query.join("&");
            let (limit, offset) = (limit.unwrap_or(50), offset.unwrap_or(0));
            let page = found.iter().skip(offset).take(if limit == 0 { usize::MAX } else { limit });
            let page: Vec<u128> = page.map(|host| host.id.as_u128()).collect();
            let reply = fixture.list_as(key, &query).await;
            assert_eq!(reply.ids(), page, "{query}");
            let has_more = limit > 0 && offset + page.len() < found.len();
            let pagination =
                json!({"total_count": found.len(), "limit": limit, "offset": offset, "has_more": has_more});
            assert_eq!(reply.json["meta"]["pagination"], pagination, "{query}");
        }
    });
}
