use fastrand::Rng;
use toposcope::model::{BindingTarget, Host, Protocol};

use crate::support::{Fixture, bare_host, binding, entry, id, interface, port, rich_host, service, time};

/// A host whose lists are in order, with ties in every sort key that has a tie-breaker.
fn host_in_order(fixture: &Fixture) -> Host {
    let mut host = bare_host(id(1), fixture.network);
    host.interfaces = [(-1, 105), (0, 104), (0, 106), (1, 101), (i64::MAX, 100)]
        .map(|(position, number)| interface(&host, id(number), "192.0.2.1", position))
        .to_vec();
    host.ports = [(1, Protocol::Udp), (53, Protocol::Tcp), (53, Protocol::Udp), (443, Protocol::Tcp)]
        .iter()
        .zip([209, 208, 207, 206])
        .map(|((number, protocol), place)| port(&host, id(place), *number, *protocol))
        .collect();
    host.if_entries = [(i64::MIN, 309), (0, 307), (0, 308), (1, 301), (1_001_000_003_000, 300)]
        .map(|(index, number)| entry(&host, id(number), index))
        .to_vec();
    host.services = [(-5, 405), (2, 403), (2, 404), (10, 401)]
        .map(|(position, number)| service(&host, id(number), "service", position))
        .to_vec();
    let target = BindingTarget::Port { port_id: id(206), interface_id: None };
    let bindings = [
        ("2026-01-01T00:00:00Z", 509),
        ("2026-01-02T00:00:00Z", 507),
        ("2026-01-02T00:00:00Z", 508),
        ("2026-01-02T00:00:00.000001Z", 501),
    ];
    host.services[1].bindings = bindings
        .map(|(created, number)| {
            let mut bound = binding(&host.services[1], id(number), target);
            bound.created_at = time(created);
            bound
        })
        .to_vec();
    host
}

#[tokio::test]
async fn embedded_lists_are_put_into_their_order() {
    let fixture = Fixture::new().await;
    let host = host_in_order(&fixture);
    let mut random = Rng::with_seed(42);
    for _ in 0..50 {
        let mut shuffled = host.clone();
        random.shuffle(&mut shuffled.interfaces);
        random.shuffle(&mut shuffled.ports);
        random.shuffle(&mut shuffled.if_entries);
        random.shuffle(&mut shuffled.services);
        for service in &mut shuffled.services {
            random.shuffle(&mut service.bindings);
        }
        fixture.put(&shuffled).await;
        assert_eq!(fixture.host(host.id).await, host);
        assert_eq!(fixture.documents().await, [serde_json::to_vec(&host).unwrap()]);
    }
}

#[tokio::test]
async fn lists_without_an_order_of_their_own_keep_the_given_one() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &[fixture.tags[1], fixture.tags[0]]);
    host.credential_assignments.reverse();
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
    host.tags.reverse();
    host.credential_assignments.reverse();
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
}
