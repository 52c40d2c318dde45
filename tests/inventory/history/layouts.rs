//! Layouts in the history: at most one entry a minute for each view and user.

use std::time::Duration;

use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{ChangeQuery, Inventory};
use toposcope::model::{
    Change, ChangeAction, ChangeActor, ChangedEntity, HostId, NetworkId, NodeId, NodePosition, Permission,
    TopologyLayout, TopologyView, UserId,
};

use super::changes_after;
use crate::backend::run;
use crate::support::{Fixture, bare_host, owner_of};

fn position(node: u128, x: f64) -> NodePosition {
    NodePosition { id: NodeId::from_u128(node), x, y: 0.0 }
}

fn user(fixture: &Fixture, number: u128) -> Caller {
    Caller::new(fixture.organization, UserId::from_u128(number), Permission::Member, Scope::all())
}

/// Stores the positions of nodes, given with their left edges.
async fn put(inventory: &Inventory, caller: &Caller, network_id: NetworkId, nodes: &[(u128, f64)]) {
    let positions = nodes.iter().map(|(node, x)| position(*node, *x)).collect();
    let layout = TopologyLayout { network_id, view: TopologyView::L2, positions };
    inventory.topology().put_layout(caller, layout, |_| Ok(())).await.unwrap();
}

/// Returns the entries of layouts: actor, action, and the fields with the values before and after.
async fn entries(fixture: &Fixture) -> Vec<Change> {
    let (mut changes, _) = changes_after(fixture, &owner_of(fixture.organization), None).await;
    changes.retain(|change| change.entity == ChangedEntity::TopologyLayout);
    changes
}

fn field(node: u128) -> String {
    format!("positions.{}.x", NodeId::from_u128(node))
}

#[test]
fn layout_has_at_most_one_entry_a_minute_for_each_user() {
    run(async || {
        let fixture = Fixture::new().await;
        let (ann, ben) = (user(&fixture, 1), user(&fixture, 2));
        let put = async |caller: &Caller, nodes: &[(u128, f64)]| {
            put(&fixture.inventory, caller, fixture.network, nodes).await;
        };
        put(&ann, &[(1, 1.0), (2, 1.0)]).await;
        for x in 2..20 {
            fixture.clock.advance(Duration::from_secs(1));
            put(&ann, &[(1, f64::from(x)), (2, 1.0)]).await;
        }
        // Another user has an entry of the own node alone.
        put(&ben, &[(1, 19.0), (2, 7.0)]).await;
        put(&ben, &[(1, 19.0), (2, 8.0)]).await;
        let found = entries(&fixture).await;
        let users: Vec<_> = found.iter().map(|change| (change.actor.user_id(), change.action)).collect();
        let (created, updated) = (ChangeAction::Created, ChangeAction::Updated);
        assert_eq!(users, [(Some(ann.user_id()), created), (Some(ben.user_id()), updated)]);
        assert_eq!((found[0].network_id, &*found[0].name), (Some(fixture.network), "l2"));
        assert_eq!(found[1].fields.keys().collect::<Vec<_>>(), [&field(2)]);
        assert_eq!(found[1].fields[&field(2)].after, Some(json!(7.0)));

        fixture.clock.advance(Duration::from_secs(60));
        put(&ann, &[(1, 30.0), (2, 8.0)]).await;
        let found = entries(&fixture).await;
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].actor.user_id(), Some(ann.user_id()));
        let moved = &found[2].fields[&field(1)];
        assert_eq!((&moved.before, &moved.after), (&Some(json!(1.0)), &Some(json!(30.0))));
    });
}

#[test]
fn node_that_is_where_it_was_has_no_entry() {
    run(async || {
        let fixture = Fixture::new().await;
        let ann = user(&fixture, 1);
        for x in [1.0, 2.0, 1.0, 1.0] {
            put(&fixture.inventory, &ann, fixture.network, &[(1, x)]).await;
        }
        fixture.clock.advance(Duration::from_secs(61));
        put(&fixture.inventory, &ann, fixture.network, &[(1, 1.0)]).await;
        assert_eq!(entries(&fixture).await.len(), 1);
    });
}

#[tokio::test(start_paused = true)]
async fn last_change_is_recorded_a_minute_later() {
    let fixture = Fixture::new().await;
    let ann = user(&fixture, 1);
    for x in [1.0, 2.0, 3.0] {
        put(&fixture.inventory, &ann, fixture.network, &[(1, x)]).await;
    }
    assert_eq!(entries(&fixture).await.len(), 1);
    fixture.clock.advance(Duration::from_secs(60));
    while entries(&fixture).await.len() < 2 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let found = entries(&fixture).await;
    assert_eq!(found[1].fields[&field(1)].after, Some(json!(3.0)));
    assert!(matches!(found[1].actor, ChangeActor::User { id, .. } if id == ann.user_id()));
}

#[tokio::test(start_paused = true)]
async fn last_change_is_recorded_after_the_end_of_the_process() {
    let fixture = Fixture::new().await;
    let ann = user(&fixture, 1);
    let ended = fixture.second_inventory();
    for x in [1.0, 2.0, 3.0] {
        put(&ended, &ann, fixture.network, &[(1, x)]).await;
    }
    drop(ended);
    let reopened = fixture.second_inventory();
    // A read of the history is the first that the next process does.
    reopened.changes(&owner_of(fixture.organization), &ChangeQuery::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(entries(&fixture).await.len(), 1);
    fixture.clock.advance(Duration::from_secs(60));
    tokio::time::sleep(Duration::from_secs(120)).await;
    let found = entries(&fixture).await;
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].fields[&field(1)].after, Some(json!(3.0)));
}

#[test]
fn deleted_host_leaves_its_position_and_the_entry_names_the_cause() {
    run(async || {
        let fixture = Fixture::new().await;
        let host = bare_host(HostId::from_u128(1), fixture.network);
        fixture.put(&host).await;
        let node = host.id.uuid().as_u128();
        put(&fixture.inventory, &user(&fixture, 1), fixture.network, &[(node, 1.0), (2, 1.0)]).await;
        fixture.delete(host.id).await.unwrap();
        let (changes, _) = changes_after(&fixture, &owner_of(fixture.organization), None).await;
        let deleted = changes.iter().find(|change| change.action == ChangeAction::Deleted).unwrap();
        let last = entries(&fixture).await.pop().unwrap();
        assert_eq!((last.actor, last.cause), (ChangeActor::System, Some(deleted.position.clone())));
        assert_eq!(last.fields.keys().cloned().collect::<Vec<_>>(), [format!("positions.{}", host.id)]);
    });
}
