//! Questions after changes: the index that follows them answers like one that is made anew.

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::discovery::report::{
    Device, FdbRow, FdbStatus, Report, Reporter, RouteRow, StpRow, StpState, Table,
};
use toposcope::inventory::{DiscoverOptions, Inventory};
use toposcope::model::{
    Host, HostId, HostVirtualization, IfEntry, IfEntryId, Interface, InterfaceId, LinkEnd, LldpChassisId,
    LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress, Network, NetworkId, OperStatus,
    OrganizationId, Permission, ProxmoxVirtualization, Service, ServiceDefinition, ServiceId, Subnet,
    SubnetId, Timestamp, TopologyLink, TopologyLinkId, UserId, Vlans,
};
use toposcope::store::MemoryStore;
use toposcope::topology::Topologies;
use toposcope::topology::paths::{FragileQuery, ImpactQuery, LocateTarget, PathQuery, VlanQuery};

/// Number of networks, and of changes of each.
const NETWORKS: u64 = 6;
const CHANGES: usize = 40;

/// Number of hosts, and of devices that only neighbors name.
const HOSTS: u128 = 24;
const STRANGERS: u128 = 4;

/// Descriptions of hosts: they decide the roles.
const DESCRIPTIONS: [&str; 4] = ["", "Cisco Catalyst 2960 switch", "Cisco IOS router", "HP LaserJet printer"];

struct Asked {
    inventory: Inventory,
    organization: OrganizationId,
    network: NetworkId,
}

impl Asked {
    async fn new() -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let network =
            inventory.networks().create(&Caller::system(organization), Network::new("Office")).await;
        Self { network: network.unwrap().id, inventory, organization }
    }

    async fn put(&self, host: Host) {
        self.inventory.hosts().put(&Caller::system(self.organization), host).await.unwrap();
    }

    /// Returns the answers to questions about the whole network and about some hosts.
    async fn answers(&self, topologies: &Topologies, rng: &mut Rng, hosts: u128) -> Vec<Value> {
        let caller = Caller::new(self.organization, UserId::nil(), Permission::Viewer, Scope::all());
        let network = self.network;
        let mut fragile = FragileQuery::new();
        (fragile.leaves, fragile.pairs) = (true, true);
        let mut answers = vec![
            json!(topologies.fragile(&caller, network, fragile).await.unwrap()),
            json!(topologies.vlans(&caller, network, VlanQuery::new()).await.unwrap()),
        ];
        for _ in 0..3 {
            let mut some = || HostId::from_u128(rng.u128(1..=hosts));
            let (one, other) = (some(), some());
            let mut query = ImpactQuery::new();
            query.nodes.insert(one.into());
            let impact = topologies.impact(&caller, network, query).await;
            answers.push(impact.map_or_else(|error| json!(error.to_string()), |impact| json!(impact)));
            let query = PathQuery::new(one.into(), other.into());
            let paths = topologies.paths(&caller, network, query).await;
            answers.push(paths.map_or_else(|error| json!(error.to_string()), |paths| json!(paths)));
            for target in [
                LocateTarget::Name(format!("h{}", rng.u128(..hosts + 6))),
                LocateTarget::Ip([192, 0, 2, rng.u8(1..40)].into()),
                LocateTarget::Mac(mac(rng.u128(1..=hosts))),
            ] {
                let found = topologies.locate(&caller, network, target).await;
                answers.push(found.map_or_else(|error| json!(error.to_string()), |found| json!(found)));
            }
        }
        answers
    }
}

fn chassis(number: u128) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::LocallyAssigned, value: format!("chassis-{number}") }
}

/// Returns the MAC address of a host.
fn mac(number: u128) -> MacAddress {
    let [.., high, low] = number.to_be_bytes();
    MacAddress::new([0x00, 0x1b, 0x21, 0, high, low])
}

/// Returns a host with random ports, neighbors, VLANs and addresses.
fn host(rng: &mut Rng, network: NetworkId, number: u128) -> Host {
    host_among(rng, network, number, HOSTS)
}

/// Returns a host with random ports, and neighbors among a number of hosts.
fn host_among(rng: &mut Rng, network: NetworkId, number: u128, hosts: u128) -> Host {
    let mut host =
        Host::with_id(HostId::from_u128(number), network, format!("h{}", rng.u128(number..number + 3)));
    host.sys_name = Some(format!("h{number}"));
    host.chassis_id = Some(chassis(number));
    host.sys_descr = Some((*rng.choice(&DESCRIPTIONS).unwrap()).to_owned());
    host.sys_location = Some(["Hall", "Attic"][rng.usize(..2)].to_owned()).filter(|_| rng.bool());
    for port in 1..=rng.u32(1..5) {
        let neighbor = rng.u128(1..=hosts + STRANGERS);
        let remote =
            LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: format!("Gi0/{}", rng.u8(1..4)) };
        let vlans = Vlans { untagged: Some(rng.u16(1..4)), tagged: vec![10, 20], ..Vlans::default() };
        host.if_entries.push(IfEntry {
            id: IfEntryId::from_u128(number << 64 | u128::from(port)),
            if_name: Some(format!("Gi0/{port}")),
            if_type: Some(6),
            oper_status: Some(if rng.u8(..5) == 0 { OperStatus::Down } else { OperStatus::Up }),
            lldp_chassis_id: Some(chassis(neighbor)),
            lldp_sys_name: Some(format!("h{neighbor}")),
            lldp_port_id: Some(remote).filter(|_| rng.u8(..4) > 0),
            vlans: Some(vlans).filter(|_| rng.bool()),
            ..IfEntry::new(&host, i64::from(port))
        });
    }
    for place in 0..rng.u128(..3) {
        let ip = [192, 0, 2, rng.u8(1..40)].into();
        let mut interface = Interface::new(&host, ip);
        interface.id = InterfaceId::from_u128(number << 8 | place);
        interface.mac_address = Some(mac(number));
        if host.interfaces.iter().all(|known| known.ip_address != ip) {
            host.interfaces.push(interface);
        }
    }
    host
}

#[test]
fn answers_after_changes_equal_those_of_an_index_that_is_made_anew() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 0..NETWORKS {
        runtime.block_on(compare(seed));
    }
}

async fn compare(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let asked = Asked::new().await;
    let system = Caller::system(asked.organization);
    let subnet = Subnet::new(asked.network, "Office", "192.0.2.0/24".parse().unwrap());
    asked.inventory.subnets().create(&system, subnet).await.unwrap();
    for number in 1..=HOSTS {
        asked.put(host(&mut rng, asked.network, number)).await;
    }
    let following = Topologies::new(asked.inventory.clone());
    for change in 0..CHANGES {
        for _ in 0..rng.usize(1..3) {
            let number = rng.u128(1..=HOSTS);
            if rng.u8(..4) == 0 {
                let _absent = asked.inventory.hosts().delete(&system, HostId::from_u128(number)).await;
            } else {
                asked.put(host(&mut rng, asked.network, number)).await;
            }
        }
        if rng.u8(..4) == 0 {
            // Several changes are followed at once.
            continue;
        }
        let questions = rng.u64(..);
        let anew = Topologies::new(asked.inventory.clone());
        let [found, expected] = [
            asked.answers(&following, &mut Rng::with_seed(questions), HOSTS).await,
            asked.answers(&anew, &mut Rng::with_seed(questions), HOSTS).await,
        ];
        assert_eq!(found, expected, "seed {seed}, change {change}");
    }
}

/// Number of large networks, of changes of each, and of their hosts: a change concerns less than an eighth of the nodes and links, so
/// that the index follows it.
const LARGE_NETWORKS: u64 = 2;
const CHANGES_OF_LARGE: usize = 16;
const MANY_HOSTS: u128 = 90;

/// Returns what the device of a host reports: a random part of its neighbors in each table. Tables that are complete let former rows
/// go missing.
fn reported(rng: &mut Rng, number: u128) -> Device {
    let mut device = Device::default();
    device.id = Some(HostId::from_u128(number));
    device.sys_name = Some(format!("h{number}"));
    device.chassis_id = Some(Box::new(chassis(number)));
    if rng.bool() {
        let row = |rng: &mut Rng| {
            let mut row = FdbRow::new(mac(rng.u128(1..=MANY_HOSTS)));
            (row.if_index, row.vlan, row.status) =
                (Some(rng.i64(1..5)), Some(rng.u16(1..4)), Some(FdbStatus::Learned));
            row
        };
        device.tables.fdb = Some(Table::complete((0..rng.usize(..6)).map(|_| row(rng)).collect()));
    }
    if rng.bool() {
        let row = |rng: &mut Rng| {
            let mut row = StpRow::new(rng.i64(1..5));
            row.if_index = Some(row.bridge_port);
            row.state = Some([StpState::Blocking, StpState::Forwarding][rng.usize(..2)]);
            row
        };
        device.tables.stp = Some(Table::complete((0..rng.usize(..4)).map(|_| row(rng)).collect()));
    }
    if rng.bool() {
        let row = |rng: &mut Rng| {
            let destination = ["0.0.0.0/0", "198.51.100.0/24", "203.0.113.0/25"][rng.usize(..3)];
            let mut row = RouteRow::new(destination.parse().unwrap());
            row.next_hop = Some([192, 0, 2, rng.u8(1..40)].into());
            row.if_index = Some(rng.i64(1..5));
            row
        };
        device.tables.routes = Some(Table::complete((0..rng.usize(..4)).map(|_| row(rng)).collect()));
    }
    device
}

/// Makes random changes of a large network.
struct Changer {
    asked: Asked,
    system: Caller,
    rng: Rng,
    /// Seconds since the first report.
    time: i64,
    subnets: Vec<SubnetId>,
    links: Vec<TopologyLinkId>,
}

impl Changer {
    async fn new(seed: u64) -> Self {
        let asked = Asked::new().await;
        let system = Caller::system(asked.organization);
        let mut changer = Self {
            asked,
            system,
            rng: Rng::with_seed(seed),
            time: 0,
            subnets: Vec::new(),
            links: Vec::new(),
        };
        changer.add_subnet("192.0.2.0/24").await;
        for number in 1..=MANY_HOSTS {
            changer.put(number).await;
        }
        for number in 1..=MANY_HOSTS {
            changer.report(number).await;
        }
        changer
    }

    fn some(&mut self) -> u128 {
        self.rng.u128(1..=MANY_HOSTS)
    }

    async fn put(&mut self, number: u128) {
        let mut host = host_among(&mut self.rng, self.asked.network, number, MANY_HOSTS);
        if number.is_multiple_of(10) {
            let mut service =
                Service::new(&host, "Proxmox VE", ServiceDefinition::new("Proxmox VE").unwrap());
            service.id = ServiceId::from_u128(number << 8);
            host.services.push(service);
        } else if self.rng.u8(..8) == 0 {
            let service_id = ServiceId::from_u128((self.some().div_ceil(10) * 10) << 8);
            let guest = ProxmoxVirtualization { vm_name: None, vm_id: None, service_id };
            host.virtualization = Some(HostVirtualization::Proxmox(guest));
        }
        // The service that runs a guest may be that of a deleted host.
        if let Err(error) = self.asked.inventory.hosts().put(&self.system, host.clone()).await {
            assert!(host.virtualization.is_some(), "{error}");
            host.virtualization = None;
            self.asked.put(host).await;
        }
    }

    async fn report(&mut self, number: u128) {
        self.time += 1;
        let at = "2026-08-01T12:00:00Z".parse::<Timestamp>().unwrap().plus_micros(self.time * 1_000_000);
        let mut report = Report::new(Reporter::new("test"), at);
        report.devices = vec![reported(&mut self.rng, number)];
        let options = DiscoverOptions::new(self.asked.network);
        self.asked.inventory.discovery().reconcile(&self.system, &report, options).await.unwrap();
    }

    async fn add_subnet(&mut self, cidr: &str) {
        let subnet = Subnet::new(self.asked.network, cidr, cidr.parse().unwrap());
        let subnet = self.asked.inventory.subnets().create(&self.system, subnet).await.unwrap();
        self.subnets.push(subnet.id);
    }

    /// Makes one change of a random kind.
    async fn change(&mut self) {
        let (number, other) = (self.some(), self.some());
        let inventory = self.asked.inventory.clone();
        match self.rng.u8(..16) {
            0..5 => self.put(number).await,
            5..10 => self.report(number).await,
            10 => drop(inventory.hosts().delete(&self.system, HostId::from_u128(number)).await),
            11 | 12 if number != other => {
                let end = |number| LinkEnd { host_id: HostId::from_u128(number), if_entry_id: None };
                let link = TopologyLink::new(self.asked.network, end(number), end(other));
                // One of the hosts may be deleted.
                let created = inventory.topology_links().create(&self.system, link).await;
                self.links.extend(created.ok().map(|link| link.id));
            }
            13 if !self.links.is_empty() => {
                let link = self.links.swap_remove(self.rng.usize(..self.links.len()));
                drop(inventory.topology_links().delete(&self.system, link).await);
            }
            14 => {
                let state = [OperStatus::Up, OperStatus::Down][self.rng.usize(..2)];
                let switch = |host: &mut Host| {
                    host.if_entries.iter_mut().take(1).for_each(|entry| entry.oper_status = Some(state));
                    Ok(())
                };
                drop(inventory.hosts().update(&self.system, HostId::from_u128(number), switch).await);
            }
            15 if self.subnets.len() < 4 => {
                let cidr = ["192.0.2.0/27", "198.51.100.0/24", "203.0.113.0/25"][self.subnets.len() - 1];
                self.add_subnet(cidr).await;
            }
            _ => {
                let rename = |host: &mut Host| {
                    host.name = format!("h{other}");
                    Ok(())
                };
                drop(inventory.hosts().update(&self.system, HostId::from_u128(number), rename).await);
            }
        }
    }
}

#[test]
fn index_of_a_large_network_follows_changes_of_every_kind() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 0..LARGE_NETWORKS {
        runtime.block_on(async {
            let mut changer = Changer::new(seed).await;
            let following = Topologies::new(changer.asked.inventory.clone());
            for change in 0..CHANGES_OF_LARGE {
                for _ in 0..changer.rng.usize(1..4) {
                    changer.change().await;
                }
                let questions = changer.rng.u64(..);
                let anew = Topologies::new(changer.asked.inventory.clone());
                let ask = async |topologies: &Topologies| {
                    changer.asked.answers(topologies, &mut Rng::with_seed(questions), MANY_HOSTS).await
                };
                assert_eq!(ask(&following).await, ask(&anew).await, "seed {seed}, change {change}");
            }
        });
    }
}
