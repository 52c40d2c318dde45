use toposcope::model::Host;
use uuid::Uuid;

use crate::common::{LAB, NOBODY, OFFICE, VAULT, World, host, service};

fn listed(ids: &[u128]) -> String {
    ids.iter().map(|id| Uuid::from_u128(*id).to_string()).collect::<Vec<_>>().join(",")
}

/// Six hosts: 1, 2, 3 in the office, 4 and 5 in the lab, 6 in the vault, with tags as the tests say.
async fn world() -> World {
    let world = World::new().await;
    let [red, green, blue] = world.home.tags;
    let mut on_a_service = service(0x55, &host(3, OFFICE), "service");
    on_a_service.tags = vec![blue];
    world
        .put([
            Host { tags: vec![red], ..host(1, OFFICE) },
            Host { tags: vec![green, red], ..host(2, OFFICE) },
            Host { services: vec![on_a_service], ..host(3, OFFICE) },
            Host { tags: vec![red], ..host(4, LAB) },
            Host { tags: vec![blue], hidden: true, ..host(5, LAB) },
            Host { hidden: true, ..host(6, VAULT) },
        ])
        .await;
    world
}

async fn finds(world: &World, query: &str, expected: &[u128]) {
    let reply = world.list(query).await;
    assert_eq!((&*reply.ids(), reply.total()), (expected, expected.len() as u64), "{query}");
}

#[tokio::test]
async fn hidden_hosts_are_listed() {
    finds(&world().await, "", &[1, 2, 3, 4, 5, 6]).await;
}

#[tokio::test]
async fn a_network_restricts_the_list_to_it() {
    let world = world().await;
    finds(&world, &format!("network_id={OFFICE}"), &[1, 2, 3]).await;
    finds(&world, &format!("network_id={LAB}"), &[4, 5]).await;
    finds(&world, &format!("network_id={VAULT}"), &[6]).await;
    finds(&world, &format!("network_id={NOBODY}"), &[]).await;
    finds(&world, &format!("network_id={}", Uuid::nil()), &[]).await;
}

#[tokio::test]
async fn ids_restrict_the_list_to_them_however_they_are_written() {
    let world = world().await;
    let id = |id| Uuid::from_u128(id);
    finds(&world, &format!("ids={}", id(4)), &[4]).await;
    finds(&world, &format!("ids={},{}", id(6), id(2)), &[2, 6]).await;
    finds(&world, &format!("ids={}&ids={}", id(6), id(2)), &[2, 6]).await;
    finds(&world, &format!("ids={},{}&limit=5&ids={}", id(6), id(2), id(1)), &[1, 2, 6]).await;
    finds(&world, &format!("ids={0},{0}&ids={0}", id(3)), &[3]).await;
    finds(&world, &format!("ids={},{NOBODY}", id(3)), &[3]).await;
    finds(&world, &format!("ids={NOBODY}"), &[]).await;
    finds(&world, &format!("ids={}", id(0x55)), &[]).await;
}

#[tokio::test]
async fn any_of_the_tags_is_enough_and_a_host_with_several_is_listed_once() {
    let world = world().await;
    let [red, green, blue] = world.home.tags;
    finds(&world, &format!("tag_ids={red}"), &[1, 2, 4]).await;
    finds(&world, &format!("tag_ids={green}"), &[2]).await;
    finds(&world, &format!("tag_ids={red},{green}"), &[1, 2, 4]).await;
    finds(&world, &format!("tag_ids={green}&tag_ids={red}&tag_ids={red}"), &[1, 2, 4]).await;
    finds(&world, &format!("tag_ids={red},{NOBODY},{blue}"), &[1, 2, 4, 5]).await;
    finds(&world, &format!("tag_ids={NOBODY}"), &[]).await;
}

#[tokio::test]
async fn the_tags_of_services_are_not_those_of_the_host() {
    let world = world().await;
    finds(&world, &format!("tag_ids={}", world.home.tags[2]), &[5]).await;
}

#[tokio::test]
async fn filters_combine_with_and() {
    let world = world().await;
    let [red, green, blue] = world.home.tags;
    for (query, expected) in [
        (format!("network_id={OFFICE}&tag_ids={red}"), &[1, 2][..]),
        (format!("network_id={LAB}&tag_ids={red},{blue}"), &[4, 5]),
        (format!("network_id={LAB}&tag_ids={green}"), &[]),
        (format!("network_id={VAULT}&ids={}", listed(&[1, 6])), &[6]),
        (format!("network_id={VAULT}&ids={}", listed(&[1, 2])), &[]),
        (format!("tag_ids={red}&ids={}", listed(&[2, 3, 4])), &[2, 4]),
        (format!("tag_ids={red}&ids={}&network_id={LAB}", listed(&[2, 3, 4])), &[4]),
        (format!("tag_ids={red}&ids={}&network_id={VAULT}", listed(&[2, 3, 4])), &[]),
        (format!("tag_ids={red},{green}&ids={}&network_id={OFFICE}", listed(&[2])), &[2]),
    ] {
        finds(&world, &query, expected).await;
    }
}

#[tokio::test]
async fn total_and_page_are_of_what_passes_the_filters() {
    let world = world().await;
    let red = world.home.tags[0];
    let reply = world.list(&format!("tag_ids={red}&limit=2&offset=1&order_direction=desc")).await;
    assert_eq!((reply.ids(), reply.total()), (vec![2, 4], 3));
    let reply = world.list(&format!("ids={}&limit=1&offset=2", listed(&[6, 5, 4]))).await;
    assert_eq!((reply.ids(), reply.total()), (vec![6], 3));
}

#[tokio::test]
async fn the_order_of_parameters_does_not_matter() {
    let world = world().await;
    let red = world.home.tags[0];
    let mut parts =
        ["limit=2".to_owned(), "offset=1".into(), format!("tag_ids={red}"), "order_by=name".into()];
    for _ in 0..parts.len() {
        parts.rotate_left(1);
        assert_eq!(world.ids(&parts.join("&")).await, [2, 4]);
    }
}
