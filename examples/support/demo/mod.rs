//! Generated hosts for demonstrations.
//!
//! They are at sites with core switches, in racks with a hypervisor and office devices.
//!
//! Each host is computed from its number alone, so generating one does not require the others.

mod addresses;
mod cables;
mod entries;
mod parts;
mod rack;
mod random;
mod store;
mod vlans;

use std::error::Error;

use toposcope::model::{Host, HostVirtualization, NetworkId, ProxmoxVirtualization, Source, Timestamp};
use uuid::Uuid;

pub(crate) use self::addresses::subnets;
use self::rack::{Device, HYPERVISOR_SLOT, Place};
use self::random::Random;
pub(crate) use self::store::store;

const SITES: [(&str, &str); 4] =
    [("hq", "Head office"), ("dc", "Data centre"), ("wh", "Warehouse"), ("lab", "Laboratory")];
const SLOTS: u64 = rack::SLOTS as u64;

/// The 5th of January 2026, 08:00, in microseconds since 1970.
const BEGINNING: i64 = 1_767_600_000_000_000;
const SECOND: i64 = 1_000_000;
const MONTH: u64 = 30 * 24 * 3600;

/// Returns the networks that this number of hosts is on.
pub(crate) fn networks(count: u32) -> impl Iterator<Item = (NetworkId, &'static str)> {
    let racks = u64::from(count).div_ceil(SLOTS);
    let sites = (0..racks).zip(SITES);
    sites.map(|(site, (_, name))| (NetworkId::new(uuid(Part::Network, site, 0)), name))
}

/// Name of the tag of all hosts for which [`is_monitored`] is true.
pub(crate) const TAG: &str = "Monitored";

/// Returns whether a host offers SNMP.
pub(crate) fn is_monitored(host: &Host) -> bool {
    host.services.iter().any(|service| service.service_definition.as_str() == "SNMP")
}

/// Returns this number of hosts without tags. The same hosts are returned every time.
pub(crate) fn hosts(count: u32) -> impl Iterator<Item = Result<Host, Box<dyn Error + Send + Sync>>> {
    racks(count).flat_map(Position::of_rack).map(Position::host)
}

/// Returns the first position of every rack.
fn racks(count: u32) -> impl Iterator<Item = Position> {
    let racks = u64::from(count).div_ceil(SLOTS);
    (0..racks).zip(SITES.iter().zip(0..).cycle()).map(move |(rack, ((code, _), site))| {
        let [device, ..] = rack::devices(rack / SITES.len() as u64);
        Position { code, site, rack, slot: 0, device, count }
    })
}

/// The position of a host, which determines all its attributes.
#[derive(Clone, Copy)]
struct Position {
    code: &'static str,
    /// Number of the site, from 0.
    site: u64,
    rack: u64,
    slot: u64,
    device: &'static Device,
    /// Total number of hosts.
    count: u32,
}

impl Position {
    /// Returns the positions of the same rack that have a host.
    fn of_rack(self) -> impl Iterator<Item = Self> {
        (0..SLOTS).map_while(move |slot| self.other(self.rack, slot))
    }

    fn host(self) -> Result<Host, Box<dyn Error + Send + Sync>> {
        let mut random = random(Part::Chance, self.number(), 0);
        let description = random.choose(self.device.descriptions).map(|text| (*text).to_owned());
        let is_office = matches!(self.device.place, Place::Discovered | Place::Silent);
        let is_named = !is_office || random.below(3) > 0;
        let mut host = Host {
            hostname: is_named.then(|| format!("{}.example.net", self.name())),
            description,
            created_at: self.created_at(),
            updated_at: self.created_at().plus_micros(random.below(MONTH).cast_signed() * SECOND),
            source: self.source(),
            virtualization: (self.device.place == Place::Guest).then(|| self.virtualization()),
            interfaces: self.interfaces(),
            ports: self.ports()?,
            services: self.services()?,
            sys_name: self.is_network_device().then(|| self.name()),
            chassis_id: self.has_chassis_id().then(|| self.chassis_id()),
            ..Host::with_id(self.id(Part::Host, 0), self.network_id(), self.name())
        };
        host.if_entries = self.if_entries(&host);
        Ok(host)
    }

    const fn number(self) -> u64 {
        self.rack * SLOTS + self.slot
    }

    fn id<I: From<Uuid>>(self, part: Part, place: u64) -> I {
        uuid(part, self.number(), place).into()
    }

    const fn network_id(self) -> NetworkId {
        NetworkId::new(uuid(Part::Network, self.site, 0))
    }

    fn name(self) -> String {
        format!("{}-{}-{:02}", self.device.stem, self.code, self.rack / SITES.len() as u64 + 1)
    }

    /// Returns a creation time that increases with the host's number.
    fn created_at(self) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_micros(BEGINNING + self.number().cast_signed() * 7 * SECOND)
    }

    const fn source(self) -> Source {
        match self.device.place {
            Place::Firewall | Place::Entered => Source::Manual,
            _ => Source::Discovery { metadata: Vec::new() },
        }
    }

    /// Returns the virtualization of a guest. It runs on the first service of its rack's hypervisor.
    fn virtualization(self) -> HostVirtualization {
        let hypervisor = Self { slot: HYPERVISOR_SLOT, ..self };
        HostVirtualization::Proxmox(ProxmoxVirtualization {
            vm_name: Some(self.name()),
            vm_id: Some((100 + self.slot).to_string()),
            service_id: hypervisor.id(Part::Service, 0),
        })
    }

    /// Returns the host in this rack and slot of the same site. Returns `None` if it is not generated.
    fn other(self, rack: u64, slot: u64) -> Option<Self> {
        let device = rack::devices(rack / SITES.len() as u64).get(usize::try_from(slot).ok()?)?;
        let other = Self { rack, slot, device, ..self };
        (other.number() < u64::from(self.count)).then_some(other)
    }
}

/// The purpose of a random number; each has a sequence of its own.
#[derive(Clone, Copy)]
enum Part {
    Network,
    Subnet,
    Host,
    Interface,
    Port,
    Service,
    Binding,
    IfEntry,
    MacAddress,
    /// Arbitrary attributes of a host.
    Chance,
}

/// Returns a generator of random numbers for a purpose, an owner and an index. The owner is the number of a host, a
/// rack or a site.
const fn random(part: Part, number: u64, place: u64) -> Random {
    Random::new((part as u64) << 56 | number << 8 | place)
}

const fn uuid(part: Part, number: u64, place: u64) -> Uuid {
    random(part, number, place).uuid()
}
