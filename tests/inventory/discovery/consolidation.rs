use serde_json::json;
use toposcope::discovery::report::{Table, WarningCode};
use toposcope::inventory::{DiscoveryOutcome, Entity, ErrorKind, Problem};
use toposcope::model::{
    BindingTarget, DockerVirtualization, Host, Interface, Neighbor, Protocol, ServiceVirtualization, Source,
};

use super::support::{
    FIRST, SECOND, discover, discover_one, neighbors, open_ports, outcomes, switch, switch_seeing,
};
use crate::backend::run;
use crate::support::{
    Fixture, access_denied, bare_host, entry, guest_of, id, in_person, interface, invalid, not_found,
    owner_of, port, refusal, service, uuid,
};

#[test]
fn consolidation_moves_everything_and_references_follow() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut kept = bare_host(id(1), fixture.network);
        kept.interfaces = vec![interface(&kept, id(11), "192.0.2.7", 0)];
        kept.ports = vec![port(&kept, id(12), 22, Protocol::Tcp)];
        let mut gone = bare_host(id(2), fixture.network);
        gone.hostname = Some("core.example.net".to_owned());
        gone.tags = fixture.tags.to_vec();
        gone.interfaces =
            vec![interface(&gone, id(21), "192.0.2.7", 0), interface(&gone, id(22), "192.0.2.8", 1)];
        gone.ports = vec![port(&gone, id(23), 22, Protocol::Tcp), port(&gone, id(24), 80, Protocol::Tcp)];
        let target = BindingTarget::Port { port_id: id(23), interface_id: Some(id(21)) };
        gone.services = vec![service(&gone, id(25), "ssh", 0).bound_to(target)];
        gone.if_entries = vec![entry(&gone, id(26), 1)];
        let mut guest = bare_host(id(3), fixture.network);
        guest_of(&mut guest, id(25));
        guest.if_entries = vec![entry(&guest, id(31), 1), entry(&guest, id(32), 2)];
        for entry in &mut guest.if_entries {
            entry.interface_id = None;
        }
        guest.if_entries[0].neighbor = Some(Neighbor::Host(gone.id));
        guest.if_entries[1].neighbor = Some(Neighbor::IfEntry(id(26)));
        for host in [&kept, &gone, &guest] {
            fixture.put(host).await;
        }
        let host = fixture.inventory.discovery().consolidate(&caller, kept.id, gone.id).await.unwrap();
        assert_eq!(fixture.host(kept.id).await, host);
        assert_eq!(refusal(fixture.try_host(gone.id).await), not_found(Entity::Host, gone.id));
        let addresses: Vec<_> = host.interfaces.iter().map(|part| part.id).collect();
        assert_eq!(addresses, [id(11), id(22)]);
        assert_eq!(host.ports.iter().map(|part| part.id).collect::<Vec<_>>(), [id(12), id(24)]);
        let bound = BindingTarget::Port { port_id: id(12), interface_id: Some(id(11)) };
        assert_eq!(host.services[0].bindings[0].target, bound);
        assert_eq!((host.if_entries[0].id, host.if_entries[0].interface_id), (id(26), Some(id(11))));
        assert_eq!((&host.tags, &host.hostname), (&gone.tags, &gone.hostname));
        let guest = fixture.host(guest.id).await;
        assert_eq!(guest.if_entries[0].neighbor, Some(Neighbor::Host(kept.id)));
        assert_eq!(guest.if_entries[1].neighbor, Some(Neighbor::IfEntry(id(26))));
        assert_eq!(guest.virtualization.unwrap().service_id(), id(25));
    });
}

#[test]
fn merged_service_takes_the_container_that_only_the_other_has() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut kept = bare_host(id(1), fixture.network);
        kept.services = vec![service(&kept, id(11), "docker", 0), service(&kept, id(12), "web", 1)];
        let mut gone = bare_host(id(2), fixture.network);
        gone.services = vec![service(&gone, id(21), "docker", 0), service(&gone, id(22), "web", 1)];
        let container = |service_id| {
            Some(ServiceVirtualization::Docker(DockerVirtualization {
                container_name: Some("web-1".to_owned()),
                container_id: None,
                service_id,
            }))
        };
        gone.services[1].virtualization = container(id(21));
        fixture.put(&kept).await;
        fixture.put(&gone).await;
        let host = fixture.inventory.discovery().consolidate(&caller, kept.id, gone.id).await.unwrap();
        assert_eq!(host.services.iter().map(|part| part.id).collect::<Vec<_>>(), [id(11), id(12)]);
        assert_eq!(host.services[0].virtualization, None);
        assert_eq!(host.services[1].virtualization, container(id(11)), "the reference follows the merge");
    });
}

#[test]
fn consolidated_discoveries_are_one_device_afterwards() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, observer) = discover_one(&fixture, switch_seeing(3, 2), FIRST).await;
        let (_, kept) = discover_one(&fixture, switch_seeing(1, 3), FIRST).await;
        let (_, gone) = discover_one(&fixture, switch_seeing(2, 3), FIRST).await;
        assert!(neighbors(&fixture, observer.id).await[0].1.is_some());
        let host = fixture.inventory.discovery().consolidate(&caller, kept.id, gone.id).await.unwrap();
        assert_eq!(host.interfaces.len(), 2);
        assert!(fixture.mentioning(gone.id).await.iter().all(|key| key.kind.as_str() != "claim"));
        let claims = fixture.inventory.discovery().claims(&caller, host.id, None).await.unwrap();
        assert_eq!(claims.len(), 3);
        let answer = discover(&fixture, vec![switch(1)], SECOND).await;
        assert_eq!(answer.hosts[0].id, Some(kept.id));
    });
}

#[test]
fn report_with_all_identities_of_two_hosts_merges_them() {
    run(async || {
        let fixture = Fixture::new().await;
        let (addressed, named) = halves_of_a_switch(&fixture);
        fixture.put(&addressed).await;
        fixture.put(&named).await;
        let mut device = switch(1);
        device.tables.ports = Some(Table::complete(open_ports(&[22])));
        let answer = discover(&fixture, vec![device], FIRST).await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Updated]);
        assert_eq!(answer.hosts[0].id, Some(named.id));
        assert_eq!(fixture.documents().await.len(), 1);
        assert_eq!(fixture.host(named.id).await.interfaces.len(), 1);
    });
}

#[test]
fn consolidation_is_refused_without_access_to_both_hosts() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (first, second) = (bare_host(id(1), fixture.network), bare_host(id(2), fixture.other_network));
        fixture.put(&first).await;
        fixture.put(&second).await;
        let inventory = &fixture.inventory;
        let same = fixture.refusal(inventory.discovery().consolidate(&caller, first.id, first.id)).await;
        assert_eq!(same, invalid("other", Problem::Duplicate));
        let unknown = fixture.refusal(inventory.discovery().consolidate(&caller, first.id, id(9))).await;
        assert_eq!(unknown, not_found(Entity::Host, uuid(9)));
        let mismatch = fixture.refusal(inventory.discovery().consolidate(&caller, first.id, second.id)).await;
        assert_eq!(mismatch, ErrorKind::NetworkMismatch { entity: Entity::Host });
        let member = fixture
            .user("member@example.net", toposcope::model::Permission::Member, &[fixture.network])
            .await;
        let member = in_person(&member);
        let denied = fixture.refusal(inventory.discovery().consolidate(&member, first.id, second.id)).await;
        assert_eq!(denied, access_denied(fixture.other_network));
    });
}

/// Two hosts that are one device, as the first report of a switch shows.
fn halves_of_a_switch(fixture: &Fixture) -> (Host, Host) {
    let mut addressed = Host::with_id(id(1), fixture.network, "");
    addressed.source = Source::Unknown;
    addressed.interfaces.push(Interface::new(&addressed, "192.0.2.1".parse().unwrap()));
    let mut named = Host::with_id(id(2), fixture.network, "");
    named.source = Source::Unknown;
    named.chassis_id = Some(super::support::chassis(1));
    (addressed, named)
}

/// Gives a host as many custom fields.
fn with_custom(mut host: Host, prefix: char, count: usize) -> Host {
    host.custom = (0..count).map(|number| (format!("{prefix}{number:02}"), json!(number))).collect();
    host
}

#[test]
fn consolidation_that_would_lose_custom_fields_is_refused() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let kept = with_custom(bare_host(id(1), fixture.network), 'a', 40);
        let gone = with_custom(bare_host(id(2), fixture.network), 'b', 25);
        fixture.put(&kept).await;
        fixture.put(&gone).await;
        let consolidate = || fixture.inventory.discovery().consolidate(&caller, kept.id, gone.id);
        assert_eq!(fixture.refusal(consolidate()).await, invalid("custom", Problem::MaxLength { max: 64 }));
        fixture.put(&with_custom(gone.clone(), 'b', 24)).await;
        let host = consolidate().await.unwrap();
        assert_eq!(host.custom.len(), 64);
        assert_eq!(host.custom["b23"], json!(23));
    });
}

#[test]
fn merge_by_a_report_keeps_custom_fields_that_fit_and_counts_the_others() {
    run(async || {
        let fixture = Fixture::new().await;
        let (addressed, named) = halves_of_a_switch(&fixture);
        fixture.put(&with_custom(addressed, 'a', 40)).await;
        fixture.put(&with_custom(named.clone(), 'b', 40)).await;
        let answer = discover(&fixture, vec![switch(1)], FIRST).await;
        assert_eq!(answer.hosts[0].id, Some(named.id));
        let host = fixture.host(named.id).await;
        let expected = (0..24).map(|number| format!("a{number:02}"));
        let expected: Vec<String> = expected.chain((0..40).map(|number| format!("b{number:02}"))).collect();
        assert_eq!(host.custom.keys().cloned().collect::<Vec<_>>(), expected);
        let left_out = answer.warnings.iter().find(|warning| warning.code == WarningCode::CustomFieldLeftOut);
        let left_out = left_out.unwrap();
        assert_eq!(left_out.count, 16);
        assert!(left_out.example.as_ref().unwrap().contains("a24"), "{left_out:?}");
    });
}
