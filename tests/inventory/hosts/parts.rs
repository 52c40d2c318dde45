//! Interfaces, ports, services and interface entries.
//!
//! Users read, create, update and delete them one by one.

use std::fmt::Debug;
use toposcope::access::Caller;

use toposcope::inventory::{Entity, ErrorKind, Part, Problem};
use toposcope::model::{
    BindingId, BindingTarget, Host, HostId, IfEntry, Interface, NetworkId, Permission, Port, Protocol,
    Service,
};

use super::setup::{LATER, Setup, on_each_store};
use crate::support::{
    access_denied, already_exists, binding, id, in_use, invalid, not_found, reference_invalid, refusal, time,
    uuid,
};

/// A change of a part to be created or updated.
type Alter<P> = fn(&mut P);

const MISMATCH: ErrorKind = ErrorKind::NetworkMismatch { entity: Entity::Host };
const NOTHING_CHANGED: &str = "2026-08-14T12:00:00Z";

fn failed<P: TestPart>(part: &P) -> ErrorKind {
    ErrorKind::PreconditionFailed { entity: P::KIND, id: (*part.clone().id()).into() }
}

/// The operations on a part that the tests need.
trait TestPart: Part + Debug {
    const KIND: Entity;

    fn list_in(host: &mut Host) -> &mut Vec<Self>;

    fn id(&mut self) -> &mut Self::Id;

    /// Returns the host and the network.
    fn place(&mut self) -> (&mut HostId, &mut NetworkId);

    /// Changes a field of the part.
    fn alter(&mut self, number: u16);

    /// Sets the times.
    fn set_times(&mut self, created_at: &str, updated_at: &str);

    fn nth(host: &Host, index: usize) -> Self {
        Self::list_in(&mut host.clone())[index].clone()
    }
}

macro_rules! test_part {
    ($part:ident, $list:ident, |$self:ident, $number:ident| $alter:expr) => {
        impl TestPart for $part {
            const KIND: Entity = Entity::$part;

            fn list_in(host: &mut Host) -> &mut Vec<Self> {
                &mut host.$list
            }

            fn id(&mut self) -> &mut Self::Id {
                &mut self.id
            }

            fn place(&mut self) -> (&mut HostId, &mut NetworkId) {
                (&mut self.host_id, &mut self.network_id)
            }

            fn alter(&mut $self, $number: u16) {
                $alter
            }

            fn set_times(&mut self, created_at: &str, updated_at: &str) {
                (self.created_at, self.updated_at) = (time(created_at), time(updated_at));
            }
        }
    };
}

test_part!(Interface, interfaces, |self, number| self.name = Some(number.to_string()));
test_part!(Port, ports, |self, number| self.number = number.try_into().unwrap());
test_part!(Service, services, |self, number| self.name = number.to_string());
test_part!(IfEntry, if_entries, |self, number| self.if_descr = number.to_string());

async fn read_parts<P: TestPart>(setup: &Setup) {
    let (inventory, near) = (&setup.inventory, setup.near(Permission::Viewer));
    let host = &setup.hosts[0];
    assert_eq!(inventory.parts::<P>().of_host(&near, host.id).await.unwrap(), *P::list_in(&mut host.clone()));
    for mut part in P::list_in(&mut host.clone()).clone() {
        assert_eq!(inventory.parts::<P>().get(&near, *part.id()).await.unwrap(), part);
    }
    for unreachable in [setup.hosts[1].id, setup.foreign.id, id(77)] {
        assert_eq!(inventory.parts::<P>().of_host(&near, unreachable).await.unwrap(), []);
    }
}

#[test]
fn parts_of_a_host_are_read_as_they_are_embedded() {
    on_each_store(async |setup| {
        read_parts::<Interface>(setup).await;
        read_parts::<Port>(setup).await;
        read_parts::<Service>(setup).await;
        read_parts::<IfEntry>(setup).await;
    });
}

async fn refuse_callers<P: TestPart>(setup: &Setup) {
    let (inventory, near) = (&setup.inventory, setup.near(Permission::Member));
    let (hidden, theirs) = (*P::nth(&setup.hosts[1], 0).id(), *P::nth(&setup.foreign, 0).id());
    let fail = |part: &P| Err(failed(part).into());
    for (part, expected) in [
        (id(77), not_found(P::KIND, uuid(77))),
        (theirs, not_found(P::KIND, theirs)),
        (hidden, access_denied(setup.networks[1])),
    ] {
        assert_eq!(setup.refused(inventory.parts::<P>().get(&near, part)).await, expected);
        let change = |part: &mut P| fail(part);
        assert_eq!(setup.refused(inventory.parts().update(&near, part, change)).await, expected);
        assert_eq!(setup.refused(inventory.parts().delete_if(&near, part, fail)).await, expected);
    }
    let (viewer, mut own) = (setup.near(Permission::Viewer), P::nth(&setup.hosts[0], 0));
    let denied = ErrorKind::PermissionDenied;
    for part in [*own.id(), hidden, id(77)] {
        let change = |part: &mut P| fail(part);
        assert_eq!(setup.refused(inventory.parts().update(&viewer, part, change)).await, denied);
        assert_eq!(setup.refused(inventory.parts().delete_if(&viewer, part, fail)).await, denied);
    }
    assert_eq!(setup.refused(inventory.parts().create(&viewer, P::nth(&setup.foreign, 0))).await, denied);
    // The check comes before the rules of the host, which keep the part.
    let change = |part: &mut P| fail(part);
    assert_eq!(setup.refused(inventory.parts().update(&near, *own.id(), change)).await, failed(&own));
    assert_eq!(setup.refused(inventory.parts().delete_if(&near, *own.id(), fail)).await, failed(&own));
}

#[test]
fn part_that_a_caller_cannot_reach_or_change_is_refused() {
    on_each_store(async |setup| {
        refuse_callers::<Interface>(setup).await;
        refuse_callers::<Port>(setup).await;
        refuse_callers::<Service>(setup).await;
        refuse_callers::<IfEntry>(setup).await;
    });
}

async fn create_update_and_delete<P: TestPart>(setup: &Setup) {
    let (inventory, near, later) = (&setup.inventory, setup.near(Permission::Member), time(LATER));
    let host = &setup.hosts[0];
    let mut draft = P::nth(host, 1);
    draft.alter(4711);
    let mut created = inventory.parts().create(&near, draft.clone()).await.unwrap();
    let mut expected = draft.clone();
    *expected.id() = *created.id();
    expected.set_times(LATER, LATER);
    assert_ne!(created.id(), draft.id());
    if P::KIND != Entity::Service {
        assert_eq!(created, expected);
    }
    let stored = setup.host(host.id).await;
    assert!(P::list_in(&mut stored.clone()).contains(&created));
    assert_eq!(stored.updated_at, later);

    setup.clock.set(later.plus_micros(1));
    let (new, old) = (*created.id(), *P::nth(host, 0).id());
    let change = |part: &mut P| {
        part.alter(4712);
        *part.id() = old;
        part.set_times(NOTHING_CHANGED, NOTHING_CHANGED);
        Ok(())
    };
    let updated = inventory.parts().update(&near, new, change).await.unwrap();
    expected.clone_from(&created);
    expected.alter(4712);
    expected.set_times(LATER, &later.plus_micros(1).to_string());
    assert_eq!(updated, expected);
    let stored = setup.host(host.id).await;
    assert!(P::list_in(&mut stored.clone()).contains(&updated));
    assert_eq!(stored.updated_at, later.plus_micros(1));

    setup.clock.set(later.plus_micros(2));
    let same = inventory.parts().update(&near, new, |_: &mut P| Ok(())).await.unwrap();
    assert_eq!(same != updated, P::KIND == Entity::Port);
    assert_eq!(setup.host(host.id).await.updated_at != stored.updated_at, P::KIND == Entity::Port);

    let is_same = |part: &P| if *part == same { Ok(()) } else { Err(failed(part).into()) };
    inventory.parts().delete_if(&near, new, is_same).await.unwrap();
    assert_eq!(refusal(inventory.parts().delete_if(&near, new, is_same).await), not_found(P::KIND, new));
    let expected = Host { updated_at: later.plus_micros(2), ..host.clone() };
    assert_eq!(setup.host(host.id).await, expected);
    inventory.hosts().put(&Caller::system(setup.organization), host.clone()).await.unwrap();
    setup.clock.set(later);
}

#[test]
fn part_is_created_updated_and_deleted_and_moves_the_time_of_its_host() {
    on_each_store(async |setup| {
        create_update_and_delete::<Interface>(setup).await;
        create_update_and_delete::<Port>(setup).await;
        create_update_and_delete::<Service>(setup).await;
        create_update_and_delete::<IfEntry>(setup).await;
    });
}

async fn refuse_places<P: TestPart>(setup: &Setup) {
    let (inventory, near, owner) = (&setup.inventory, setup.near(Permission::Member), setup.owner());
    let [first, second] = setup.networks;
    let (host, other, third) = (setup.hosts[0].id, setup.hosts[1].id, setup.hosts[2].id);
    let unknown = |field: &str| {
        reference_invalid(if field == "host_id" { Entity::Host } else { Entity::Network }, field)
    };
    let used = P::nth(&setup.hosts[0], 0);
    let forbidden = ErrorKind::UpdateForbidden { entity: P::KIND };
    let moved = if P::KIND == Entity::Port { None } else { Some(forbidden) };
    let in_use = || Some(in_use(Entity::Port, "53/Tcp", Entity::Service));
    for (caller, host_id, network_id, created, updated) in [
        (&near, host, id(77), Some(unknown("network_id")), Some(unknown("network_id"))),
        (&near, host, setup.foreign.network_id, Some(unknown("network_id")), Some(unknown("network_id"))),
        (&near, other, second, Some(access_denied(second)), Some(access_denied(second))),
        (&near, id(77), first, Some(unknown("host_id")), Some(unknown("host_id"))),
        (&near, setup.foreign.id, first, Some(unknown("host_id")), Some(unknown("host_id"))),
        (&owner, host, second, Some(MISMATCH), Some(MISMATCH)),
        (&owner, other, first, Some(MISMATCH), moved.clone().or(Some(MISMATCH))),
        (&owner, third, first, None, moved.clone().or_else(in_use)),
        (&owner, other, second, None, moved.clone().or_else(in_use)),
    ] {
        let place = |part: &mut P| {
            (*part.place().0, *part.place().1) = (host_id, network_id);
            Ok(())
        };
        if let Some(expected) = created {
            let mut draft = used.clone();
            place(&mut draft).unwrap();
            assert_eq!(setup.refused(inventory.parts().create(caller, draft)).await, expected);
        }
        if let Some(expected) = updated {
            let attempt = inventory.parts().update(caller, *used.clone().id(), place);
            assert_eq!(setup.refused(attempt).await, expected);
        }
    }
}

#[test]
fn host_and_network_of_a_part_are_checked_before_its_rules() {
    on_each_store(async |setup| {
        refuse_places::<Interface>(setup).await;
        refuse_places::<Port>(setup).await;
        refuse_places::<Service>(setup).await;
        refuse_places::<IfEntry>(setup).await;
    });
}

/// Asserts that the part is neither created nor updated like this.
async fn refuse_values<P: TestPart>(setup: &Setup, table: Vec<(Alter<P>, ErrorKind)>) {
    let near = setup.near(Permission::Member);
    for (alter, expected) in table {
        let mut draft = P::nth(&setup.hosts[0], 1);
        let part = *draft.id();
        draft.alter(4711);
        alter(&mut draft);
        assert_eq!(setup.refused(setup.inventory.parts().create(&near, draft)).await, expected);
        let change = |part: &mut P| {
            alter(part);
            Ok(())
        };
        assert_eq!(setup.refused(setup.inventory.parts().update(&near, part, change)).await, expected);
    }
}

#[test]
fn error_names_the_field_by_its_path_in_the_part() {
    on_each_store(async |setup| {
        let taken = already_exists(Entity::Port, "53/Tcp");
        refuse_values::<Port>(
            setup,
            vec![(|port| (port.number, port.protocol) = (53.try_into().unwrap(), Protocol::Tcp), taken)],
        )
        .await;
        refuse_values::<IfEntry>(
            setup,
            vec![(
                |entry| entry.interface_id = Some(id(77)),
                reference_invalid(Entity::Interface, "interface_id"),
            )],
        )
        .await;
        refuse_values::<Service>(
            setup,
            vec![
                (|service| service.tags.push(id(77)), reference_invalid(Entity::Tag, "tags.0")),
                (
                    |service| service.bindings[0].target = BindingTarget::Interface { interface_id: id(77) },
                    reference_invalid(Entity::Interface, "bindings.0.interface_id"),
                ),
                (
                    |service| {
                        let target = BindingTarget::Port { port_id: id(77), interface_id: None };
                        service.bindings.push(binding(service, BindingId::nil(), target));
                        service.bindings.remove(0);
                    },
                    reference_invalid(Entity::Port, "bindings.0.port_id"),
                ),
                (
                    |service| service.name = "x".repeat(65_537),
                    invalid("name", Problem::MaxLength { max: 65_536 }),
                ),
            ],
        )
        .await;
    });
}

#[test]
fn part_that_another_record_refers_to_is_not_deleted() {
    on_each_store(async |setup| {
        let near = setup.near(Permission::Member);
        let [first, second] = &setup.hosts[0].interfaces[..] else { panic!("two interfaces") };
        let delete = async |id| setup.refused(setup.inventory.parts::<Interface>().delete(&near, id)).await;
        for interface in [first, second] {
            let name = interface.ip_address.to_string();
            assert_eq!(delete(interface.id).await, in_use(Entity::Interface, &name, Entity::Service));
        }
        for (port, name) in setup.hosts[0].ports.iter().zip(["53/Tcp", "53/Udp"]) {
            let attempt = setup.inventory.parts::<Port>().delete(&near, port.id);
            assert_eq!(setup.refused(attempt).await, in_use(Entity::Port, name, Entity::Service));
        }
        // One service virtualizes the other, and that one a host that the caller cannot access.
        for (service, used_by) in setup.hosts[0].services.iter().zip([Entity::Service, Entity::Host]) {
            let attempt = setup.inventory.parts::<Service>().delete(&near, service.id);
            assert_eq!(setup.refused(attempt).await, in_use(Entity::Service, &service.name, used_by));
        }
    });
}

#[test]
fn interface_is_deleted_once_nothing_refers_to_it() {
    on_each_store(async |setup| {
        let (inventory, near, host) = (&setup.inventory, setup.near(Permission::Member), &setup.hosts[2]);
        let first = &host.interfaces[0];
        let unused = in_use(Entity::Interface, "192.0.2.7", Entity::Service);
        let delete = async || inventory.parts::<Interface>().delete(&near, first.id).await;
        assert_eq!(refusal(delete().await), unused);
        let unbind = |service: &mut Service| {
            service.bindings.clear();
            Ok(())
        };
        inventory.parts().update(&near, host.services[0].id, unbind).await.unwrap();
        assert_eq!(refusal(delete().await), in_use(Entity::Interface, "192.0.2.7", Entity::IfEntry));
        for entry in &host.if_entries {
            inventory.parts::<IfEntry>().delete(&near, entry.id).await.unwrap();
        }
        assert_eq!(refusal(delete().await), in_use(Entity::Interface, "192.0.2.7", Entity::Host));
        let unassign = |host: &mut Host| {
            host.credential_assignments.clear();
            Ok(())
        };
        inventory.hosts().update(&near, host.id, unassign).await.unwrap();
        delete().await.unwrap();
        assert_eq!(setup.host(host.id).await.interfaces, host.interfaces[1..]);
    });
}

#[test]
fn service_is_deleted_once_nothing_is_virtualized_by_it() {
    on_each_store(async |setup| {
        let (inventory, owner) = (&setup.inventory, setup.owner());
        let [dns, agent] = &setup.hosts[0].services[..] else { panic!("two services") };
        let delete = async |service: &Service| inventory.parts::<Service>().delete(&owner, service.id).await;
        let unhost = |host: &mut Host| {
            host.virtualization = None;
            Ok(())
        };
        inventory.hosts().update(&owner, setup.hosts[1].id, unhost).await.unwrap();
        // A container on another host.
        let contain = |service: &mut Service| {
            service.virtualization = agent.virtualization.clone();
            Ok(())
        };
        let guest = setup.hosts[2].services[0].id;
        inventory.parts().update(&owner, guest, contain).await.unwrap();
        delete(agent).await.unwrap();
        assert_eq!(refusal(delete(dns).await), in_use(Entity::Service, "dns", Entity::Service));
        inventory
            .parts()
            .update(&owner, guest, |service: &mut Service| {
                service.virtualization = None;
                Ok(())
            })
            .await
            .unwrap();
        delete(dns).await.unwrap();
        assert_eq!(setup.host(setup.hosts[0].id).await.services, []);
    });
}
