//! Questions after changes: the index that follows them answers like one that is made anew.

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::Inventory;
use toposcope::model::{
    Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, LldpChassisId, LldpChassisIdSubtype,
    LldpPortId, LldpPortIdSubtype, Network, NetworkId, OperStatus, OrganizationId, Permission, Subnet,
    UserId, Vlans,
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
    async fn answers(&self, topologies: &Topologies, rng: &mut Rng) -> Vec<Value> {
        let caller = Caller::new(self.organization, UserId::nil(), Permission::Viewer, Scope::all());
        let network = self.network;
        let mut fragile = FragileQuery::new();
        (fragile.leaves, fragile.pairs) = (true, true);
        let mut answers = vec![
            json!(topologies.fragile(&caller, network, fragile).await.unwrap()),
            json!(topologies.vlans(&caller, network, VlanQuery::new()).await.unwrap()),
        ];
        for _ in 0..3 {
            let mut some = || HostId::from_u128(rng.u128(1..=HOSTS));
            let (one, other) = (some(), some());
            let mut query = ImpactQuery::new();
            query.nodes.insert(one.into());
            let impact = topologies.impact(&caller, network, query).await;
            answers.push(impact.map_or_else(|error| json!(error.to_string()), |impact| json!(impact)));
            let query = PathQuery::new(one.into(), other.into());
            let paths = topologies.paths(&caller, network, query).await;
            answers.push(paths.map_or_else(|error| json!(error.to_string()), |paths| json!(paths)));
            for target in [
                LocateTarget::Name(format!("h{}", rng.u8(..30))),
                LocateTarget::Ip([192, 0, 2, rng.u8(1..40)].into()),
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

/// Returns a host with random ports, neighbors, VLANs and addresses.
fn host(rng: &mut Rng, network: NetworkId, number: u128) -> Host {
    let mut host =
        Host::with_id(HostId::from_u128(number), network, format!("h{}", rng.u128(number..number + 3)));
    host.sys_name = Some(format!("h{number}"));
    host.chassis_id = Some(chassis(number));
    host.sys_descr = Some((*rng.choice(&DESCRIPTIONS).unwrap()).to_owned());
    host.sys_location = Some(["Hall", "Attic"][rng.usize(..2)].to_owned()).filter(|_| rng.bool());
    for port in 1..=rng.u32(1..5) {
        let neighbor = rng.u128(1..=HOSTS + STRANGERS);
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
            asked.answers(&following, &mut Rng::with_seed(questions)).await,
            asked.answers(&anew, &mut Rng::with_seed(questions)).await,
        ];
        assert_eq!(found, expected, "seed {seed}, change {change}");
    }
}
