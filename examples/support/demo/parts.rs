//! The interfaces, ports and services of generated hosts.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use toposcope::model::{
    Binding, BindingTarget, DockerVirtualization, Interface, MacAddress, Port, PortNumber, Service,
    ServiceDefinition, ServiceVirtualization,
};

use super::rack::{Offer, Place};
use super::{Part, Position, SITES, id, random};

impl Position {
    /// Returns an IPv4 interface, and an IPv6 interface for devices other than office devices.
    pub(super) fn interfaces(self) -> Vec<Interface> {
        let is_managed = !matches!(self.device.place, Place::Discovered | Place::Entered);
        let addresses = [Some(self.ipv4()), is_managed.then(|| self.ipv6())];
        let interface = |(place, ip_address)| Interface {
            id: self.id(Part::Interface, place),
            host_id: self.id(Part::Host, 0),
            network_id: self.network_id(),
            subnet_id: Some(id(Part::Subnet, self.rack, place)),
            name: Some(self.interface_name().to_owned()),
            ip_address,
            mac_address: Some(self.mac_address()),
            position: place.cast_signed(),
            created_at: self.created_at(),
            updated_at: self.created_at(),
        };
        (0..).zip(addresses.into_iter().flatten()).map(interface).collect()
    }

    pub(super) const fn interface_name(self) -> &'static str {
        match self.device.place {
            Place::Switch => "Vlan1",
            Place::Hypervisor => "vmbr0",
            Place::Guest => "ens18",
            Place::Discovered | Place::Entered => "eth0",
        }
    }

    /// Returns an address in 10.0.0.0/8: 2 bits for the site, 17 for its rack, 5 for the slot.
    fn ipv4(self) -> IpAddr {
        let rack = (self.rack / SITES.len() as u64) & 0x1_ffff;
        let low = (self.site << 22 | rack << 5 | (self.slot + 1)) as u32;
        Ipv4Addr::from_bits(10 << 24 | low).into()
    }

    /// Returns an address in fd74:6f70:6f00::/48, in the subnet of the site.
    fn ipv6(self) -> IpAddr {
        let network = 0xfd74_6f70_6f00_0000 | self.site;
        let device = self.rack << 16 | (self.slot + 1);
        Ipv6Addr::from_bits(u128::from(network) << 64 | u128::from(device)).into()
    }

    /// Returns a locally administered MAC address.
    pub(super) const fn mac_address(self) -> MacAddress {
        let [a, b, c, d, e, ..] = random(Part::MacAddress, self.number(), 0).draw().to_be_bytes();
        MacAddress::new([0x02, a, b, c, d, e])
    }

    pub(super) fn ports(self) -> Result<Vec<Port>, Box<dyn Error + Send + Sync>> {
        let offers = (0..).zip(self.device.offers);
        let port = |(place, offer): (u64, &Offer)| {
            let (number, protocol) = offer.port?;
            let port = PortNumber::try_from(number).map(|number| Port {
                id: self.id(Part::Port, place),
                host_id: self.id(Part::Host, 0),
                network_id: self.network_id(),
                number,
                protocol,
                created_at: self.created_at(),
                updated_at: self.created_at(),
            });
            Some(port.map_err(Into::into))
        };
        offers.filter_map(port).collect()
    }

    pub(super) fn services(self) -> Result<Vec<Service>, Box<dyn Error + Send + Sync>> {
        (0..).zip(self.device.offers).map(|(place, offer)| self.service(place, offer)).collect()
    }

    fn service(self, place: u64, offer: &Offer) -> Result<Service, Box<dyn Error + Send + Sync>> {
        let id = self.id(Part::Service, place);
        let docker = || DockerVirtualization {
            container_name: Some(offer.name.to_lowercase()),
            container_id: Some(id.simple().to_string()),
            service_id: self.id(Part::Service, 0),
        };
        Ok(Service {
            id,
            host_id: self.id(Part::Host, 0),
            network_id: self.network_id(),
            name: offer.name.to_owned(),
            position: place.cast_signed(),
            service_definition: ServiceDefinition::new(offer.definition)?,
            source: self.source(),
            tags: Vec::new(),
            virtualization: offer.is_contained.then(docker).map(ServiceVirtualization::Docker),
            bindings: vec![self.binding(place, offer)],
            created_at: self.created_at(),
            updated_at: self.created_at(),
        })
    }

    fn binding(self, place: u64, offer: &Offer) -> Binding {
        let target = match offer.port {
            Some(_) => BindingTarget::Port { port_id: self.id(Part::Port, place), interface_id: None },
            None => BindingTarget::Interface { interface_id: self.id(Part::Interface, 0) },
        };
        Binding {
            id: self.id(Part::Binding, place),
            service_id: self.id(Part::Service, place),
            network_id: self.network_id(),
            target,
            created_at: self.created_at(),
            updated_at: self.created_at(),
        }
    }
}
