//! The order of hosts by the name of the service that runs them.
//!
//! The service belongs to another host.

use tokio::task::JoinSet;
use toposcope::access::Caller;
use toposcope::inventory::{Error, ErrorKind, HostQuery, Import, Inventory};
use toposcope::model::{Host, HostId, HostOrderField, NetworkId, OrderDirection, OrganizationId, ServiceId};

use crate::support::{
    Fault, Fixture, assert_virtualized_by, bare_host, guest_of, id, jsonl, owner_of, rich_host, service,
    with_interference_at_every_call,
};

const NODE: HostId = HostId::from_u128(10);
const SERVICE: ServiceId = ServiceId::from_u128(11);
const GUEST: HostId = HostId::from_u128(20);

fn node(network: NetworkId, name: &str) -> Host {
    let mut node = bare_host(NODE, network);
    node.services.push(service(&node, SERVICE, name, 0));
    node
}

fn guest(network: NetworkId) -> Host {
    let mut guest = bare_host(GUEST, network);
    guest_of(&mut guest, SERVICE);
    guest
}

async fn assert_name(fixture: &Fixture, name: &str) {
    assert_virtualized_by(&fixture.inventory, fixture.organization, GUEST, name).await;
}

#[tokio::test]
async fn order_knows_the_service_whichever_host_was_put_first() {
    for is_guest_first in [false, true] {
        let fixture = Fixture::new().await;
        // Also across networks of the organization.
        let mut hosts = [node(fixture.network, "proxmox"), guest(fixture.other_network)];
        if is_guest_first {
            hosts.reverse();
        }
        for host in &hosts {
            fixture.put(host).await;
        }
        assert_name(&fixture, "proxmox").await;
    }
}

#[tokio::test]
async fn missing_service_counts_as_none() {
    let fixture = Fixture::new().await;
    fixture.put(&guest(fixture.network)).await;
    assert_name(&fixture, "").await;
}

#[tokio::test]
async fn order_follows_a_service_that_is_renamed_removed_and_added_again() {
    let fixture = Fixture::new().await;
    fixture.put(&node(fixture.network, "b")).await;
    fixture.put(&guest(fixture.network)).await;
    for name in ["b", "a", "", "ü\u{0}", "zz", "a"] {
        fixture.put(&node(fixture.network, name)).await;
        assert_name(&fixture, name).await;
    }
    fixture.put(&bare_host(NODE, fixture.network)).await;
    assert_name(&fixture, "").await;
    fixture.put(&node(fixture.network, "back")).await;
    assert_name(&fixture, "back").await;
    fixture.put(&bare_host(NODE, fixture.network)).await;
    fixture.delete(NODE).await.unwrap();
    assert_name(&fixture, "").await;
    assert_eq!(
        fixture.host(GUEST).await,
        guest(fixture.network),
        "the document of the guest is none of this"
    );
}

#[tokio::test]
async fn order_follows_a_service_to_another_host_and_network() {
    let fixture = Fixture::new().await;
    fixture.put(&node(fixture.network, "first")).await;
    fixture.put(&guest(fixture.network)).await;
    fixture.put(&node(fixture.other_network, "moved")).await;
    assert_name(&fixture, "moved").await;
    fixture.put(&bare_host(NODE, fixture.other_network)).await;
    let mut heir = bare_host(id(12), fixture.network);
    heir.services.push(service(&heir, SERVICE, "inherited", 0));
    fixture.put(&heir).await;
    assert_name(&fixture, "inherited").await;
}

#[tokio::test]
async fn order_follows_a_guest_that_changes_its_service() {
    let fixture = Fixture::new().await;
    let mut both = node(fixture.network, "first");
    both.services.push(service(&both, id(12), "second", 0));
    fixture.put(&both).await;
    for (service, name) in [(SERVICE, "first"), (id(12), "second"), (id(13), ""), (SERVICE, "first")] {
        let mut guest = bare_host(GUEST, fixture.network);
        guest_of(&mut guest, service);
        fixture.put(&guest).await;
        assert_name(&fixture, name).await;
    }
    fixture.put(&bare_host(GUEST, fixture.network)).await;
    assert_name(&fixture, "").await;
}

#[tokio::test]
async fn service_of_another_organization_counts_as_none() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for is_guest_first in [false, true] {
        if is_guest_first {
            fixture.put(&guest(fixture.network)).await;
        }
        for name in ["secret", "renamed"] {
            fixture.inventory.hosts().put(&foreign.system(), node(foreign.network, name)).await.unwrap();
            fixture.put(&guest(fixture.network)).await;
            assert_name(&fixture, "").await;
            fixture.inventory.hosts().put(&foreign.system(), node(foreign.network, "again")).await.unwrap();
            assert_name(&fixture, "").await;
        }
        fixture.inventory.hosts().delete(&foreign.system(), NODE).await.unwrap();
        assert_name(&fixture, "").await;
        fixture.put(&node(fixture.network, "ours")).await;
        assert_name(&fixture, "ours").await;
        fixture.delete(GUEST).await.unwrap();
        fixture.delete(NODE).await.unwrap();
    }
}

#[tokio::test]
async fn each_host_of_a_chain_follows_its_own_service() {
    let fixture = Fixture::new().await;
    let link = |number: u128, name: &str| {
        let mut host = bare_host(id(number), fixture.network);
        host.services.push(service(&host, id(number + 1), name, 0));
        if number > 10 {
            guest_of(&mut host, id(number - 9));
        }
        host
    };
    let check = async |expected: [&str; 3]| {
        for (number, name) in [20, 30, 40].into_iter().zip(expected) {
            assert_virtualized_by(&fixture.inventory, fixture.organization, id(number), name).await;
        }
    };
    for number in [40, 10, 30, 20] {
        fixture.put(&link(number, &format!("n{number}"))).await;
    }
    check(["n10", "n20", "n30"]).await;
    fixture.put(&link(20, "other")).await;
    check(["n10", "other", "n30"]).await;
    fixture.put(&link(10, "base")).await;
    check(["base", "other", "n30"]).await;
    fixture.put(&bare_host(id(10), fixture.network)).await;
    check(["", "other", "n30"]).await;
}

#[tokio::test]
async fn host_may_be_run_by_its_own_service_and_two_hosts_by_each_other() {
    let fixture = Fixture::new().await;
    for name in ["own", "renamed"] {
        let mut host = bare_host(GUEST, fixture.network);
        guest_of(&mut host, id(21));
        host.services.push(service(&host, id(21), name, 0));
        fixture.put(&host).await;
        assert_name(&fixture, name).await;
    }
    for name in ["a", "b"] {
        let mut left = node(fixture.network, name);
        guest_of(&mut left, id(21));
        let mut right = guest(fixture.network);
        right.services.push(service(&right, id(21), &format!("right {name}"), 0));
        fixture.put(&left).await;
        fixture.put(&right).await;
        assert_name(&fixture, name).await;
        let expected = format!("right {name}");
        assert_virtualized_by(&fixture.inventory, fixture.organization, NODE, &expected).await;
    }
}

#[tokio::test]
async fn import_knows_services_in_earlier_and_later_lines() {
    for is_guest_first in [false, true] {
        for between in [0, 300] {
            let fixture = Fixture::new().await;
            let mut hosts = vec![node(fixture.network, "imported")];
            hosts.extend((0..between).map(|number| bare_host(id(1000 + number), fixture.network)));
            hosts.push(guest(fixture.network));
            if is_guest_first {
                hosts.reverse();
            }
            // The second time, all records exist and the name is different.
            for name in ["imported", "renamed"] {
                let place = if is_guest_first { hosts.len() - 1 } else { 0 };
                hosts[place].services[0].name = name.to_owned();
                let lines = jsonl(&hosts);
                let report = fixture
                    .inventory
                    .hosts()
                    .import(&fixture.system(), &lines[..], Import::new())
                    .await
                    .unwrap();
                assert_eq!(report.imported, hosts.len() as u64, "{report}");
                assert_name(&fixture, name).await;
            }
        }
    }
}

#[tokio::test]
async fn import_of_the_node_moves_existing_guests() {
    let fixture = Fixture::new().await;
    fixture.put(&guest(fixture.network)).await;
    for name in ["one", "two"] {
        let lines = jsonl(&[node(fixture.network, name), bare_host(id(1), fixture.network)]);
        fixture.inventory.hosts().import(&fixture.system(), &lines[..], Import::new()).await.unwrap();
        assert_name(&fixture, name).await;
    }
}

#[tokio::test]
async fn guest_keeps_tags_network_and_ports_when_its_service_is_renamed() {
    let fixture = Fixture::new().await;
    let mut guest = rich_host(20, fixture.other_network, &fixture.tags);
    guest_of(&mut guest, SERVICE);
    fixture.put(&guest).await;
    fixture.put(&node(fixture.network, "named")).await;
    let mut query = HostQuery::default();
    query.network_id = Some(fixture.other_network);
    query.tag_ids = Some(vec![fixture.tags[0]]);
    query.group_by = Some(HostOrderField::VirtualizedBy);
    query.order_by = Some(HostOrderField::InterfaceIp);
    query.order_direction = OrderDirection::Descending;
    let page = fixture.list(&query).await;
    assert_eq!(page.documents, [serde_json::to_vec(&guest).unwrap()]);
    let mut thief = bare_host(id(99), fixture.network);
    thief.ports = vec![guest.ports[0].clone()];
    thief.ports[0].host_id = thief.id;
    assert!(fixture.try_put(thief).await.is_err(), "its ports are its own still");
    assert_name(&fixture, "named").await;
}

/// A change of the node or the guest.
#[derive(Clone, Copy, Debug)]
enum Step {
    Node(&'static str),
    NodeWithoutService,
    DeleteNode,
    Guest,
    DeleteGuest,
    ImportBoth(&'static str),
}

const STEPS: [Step; 8] = [
    Step::Node("before"),
    Step::Node("one"),
    Step::Node("two"),
    Step::NodeWithoutService,
    Step::DeleteNode,
    Step::Guest,
    Step::DeleteGuest,
    Step::ImportBoth("three"),
];

async fn take(
    step: Step,
    inventory: &Inventory,
    organization: OrganizationId,
    network: NetworkId,
) -> Result<(), Error> {
    match step {
        Step::Node(name) => {
            inventory.hosts().put(&Caller::system(organization), node(network, name)).await.map(drop)
        }
        Step::NodeWithoutService => {
            inventory.hosts().put(&Caller::system(organization), bare_host(id(10), network)).await.map(drop)
        }
        Step::DeleteNode => inventory.hosts().delete(&Caller::system(organization), id(10)).await,
        Step::Guest => inventory.hosts().put(&Caller::system(organization), guest(network)).await.map(drop),
        Step::DeleteGuest => inventory.hosts().delete(&Caller::system(organization), GUEST).await,
        Step::ImportBoth(name) => {
            let lines = jsonl(&[guest(network), node(network, name)]);
            let report =
                inventory.hosts().import(&Caller::system(organization), &lines[..], Import::new()).await?;
            assert_eq!(report.imported, 2, "{report}");
            Ok(())
        }
    }
}

/// Asserts that the guest's position follows the final name of the service. This must be true in either order of
/// changes.
async fn assert_consistent(inventory: &Inventory, organization: OrganizationId) {
    if inventory.hosts().get(&Caller::system(organization), GUEST).await.is_err() {
        return;
    }
    let node = inventory.hosts().get(&Caller::system(organization), id(10)).await.ok();
    let name = node.and_then(|node| Some(node.services.first()?.name.clone())).unwrap_or_default();
    assert_virtualized_by(inventory, organization, GUEST, &name).await;
}

#[tokio::test]
async fn order_is_right_after_any_two_concurrent_changes() {
    for is_node_there in [false, true] {
        for is_guest_there in [false, true] {
            for step in STEPS {
                assert_right_alone(is_node_there, is_guest_there, step).await;
                for other in STEPS {
                    assert_right_together(is_node_there, is_guest_there, step, other).await;
                }
            }
        }
    }
}

async fn prepare(
    fixture: &Fixture,
    is_node_there: bool,
    is_guest_there: bool,
) -> (OrganizationId, NetworkId) {
    let (organization, network) = (fixture.organization, fixture.network);
    if is_node_there {
        take(Step::Node("before"), &fixture.inventory, organization, network).await.unwrap();
    }
    if is_guest_there {
        take(Step::Guest, &fixture.inventory, organization, network).await.unwrap();
    }
    (organization, network)
}

async fn assert_right_alone(is_node_there: bool, is_guest_there: bool, step: Step) {
    let fixture = Fixture::new().await;
    let (organization, network) = prepare(&fixture, is_node_there, is_guest_there).await;
    let result = take(step, &fixture.inventory, organization, network).await;
    assert!(is_fine(&result), "{step:?}: {result:?}");
    assert_consistent(&fixture.inventory, organization).await;
}

async fn assert_right_together(is_node_there: bool, is_guest_there: bool, step: Step, other: Step) {
    with_interference_at_every_call(
        async |fixture: &Fixture| prepare(fixture, is_node_there, is_guest_there).await,
        async |inventory, (organization, network)| {
            // A record that is missing or in use cannot be deleted; everything else must succeed.
            let result = take(other, inventory, *organization, *network).await;
            assert!(is_fine(&result), "{other:?}: {result:?}");
        },
        async |inventory, (organization, network)| take(step, inventory, *organization, *network).await,
        async |fixture, (organization, _), result| {
            assert!(is_fine(&result), "{step:?} with {other:?}: {result:?}");
            assert_consistent(&fixture.inventory, *organization).await;
        },
    )
    .await;
}

fn is_fine(result: &Result<(), Error>) -> bool {
    let is_refusal =
        |error: &Error| matches!(error.kind(), ErrorKind::NotFound { .. } | ErrorKind::InUse { .. });
    result.as_ref().err().is_none_or(is_refusal)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn order_is_right_after_many_concurrent_renames_and_puts() {
    for round in 0..10 {
        let fixture = Fixture::new().await;
        let mut tasks = JoinSet::new();
        for number in 0..8_u32 {
            for turn in 0..8_u32 {
                let (inventory, organization) = (fixture.inventory.clone(), fixture.organization);
                let mut renamed = node(fixture.network, &format!("name {number} {turn}"));
                let mut guest = guest(fixture.network);
                guest.id = id(20 + u128::from(number));
                tasks.spawn(async move {
                    if (number + turn + round) % 5 == 0 {
                        renamed.services.clear();
                    }
                    for host in [renamed, guest] {
                        if let Err(error) = inventory.hosts().put(&Caller::system(organization), host).await {
                            assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}");
                        }
                    }
                });
            }
        }
        tasks.join_all().await;
        let name = fixture.host(id(10)).await.services.first().map(|service| service.name.clone());
        for number in 0..8 {
            let guest = id(20 + number);
            if fixture.try_host(guest).await.is_ok() {
                let name = name.clone().unwrap_or_default();
                assert_virtualized_by(&fixture.inventory, fixture.organization, guest, &name).await;
            }
        }
    }
}

/// More guests than one commit changes.
const GUESTS: u128 = 1_010;

/// Returns a fixture with a service and many guests.
async fn many_guests() -> Fixture {
    let fixture = Fixture::new().await;
    fixture.put(&node(fixture.network, "before")).await;
    let guests: Vec<Host> =
        (0..GUESTS).map(|number| Host { id: id(20 + number), ..guest(fixture.network) }).collect();
    let lines = jsonl(&guests);
    let report = fixture.inventory.hosts().import(&fixture.system(), lines.as_slice(), Import::new()).await;
    assert_eq!(report.unwrap().imported, GUESTS as u64);
    fixture
}

async fn rename(fixture: &Fixture, inventory: &Inventory, name: &str) {
    let rename = |host: &mut Host| {
        name.clone_into(&mut host.services[0].name);
        Ok(())
    };
    inventory.hosts().update(&owner_of(fixture.organization), NODE, rename).await.unwrap();
}

/// Asserts that the first and the last guest are ordered by this name, and that nothing is left of the renaming.
async fn assert_followed(fixture: &Fixture, name: &str) {
    for guest in [GUEST, id(20 + GUESTS / 2), id(19 + GUESTS)] {
        assert_virtualized_by(&fixture.inventory, fixture.organization, guest, name).await;
    }
    assert!(!is_under_way(fixture).await);
}

async fn is_under_way(fixture: &Fixture) -> bool {
    fixture.contents().await.iter().any(|stored| stored.kind() == "service_renaming")
}

#[tokio::test]
async fn many_guests_follow_a_service_in_commits_of_limited_size() {
    let fixture = many_guests().await;
    let commits = fixture.commits();
    rename(&fixture, &fixture.inventory, "after").await;
    assert!(fixture.commits() - commits > 8, "{} commits", fixture.commits() - commits);
    assert_followed(&fixture, "after").await;
    fixture.put(&bare_host(NODE, fixture.network)).await;
    assert_followed(&fixture, "").await;
}

#[tokio::test]
async fn interrupted_renaming_is_completed_by_repeating_it_or_by_a_login() {
    let fixture = many_guests().await;
    let owner = fixture.owner().await;
    let (inventory, probe) = fixture.probed();
    for (name, is_repeated) in [("first", true), ("second", false)] {
        probe.set(Fault::UnavailableAfterCommits(4));
        rename(&fixture, &inventory, name).await;
        probe.set(Fault::None);
        assert!(is_under_way(&fixture).await, "{name}");
        // A guest that comes meanwhile has the new name.
        let mut late = guest(fixture.network);
        late.id = id(20 + GUESTS);
        fixture.put(&late).await;
        assert_virtualized_by(&fixture.inventory, fixture.organization, late.id, name).await;
        fixture.delete(late.id).await.unwrap();
        if is_repeated {
            rename(&fixture, &inventory, name).await;
        } else {
            fixture.log_in(&owner).await;
            while is_under_way(&fixture).await {
                tokio::task::yield_now().await;
            }
        }
        assert_followed(&fixture, name).await;
    }
}
