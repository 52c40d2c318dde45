//! Creates the benchmark hosts.
//!
//! Where there are ten networks, hosts have tags, and some of them run on others.

use std::error::Error;
use std::net::IpAddr;
use toposcope::access::Caller;

use toposcope::inventory::Inventory;
use toposcope::model::{
    Host, HostId, HostVirtualization, InterfaceId, NetworkId, OrganizationId, PortId, ProxmoxVirtualization,
    ServiceId, Tag, TagId,
};

use crate::host::{Random, benchmark_host};

/// Number of hosts with the rarest tag.
const RARE: usize = 5;

/// One host in `HYPERVISORS` is a hypervisor; hypervisors share `HYPERVISOR_NAMES` names.
const HYPERVISORS: usize = 100;
const HYPERVISOR_NAMES: usize = 20;

/// Approximate number of random hosts whose parts are remembered. If there are fewer hosts, those of each are
/// remembered.
const REMEMBERED_HOSTS: usize = 10_000;

/// A host with its network, a port, and its first interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostParts {
    pub(crate) host: HostId,
    pub(crate) network: NetworkId,
    pub(crate) port: PortId,
    pub(crate) interface: InterfaceId,
    /// The address of the interface when the host was put.
    pub(crate) address: IpAddr,
}

/// Tags, each named after the number of hosts that have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags {
    pub(crate) rare: TagId,
    pub(crate) hundredth: TagId,
    pub(crate) tenth: TagId,
    pub(crate) other_tenth: TagId,
    pub(crate) half: TagId,
    pub(crate) everywhere: TagId,
}

impl Tags {
    pub(crate) async fn create(
        inventory: &Inventory,
        organization: OrganizationId,
    ) -> Result<Self, Box<dyn Error>> {
        let tag = async |name| {
            inventory.tags().create(&Caller::system(organization), Tag::new(name)).await.map(|tag| tag.id)
        };
        Ok(Self {
            rare: tag("rare").await?,
            hundredth: tag("hundredth").await?,
            tenth: tag("tenth").await?,
            other_tenth: tag("other tenth").await?,
            half: tag("half").await?,
            everywhere: tag("everywhere").await?,
        })
    }

    /// Returns the tags of a host. Every host has the tag `everywhere`, and hosts at regular steps have the rarest one.
    /// The other tags are assigned at random.
    fn of_host(&self, random: &mut Random, number: usize, size: usize) -> Vec<TagId> {
        let mut tags = vec![self.everywhere];
        if number.is_multiple_of(size.div_ceil(RARE)) {
            tags.push(self.rare);
        }
        let shares = [(self.hundredth, 100), (self.tenth, 10), (self.other_tenth, 10), (self.half, 2)];
        for (tag, share) in shares {
            if random.next().is_multiple_of(share) {
                tags.push(tag);
            }
        }
        tags
    }
}

/// Puts `size` hosts onto the networks in turn, and remembers parts of some of them.
pub(crate) async fn put(
    inventory: &Inventory,
    organization: OrganizationId,
    networks: &[NetworkId],
    tags: Option<Tags>,
    size: usize,
) -> Result<Vec<HostParts>, Box<dyn Error>> {
    let (mut random, mut chance, mut choice) = (Random::new(7), Random::new(11), Random::new(13));
    let mut remembered = Vec::new();
    let mut hypervisor = None;
    for number in 0..size {
        let network = networks[number % networks.len()];
        let mut host = benchmark_host(&mut random, number, network)?;
        if let Some(tags) = &tags {
            host.tags = tags.of_host(&mut chance, number, size);
            hypervisor = virtualize(&mut host, number, hypervisor);
        }
        // Chosen at random: regular steps would always hit the same network.
        if choice.next().is_multiple_of(size.div_ceil(REMEMBERED_HOSTS) as u64) {
            let (port, interface) = (host.ports[4].id, &host.interfaces[0]);
            let (interface, address) = (interface.id, interface.ip_address);
            remembered.push(HostParts { host: host.id, network, port, interface, address });
        }
        inventory.hosts().put(&Caller::system(organization), host).await?;
    }
    Ok(remembered)
}

/// Makes a host a hypervisor, or one in ten a guest of the last one. Returns the service that the next guest
/// runs on.
fn virtualize(host: &mut Host, number: usize, hypervisor: Option<ServiceId>) -> Option<ServiceId> {
    if number.is_multiple_of(HYPERVISORS) {
        let service = &mut host.services[0];
        service.name = format!("Proxmox {}", number / HYPERVISORS % HYPERVISOR_NAMES);
        return Some(service.id);
    }
    if let Some(service_id) = hypervisor
        && number % 10 == number / 10 % 10
    {
        let (vm_name, vm_id) = (Some(host.name.clone()), Some(number.to_string()));
        host.virtualization =
            Some(HostVirtualization::Proxmox(ProxmoxVirtualization { vm_name, vm_id, service_id }));
    }
    hypervisor
}
