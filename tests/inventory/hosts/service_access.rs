//! Callers of some networks refer only to services on these.

use toposcope::access::Caller;
use toposcope::inventory::{Atomicity, Entity, ErrorKind, Import};
use toposcope::model::{
    ChangePosition, Host, HostId, HostVirtualization, Service, ServiceId, ServiceVirtualization,
};

use crate::support::{Fixture, bare_host, guest_of, jsonl, owner_of, refusal, service};

const NODE: HostId = HostId::from_u128(10);
const SERVICE: ServiceId = ServiceId::from_u128(11);
const GUEST: HostId = HostId::from_u128(20);

/// A node with a service on a network, and a Member of another one with a host there.
async fn fixture() -> (Fixture, Caller, Host) {
    let fixture = Fixture::new().await;
    let mut node = bare_host(NODE, fixture.other_network);
    node.services.push(service(&node, SERVICE, "secret", 0));
    fixture.put(&node).await;
    let guest = bare_host(GUEST, fixture.network);
    fixture.put(&guest).await;
    let member = fixture.member();
    (fixture, member, guest)
}

fn container_of(service: ServiceId) -> Option<ServiceVirtualization> {
    let container = serde_json::json!({
        "type": "Docker",
        "details": {"container_name": null, "container_id": null, "service_id": service},
    });
    Some(serde_json::from_value(container).unwrap())
}

fn service_denied() -> ErrorKind {
    ErrorKind::AccessDenied { entity: Entity::Service, id: SERVICE.uuid() }
}

#[tokio::test]
async fn new_reference_to_a_service_on_an_inaccessible_network_is_refused() {
    let (fixture, member, guest) = fixture().await;
    let hosts = fixture.inventory.hosts();
    let mut virtual_host = guest.clone();
    guest_of(&mut virtual_host, SERVICE);
    let mut with_container = guest.clone();
    let container = Service {
        virtualization: container_of(SERVICE),
        ..service(&guest, ServiceId::from_u128(21), "web", 0)
    };
    with_container.services.push(container.clone());
    for changed in [virtual_host, with_container] {
        let change = |host: &mut Host| {
            host.virtualization.clone_from(&changed.virtualization);
            host.services.clone_from(&changed.services);
            Ok(())
        };
        assert_eq!(refusal(hosts.update(&member, GUEST, change).await), service_denied());
        assert_eq!(refusal(hosts.create(&member, changed.clone()).await), service_denied());
        let all = hosts.bulk_put(&member, vec![changed.clone().into()], Atomicity::AllOrNothing).await;
        assert_eq!(refusal(all), service_denied());
        let other = bare_host(HostId::from_u128(30), fixture.network);
        let each = vec![changed.clone().into(), other.clone().into()];
        let each = hosts.bulk_put(&member, each, Atomicity::PerHost).await.unwrap();
        assert_eq!(*each[0].outcome.as_ref().unwrap_err().kind(), service_denied());
        assert!(each[1].outcome.is_ok());
        let report = hosts.import(&member, &jsonl([&changed, &other])[..], Import::new()).await.unwrap();
        let reasons: Vec<&str> = report.refusals.iter().map(|refusal| &*refusal.reason).collect();
        assert_eq!(reasons, [service_denied().to_string()]);
    }
    assert_eq!(refusal(fixture.inventory.parts().create(&member, container).await), service_denied());
    assert_eq!(fixture.host(GUEST).await, guest);
}

#[tokio::test]
async fn reference_that_a_host_has_may_stay_and_cannot_be_taken_up_again() {
    let (fixture, member, mut guest) = fixture().await;
    let hosts = fixture.inventory.hosts();
    let reference = |host: &mut Host| {
        guest_of(host, SERVICE);
        Ok(())
    };
    hosts.update(&owner_of(fixture.organization), GUEST, reference).await.unwrap();
    guest_of(&mut guest, SERVICE);
    let rename = |host: &mut Host| {
        host.name = "renamed".to_owned();
        Ok(())
    };
    let renamed = hosts.update(&member, GUEST, rename).await.unwrap();
    assert_eq!(renamed.virtualization, guest.virtualization);
    let kept = hosts.bulk_put(&member, vec![renamed.into()], Atomicity::AllOrNothing).await.unwrap();
    assert!(kept[0].outcome.is_ok());
    let before: ChangePosition = fixture.inventory.changes(&member, &Default::default()).await.unwrap().next;
    let clear = |host: &mut Host| {
        host.virtualization = None;
        Ok(())
    };
    hosts.update(&member, GUEST, clear).await.unwrap();
    assert_eq!(refusal(hosts.update(&member, GUEST, reference).await), service_denied());
    assert_eq!(refusal(hosts.revert(&member, GUEST, &before).await), service_denied());
    // Those who can access the service may.
    let reverted = hosts.revert(&owner_of(fixture.organization), GUEST, &before).await.unwrap();
    assert_eq!(reverted.virtualization.as_ref().map(HostVirtualization::service_id), Some(SERVICE));
}

#[tokio::test]
async fn services_of_the_own_networks_of_the_request_and_unknown_ones_may_be_referred_to() {
    let (fixture, member, mut of_request) = fixture().await;
    let hosts = fixture.inventory.hosts();
    let mut own = bare_host(HostId::from_u128(40), fixture.network);
    own.services.push(service(&own, ServiceId::from_u128(41), "own", 0));
    guest_of(&mut of_request, ServiceId::from_u128(41));
    // The node follows its guest.
    let both = vec![of_request.into(), own.into()];
    let both = hosts.bulk_put(&member, both, Atomicity::AllOrNothing).await.unwrap();
    assert!(both.iter().all(|result| result.outcome.is_ok()));
    for service in [ServiceId::from_u128(41), ServiceId::from_u128(99)] {
        let refer = |host: &mut Host| {
            guest_of(host, service);
            Ok(())
        };
        let changed = hosts.update(&member, GUEST, refer).await.unwrap();
        assert_eq!(changed.virtualization.as_ref().map(HostVirtualization::service_id), Some(service));
    }
}
