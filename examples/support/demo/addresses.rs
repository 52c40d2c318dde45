//! The addresses of generated hosts, and their subnets.
//!
//! Each rack has a /27, which its hosts reach through the core switches of their block; switches, firewall and router
//! are connected by /30 subnets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use toposcope::model::{Cidr, CidrError, Interface, MacAddress, Source, Subnet, SubnetId, SubnetType};

use super::cables::{ABOVE, CORE_TO_FIREWALL, FIREWALL_TO_ROUTER, FIRST_BELOW, ROUTER_TO_CARRIER};
use super::rack::{CORE_A_SLOT, Place, RACKS_OF_BLOCK};
use super::{Part, Position, racks, random, uuid};

/// Address of the first core switch in the subnet of each rack. The addresses of both core switches follow the
/// addresses of the slots.
const CORE_A_ADDRESS: u32 = 29;
const CORE_B_ADDRESS: u32 = 30;

/// Returns the subnets of this number of hosts.
pub(crate) fn subnets(count: u32) -> impl Iterator<Item = Result<Subnet, CidrError>> {
    racks(count).flat_map(|rack| {
        let transfers = rack.of_rack().flat_map(Position::transfers).filter(|transfer| transfer.is_lower);
        [rack.rack_subnet()].into_iter().chain(transfers.map(|transfer| transfer.subnet()))
    })
}

/// An address of a host, and the port that has it.
struct Address {
    /// Number of the address on its host.
    place: u64,
    name: String,
    address: IpAddr,
    subnet: Option<SubnetId>,
}

/// One end of a /30 subnet.
struct Transfer {
    position: Position,
    port: u64,
    /// The other end.
    other: Position,
    /// The first address of the subnet.
    first: u32,
    /// Number of the subnet among those of the host at the lower end.
    place: u64,
    /// Whether this end has the lower of the two addresses.
    is_lower: bool,
}

impl Position {
    /// Returns the addresses of the host's ports. The first is its management address.
    pub(super) fn interfaces(self) -> Vec<Interface> {
        let interface = |(position, Address { place, name, address, subnet })| Interface {
            id: self.id(Part::Interface, place),
            host_id: self.id(Part::Host, 0),
            network_id: self.network_id(),
            subnet_id: subnet,
            name: Some(name),
            ip_address: address,
            mac_address: Some(self.mac_address()),
            mac_source: None,
            position,
            created_at: self.created_at(),
            updated_at: self.created_at(),
            last_seen_at: None,
            is_stale: false,
        };
        (0..).zip(self.addresses()).map(interface).collect()
    }

    fn addresses(self) -> Vec<Address> {
        let own = || {
            let name = match self.device.place {
                Place::Access => self.vlan_interface(),
                Place::Hypervisor => self.port_name(3),
                _ => self.port_name(1),
            };
            Address { place: 0, name, ..self.address_in(self, self.slot as u32 + 1) }
        };
        match self.device.place {
            Place::Core => self.gateways().chain(self.transfer_addresses()).collect(),
            Place::Firewall => self.transfer_addresses().collect(),
            Place::Router => self.transfer_addresses().chain([self.carrier_address()]).collect(),
            Place::Discovered | Place::Silent | Place::Entered => vec![own()],
            Place::Access | Place::Hypervisor | Place::Storage | Place::Guest => {
                let first = own();
                let name = first.name.clone();
                vec![first, Address { place: 1, name, address: self.ipv6(), subnet: None }]
            }
        }
    }

    /// Returns the addresses of a core switch in the subnets of its block's racks.
    fn gateways(self) -> impl Iterator<Item = Address> {
        let address = if self.slot == CORE_A_SLOT { CORE_A_ADDRESS } else { CORE_B_ADDRESS };
        (0..RACKS_OF_BLOCK).filter_map(move |rack| {
            let rack_of_block = self.rack_of_block(rack)?;
            let name = rack_of_block.vlan_interface();
            Some(Address { place: rack, name, ..self.address_in(rack_of_block, address) })
        })
    }

    /// Returns the name of a switch's interface in the VLAN of a rack.
    fn vlan_interface(self) -> String {
        format!("Vlan{}", self.vlan_of_rack())
    }

    fn transfer_addresses(self) -> impl Iterator<Item = Address> {
        self.transfers().map(move |transfer| Address {
            place: RACKS_OF_BLOCK + transfer.port,
            name: self.port_name(transfer.port),
            address: transfer.address(),
            subnet: Some(transfer.subnet_id()),
        })
    }

    /// Returns an address of the range for documentation.
    fn carrier_address(self) -> Address {
        let low = (self.site << 6 | self.block() & 0x3f) as u32;
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(198, 51, 100, 0).to_bits() | low).into();
        Address { place: 0, name: self.port_name(ROUTER_TO_CARRIER), address, subnet: None }
    }

    /// Returns an address in the subnet of a rack.
    fn address_in(self, rack: Self, address: u32) -> Address {
        let address = Ipv4Addr::from_bits(rack.rack_network() + address).into();
        Address { place: 0, name: String::new(), address, subnet: Some(rack.rack_subnet_id()) }
    }

    /// Returns the /27 of the host's rack in 10.0.0.0/8. The site takes 2 bits, and the rack 17.
    fn rack_network(self) -> u32 {
        let rack = self.rack_of_site() & 0x1_ffff;
        10 << 24 | (self.site << 22 | rack << 5) as u32
    }

    const fn rack_subnet_id(self) -> SubnetId {
        SubnetId::new(uuid(Part::Subnet, self.rack, 0))
    }

    fn rack_subnet(self) -> Result<Subnet, CidrError> {
        let name = format!("{} rack {:02}", self.code, self.rack_of_site() + 1);
        self.subnet(self.rack_subnet_id(), name, SubnetType::Lan, self.rack_network(), 27)
    }

    fn subnet(
        self,
        id: SubnetId,
        name: String,
        subnet_type: SubnetType,
        first: u32,
        length: u8,
    ) -> Result<Subnet, CidrError> {
        let cidr = Cidr::containing(Ipv4Addr::from_bits(first).into(), length)?;
        let mut subnet = Subnet::new(self.network_id(), name, cidr);
        subnet.id = id;
        subnet.subnet_type = subnet_type;
        subnet.source = Source::Manual;
        Ok(subnet)
    }

    /// Returns the host's ends of /30 subnets.
    fn transfers(self) -> impl Iterator<Item = Transfer> {
        let ports = match self.device.place {
            Place::Core => FIRST_BELOW..=CORE_TO_FIREWALL,
            Place::Firewall => 1..=FIREWALL_TO_ROUTER,
            Place::Router => 1..=1,
            #[allow(clippy::reversed_empty_ranges, reason = "other devices have none")]
            _ => 1..=0,
        };
        ports.filter_map(move |port| self.transfer(port))
    }

    fn transfer(self, port: u64) -> Option<Transfer> {
        let end = self.other_end(port)?;
        // The subnet is numbered by the firewall, or by the core switch of the block that is farther from the site's
        // core.
        let (is_lower, numbering, number) = match self.device.place {
            Place::Core if port == ABOVE => (false, self, if self.slot == CORE_A_SLOT { 4 } else { 5 }),
            Place::Core if port == CORE_TO_FIREWALL => (true, self, end.port),
            Place::Core => (true, end.position, if self.slot == CORE_A_SLOT { 4 } else { 5 }),
            Place::Firewall => (port == FIREWALL_TO_ROUTER, self, port),
            _ => (false, self, FIREWALL_TO_ROUTER),
        };
        let block = numbering.block() & 0x1fff;
        let first = 0xac10_0000 | (self.site << 18 | block << 5 | number << 2) as u32;
        Some(Transfer { position: self, port, other: end.position, first, place: number, is_lower })
    }

    /// Returns an address in fd74:6f70:6f00::/48, in the subnet of the site.
    fn ipv6(self) -> IpAddr {
        let network = 0xfd74_6f70_6f00_0000 | self.site;
        let device = self.rack << 16 | (self.slot + 1);
        Ipv6Addr::from_bits(u128::from(network) << 64 | u128::from(device)).into()
    }

    pub(super) const fn mac_address(self) -> MacAddress {
        self.mac_address_at(0)
    }

    /// Returns a locally administered MAC address.
    pub(super) const fn mac_address_at(self, place: u64) -> MacAddress {
        let [a, b, c, d, e, ..] = random(Part::MacAddress, self.number(), place).draw().to_be_bytes();
        MacAddress::new([0x02, a, b, c, d, e])
    }
}

impl Transfer {
    fn address(&self) -> IpAddr {
        Ipv4Addr::from_bits(self.first + if self.is_lower { 1 } else { 2 }).into()
    }

    /// Returns the id of the subnet, which both ends compute alike.
    fn subnet_id(&self) -> SubnetId {
        let rack = if self.place > FIREWALL_TO_ROUTER && self.is_lower {
            self.other.rack
        } else {
            self.position.rack
        };
        SubnetId::new(uuid(Part::Subnet, rack, self.place))
    }

    fn subnet(&self) -> Result<Subnet, CidrError> {
        let name = format!("{} to {}", self.position.name(), self.other.name());
        self.position.subnet(self.subnet_id(), name, SubnetType::Gateway, self.first, 30)
    }
}
