//! The query of the list, one row per rule. Other modules test the details of each parameter.

use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use crate::common::{
    ELSEWHERE, LAB, NOBODY, OFFICE, VAULT, World, address, at, guest, host, key_for, service,
};

/// Five hosts that differ in everything, with the first tag on 1 and 2 and the second on 3.
async fn world() -> World {
    let world = World::new().await;
    let [red, green, _] = world.home.tags;
    let first = Host {
        name: "b".to_owned(),
        hostname: Some("z".to_owned()),
        created_at: at(5),
        updated_at: at(1),
        tags: vec![red],
        ..address(1, OFFICE, &[("fe80::1", 0)])
    };
    let mut second = Host {
        name: "a".to_owned(),
        created_at: at(4),
        updated_at: at(5),
        tags: vec![red],
        hidden: true,
        ..address(2, OFFICE, &[("10.0.0.10", 0)])
    };
    second.services = vec![service(0x51, &second, "node")];
    let third = Host {
        name: "é".to_owned(),
        hostname: Some("y".to_owned()),
        created_at: at(3),
        updated_at: at(4),
        tags: vec![green],
        ..guest(3, LAB, 0x51)
    };
    let fourth = Host {
        name: "B".to_owned(),
        hostname: Some(String::new()),
        created_at: at(2),
        updated_at: at(3),
        ..address(4, VAULT, &[("10.0.0.9", 0)])
    };
    let fifth = Host { name: "c".to_owned(), created_at: at(1), updated_at: at(2), ..host(5, OFFICE) };
    world.put([first, second, third, fourth, fifth]).await;
    world.inventory.put_host(world.abroad.organization.id, host(9, ELSEWHERE)).await.unwrap();
    world
}

fn ids(numbers: &[u128], separator: &str) -> String {
    numbers.iter().map(|number| Uuid::from_u128(*number).to_string()).collect::<Vec<_>>().join(separator)
}

#[tokio::test]
async fn filters_and_pages() {
    let world = world().await;
    let [red, green, blue] = world.home.tags;
    for (rule, query, expected) in [
        ("everything, by created_at", String::new(), &[5, 4, 3, 2, 1][..]),
        ("ids repeated", format!("ids={}", ids(&[1, 3], "&ids=")), &[3, 1]),
        ("ids with commas", format!("ids={}", ids(&[1, 3], ",")), &[3, 1]),
        ("ids both ways", format!("ids={}&ids={}", ids(&[1, 3], ","), ids(&[5], "")), &[5, 3, 1]),
        ("tags repeated", format!("tag_ids={red}&tag_ids={green}"), &[3, 2, 1]),
        ("tags with commas, any of them", format!("tag_ids={red},{green},{blue}"), &[3, 2, 1]),
        ("one network", format!("network_id={OFFICE}"), &[5, 2, 1]),
        (
            "all filters together",
            format!("network_id={OFFICE}&tag_ids={red}&ids={}", ids(&[2, 3, 5], ",")),
            &[2],
        ),
        (
            "empty values are absent",
            "network_id=&ids=&tag_ids=&limit=&offset=&order_by=&group_by=&order_direction=".into(),
            &[5, 4, 3, 2, 1],
        ),
        ("a thousand ids", format!("ids={},{}", ids(&[1], ""), ids(&[7; 999], ",")), &[1]),
        ("no such network", format!("network_id={NOBODY}"), &[]),
        ("a network of another organization", format!("network_id={ELSEWHERE}"), &[]),
        ("a host of another organization", format!("ids={}", ids(&[9], "")), &[]),
        ("hidden hosts too", format!("ids={}", ids(&[2], "")), &[2]),
        ("a page", "limit=2&offset=1".into(), &[4, 3]),
        ("no limit", "limit=0&offset=1".into(), &[4, 3, 2, 1]),
        ("the largest limit", "limit=1000".into(), &[5, 4, 3, 2, 1]),
        ("behind the end", "offset=5".into(), &[]),
    ] {
        assert_eq!(world.ids(&query).await, expected, "{rule}");
    }
}

#[tokio::test]
async fn orders() {
    let world = world().await;
    for (query, expected) in [
        ("order_by=created_at", [5, 4, 3, 2, 1]),
        ("order_direction=asc", [5, 4, 3, 2, 1]),
        ("order_direction=desc", [1, 2, 3, 4, 5]),
        ("order_by=updated_at", [1, 5, 4, 3, 2]),
        ("order_by=updated_at&order_direction=desc", [2, 3, 4, 5, 1]),
        // By code point, not in dictionary order.
        ("order_by=name", [4, 2, 1, 5, 3]),
        ("order_by=name&order_direction=desc", [3, 5, 1, 2, 4]),
        // Null and empty are the same; ties are ordered by id, in either direction.
        ("order_by=hostname", [2, 4, 5, 3, 1]),
        ("order_by=hostname&order_direction=desc", [1, 3, 2, 4, 5]),
        ("order_by=network_id", [1, 2, 5, 3, 4]),
        ("order_by=network_id&order_direction=desc", [4, 3, 1, 2, 5]),
        ("order_by=virtualized_by", [1, 2, 4, 5, 3]),
        ("order_by=virtualized_by&order_direction=desc", [3, 1, 2, 4, 5]),
        // IPv4 before IPv6, hosts without an address last.
        ("order_by=interface_ip", [4, 2, 1, 3, 5]),
        ("order_by=interface_ip&order_direction=desc", [3, 5, 1, 2, 4]),
        // The groups ascend in either direction of the order.
        ("group_by=network_id", [5, 2, 1, 3, 4]),
        ("group_by=network_id&order_by=name", [2, 1, 5, 3, 4]),
        ("group_by=network_id&order_by=name&order_direction=desc", [5, 1, 2, 3, 4]),
        ("group_by=network_id&order_direction=desc", [1, 2, 5, 3, 4]),
        ("group_by=name&order_by=name&order_direction=desc", [4, 2, 1, 5, 3]),
    ] {
        assert_eq!(world.ids(query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn refusals() {
    let world = world().await;
    let format = "validation_invalid_format";
    let range = |max: u64| json!({"min": 0, "max": max});
    for (query, code, field, more) in [
        (format!("network_id={OFFICE}&network_id={OFFICE}"), format, "network_id", json!({})),
        ("limit=1&limit=1".into(), format, "limit", json!({})),
        ("offset=1&offset=2".into(), format, "offset", json!({})),
        ("order_by=name&order_by=name".into(), format, "order_by", json!({})),
        ("group_by=name&group_by=name".into(), format, "group_by", json!({})),
        ("order_direction=asc&order_direction=asc".into(), format, "order_direction", json!({})),
        ("network_id=x".into(), format, "network_id", json!({})),
        ("ids=x".into(), format, "ids", json!({})),
        (format!("tag_ids={NOBODY},"), format, "tag_ids", json!({})),
        ("order_by=id".into(), format, "order_by", json!({})),
        ("group_by=Name".into(), format, "group_by", json!({})),
        ("order_direction=up".into(), format, "order_direction", json!({})),
        ("limit=-1".into(), format, "limit", json!({})),
        ("limit=1.5".into(), format, "limit", json!({})),
        ("offset=-1".into(), format, "offset", json!({})),
        ("offset=x".into(), format, "offset", json!({})),
        ("limit=1001".into(), "validation_out_of_range", "limit", range(1000)),
        ("offset=2147483648".into(), "validation_out_of_range", "offset", range(2_147_483_647)),
        (format!("ids={}", ids(&[1; 1001], ",")), "validation_max_length", "ids", json!({"max": 1000})),
        (
            format!("tag_ids={}", ids(&[1; 1001], ",")),
            "validation_max_length",
            "tag_ids",
            json!({"max": 1000}),
        ),
        ("tags=x".into(), "validation_unknown_parameter", "tags", json!({})),
    ] {
        let mut params = more;
        params["field"] = Value::from(field);
        assert_eq!(world.list(&query).await.refuses(400, code), &params, "{field}");
    }
}

/// No answer reveals the existence of inaccessible networks or of other organizations' hosts.
#[tokio::test]
async fn what_may_not_be_seen_is_as_if_it_were_not() {
    let world = world().await;
    let viewer = world.user(&world.home, toposcope::model::Permission::Viewer, &[LAB]).await;
    let key = world.issue(key_for(&viewer, toposcope::model::Permission::Viewer, &[LAB])).await;
    assert_eq!(world.list_as(&key, "").await.ids(), [3]);
    for (unknown, hidden) in [
        (format!("network_id={NOBODY}"), [format!("network_id={OFFICE}"), format!("network_id={ELSEWHERE}")]),
        (format!("ids={NOBODY}"), [format!("ids={}", ids(&[1], "")), format!("ids={}", ids(&[9], ""))]),
    ] {
        let expected = world.list_as(&key, &unknown).await;
        assert_eq!((expected.ids(), expected.total()), (vec![], 0));
        for query in hidden {
            assert_eq!(world.list_as(&key, &query).await.body, expected.body, "{query}");
        }
    }
}
