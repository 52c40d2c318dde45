use serde_json::json;
use toposcope::model::{Host, HostOrderField};

use crate::common::{LAB, OFFICE, VAULT, World, at, host};

/// Hosts of which many are equal in every order.
async fn world_of(count: u128) -> World {
    let networks = [OFFICE, LAB, VAULT];
    World::with((1..=count).map(|id| {
        let number = i64::try_from(id * 7 % 4).unwrap();
        Host {
            name: format!("host {}", id % 3),
            hostname: (id % 2 == 0).then(|| format!("host{}", id % 5)),
            created_at: at(number),
            updated_at: at(-number),
            ..host(id, networks[usize::try_from(id % 3).unwrap()])
        }
    }))
    .await
}

#[tokio::test]
async fn the_default_page_is_of_fifty() {
    let world = world_of(51).await;
    let reply = world.list("").await;
    assert_eq!(reply.ids().len(), 50);
    let expected = json!({"total_count": 51, "limit": 50, "offset": 0, "has_more": true});
    assert_eq!(reply.json["meta"]["pagination"], expected);
    let reply = world.list("offset=50").await;
    assert_eq!(reply.ids().len(), 1);
    let expected = json!({"total_count": 51, "limit": 50, "offset": 50, "has_more": false});
    assert_eq!(reply.json["meta"]["pagination"], expected);
}

#[tokio::test]
async fn limit_0_is_everything_and_never_has_more() {
    let world = world_of(1003).await;
    let reply = world.list("limit=0").await;
    assert_eq!(reply.ids().len(), 1003);
    let expected = json!({"total_count": 1003, "limit": 0, "offset": 0, "has_more": false});
    assert_eq!(reply.json["meta"]["pagination"], expected);
    assert_eq!(world.list("limit=0&offset=1000").await.ids().len(), 3);
    let full = world.list("limit=1000").await;
    assert_eq!(full.ids().len(), 1000);
    assert_eq!(full.json["meta"]["pagination"]["has_more"], true);
}

#[tokio::test]
async fn has_more_is_told_rightly_at_every_edge() {
    let world = world_of(5).await;
    for limit in 0..=6 {
        for offset in 0..=7 {
            // The check of every answer compares the figures with each other; this one with the number of
            // hosts.
            let reply = world.list(&format!("limit={limit}&offset={offset}")).await;
            let expected = json!({
                "total_count": 5, "limit": limit, "offset": offset, "has_more": limit > 0 && offset + limit < 5,
            });
            assert_eq!(reply.json["meta"]["pagination"], expected, "{limit} {offset}");
        }
    }
}

#[tokio::test]
async fn pages_of_any_order_neither_repeat_nor_miss_a_host() {
    let world = world_of(23).await;
    let groups = [None, Some(HostOrderField::Name), Some(HostOrderField::NetworkId)];
    for field in HostOrderField::ALL {
        for direction in ["asc", "desc"] {
            for group in groups {
                let group = group.map_or(String::new(), |group| group.to_string());
                let order = format!("order_by={field}&order_direction={direction}&group_by={group}");
                let whole = world.ids(&format!("{order}&limit=0")).await;
                assert_eq!(whole.len(), 23);
                for size in [1, 4, 23] {
                    let mut pages = Vec::new();
                    while pages.len() < 23 {
                        let page = world.ids(&format!("{order}&limit={size}&offset={}", pages.len())).await;
                        assert!(!page.is_empty() && page.len() <= size);
                        pages.extend(page);
                    }
                    assert_eq!(pages, whole, "{order} by {size}");
                }
            }
        }
    }
}
