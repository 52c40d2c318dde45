//! Random changes of parts, compared with a model that has only the rules.

use fastrand::Rng;
use toposcope::access::{Caller, Clock};
use toposcope::model::{
    Binding, BindingId, BindingTarget, Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, Port,
    PortId, Protocol, Service, ServiceId,
};

use super::setup::{Setup, on_each_store};
use crate::support::{bare_host, binding, entry, id, interface, port, service};

/// The parts of the hosts that a client would expect to find.
#[derive(Default)]
struct Model {
    interfaces: Vec<Interface>,
    ports: Vec<Port>,
    services: Vec<Service>,
    entries: Vec<IfEntry>,
}

impl Model {
    fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.services.iter().flat_map(|service| &service.bindings)
    }

    fn is_number_free(&self, new: &Port) -> bool {
        let mut others = self.ports.iter().filter(|port| port.id != new.id && port.host_id == new.host_id);
        others.all(|port| (port.number, port.protocol) != (new.number, new.protocol))
    }

    fn is_port_bound(&self, port: PortId) -> bool {
        let mut targets = self.bindings().map(|binding| binding.target);
        targets.any(|target| matches!(target, BindingTarget::Port { port_id, .. } if port_id == port))
    }

    fn is_interface_used(&self, wanted: InterfaceId) -> bool {
        let is_bound = self.bindings().any(|binding| match binding.target {
            BindingTarget::Port { interface_id, .. } => interface_id == Some(wanted),
            BindingTarget::Interface { interface_id } => interface_id == wanted,
        });
        is_bound || self.entries.iter().any(|entry| entry.interface_id == Some(wanted))
    }

    /// Asserts that a host has exactly the parts of the model.
    fn assert_is(&self, host: &Host) {
        let mut expected = Host { ..host.clone() };
        expected.interfaces =
            self.interfaces.iter().filter(|part| part.host_id == host.id).cloned().collect();
        expected.ports = self.ports.iter().filter(|part| part.host_id == host.id).cloned().collect();
        expected.services = self.services.iter().filter(|part| part.host_id == host.id).cloned().collect();
        expected.if_entries = self.entries.iter().filter(|part| part.host_id == host.id).cloned().collect();
        expected.sort_embedded();
        assert_eq!(*host, expected);
    }
}

/// Asserts that an operation succeeded if and only if the rules allow it. Its outcome is stored in a list of the model.
fn keep<P>(
    list: &mut Vec<P>,
    index: Option<usize>,
    outcome: Result<P, toposcope::inventory::Error>,
    allowed: bool,
) {
    assert_eq!(outcome.is_ok(), allowed, "{:?}", outcome.err());
    let Ok(part) = outcome else { return };
    match index {
        Some(index) => list[index] = part,
        None => list.push(part),
    }
}

fn any<T: Clone>(random: &mut Rng, list: &[T]) -> Option<(usize, T)> {
    let index = random.usize(0..list.len().max(1));
    Some((index, list.get(index)?.clone()))
}

/// Returns a random target and its host. A binding to a target on another host is refused.
fn any_target(random: &mut Rng, model: &Model) -> Option<(HostId, BindingTarget)> {
    let (_, interface) = any(random, &model.interfaces)?;
    if random.bool() {
        return Some((interface.host_id, BindingTarget::Interface { interface_id: interface.id }));
    }
    let (_, port) = any(random, &model.ports)?;
    Some((port.host_id, BindingTarget::Port { port_id: port.id, interface_id: None }))
}

async fn step(setup: &Setup, random: &mut Rng, hosts: &[Host; 2], model: &mut Model) -> Option<()> {
    let (inventory, owner) = (&setup.inventory, setup.owner());
    let host = &hosts[random.usize(0..2)];
    let number = random.u16(1..12);
    match random.usize(0..16) {
        0 => {
            let new = interface(host, InterfaceId::nil(), "192.0.2.1", random.i64(0..3));
            keep(&mut model.interfaces, None, inventory.parts().create(&owner, new).await, true);
        }
        1 | 2 => {
            let new = port(host, PortId::nil(), number, Protocol::Tcp);
            let allowed = model.is_number_free(&new);
            keep(&mut model.ports, None, inventory.parts().create(&owner, new).await, allowed);
        }
        3 | 12.. => {
            let mut new = service(host, ServiceId::nil(), "service", random.i64(0..3));
            let (holder, target) = any_target(random, model)?;
            new.bindings.push(binding(&new, BindingId::nil(), target));
            keep(&mut model.services, None, inventory.parts().create(&owner, new).await, holder == host.id);
        }
        4 => {
            let mut new = entry(host, IfEntryId::nil(), random.i64(0..3));
            let (_, at) = any(random, &model.interfaces)?;
            new.interface_id = Some(at.id);
            keep(
                &mut model.entries,
                None,
                inventory.parts().create(&owner, new).await,
                at.host_id == host.id,
            );
        }
        5 => {
            let (index, part) = any(random, &model.interfaces)?;
            let change = |part: &mut Interface| {
                part.position = i64::from(number);
                Ok(())
            };
            let outcome = inventory.parts().update(&owner, part.id, change).await;
            keep(&mut model.interfaces, Some(index), outcome, true);
        }
        6 | 7 => {
            let (index, part) = any(random, &model.ports)?;
            let new = Port {
                number: number.try_into().unwrap(),
                host_id: host.id,
                network_id: host.network_id,
                ..part
            };
            let stays = part.host_id == host.id || !model.is_port_bound(part.id);
            let allowed = stays && model.is_number_free(&new);
            let change = |part: &mut Port| {
                part.clone_from(&new);
                Ok(())
            };
            let outcome = inventory.parts().update(&owner, part.id, change).await;
            keep(&mut model.ports, Some(index), outcome, allowed);
        }
        8 => {
            let (index, part) = any(random, &model.services)?;
            let (holder, target) = any_target(random, model)?;
            let change = |service: &mut Service| {
                service.bindings.truncate(1);
                service.bindings.push(binding(service, BindingId::nil(), target));
                Ok(())
            };
            let outcome = inventory.parts().update(&owner, part.id, change).await;
            keep(&mut model.services, Some(index), outcome, holder == part.host_id);
        }
        9 => {
            let (index, part) = any(random, &model.interfaces)?;
            let allowed = !model.is_interface_used(part.id);
            let outcome = inventory.parts::<Interface>().delete(&owner, part.id).await;
            assert_eq!(outcome.is_ok(), allowed);
            outcome.is_ok().then(|| model.interfaces.remove(index));
        }
        10 => {
            let (index, part) = any(random, &model.ports)?;
            let allowed = !model.is_port_bound(part.id);
            let outcome = inventory.parts::<Port>().delete(&owner, part.id).await;
            assert_eq!(outcome.is_ok(), allowed);
            outcome.is_ok().then(|| model.ports.remove(index));
        }
        _ => {
            let (index, part) = any(random, &model.services)?;
            inventory.parts::<Service>().delete(&owner, part.id).await.unwrap();
            model.services.remove(index);
            let (index, part) = any(random, &model.entries)?;
            inventory.parts::<IfEntry>().delete(&owner, part.id).await.unwrap();
            model.entries.remove(index);
        }
    }
    Some(())
}

#[test]
fn random_changes_of_parts_agree_with_the_rules_and_keep_hosts_valid() {
    on_each_store(async |setup| {
        for seed in 0..2 {
            let (mut random, mut model) = (Rng::with_seed(seed), Model::default());
            let hosts = [0, 1].map(|side| bare_host(id(0x50 + side), setup.networks[side as usize]));
            for host in &hosts {
                setup.inventory.hosts().put(&Caller::system(setup.organization), host.clone()).await.unwrap();
            }
            let mut bound = 0;
            for _ in 0..100 {
                let now = setup.clock.now();
                setup.clock.set(now.plus_micros(1));
                step(setup, &mut random, &hosts, &mut model).await;
                bound += usize::from(model.bindings().next().is_some());
                for host in &hosts {
                    model.assert_is(&setup.host(host.id).await);
                }
            }
            assert!(bound > 20, "{bound} of 100 steps with bindings");
        }
    });
}
