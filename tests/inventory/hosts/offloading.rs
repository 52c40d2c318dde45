//! Large hosts are decoded and encoded on blocking threads, small ones in place.

use std::pin::Pin;
use std::sync::mpsc::channel;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{spawn, spawn_blocking, yield_now};
use toposcope::inventory::{Error, PortUpdate};
use toposcope::model::{Host, Protocol};

use crate::support::{Fixture, bare_host, id, owner_of, port};

/// A host with this many ports takes more than 256 KiB.
const MANY: u16 = 2_000;

/// More polls than any operation on a small host takes.
const TURNS: usize = 1_000;

type Operation = fn(Fixture, Host) -> Pending;
type Pending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Every operation that decodes or encodes a whole host.
const OPERATIONS: [(&str, Operation); 4] = [
    ("read", |fixture, host| {
        Box::pin(async move { fixture.inventory.host(fixture.organization, host.id).await.map(drop) })
    }),
    ("put", |fixture, host| {
        Box::pin(async move { fixture.inventory.put_host(fixture.organization, host).await.map(drop) })
    }),
    ("deleted", |fixture, host| {
        Box::pin(async move { fixture.inventory.delete_host(fixture.organization, host.id).await })
    }),
    ("port updated", |fixture, host| {
        Box::pin(async move {
            let number = 50_000.try_into().expect("a port number");
            let update = PortUpdate::new(host.id, host.network_id, number, Protocol::Udp);
            let caller = owner_of(fixture.organization);
            fixture.inventory.update_port(&caller, host.ports[0].id, update).await.map(drop)
        })
    }),
];

fn host_with(fixture: &Fixture, ports: u16) -> Host {
    let mut host = bare_host(id(1), fixture.network);
    host.ports = (0..ports)
        .map(|place| port(&host, id(0x1_0000 + u128::from(place)), 1 + place, Protocol::Tcp))
        .collect();
    host
}

/// A runtime with one thread for tasks and one for blocking work.
fn narrow_runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
}

/// Returns whether the operation ends while the only blocking thread is busy.
async fn ends_without_blocking_thread(ports: u16, operation: Operation) -> bool {
    let fixture = Fixture::new().await;
    let host = host_with(&fixture, ports);
    fixture.put(&host).await;
    let (release, released) = channel::<()>();
    let blocker = spawn_blocking(move || released.recv().is_err());
    let task = spawn(operation(fixture, host));
    for _ in 0..TURNS {
        yield_now().await;
    }
    let has_ended = task.is_finished();
    drop(release);
    task.await.unwrap().unwrap();
    assert!(blocker.await.unwrap());
    has_ended
}

#[test]
fn large_hosts_leave_the_thread_of_the_runtime_to_other_tasks() {
    for (name, operation) in OPERATIONS {
        assert!(!narrow_runtime().block_on(ends_without_blocking_thread(MANY, operation)), "{name}");
    }
}

#[test]
fn small_hosts_are_handled_in_place() {
    for (name, operation) in OPERATIONS {
        assert!(narrow_runtime().block_on(ends_without_blocking_thread(8, operation)), "{name}");
    }
}
