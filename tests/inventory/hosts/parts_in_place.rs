//! Positions, ids and times of parts, and concurrent changes of them.

use toposcope::model::{
    BindingId, BindingTarget, Host, IfEntry, Interface, InterfaceId, Port, Protocol, Service,
    ServiceDefinition, ServiceId,
};

use super::setup::{LATER, on_each_store};
use crate::support::{binding, concurrently, id, interface, owner_of, rich_host, service, time};

#[test]
fn new_interface_and_service_with_the_greatest_position_come_last() {
    on_each_store(async |setup| {
        let (inventory, owner, host) = (&setup.inventory, setup.owner(), &setup.hosts[0]);
        let last = interface(host, InterfaceId::nil(), "192.0.2.8", i64::MAX);
        assert_eq!(inventory.parts().create(&owner, last).await.unwrap().position, 2);
        let empty = inventory.hosts().create(&owner, Host::new(setup.networks[0], "empty")).await.unwrap();
        let first = service(&empty, ServiceId::nil(), "first", i64::MAX);
        assert_eq!(inventory.parts().create(&owner, first).await.unwrap().position, 0);
    });
}

#[test]
fn bindings_keep_ids_and_times_unless_they_are_new_or_change() {
    on_each_store(async |setup| {
        let (inventory, owner, host) = (&setup.inventory, setup.owner(), &setup.hosts[0]);
        let [dns, agent] = &host.services[..] else { panic!("two services") };
        let change = |service: &mut Service| {
            service.bindings[0].created_at = time(LATER);
            service.bindings[1].target = BindingTarget::Interface { interface_id: host.interfaces[0].id };
            let target = agent.bindings[0].target;
            service.bindings.extend([agent.bindings[0].clone(), binding(agent, BindingId::nil(), target)]);
            Ok(())
        };
        let updated = inventory.parts().update(&owner, dns.id, change).await.unwrap();
        assert_eq!(updated.bindings[0], dns.bindings[0]);
        assert_eq!(updated.bindings[1].updated_at, time(LATER));
        assert_eq!(
            (updated.bindings[1].id, updated.bindings[1].created_at),
            (dns.bindings[1].id, dns.created_at)
        );
        for binding in &updated.bindings[2..] {
            assert!(!binding.id.is_nil() && binding.id != agent.bindings[0].id);
            assert_eq!((binding.service_id, binding.created_at), (dns.id, time(LATER)));
        }
        assert_eq!(setup.host(host.id).await.services[0], updated);
        let definition = ServiceDefinition::new("Docker").unwrap();
        let created =
            Service { bindings: updated.bindings.clone(), ..Service::new(host, "copy", definition) };
        let created = inventory.parts().create(&owner, created).await.unwrap();
        assert!(created.bindings.iter().all(|new| updated.bindings.iter().all(|old| old.id != new.id)));
        setup.host(host.id).await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_of_the_parts_of_one_host_all_survive() {
    let fixture = crate::support::Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &fixture.tags);
    for number in 0..16_u16 {
        let number = u128::from(number);
        host.interfaces.push(interface(&host, id(0x100 + number), "192.0.2.9", 9));
        host.services.push(service(&host, id(0x200 + number), "old", 9));
        host.if_entries.push(crate::support::entry(&host, id(0x300 + number), 9));
    }
    fixture.put(&host).await;
    let tasks = concurrently(&fixture, 64, |fixture, task| async move {
        let (inventory, caller) = (&fixture.inventory, owner_of(fixture.organization));
        let (number, name) = (u128::from(task) / 4, task.to_string());
        match task % 4 {
            0 => {
                let change = |part: &mut Interface| {
                    part.name = Some(name.clone());
                    Ok(())
                };
                inventory.parts().update(&caller, id(0x100 + number), change).await.map(drop)
            }
            1 => {
                let change = |part: &mut Service| {
                    part.name.clone_from(&name);
                    Ok(())
                };
                inventory.parts().update(&caller, id(0x200 + number), change).await.map(drop)
            }
            2 => inventory.parts::<IfEntry>().delete(&caller, id(0x300 + number)).await,
            _ => {
                let host = fixture.host(id(1)).await;
                let port = Port::new(&host, (1000 + task as u16).try_into().unwrap(), Protocol::Tcp);
                inventory.parts().create(&caller, port).await.map(drop)
            }
        }
    });
    assert!(tasks.await.iter().all(Result::is_ok));
    let after = fixture.host(host.id).await;
    fixture.put(&after).await;
    let names: Vec<_> =
        after.interfaces.iter().filter_map(|part| part.name.as_ref()?.parse::<u64>().ok()).collect();
    assert_eq!(names, (0..16).map(|number| 4 * number).collect::<Vec<_>>());
    assert_eq!(after.services.iter().filter(|part| part.name.parse::<u64>().is_ok()).count(), 16);
    assert_eq!((after.ports.len(), after.if_entries.len()), (host.ports.len() + 16, 2));
}
