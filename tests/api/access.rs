use toposcope::model::Permission;
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, VAULT, World, host, key_for};

const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

/// A host on each network at home, and one abroad.
async fn world() -> World {
    let world = World::with([host(1, OFFICE), host(2, LAB), host(3, VAULT)]).await;
    world.inventory.put_host(world.abroad.organization.id, host(9, ELSEWHERE)).await.unwrap();
    world
}

#[tokio::test]
async fn every_level_may_list_in_the_networks_of_the_key_that_its_owner_reaches() {
    let world = world().await;
    let all = [OFFICE, LAB, VAULT];
    let granted = [OFFICE, LAB];
    for owner_level in LEVELS {
        let owner = world.user(&world.home, owner_level, &granted).await;
        let reach: &[Uuid] = if owner_level >= Permission::Admin { &all } else { &granted };
        for level in LEVELS.into_iter().filter(|level| *level <= owner_level) {
            for chosen in 0..1_u32 << reach.len() {
                let chosen = |place: usize| chosen >> place & 1 == 1;
                let networks: Vec<Uuid> =
                    (0..reach.len()).filter(|place| chosen(*place)).map(|place| reach[place]).collect();
                let key = world.issue(key_for(&owner, level, &networks)).await;
                let expected: Vec<u128> = networks.iter().map(|network| network.as_u128() - 0xff).collect();
                let reply = world.list_as(&key, "").await;
                assert_eq!(reply.ids(), expected, "{level} key of {owner_level}");
                assert_eq!(reply.total(), expected.len() as u64);
            }
        }
    }
}

#[tokio::test]
async fn a_key_without_networks_reaches_none_also_the_owners() {
    let world = world().await;
    for level in LEVELS {
        let owner = world.user(&world.home, level, &[OFFICE]).await;
        let key = world.issue(key_for(&owner, level, &[])).await;
        for query in ["", &format!("network_id={OFFICE}"), &format!("ids={}", Uuid::from_u128(1))] {
            let reply = world.list_as(&key, query).await;
            assert_eq!((reply.ids(), reply.total()), (vec![], 0), "{level} {query}");
        }
    }
}

#[tokio::test]
async fn nothing_tells_a_network_out_of_reach_from_one_that_is_not_there() {
    let world = world().await;
    let member = world.user(&world.home, Permission::Member, &[OFFICE, LAB]).await;
    let key = world.issue(key_for(&member, Permission::Member, &[OFFICE])).await;
    let nothing = world.list_as(&key, &format!("network_id={NOBODY}")).await;
    assert_eq!((nothing.ids(), nothing.total()), (vec![], 0));
    for network in [LAB, VAULT, ELSEWHERE] {
        let reply = world.list_as(&key, &format!("network_id={network}")).await;
        assert_eq!(reply.body, nothing.body, "{network}");
    }
    assert_eq!(world.list_as(&key, &format!("network_id={OFFICE}")).await.ids(), [1]);
}

#[tokio::test]
async fn nothing_tells_a_host_out_of_reach_from_one_that_is_not_there() {
    let world = world().await;
    let viewer = world.user(&world.home, Permission::Viewer, &[OFFICE, LAB]).await;
    let key = world.issue(key_for(&viewer, Permission::Viewer, &[OFFICE])).await;
    let nothing = world.list_as(&key, &format!("ids={NOBODY}")).await;
    assert_eq!((nothing.ids(), nothing.total()), (vec![], 0));
    for id in [2, 3, 9].map(Uuid::from_u128) {
        assert_eq!(world.list_as(&key, &format!("ids={id}")).await.body, nothing.body, "{id}");
    }
    let all = [1, 2, 3, 9].map(|id| Uuid::from_u128(id).to_string()).join(",");
    let reply = world.list_as(&key, &format!("ids={all}")).await;
    assert_eq!((reply.ids(), reply.total()), (vec![1], 1));
}

#[tokio::test]
async fn organizations_never_see_each_other() {
    let world = world().await;
    let abroad = world.owner_key(&world.abroad).await;
    let ids = [1, 2, 3, 9].map(|id| Uuid::from_u128(id).to_string()).join(",");
    for query in ["", "limit=0", &format!("ids={ids}"), "order_by=network_id&order_direction=desc"] {
        let mut home = world.ids(query).await;
        home.sort_unstable();
        assert_eq!(home, [1, 2, 3], "{query}");
        assert_eq!(world.list_as(&abroad, query).await.ids(), [9], "{query}");
    }
    for tag in world.abroad.tags {
        assert_eq!(world.ids(&format!("tag_ids={tag}")).await, [0; 0]);
    }
}

/// The rule is checked at every request, against the owner's rights at that time.
#[tokio::test]
async fn a_key_shrinks_and_grows_with_its_owner() {
    let world = world().await;
    let owner = world.user(&world.home, Permission::Owner, &[LAB]).await;
    let key = world.issue(key_for(&owner, Permission::Owner, &[OFFICE, LAB])).await;
    assert_eq!(world.list_as(&key, "").await.ids(), [1, 2]);
    for (level, networks, expected) in [
        (Permission::Viewer, &[LAB][..], &[2][..]),
        (Permission::Viewer, &[OFFICE, LAB, VAULT], &[1, 2]),
        (Permission::Viewer, &[VAULT], &[]),
        (Permission::Member, &[], &[]),
        (Permission::Admin, &[], &[1, 2]),
        (Permission::Owner, &[LAB], &[1, 2]),
    ] {
        world.inventory.set_user_rights(owner.id, level, networks.to_vec()).await.unwrap();
        assert_eq!(world.list_as(&key, "").await.ids(), expected, "{level} {networks:?}");
    }
}

#[tokio::test]
async fn api_access_counts_at_the_time_of_the_request() {
    let world = world().await;
    let home = world.home.organization.id;
    world.inventory.disable_api_access(home).await.unwrap();
    world.list("").await.refuses(403, "billing_feature_not_available");
    world.inventory.enable_api_access(home).await.unwrap();
    assert_eq!(world.ids("").await, [1, 2, 3]);
}

#[tokio::test]
async fn hosts_come_move_and_go_with_the_next_request() {
    let world = world().await;
    let viewer = world.user(&world.home, Permission::Viewer, &[OFFICE]).await;
    let key = world.issue(key_for(&viewer, Permission::Viewer, &[OFFICE])).await;
    let ids = async || world.list_as(&key, "").await.ids();
    assert_eq!(ids().await, [1]);
    world.put([host(2, OFFICE)]).await;
    assert_eq!(ids().await, [1, 2]);
    world.put([host(1, VAULT)]).await;
    assert_eq!(ids().await, [2]);
    world.inventory.delete_host(world.home.organization.id, Uuid::from_u128(2)).await.unwrap();
    assert_eq!(ids().await, [0; 0]);
}
