//! The order by service name when the service and its guest change concurrently.

use tokio::task::JoinSet;
use toposcope::inventory::{Error, ErrorKind, Import, Inventory};
use toposcope::model::Host;
use uuid::Uuid;

use crate::support::{
    Fixture, assert_virtualized_by, bare_host, guest_of, id, jsonl, service, with_interference_at_every_call,
};

const GUEST: Uuid = Uuid::from_u128(20);
const SERVICE: Uuid = Uuid::from_u128(11);

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

fn node(network: Uuid, name: &str) -> Host {
    let mut node = bare_host(id(10), network);
    node.services.push(service(&node, SERVICE, name, 0));
    node
}

fn guest(network: Uuid) -> Host {
    let mut guest = bare_host(GUEST, network);
    guest_of(&mut guest, SERVICE);
    guest
}

async fn take(step: Step, inventory: &Inventory, organization: Uuid, network: Uuid) -> Result<(), Error> {
    match step {
        Step::Node(name) => inventory.put_host(organization, node(network, name)).await.map(drop),
        Step::NodeWithoutService => {
            inventory.put_host(organization, bare_host(id(10), network)).await.map(drop)
        }
        Step::DeleteNode => inventory.delete_host(organization, id(10)).await,
        Step::Guest => inventory.put_host(organization, guest(network)).await.map(drop),
        Step::DeleteGuest => inventory.delete_host(organization, GUEST).await,
        Step::ImportBoth(name) => {
            let lines = jsonl(&[guest(network), node(network, name)]);
            let report = inventory.import_hosts(organization, &lines[..], Import::new()).await?;
            assert_eq!(report.imported, 2, "{report}");
            Ok(())
        }
    }
}

/// In either order, the guest's final position is that of the service's final name.
async fn assert_consistent(inventory: &Inventory, organization: Uuid) {
    if inventory.host(organization, GUEST).await.is_err() {
        return;
    }
    let node = inventory.host(organization, id(10)).await.ok();
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

async fn prepare(fixture: &Fixture, is_node_there: bool, is_guest_there: bool) -> (Uuid, Uuid) {
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
            // A missing record cannot be deleted; everything else must succeed.
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
    result.as_ref().err().is_none_or(|error| matches!(error.kind(), ErrorKind::NotFound { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn the_order_is_right_when_many_rename_the_service_and_put_its_guests_at_once() {
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
                        if let Err(error) = inventory.put_host(organization, host).await {
                            assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}");
                        }
                    }
                });
            }
        }
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
        let name = fixture.host(id(10)).await.services.first().map(|service| service.name.clone());
        for number in 0..8 {
            let guest = id(20 + number);
            if fixture.inventory.host(fixture.organization, guest).await.is_ok() {
                let name = name.clone().unwrap_or_default();
                assert_virtualized_by(&fixture.inventory, fixture.organization, guest, &name).await;
            }
        }
    }
}
