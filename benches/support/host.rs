//! The benchmark host.

use std::net::IpAddr;

use toposcope::model::{
    AdminStatus, Binding, BindingTarget, Host, HostId, IfEntry, Interface, InterfaceId, MacAddress,
    NetworkId, OperStatus, Port, PortNumber, Protocol, Service, ServiceDefinition, Source, Timestamp,
};
use uuid::Uuid;

/// A pseudo-random number generator whose numbers are the same in every run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn uuid(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.next(), self.next())
    }

    pub(crate) fn id<I: From<Uuid>>(&mut self) -> I {
        self.uuid().into()
    }

    fn time(&mut self) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_micros(1_760_000_000_000_000 + (self.next() % 30_000_000_000_000) as i64)
    }
}

/// Returns a benchmark host, about 7.35 KB of JSON. It has 2 interfaces, 5 ports, 3 services with one binding each, and
/// 4 if_entries.
pub(crate) fn benchmark_host(
    random: &mut Random,
    number: usize,
    network_id: NetworkId,
) -> Result<Host, Box<dyn std::error::Error>> {
    let (id, created_at, updated_at) = (random.id(), random.time(), random.time());
    let mut interfaces = Vec::new();
    for position in 0..2 {
        interfaces.push(Interface {
            id: random.id(),
            host_id: id,
            network_id,
            subnet_id: Some(random.id()),
            name: Some(format!("GigabitEthernet0/{position}")),
            ip_address: address(random),
            mac_address: Some(mac(random)),
            mac_source: None,
            position,
            created_at,
            updated_at,
            last_seen_at: None,
            is_stale: false,
        });
    }
    let mut ports = Vec::new();
    for port in [22, 80, 161, 443, 8080] {
        ports.push(Port {
            id: random.id(),
            host_id: id,
            network_id,
            number: PortNumber::try_from(port)?,
            protocol: if port == 161 { Protocol::Udp } else { Protocol::Tcp },
            created_at,
            updated_at,
            last_seen_at: None,
            is_stale: false,
        });
    }
    let mut services = Vec::new();
    for (position, name) in ["Secure shell", "Web server", "Management agent"].into_iter().enumerate() {
        let service_id = random.id();
        let target = BindingTarget::Port {
            port_id: ports[position].id,
            interface_id: Some(interfaces[position % 2].id),
        };
        let binding = Binding { id: random.id(), service_id, network_id, target, created_at, updated_at };
        services.push(Service {
            id: service_id,
            host_id: id,
            network_id,
            name: name.to_owned(),
            position: position as i64,
            service_definition: ServiceDefinition::new(name)?,
            source: Source::Manual,
            tags: vec![random.id()].split_off(1),
            virtualization: None,
            bindings: vec![binding],
            created_at,
            updated_at,
            last_seen_at: None,
            is_stale: false,
        });
    }
    let mut if_entries = Vec::new();
    for index in 0..4 {
        if_entries.push(if_entry(
            random,
            index,
            id,
            network_id,
            interfaces[(index % 2) as usize].id,
            created_at,
        ));
    }
    let name = format!("switch-{:04}-floor-{}-{number}", random.next() % 10_000, number % 12);
    Ok(Host {
        hostname: Some(format!("{name}.office.example.net")),
        description: Some("24-port access switch".to_owned()),
        created_at,
        updated_at,
        interfaces,
        ports,
        services,
        if_entries,
        ..Host::with_id(id, network_id, name)
    })
}

fn if_entry(
    random: &mut Random,
    index: i64,
    host_id: HostId,
    network_id: NetworkId,
    interface_id: InterfaceId,
    created_at: Timestamp,
) -> IfEntry {
    IfEntry {
        id: random.id(),
        host_id,
        network_id,
        interface_id: Some(interface_id),
        if_index: 10_101 + index,
        if_name: Some(format!("Gi1/0/{index}")),
        if_descr: format!("Gi1/0/{index}"),
        if_alias: Some(format!("uplink {index}")),
        if_type: Some(6),
        speed_bps: Some(1_000_000_000),
        mac_address: Some(mac(random)),
        admin_status: Some(AdminStatus::Up),
        oper_status: Some(OperStatus::Up),
        lag_id: None,
        vlans: None,
        neighbor: None,
        cdp_address: None,
        cdp_device_id: None,
        cdp_platform: None,
        cdp_port_id: None,
        lldp_chassis_id: None,
        lldp_mgmt_addr: None,
        lldp_port_desc: None,
        lldp_port_id: None,
        lldp_sys_desc: None,
        lldp_sys_name: None,
        created_at,
        updated_at: created_at,
        last_seen_at: None,
        is_stale: false,
    }
}

/// Returns an address of 10.0.0.0/8. A million hosts have about 8,000 addresses in each /16 and 30 in each /24.
fn address(random: &mut Random) -> IpAddr {
    let [_, second, third, fourth] = (random.next() as u32).to_be_bytes();
    [10, second, third, fourth].into()
}

/// Returns an address of one of 64 vendors.
fn mac(random: &mut Random) -> MacAddress {
    let [_, _, vendor, a, b, c, ..] = random.next().to_be_bytes();
    MacAddress::new([0x00, 0x1B, vendor % 64, a, b, c])
}
