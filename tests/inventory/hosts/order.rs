use toposcope::model::{BindingTarget, Host, Protocol};

use crate::support::{
    SplitMix64, World, bare_host, binding, entry, id, interface, port, rich_host, service, time,
};

fn shuffle<T>(list: &mut [T], random: &mut SplitMix64) {
    for place in (1..list.len()).rev() {
        list.swap(place, random.below(place + 1));
    }
}

/// A host whose lists are in order, with ties in every sort key that has a tie-breaker.
fn host_in_order(world: &World) -> Host {
    let mut host = bare_host(id(1), world.network);
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
    let world = World::new().await;
    let host = host_in_order(&world);
    let mut random = SplitMix64(42);
    for _ in 0..50 {
        let mut shuffled = host.clone();
        shuffle(&mut shuffled.interfaces, &mut random);
        shuffle(&mut shuffled.ports, &mut random);
        shuffle(&mut shuffled.if_entries, &mut random);
        shuffle(&mut shuffled.services, &mut random);
        for service in &mut shuffled.services {
            shuffle(&mut service.bindings, &mut random);
        }
        world.put(&shuffled).await;
        assert_eq!(world.host(host.id).await, host);
        assert_eq!(world.documents().await, [serde_json::to_vec(&host).unwrap()]);
    }
}

#[tokio::test]
async fn lists_without_an_order_of_their_own_keep_the_given_one() {
    let world = World::new().await;
    let mut host = rich_host(1, world.network, &[world.tags[1], world.tags[0]]);
    host.credential_assignments.reverse();
    world.put(&host).await;
    assert_eq!(world.host(host.id).await, host);
    host.tags.reverse();
    host.credential_assignments.reverse();
    world.put(&host).await;
    assert_eq!(world.host(host.id).await, host);
}
