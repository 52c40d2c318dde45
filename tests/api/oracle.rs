//! Random lists of random hosts, compared with the simplest implementation: filter, sort, slice.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::json;
use toposcope::model::{Host, HostOrderField, Permission};
use uuid::Uuid;

use crate::common::{
    ELSEWHERE, LAB, NOBODY, OFFICE, SplitMix64, VAULT, World, at, guest, host, interface, key_for, service,
};

const NETWORKS: [Uuid; 3] = [OFFICE, LAB, VAULT];
const TEXTS: [&str; 7] = ["", "a", "b", "Z", "é", "😀", "\u{ffee}"];
const ADDRESSES: [&str; 5] = ["10.0.0.9", "10.0.0.10", "9.9.9.9", "::1", "::ffff:10.0.0.9"];

/// A random host with ties in every order. Services are numbered by their hosts.
fn random_host(random: &mut SplitMix64, id: u128, tags: &[Uuid]) -> Host {
    let network = random.choose(&NETWORKS);
    let mut host = if random.once_in(2) {
        guest(id, network, 0x5_0000 + 1 + random.below(200) as u128)
    } else {
        host(id, network)
    };
    host.name = random.choose(&TEXTS).to_owned();
    host.hostname = random.once_in(2).then(|| random.choose(&TEXTS).to_owned());
    host.hidden = random.once_in(4);
    host.created_at = at(random.below(4) as i64);
    host.updated_at = at(-(random.below(4) as i64));
    host.tags = random.some_of(tags);
    for place in 0..random.below(3) {
        let address: IpAddr = random.choose(&ADDRESSES).parse().unwrap();
        let position = random.below(2) as i64;
        host.interfaces.push(interface((id << 64) + place as u128, &host, address, position));
    }
    if random.once_in(3) {
        host.services.push(service(0x5_0000 + id, &host, random.choose(&TEXTS)));
    }
    host
}

#[derive(Clone, Copy)]
struct Fields {
    group_by: Option<HostOrderField>,
    order_by: Option<HostOrderField>,
    is_descending: bool,
}

fn compare(names: &HashMap<Uuid, String>, field: HostOrderField, left: &Host, right: &Host) -> Ordering {
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
        HostOrderField::NetworkId => left.network_id.as_u128().cmp(&right.network_id.as_u128()),
        HostOrderField::VirtualizedBy => by_character(&virtualized_by(left), &virtualized_by(right)),
        HostOrderField::InterfaceIp => address(left).cmp(&address(right)),
        _ => panic!("an order without an oracle: {field}"),
    }
}

fn sort(hosts: &mut [&Host], names: &HashMap<Uuid, String>, fields: Fields) {
    hosts.sort_by(|left, right| {
        let group = fields.group_by.map_or(Ordering::Equal, |field| compare(names, field, left, right));
        let within = compare(names, fields.order_by.unwrap_or_default(), left, right);
        let within = if fields.is_descending { within.reverse() } else { within };
        group.then(within).then(left.id.cmp(&right.id))
    });
}

fn random_fields(random: &mut SplitMix64, query: &mut Vec<String>) -> Fields {
    let mut field = |name: &str, query: &mut Vec<String>| {
        let field = (!random.once_in(3)).then(|| random.choose(HostOrderField::ALL));
        query.extend(field.map(|field| format!("{name}={field}")));
        field
    };
    let (group_by, order_by) = (field("group_by", query), field("order_by", query));
    let is_descending = random.once_in(2);
    if is_descending {
        query.push("order_direction=desc".to_owned());
    } else if random.once_in(2) {
        query.push("order_direction=asc".to_owned());
    }
    Fields { group_by, order_by, is_descending }
}

/// A list of ids as one parameter, or as several, or both.
fn push_list(random: &mut SplitMix64, query: &mut Vec<String>, name: &str, ids: &[Uuid]) {
    let length = 1 + random.below(ids.len() + 2);
    for chunk in ids.chunks(length) {
        let ids: Vec<String> = chunk.iter().map(Uuid::to_string).collect();
        query.push(format!("{name}={}", ids.join(",")));
    }
}

/// Adds filters to the query, and removes the hosts that they exclude.
fn random_filters(random: &mut SplitMix64, query: &mut Vec<String>, hosts: &mut Vec<&Host>, tags: &[Uuid]) {
    if random.once_in(3) {
        let network = random.choose(&[OFFICE, LAB, VAULT, ELSEWHERE, NOBODY]);
        query.push(format!("network_id={network}"));
        hosts.retain(|host| host.network_id == network);
    }
    if random.once_in(3) {
        let mut ids: Vec<Uuid> =
            (0..=random.below(60)).map(|_| Uuid::from_u128(random.below(240) as u128)).collect();
        ids.push(NOBODY);
        random.shuffle(&mut ids);
        push_list(random, query, "ids", &ids);
        hosts.retain(|host| ids.contains(&host.id));
    }
    if random.once_in(3) {
        let mut wanted = random.some_of(tags);
        wanted.push(if random.once_in(2) { NOBODY } else { tags[0] });
        push_list(random, query, "tag_ids", &wanted);
        hosts.retain(|host| host.tags.iter().any(|tag| wanted.contains(tag)));
    }
}

/// Puts a few hosts, both new ones and replacements, and deletes a few.
async fn churn(world: &World, random: &mut SplitMix64, hosts: &mut Vec<Host>, tags: &[Uuid]) {
    for _ in 0..random.below(6) {
        let id = 1 + random.below(220) as u128;
        let host = random_host(random, id, tags);
        hosts.retain(|known| known.id != host.id);
        hosts.push(host.clone());
        world.put([host]).await;
    }
    for _ in 0..random.below(3) {
        let gone = hosts.swap_remove(random.below(hosts.len()));
        world.inventory.delete_host(world.home.organization.id, gone.id).await.unwrap();
    }
}

async fn random_keys(world: &World) -> Vec<(String, Vec<Uuid>)> {
    let mut keys = vec![(world.key.clone(), NETWORKS.to_vec())];
    for (level, granted, chosen) in [
        (Permission::Admin, &[][..], &[OFFICE, VAULT][..]),
        (Permission::Member, &[LAB, OFFICE], &[LAB]),
        (Permission::Viewer, &[VAULT, LAB], &[LAB, VAULT]),
        (Permission::Owner, &[], &[]),
    ] {
        let owner = world.user(&world.home, level, granted).await;
        keys.push((world.issue(key_for(&owner, level, chosen)).await, chosen.to_vec()));
    }
    keys
}

#[tokio::test]
async fn random_lists_are_what_filtering_sorting_and_slicing_gives() {
    let mut random = SplitMix64(7);
    let world = World::new().await;
    let tags = world.home.tags;
    let keys = random_keys(&world).await;
    let mut hosts: Vec<Host> = (1..=200).map(|id| random_host(&mut random, id, &tags)).collect();
    random.shuffle(&mut hosts);
    world.put(hosts.clone()).await;
    for _ in 0..400 {
        if random.once_in(4) {
            churn(&world, &mut random, &mut hosts, &tags).await;
        }
        let names: HashMap<Uuid, String> = hosts
            .iter()
            .flat_map(|host| &host.services)
            .map(|service| (service.id, service.name.clone()))
            .collect();
        let (key, networks) = &random.choose(&keys);
        let mut query = Vec::new();
        let mut found: Vec<&Host> = hosts.iter().filter(|host| networks.contains(&host.network_id)).collect();
        random_filters(&mut random, &mut query, &mut found, &tags);
        sort(&mut found, &names, random_fields(&mut random, &mut query));
        let limit = random.choose(&[None, None, Some(0), Some(1), Some(2), Some(7), Some(40), Some(1000)]);
        let offset = random.choose(&[None, None, Some(0), Some(1), Some(5), Some(60), Some(199), Some(500)]);
        query.extend(limit.map(|limit| format!("limit={limit}")));
        query.extend(offset.map(|offset| format!("offset={offset}")));
        random.shuffle(&mut query);
        let query = query.join("&");
        let (limit, offset) = (limit.unwrap_or(50), offset.unwrap_or(0));
        let page = found.iter().skip(offset).take(if limit == 0 { usize::MAX } else { limit });
        let page: Vec<u128> = page.map(|host| host.id.as_u128()).collect();
        let reply = world.list_as(key, &query).await;
        assert_eq!(reply.ids(), page, "{query}");
        let has_more = limit > 0 && offset + page.len() < found.len();
        let pagination =
            json!({"total_count": found.len(), "limit": limit, "offset": offset, "has_more": has_more});
        assert_eq!(reply.json["meta"]["pagination"], pagination, "{query}");
    }
}
