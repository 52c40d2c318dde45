//! Hosts that nobody has, for a first look: racks of a switch, a virtualization host with its guests, and what else
//! there is in an office. Each follows from its number alone, so that none has to be kept in order to make another.

mod entries;
mod parts;
mod rack;
mod random;

use std::error::Error;

use toposcope::model::{Host, HostVirtualization, ProxmoxVirtualization, Source, Timestamp};
use uuid::Uuid;

use self::rack::{Device, HYPERVISOR_SLOT, Place, RACK};
use self::random::Random;

const SITES: [(&str, &str); 4] =
    [("hq", "Head office"), ("dc", "Data centre"), ("wh", "Warehouse"), ("lab", "Laboratory")];
const SLOTS: u64 = RACK.len() as u64;

/// The 5th of January 2026, 08:00, in microseconds since 1970.
const BEGINNING: i64 = 1_767_600_000_000_000;
const SECOND: i64 = 1_000_000;
const MONTH: u64 = 30 * 24 * 3600;

/// The networks that so many hosts are on.
pub(crate) fn networks(count: u32) -> impl Iterator<Item = (Uuid, &'static str)> {
    let racks = u64::from(count).div_ceil(SLOTS);
    let sites = (0..racks).zip(SITES);
    sites.map(|(site, (_, name))| (id(Part::Network, site, 0), name))
}

/// What the tag says that the hosts bear of which [`is_monitored`] is true.
pub(crate) const TAG: &str = "Monitored";

/// Whether a host tells how it is doing to whoever asks.
pub(crate) fn is_monitored(host: &Host) -> bool {
    host.services.iter().any(|service| service.service_definition.as_str() == "SNMP")
}

/// So many hosts, still without tags: the same ones every time.
pub(crate) fn hosts(count: u32) -> impl Iterator<Item = Result<Host, Box<dyn Error + Send + Sync>>> {
    let sites = SITES.iter().zip(0..).cycle();
    let racks = (0..).zip(sites).flat_map(move |(rack, ((code, _), site))| {
        (0..).zip(&RACK).map(move |(slot, device)| Position { code, site, rack, slot, device, count })
    });
    racks.take(count as usize).map(|position| position.host())
}

/// Where a host stands, from which everything about it follows.
#[derive(Clone, Copy)]
struct Position {
    code: &'static str,
    /// The site's number, from 0.
    site: u64,
    rack: u64,
    slot: u64,
    device: &'static Device,
    /// How many hosts there are altogether.
    count: u32,
}

impl Position {
    fn host(self) -> Result<Host, Box<dyn Error + Send + Sync>> {
        let mut random = random(Part::Chance, self.number(), 0);
        let description = random.choose(self.device.descriptions).map(|text| (*text).to_owned());
        let is_named = self.device.place != Place::Discovered || random.below(3) > 0;
        Ok(Host {
            id: self.id(Part::Host, 0),
            network_id: self.network_id(),
            name: self.name(),
            hostname: is_named.then(|| format!("{}.example.net", self.name())),
            description,
            hidden: false,
            created_at: self.created_at(),
            updated_at: self.created_at().plus_micros(random.below(MONTH).cast_signed() * SECOND),
            tags: Vec::new(),
            source: self.source(),
            virtualization: (self.device.place == Place::Guest).then(|| self.virtualization()),
            credential_assignments: Vec::new(),
            interfaces: self.interfaces(),
            ports: self.ports()?,
            services: self.services()?,
            if_entries: self.if_entries(),
        })
    }

    const fn number(self) -> u64 {
        self.rack * SLOTS + self.slot
    }

    const fn id(self, part: Part, place: u64) -> Uuid {
        id(part, self.number(), place)
    }

    const fn network_id(self) -> Uuid {
        id(Part::Network, self.site, 0)
    }

    fn name(self) -> String {
        format!("{}-{}-{:02}", self.device.stem, self.code, self.rack / SITES.len() as u64 + 1)
    }

    /// One after the other, so that the order of time is the order of the numbers.
    fn created_at(self) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_micros(BEGINNING + self.number().cast_signed() * 7 * SECOND)
    }

    const fn source(self) -> Source {
        match self.device.place {
            Place::Entered => Source::Manual,
            _ => Source::Discovery { metadata: Vec::new() },
        }
    }

    /// The first service of the rack's hypervisor runs all guests of the rack.
    fn virtualization(self) -> HostVirtualization {
        let hypervisor = Self { slot: HYPERVISOR_SLOT, ..self };
        HostVirtualization::Proxmox(ProxmoxVirtualization {
            vm_name: Some(self.name()),
            vm_id: Some((100 + self.slot).to_string()),
            service_id: hypervisor.id(Part::Service, 0),
        })
    }

    /// Another one in the same rack, or in the same slot of another rack of the site; `None` when it was not asked for.
    fn other(self, rack: u64, slot: u64) -> Option<Self> {
        let device = RACK.get(usize::try_from(slot).ok()?)?;
        let other = Self { rack, slot, device, ..self };
        (other.number() < u64::from(self.count)).then_some(other)
    }
}

/// What is drawn for, each by itself.
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
    /// What a host might as well be otherwise.
    Chance,
}

/// The numbers for a part: of a host, a rack or a site of this number, in this place.
const fn random(part: Part, number: u64, place: u64) -> Random {
    Random::new((part as u64) << 56 | number << 8 | place)
}

const fn id(part: Part, number: u64, place: u64) -> Uuid {
    random(part, number, place).uuid()
}
