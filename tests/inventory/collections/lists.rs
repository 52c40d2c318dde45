//! Lists: filters, orders, and cursors while records are created and deleted.

use std::collections::HashMap;
use std::time::Duration;

use toposcope::access::Caller;
use toposcope::inventory::{HostQuery, ListOrderField, ListQuery, PageCursor, Problem, Resource};
use toposcope::model::{
    Host, HostOrderField, Network, OrderDirection, Organization, Permission, Subnet, Tag, TagId,
};
use uuid::Uuid;

use crate::backend::run_with;
use crate::support::{Fixture, bare_host, id, invalid, owner_of, refusal};

fn query(set: impl FnOnce(&mut ListQuery)) -> ListQuery {
    let mut query = ListQuery::default();
    set(&mut query);
    query
}

async fn ids<T: Resource>(fixture: &Fixture, caller: &Caller, query: &ListQuery) -> Vec<T::Id> {
    let page = fixture.inventory.records::<T>().list(caller, query).await.unwrap();
    assert_eq!(page.total, page.records.len() as u64);
    page.records.iter().map(|record| record.id()).collect()
}

#[test]
fn lists_contain_what_the_caller_sees_and_the_filters_match() {
    run_with(Fixture::with_foreign, async |(fixture, foreign)| {
        let (inventory, admin) = (&fixture.inventory, fixture.admin());
        let viewer = fixture.caller(Permission::Viewer, &[fixture.other_network, foreign.network]);
        let (office, laboratory) = (fixture.network, fixture.other_network);
        let [first, second] = fixture.tags;
        let mut subnets = Vec::new();
        for (network, cidr, tags) in
            [(office, "10.0.0.0/8", vec![first]), (laboratory, "10.0.0.0/8", vec![first, second])]
        {
            let mut subnet = Subnet::new(network, "s", cidr.parse().unwrap());
            subnet.tags = tags;
            fixture.clock.advance(Duration::from_secs(1));
            subnets.push(inventory.records().create(&admin, subnet).await.unwrap().id);
        }
        let all = ListQuery::default();
        let on = |network| query(|query| query.network_id = Some(network));
        let tagged = |tag| query(|query| query.tag_ids = Some(vec![tag]));
        let only = |record: Uuid| query(|query| query.ids = Some(vec![record, record]));
        let cases = [
            (&admin, all.clone(), vec![subnets[0], subnets[1]]),
            (&admin, on(office), vec![subnets[0]]),
            (&admin, on(foreign.network), vec![]),
            (&admin, tagged(first), vec![subnets[0], subnets[1]]),
            (&admin, tagged(second), vec![subnets[1]]),
            (&admin, tagged(foreign.tag), vec![]),
            (&admin, only(subnets[0].into()), vec![subnets[0]]),
            (&viewer, all.clone(), vec![subnets[1]]),
            (&viewer, on(office), vec![]),
            (&viewer, only(subnets[0].into()), vec![]),
        ];
        for (caller, query, expected) in cases {
            assert_eq!(ids::<Subnet>(&fixture, caller, &query).await, expected, "{query:?}");
        }
        assert_eq!(ids::<Network>(&fixture, &viewer, &all).await, [laboratory]);
        assert_eq!(ids::<Network>(&fixture, &admin, &all).await.len(), 2);
        assert!(ids::<Network>(&fixture, &fixture.caller(Permission::Viewer, &[]), &all).await.is_empty());
        for organization in [fixture.organization, foreign.organization] {
            let caller = owner_of(organization);
            assert_eq!(ids::<Organization>(&fixture, &caller, &all).await, [organization]);
            let theirs =
                only(if organization == foreign.organization { fixture.tags[0] } else { foreign.tag }.into());
            assert!(ids::<Tag>(&fixture, &caller, &theirs).await.is_empty());
        }
        assert_eq!(ids::<Tag>(&fixture, &owner_of(foreign.organization), &all).await, [foreign.tag]);
    });
}

#[test]
fn every_order_is_total_and_reverses() {
    run_with(Fixture::new, async |fixture| {
        let admin = fixture.admin();
        let mut tags = Vec::new();
        for name in ["b", "a", "\u{c4}", "Z"] {
            fixture.clock.advance(Duration::from_secs(1));
            tags.push(fixture.inventory.records().create(&admin, Tag::new(name)).await.unwrap());
        }
        fixture.clock.advance(Duration::from_secs(1));
        let describe = |tag: &mut Tag| {
            tag.description = Some("d".to_owned());
            Ok(())
        };
        fixture.inventory.records().update(&admin, tags[1].id, describe).await.unwrap();
        let all: Vec<TagId> = tags.iter().map(|tag| tag.id).collect();
        for (order_by, expected) in [
            (ListOrderField::CreatedAt, [0, 1, 2, 3]),
            (ListOrderField::UpdatedAt, [0, 2, 3, 1]),
            (ListOrderField::Name, [3, 1, 0, 2]),
        ] {
            let mut expected: Vec<TagId> = expected.iter().map(|index| tags[*index].id).collect();
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let query = query(|query| {
                    (query.order_by, query.order_direction) = (order_by, direction);
                    query.ids = Some(all.iter().map(|id| id.uuid()).collect());
                });
                assert_eq!(ids::<Tag>(&fixture, &admin, &query).await, expected, "{order_by}");
                expected.reverse();
            }
        }
    });
}

#[test]
fn pages_by_cursor_contain_unchanged_records_once_while_others_come_and_go() {
    run_with(Fixture::new, async |fixture| {
        let (inventory, admin) = (&fixture.inventory, fixture.admin());
        let mut tags = Vec::new();
        for number in 0..300 {
            tags.push(
                inventory.records().create(&admin, Tag::new(format!("tag {number:03}"))).await.unwrap().id,
            );
        }
        let mut seen: HashMap<TagId, usize> = HashMap::new();
        let mut list = query(|query| {
            (query.order_by, query.limit, query.cursor) =
                (ListOrderField::Name, Some(17), Some(PageCursor::start()));
        });
        for round in 0.. {
            let page = inventory.tags().list(&admin, &list).await.unwrap();
            assert!(page.records.len() <= 17);
            page.records.iter().for_each(|tag| *seen.entry(tag.id).or_default() += 1);
            // Of every ten tags, one is renamed and one deleted; others are created at both ends.
            let rename = move |tag: &mut Tag| {
                tag.name = format!("{} renamed", 999 - round);
                Ok(())
            };
            inventory.records().update(&admin, tags[10 * round], rename).await.unwrap();
            inventory.tags().delete(&admin, tags[10 * round + 5]).await.unwrap();
            for edge in ['a', 'z'] {
                inventory.records().create(&admin, Tag::new(format!("{edge} {round}"))).await.unwrap();
            }
            list.cursor = page.next;
            if list.cursor.is_none() {
                break;
            }
        }
        let unchanged = tags.iter().enumerate().filter(|(index, _)| !index.is_multiple_of(5));
        assert!(unchanged.map(|(_, id)| seen.get(id)).all(|count| count == Some(&1)));
    });
}

#[test]
fn cursor_of_another_list_or_none_at_all_is_refused() {
    run_with(Fixture::with_foreign, async |(fixture, foreign)| {
        let inventory = &fixture.inventory;
        let admin = fixture.admin();
        let start = query(|query| query.limit = Some(1));
        let next = inventory.tags().list(&admin, &start).await.unwrap().next.unwrap();
        let text = next.to_string();
        assert!(text.len() <= 2_048 && text.parse::<PageCursor>().as_ref() == Ok(&next));
        let with = |set: &dyn Fn(&mut ListQuery)| {
            let mut query = start.clone();
            query.cursor = Some(next.clone());
            set(&mut query);
            query
        };
        let expected = invalid("cursor", Problem::OfOtherList);
        for other in [
            with(&|query| query.order_by = ListOrderField::Name),
            with(&|query| query.order_direction = OrderDirection::Descending),
            with(&|query| query.tag_ids = Some(vec![id(1)])),
            with(&|query| query.ids = Some(fixture.tags.map(TagId::uuid).to_vec())),
            with(&|query| query.network_id = Some(fixture.network)),
        ] {
            assert_eq!(refusal(inventory.tags().list(&admin, &other).await), expected);
        }
        let same = with(&|query| query.limit = Some(5));
        assert_eq!(inventory.tags().list(&admin, &same).await.unwrap().records.len(), 1);
        let theirs = owner_of(foreign.organization);
        assert_eq!(refusal(inventory.tags().list(&theirs, &same).await), expected);
        assert_eq!(refusal(inventory.networks().list(&admin, &same).await), expected);
        for garbage in ["AA", "AgAA", &text[..text.len() - 2], &format!("{text}AA"), &"A".repeat(2_048)] {
            let cursor = garbage.parse::<PageCursor>();
            let Ok(cursor) = cursor else { continue };
            let query = with(&|query| query.cursor = Some(cursor.clone()));
            assert_eq!(refusal(inventory.tags().list(&admin, &query).await), expected, "{garbage}");
        }
        for garbage in ["?", "A", "AA==", &"A".repeat(2_052)] {
            assert!(garbage.parse::<PageCursor>().is_err(), "{garbage}");
        }
    });
}

#[test]
fn cursor_that_names_a_host_reveals_nothing_of_hosts_outside_of_the_list() {
    run_with(Fixture::new, async |fixture| {
        // The name does not fit into a cursor.
        let named = |number, network, name: &str| Host {
            name: format!("{name}{}", "-".repeat(3_000)),
            tags: fixture.tags.to_vec(),
            ..bare_host(id(number), network)
        };
        fixture.put(&named(1, fixture.network, "first")).await;
        fixture.put(&named(2, fixture.other_network, "second")).await;
        fixture.put(&named(3, fixture.other_network, "third")).await;
        let mut query = HostQuery::default();
        (query.order_by, query.limit) = (Some(HostOrderField::Name), Some(1));
        let admin = fixture.admin();
        let page = fixture.inventory.hosts().list(&admin, &query).await.unwrap();
        query.cursor = page.next;
        let rest = fixture.inventory.hosts().list(&admin, &query).await.unwrap();
        assert_eq!((rest.documents.len(), rest.total), (1, 3));
        let viewer = fixture.caller(Permission::Viewer, &[fixture.other_network]);
        let hidden = refusal(fixture.inventory.hosts().list(&viewer, &query).await);
        fixture.delete(id(1)).await.unwrap();
        let missing = refusal(fixture.inventory.hosts().list(&viewer, &query).await);
        assert_eq!((hidden, missing.clone()), (missing, invalid("cursor", Problem::OfOtherList)));
        // A list that the caller may see continues.
        query.cursor = None;
        query.cursor = fixture.inventory.hosts().list(&viewer, &query).await.unwrap().next;
        assert_eq!(fixture.inventory.hosts().list(&viewer, &query).await.unwrap().documents.len(), 1);
    });
}
