//! Updates of one host wait for each other. Time is paused: a commit takes exactly [`COMMIT`].

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep, timeout};
use toposcope::inventory::{Entity, Error, ErrorKind, Inventory};
use toposcope::model::{Host, Port, PortId, Protocol};

use super::on;
use crate::support::{Fault, Fixture, Probe, bare_host, id, not_found, owner_of, port};

const COMMIT: Duration = Duration::from_millis(20);

/// Longer than all updates of a test in sequence.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// Maximum number of updates in a queue.
const QUEUE: u16 = 1024;

/// A host with many ports, in a store with slow commits.
struct BusyHost {
    fixture: Fixture,
    probe: Arc<Probe>,
    inventory: Inventory,
    host: Host,
}

impl BusyHost {
    async fn new(ports: u16) -> Self {
        let fixture = Fixture::new().await;
        let mut host = bare_host(id(1), fixture.network);
        host.ports = (0..ports).map(|place| port(&host, port_id(place), 1 + place, Protocol::Tcp)).collect();
        fixture.put(&host).await;
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::SlowCommits(COMMIT));
        Self { fixture, probe, inventory, host }
    }

    /// Changes the number of a port of the host.
    fn update(&self, place: u16) -> impl Future<Output = Result<Port, Error>> + Send + 'static {
        let (inventory, caller) = (self.inventory.clone(), owner_of(self.fixture.organization));
        let update = on(&self.host, 10_001 + place, Protocol::Tcp);
        async move { inventory.parts().replace(&caller, port_id(place), update).await }
    }

    fn assert_no_queue_is_left(&self) {
        assert!(format!("{:?}", self.inventory).contains(" queues: UpdateQueues(KeyedLock { keys: 0, .. })"));
    }
}

fn port_id(place: u16) -> PortId {
    id(0x1_0000 + u128::from(place))
}

#[tokio::test(start_paused = true)]
async fn concurrent_updates_of_one_host_all_succeed_with_one_commit_each() {
    let busy = BusyHost::new(140).await;
    let (begun_at, mut updates) = (Instant::now(), JoinSet::new());
    for place in 0..140 {
        updates.spawn(busy.update(place));
    }
    while let Some(result) = updates.join_next().await {
        result.unwrap().unwrap();
    }
    assert_eq!(busy.probe.commits(), 140);
    assert!(begun_at.elapsed() <= COMMIT * 140 * 13 / 10, "{:?}", begun_at.elapsed());
    let host = busy.fixture.host(busy.host.id).await;
    assert!(host.ports.iter().all(|port| port.number.get() > 10_000));
    busy.assert_no_queue_is_left();
}

#[tokio::test(start_paused = true)]
async fn updates_of_one_host_finish_in_the_order_of_their_arrival() {
    let busy = BusyHost::new(50).await;
    let mut updates = JoinSet::new();
    for place in 0..50 {
        let update = busy.update(place);
        updates.spawn(async move {
            update.await.unwrap();
            place
        });
        yield_now().await;
    }
    let mut finished = Vec::new();
    while let Some(place) = updates.join_next().await {
        finished.push(place.unwrap());
    }
    assert!(finished.is_sorted(), "{finished:?}");
}

#[tokio::test(start_paused = true)]
async fn dropped_updates_leave_their_turns_to_the_others() {
    for seed in 0..20 {
        let (busy, mut random) = (BusyHost::new(60).await, Rng::with_seed(seed));
        let (mut updates, mut lasting) = (JoinSet::new(), 0);
        for place in 0..60 {
            let update = busy.update(place);
            let limit = Duration::from_micros(random.u64(0..60 * 20_000));
            let is_dropped = random.bool();
            lasting += usize::from(!is_dropped);
            updates.spawn(async move {
                if is_dropped { timeout(limit, update).await.ok() } else { Some(update.await) }
            });
        }
        let join = async {
            let mut finished = 0;
            while let Some(result) = updates.join_next().await {
                if let Some(result) = result.unwrap() {
                    result.unwrap();
                    finished += 1;
                }
            }
            finished
        };
        let finished = timeout(FOR_EVER, join).await.expect("no update waits for ever");
        assert!(finished >= lasting, "{finished} of {lasting}");
        busy.assert_no_queue_is_left();
    }
}

#[tokio::test(start_paused = true)]
async fn updates_of_other_organizations_do_not_wait() {
    let busy = BusyHost::new(100).await;
    let foreign = busy.fixture.foreign().await;
    let mut theirs = bare_host(id(2), foreign.network);
    theirs.ports = vec![port(&theirs, id(0x99), 1, Protocol::Tcp)];
    busy.fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    let mut updates = JoinSet::new();
    for place in 0..100 {
        updates.spawn(busy.update(place));
    }
    yield_now().await;

    let (begun_at, caller) = (Instant::now(), owner_of(foreign.organization));
    let update = on(&theirs, 2, Protocol::Tcp);
    busy.inventory.parts().replace(&caller, id(0x99), update).await.unwrap();
    assert_eq!(begun_at.elapsed(), COMMIT);
    // Even if they name the busy host, which belongs to another organization.
    let update = on(&busy.host, 2, Protocol::Tcp);
    busy.inventory.parts().replace(&caller, id(0x99), update).await.unwrap_err();
    let refused = busy.inventory.parts().replace(&caller, port_id(0), update).await.unwrap_err();
    assert_eq!(*refused.kind(), not_found(Entity::Port, port_id(0)));
    assert_eq!(begun_at.elapsed(), COMMIT);
}

#[tokio::test(start_paused = true)]
async fn ports_that_change_places_between_two_hosts_do_not_deadlock() {
    let busy = BusyHost::new(40).await;
    let mut other = bare_host(id(2), busy.fixture.other_network);
    other.ports = (40..80).map(|place| port(&other, port_id(place), 1 + place, Protocol::Tcp)).collect();
    busy.fixture.put(&other).await;
    let mut updates = JoinSet::new();
    for place in 0..80 {
        let target = if place < 40 { &other } else { &busy.host };
        let update = on(target, 10_001 + place, Protocol::Tcp);
        let (inventory, caller) = (busy.inventory.clone(), owner_of(busy.fixture.organization));
        updates.spawn(async move { inventory.parts().replace(&caller, port_id(place), update).await });
    }
    let join = async {
        while let Some(result) = updates.join_next().await {
            result.unwrap().unwrap();
        }
    };
    timeout(FOR_EVER, join).await.expect("no update waits for ever");
    assert_eq!(busy.probe.commits(), 80);
    assert_eq!(busy.fixture.host(other.id).await.ports.len(), 40);
    busy.assert_no_queue_is_left();
}

#[tokio::test(start_paused = true)]
async fn updates_beyond_the_length_of_a_queue_conflict_at_once() {
    let busy = BusyHost::new(QUEUE + 1).await;
    let mut updates = JoinSet::new();
    for place in 0..QUEUE {
        updates.spawn(busy.update(place));
    }
    sleep(COMMIT / 2).await;
    let begun_at = Instant::now();
    let refused = busy.update(QUEUE).await.unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::Conflict { entity: Entity::Port, id: port_id(QUEUE).uuid() });
    assert_eq!(begun_at.elapsed(), Duration::ZERO);
    updates.shutdown().await;
    busy.assert_no_queue_is_left();
    busy.update(QUEUE).await.unwrap();
}
