//! Hosts that users read, create, update and delete.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, Problem};
use toposcope::model::{BindingTarget, Host, HostId, InterfaceId, Neighbor, Permission, PortId};
use uuid::Uuid;

use super::setup::{LATER, Setup, on_each_store};
use crate::support::{
    access_denied, already_exists, id, in_use, interface, invalid, not_found, port, reference_invalid,
    refusal, rich_host, time, uuid,
};

/// A change of a host to be created or updated.
type Alter = fn(&Setup, &mut Host);

const MISMATCH: ErrorKind = ErrorKind::NetworkMismatch { entity: Entity::Host };

fn changed(host: &Host) -> ErrorKind {
    ErrorKind::PreconditionFailed { entity: Entity::Host, id: host.id.uuid() }
}

/// Returns the references between the parts of a host. Parts are identified by their addresses, numbers and names
/// instead of their ids.
fn references(host: &Host) -> Vec<String> {
    let address = |id: InterfaceId| host.interfaces.iter().find(|part| part.id == id).unwrap().ip_address;
    let number = |id: PortId| host.ports.iter().find(|part| part.id == id).unwrap().number;
    let bindings = host.services.iter().flat_map(|service| &service.bindings);
    let bindings = bindings.map(|binding| match binding.target {
        BindingTarget::Port { port_id, interface_id } => {
            format!("{} {:?}", number(port_id), interface_id.map(address))
        }
        BindingTarget::Interface { interface_id } => address(interface_id).to_string(),
    });
    let entries = host.if_entries.iter().map(|entry| format!("{:?}", entry.interface_id.map(address)));
    let credentials = host.credential_assignments.iter().flat_map(|by| by.interface_ids.iter().flatten());
    let credentials = credentials.map(|id| address(*id).to_string());
    let by = host.services.iter().filter_map(|service| service.virtualization.as_ref());
    let by =
        by.map(|by| host.services.iter().find(|other| other.id == by.service_id()).unwrap().name.clone());
    bindings.chain(entries).chain(credentials).chain(by).collect()
}

fn ids(host: &Host) -> Vec<Uuid> {
    let interfaces = host.interfaces.iter().map(|part| part.id.uuid());
    let ports = host.ports.iter().map(|part| part.id.uuid());
    let services = host.services.iter().map(|part| part.id.uuid());
    interfaces.chain(ports).chain(services).chain(host.if_entries.iter().map(|part| part.id.uuid())).collect()
}

#[test]
fn host_is_read_as_it_is_stored() {
    on_each_store(async |setup| {
        let host = &setup.hosts[0];
        for caller in [setup.owner(), setup.near(Permission::Viewer)] {
            assert_eq!(setup.inventory.hosts().get(&caller, host.id).await.unwrap(), *host);
            let document = setup.inventory.hosts().document(&caller, host.id).await.unwrap();
            assert_eq!(document, serde_json::to_vec(host).unwrap());
        }
    });
}

#[test]
fn host_that_a_caller_cannot_reach_is_refused_by_every_operation() {
    on_each_store(async |setup| {
        let (inventory, near) = (&setup.inventory, setup.near(Permission::Member));
        let nowhere = Caller::new(setup.organization, id(1), Permission::Owner, Scope::only([]));
        let (hidden, theirs) = (setup.hosts[1].id, setup.foreign.id);
        for (caller, host, expected) in [
            (&near, id(77), not_found(Entity::Host, uuid(77))),
            (&near, theirs, not_found(Entity::Host, theirs)),
            (&near, hidden, access_denied(setup.networks[1])),
            (&nowhere, hidden, access_denied(setup.networks[1])),
        ] {
            assert_eq!(setup.refused(inventory.hosts().get(caller, host)).await, expected);
            assert_eq!(setup.refused(inventory.hosts().document(caller, host)).await, expected);
            let fail = |host: &mut Host| Err(changed(host).into());
            assert_eq!(setup.refused(inventory.hosts().update(caller, host, fail)).await, expected);
            let fail = |host: &Host| Err(changed(host).into());
            assert_eq!(setup.refused(inventory.hosts().delete_if(caller, host, fail)).await, expected);
            assert_eq!(inventory.hosts().delete_many(caller, &[host]).await.unwrap(), 0);
        }
    });
}

#[test]
fn viewer_may_not_change_hosts() {
    on_each_store(async |setup| {
        let (inventory, viewer) = (&setup.inventory, setup.near(Permission::Viewer));
        let denied = ErrorKind::PermissionDenied;
        for host in [setup.hosts[0].id, setup.hosts[1].id, id(77)] {
            assert_eq!(setup.refused(inventory.hosts().update(&viewer, host, |_| Ok(()))).await, denied);
            assert_eq!(setup.refused(inventory.hosts().delete(&viewer, host)).await, denied);
            assert_eq!(setup.refused(inventory.hosts().delete_many(&viewer, &[host])).await, denied);
        }
        assert_eq!(setup.refused(inventory.hosts().create(&viewer, setup.foreign.clone())).await, denied);
    });
}

#[test]
fn created_host_keeps_unused_ids_and_gets_everything_else_from_the_inventory() {
    on_each_store(async |setup| {
        let mut draft = rich_host(5, setup.networks[0], &setup.tags);
        draft.interfaces[0].host_id = id(77);
        draft.ports[0].network_id = id(77);
        draft.services[0].bindings[0].service_id = id(77);
        let host =
            setup.inventory.hosts().create(&setup.near(Permission::Member), draft.clone()).await.unwrap();
        assert_eq!(setup.host(host.id).await, host);
        assert_ne!(host.id, draft.id);
        assert_eq!((ids(&host), references(&host)), (ids(&draft), references(&draft)));
        assert_eq!((host.created_at, host.updated_at), (time(LATER), time(LATER)));
        assert!(host.interfaces.iter().all(|part| (part.created_at, part.host_id) == (time(LATER), host.id)));
        assert!(host.services[0].bindings.iter().all(|binding| binding.updated_at == time(LATER)));
    });
}

#[test]
fn taken_and_missing_ids_of_parts_are_replaced_with_the_references_to_them() {
    on_each_store(async |setup| {
        // A draft as if a client had mixed two hosts: some ids of each, one unused, one missing.
        let mut draft = Host { network_id: setup.networks[0], ..setup.hosts[1].clone() };
        draft.if_entries[1].neighbor = Some(Neighbor::IfEntry(draft.if_entries[0].id));
        let taken = setup.hosts[2].ports[0].id;
        draft.services[0].bindings[0].target = BindingTarget::Port { port_id: taken, interface_id: None };
        draft.ports[0].id = taken;
        draft.ports[2].id = id(0xf4ee);
        draft.interfaces.push(interface(&draft, InterfaceId::nil(), "192.0.2.8", 2));
        let host = setup.inventory.hosts().create(&setup.owner(), draft.clone()).await.unwrap();
        assert_eq!(setup.host(host.id).await, host);
        assert_eq!(references(&host), references(&draft));
        assert_eq!(host.if_entries[1].neighbor, Some(Neighbor::IfEntry(host.if_entries[0].id)));
        let kept: Vec<Uuid> = ids(&host).into_iter().filter(|id| ids(&draft).contains(id)).collect();
        assert_eq!(kept, [uuid(0xf4ee)]);
        for before in &setup.hosts {
            assert_eq!(setup.host(before.id).await, *before);
        }
        // Ids of another organization are free.
        let theirs = Host { network_id: setup.networks[0], tags: Vec::new(), ..setup.foreign.clone() };
        let host = setup.inventory.hosts().create(&setup.owner(), theirs.clone()).await.unwrap();
        assert_eq!(ids(&host), ids(&theirs));
    });
}

#[test]
fn invalid_host_is_not_created() {
    on_each_store(async |setup| {
        let table: [(Alter, ErrorKind); 8] = [
            (|_, host| host.network_id = id(77), reference_invalid(Entity::Network, "network_id")),
            (
                |setup, host| host.network_id = setup.foreign.network_id,
                reference_invalid(Entity::Network, "network_id"),
            ),
            (|setup, host| host.network_id = setup.networks[1], access_denied(setup.networks[1])),
            (|_, host| host.tags = vec![id(77)], reference_invalid(Entity::Tag, "tags.0")),
            (
                |_, host| host.if_entries[1].interface_id = Some(id(77)),
                reference_invalid(Entity::Interface, "if_entries.1.interface_id"),
            ),
            (
                |_, host| {
                    host.services[1].bindings[0].target =
                        BindingTarget::Interface { interface_id: InterfaceId::nil() }
                },
                reference_invalid(Entity::Interface, "services.1.bindings.0.interface_id"),
            ),
            (|_, host| host.ports[1] = host.ports[0].clone(), invalid("ports.1", Problem::Duplicate)),
            (
                |_, host| host.ports[1] = port(host, PortId::nil(), 65_535, host.ports[2].protocol),
                already_exists(Entity::Port, "65535/Tcp"),
            ),
        ];
        for (alter, expected) in table {
            // New ids and ids that are taken.
            for number in [5, 1] {
                let mut draft = rich_host(number, setup.networks[0], &setup.tags);
                alter(setup, &mut draft);
                let near = setup.near(Permission::Member);
                let attempt = setup.inventory.hosts().create(&near, draft);
                assert_eq!(setup.refused(attempt).await, expected);
            }
        }
    });
}

#[test]
fn update_sets_only_what_a_client_may_set_and_moves_only_what_changed() {
    on_each_store(async |setup| {
        let before = &setup.hosts[0];
        let change = |host: &mut Host| {
            (host.id, host.name) = (id(77), "renamed".to_owned());
            (host.created_at, host.updated_at) = (time("2000-01-01T00:00:00Z"), time("2000-01-01T00:00:00Z"));
            (host.interfaces[0].created_at, host.interfaces[0].host_id) = (host.created_at, id(77));
            host.interfaces[1].name = None;
            host.ports.remove(2);
            host.ports.push(port(host, PortId::nil(), 8080, host.ports[0].protocol));
            host.services[0].bindings[1].target = host.services[0].bindings[0].target;
            Ok(())
        };
        let near = setup.near(Permission::Member);
        let host = setup.inventory.hosts().update(&near, before.id, change).await.unwrap();
        assert_eq!(setup.host(before.id).await, host);
        let later = time(LATER);
        let mut expected = Host { name: "renamed".to_owned(), updated_at: later, ..before.clone() };
        (expected.interfaces[1].name, expected.interfaces[1].updated_at) = (None, later);
        expected.ports[2] = port(&expected, host.ports[2].id, 8080, expected.ports[0].protocol);
        (expected.ports[2].created_at, expected.ports[2].updated_at) = (later, later);
        let dns = &mut expected.services[0];
        (dns.bindings[1].target, dns.updated_at) = (dns.bindings[0].target, later);
        dns.bindings[1].updated_at = later;
        assert_eq!(host, expected);
        assert!(!host.ports[2].id.is_nil());
    });
}

#[test]
fn update_that_changes_nothing_commits_nothing() {
    on_each_store(async |setup| {
        let before = &setup.hosts[0];
        let same = |host: &mut Host| {
            host.interfaces.reverse();
            host.updated_at = time("2000-01-01T00:00:00Z");
            host.services.iter_mut().for_each(|service| service.bindings.reverse());
            Ok(())
        };
        let host = setup.inventory.hosts().update(&setup.owner(), before.id, same).await.unwrap();
        assert_eq!(host, *before);
        assert_eq!(
            setup.inventory.hosts().get(&Caller::system(setup.organization), before.id).await.unwrap(),
            *before
        );
    });
}

#[test]
fn invalid_update_of_a_host_is_refused() {
    on_each_store(async |setup| {
        let table: [(Alter, ErrorKind); 8] = [
            (|_, host| host.network_id = id(77), reference_invalid(Entity::Network, "network_id")),
            (|setup, host| host.network_id = setup.networks[1], access_denied(setup.networks[1])),
            (|_, host| host.tags.push(id(77)), reference_invalid(Entity::Tag, "tags.1")),
            (
                |_, host| host.ports.retain(|port| port.number.get() == 65_535),
                in_use(Entity::Port, "53/Tcp", Entity::Service),
            ),
            (
                |_, host| host.interfaces[1].id = id(0x77),
                in_use(Entity::Interface, "2001:db8::7", Entity::Service),
            ),
            (
                |_, host| {
                    host.interfaces[1].id = id(0x77);
                    host.services.clear();
                },
                in_use(Entity::Interface, "2001:db8::7", Entity::Host),
            ),
            (
                |_, host| host.services.retain(|service| service.name != "agent"),
                in_use(Entity::Service, "agent", Entity::Host),
            ),
            (|_, host| host.ports[2].number = host.ports[0].number, already_exists(Entity::Port, "53/Tcp")),
        ];
        let (near, host) = (setup.near(Permission::Member), &setup.hosts[0]);
        for (alter, expected) in table {
            let change = |host: &mut Host| {
                alter(setup, host);
                Ok(())
            };
            assert_eq!(setup.refused(setup.inventory.hosts().update(&near, host.id, change)).await, expected);
        }
        let to_the_other = |host: &mut Host| {
            host.network_id = setup.networks[1];
            Ok(())
        };
        let owner = setup.owner();
        let attempt = setup.inventory.hosts().update(&owner, host.id, to_the_other);
        assert_eq!(setup.refused(attempt).await, MISMATCH);
        let fail = |host: &mut Host| Err(changed(host).into());
        let attempt = setup.inventory.hosts().update(&near, host.id, fail);
        assert_eq!(setup.refused(attempt).await, changed(host));
    });
}

#[test]
fn new_part_of_an_updated_host_does_not_take_the_id_of_another_hosts_part() {
    on_each_store(async |setup| {
        let taken = setup.hosts[2].if_entries[0].clone();
        let change = |host: &mut Host| {
            host.if_entries.push(taken.clone());
            host.if_entries[2].interface_id = None;
            Ok(())
        };
        let host = setup.inventory.hosts().update(&setup.owner(), setup.hosts[0].id, change).await.unwrap();
        assert_eq!((ids(&host).len(), ids(&host).contains(&taken.id.uuid())), (10, false));
        assert_eq!(setup.host(host.id).await, host);
        assert_eq!(setup.host(setup.hosts[2].id).await, setup.hosts[2]);
    });
}

#[test]
fn deleted_host_is_gone_unless_the_check_fails() {
    on_each_store(async |setup| {
        let (near, host) = (setup.near(Permission::Member), &setup.hosts[0]);
        let fail = |host: &Host| Err(changed(host).into());
        assert_eq!(
            setup.refused(setup.inventory.hosts().delete_if(&near, host.id, fail)).await,
            changed(host)
        );
        let is_same = |found: &Host| if found == host { Ok(()) } else { Err(changed(host).into()) };
        let attempt = setup.inventory.hosts().delete_if(&near, host.id, is_same);
        assert_eq!(setup.refused(attempt).await, in_use(Entity::Service, "agent", Entity::Host));
        setup.free_guest().await;
        setup.inventory.hosts().delete_if(&near, host.id, is_same).await.unwrap();
        let again = setup.inventory.hosts().delete_if(&near, host.id, is_same).await;
        assert_eq!(refusal(again), not_found(Entity::Host, host.id));
    });
}

#[test]
fn bulk_deletion_skips_what_the_caller_cannot_reach() {
    on_each_store(async |setup| {
        let near = setup.near(Permission::Member);
        for (ids, problem) in
            [(vec![], Problem::Empty), (vec![id(1); 1001], Problem::MaxLength { max: 1000 })]
        {
            assert_eq!(
                setup.refused(setup.inventory.hosts().delete_many(&near, &ids)).await,
                invalid("ids", problem)
            );
        }
        let mut ids: Vec<HostId> = setup.hosts.iter().map(|host| host.id).collect();
        ids.extend([setup.foreign.id, id(77), setup.hosts[0].id]);
        // The guest is on another network.
        let attempt = setup.inventory.hosts().delete_many(&near, &ids);
        assert_eq!(setup.refused(attempt).await, in_use(Entity::Service, "agent", Entity::Host));
        let guest = setup.free_guest().await;
        assert_eq!(setup.inventory.hosts().delete_many(&near, &ids).await.unwrap(), 2);
        assert_eq!(setup.inventory.hosts().delete_many(&near, &ids).await.unwrap(), 0);
        assert_eq!(setup.host(guest.id).await, guest);
        let theirs = setup
            .inventory
            .hosts()
            .get(&Caller::system(setup.foreign_organization), setup.foreign.id)
            .await
            .unwrap();
        assert_eq!(theirs, setup.foreign);
        assert_eq!(setup.inventory.hosts().delete_many(&setup.owner(), &ids).await.unwrap(), 1);
    });
}
