//! The addresses of subnets: the free ones, the devices that use the others, and reservations.

mod model;
mod races;
mod records;
mod states;

use std::net::IpAddr;

use toposcope::access::Caller;
use toposcope::inventory::{AddressList, AddressQuery, AddressState, Error, Inventory, SubnetAddress};
use toposcope::model::{Cidr, Host, HostId, Interface, MacAddress, Subnet, SubnetId};

use crate::support::{Fixture, bare_host, id, owner_of};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Creates a subnet of the office.
async fn subnet(fixture: &Fixture, cidr: &str) -> Subnet {
    let subnet = Subnet::new(fixture.network, cidr, cidr.parse().unwrap());
    fixture.inventory.subnets().create(&owner_of(fixture.organization), subnet).await.unwrap()
}

/// Returns a host of the office with these addresses, each with a MAC address or without.
fn host_at(fixture: &Fixture, number: u128, addresses: &[(&str, Option<MacAddress>)]) -> Host {
    let host = bare_host(id(number), fixture.network);
    let interface = |(place, (address, mac)): (usize, &(&str, Option<MacAddress>))| Interface {
        id: id(number * 1_000 + place as u128),
        mac_address: *mac,
        ..Interface::new(&host, ip(address))
    };
    let interfaces = addresses.iter().enumerate().map(interface).collect();
    Host { interfaces, ..host }
}

const fn mac(number: u8) -> MacAddress {
    MacAddress::new([0x00, 0x1b, 0x21, 0x66, 0x00, number])
}

/// The addresses of a subnet through one inventory, as an Owner sees and changes them.
#[derive(Clone)]
struct Window {
    inventory: Inventory,
    caller: Caller,
    subnet: SubnetId,
}

impl Window {
    fn new(fixture: &Fixture, subnet: &Subnet) -> Self {
        let caller = owner_of(fixture.organization);
        Self { inventory: fixture.inventory.clone(), caller, subnet: subnet.id }
    }

    async fn list(&self, query: AddressQuery) -> AddressList {
        self.inventory.addresses().list(&self.caller, self.subnet, query).await.unwrap()
    }

    /// Returns the lowest free addresses as text, and the number of all.
    async fn free(&self, limit: usize) -> (Vec<String>, u64) {
        let free = self.list(AddressQuery::free(limit)).await;
        assert!(free.addresses.iter().all(|address| address.state == AddressState::Free));
        (free.addresses.iter().map(|address| address.ip.to_string()).collect(), free.addresses_total)
    }

    /// Returns all addresses that are not free.
    async fn known(&self) -> Vec<SubnetAddress> {
        let known = self.list(AddressQuery::new()).await;
        assert_eq!(known.addresses.len() as u64, known.addresses_total);
        known.addresses
    }

    /// Returns the states of all addresses that are not free.
    async fn states(&self) -> Vec<(String, AddressState)> {
        self.known().await.iter().map(|address| (address.ip.to_string(), address.state)).collect()
    }

    async fn reserve(&self, count: u32) -> Result<Vec<IpAddr>, Error> {
        let reserved = self.inventory.addresses().reserve(&self.caller, self.subnet, count, "a rack").await?;
        assert_eq!(reserved.addresses_total, reserved.addresses.len() as u64);
        Ok(reserved.addresses.iter().map(|address| address.ip).collect())
    }

    async fn release(&self, addresses: &[IpAddr]) -> Vec<SubnetAddress> {
        self.inventory.addresses().release(&self.caller, self.subnet, addresses).await.unwrap().addresses
    }
}

async fn set_cidr(fixture: &Fixture, subnet: SubnetId, cidr: &str) -> Result<Subnet, Error> {
    let cidr: Cidr = cidr.parse().unwrap();
    let change = |subnet: &mut Subnet| {
        subnet.cidr = cidr;
        Ok(())
    };
    fixture.inventory.subnets().update(&owner_of(fixture.organization), subnet, change).await
}

async fn delete_host(fixture: &Fixture, number: u128) {
    let host: HostId = id(number);
    fixture.delete(host).await.unwrap();
}
