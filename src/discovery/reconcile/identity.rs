//! Identities: values that distinguish a device from all others of its network.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::names;
use crate::discovery::report::Device;
use crate::model::{Host, LldpChassisId, LldpChassisIdSubtype, MacAddress};
use crate::sha256::sha256;

/// The kind of an [`Identity`]. Kinds sort by rank, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum IdentityKind {
    /// The serial number of the chassis.
    SerialNumber,
    /// The chassis id of LLDP.
    ChassisId,
    /// A MAC address that its vendor assigned to one port.
    Mac,
    /// An IP address.
    IpAddress,
    /// A name, as the device or the DNS has it, in lower case.
    Name,
    /// A name up to its first dot, in lower case.
    ShortName,
}

/// A value that identifies a device within a network. It is normalized, so that equal identities compare equal.
///
/// Placeholders such as `To be filled by O.E.M.`, loopback addresses, and the MAC addresses of VRRP, HSRP, CARP and
/// GLBP are not identities.
///
/// ```
/// use toposcope::discovery::reconcile::{Identity, IdentityKind};
/// use toposcope::model::{Host, NetworkId};
///
/// let mut host = Host::new(NetworkId::from_u128(1), "core switch");
/// host.serial_number = Some("sn-0815".to_owned());
/// let mut same = Host::new(NetworkId::from_u128(1), "another name");
/// same.serial_number = Some(" SN-0815 ".to_owned());
///
/// let serial_number = Identity::of_host(&host).swap_remove(0);
/// assert_eq!(serial_number.kind(), IdentityKind::SerialNumber);
/// assert!(Identity::of_host(&same).contains(&serial_number));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    kind: IdentityKind,
    bytes: Vec<u8>,
}

impl Identity {
    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> IdentityKind {
        self.kind
    }

    /// Returns the IP address that the identity is.
    pub(super) fn address(&self) -> Option<IpAddr> {
        let bytes = Some(self.bytes.as_slice()).filter(|_| self.kind == IdentityKind::IpAddress)?;
        let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
        four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
    }

    /// Returns the bytes by which an index finds the identity.
    ///
    /// There are at most 21 bytes, the same in every version of the crate. Addresses are contained as they are, other
    /// values as the beginning of their SHA-256 digest.
    #[must_use]
    pub fn term(&self) -> Vec<u8> {
        let kind = match self.kind {
            IdentityKind::SerialNumber => 1,
            IdentityKind::ChassisId => 2,
            IdentityKind::Mac => 3,
            IdentityKind::IpAddress => 4,
            IdentityKind::Name => 5,
            IdentityKind::ShortName => 6,
        };
        let mut term = Vec::with_capacity(21);
        term.push(kind);
        match self.kind {
            IdentityKind::Mac | IdentityKind::IpAddress => term.extend_from_slice(&self.bytes),
            IdentityKind::SerialNumber
            | IdentityKind::ChassisId
            | IdentityKind::Name
            | IdentityKind::ShortName => term.extend(sha256(&self.bytes).iter().take(16)),
        }
        term
    }

    /// Describes the identity in a sentence, such as `the address 192.0.2.7`.
    pub(crate) fn described(&self) -> String {
        let text = || String::from_utf8_lossy(&self.bytes).into_owned();
        let mac = |bytes: &[u8]| MacAddress::try_from(bytes).ok().map(|address| address.to_string());
        match self.kind {
            IdentityKind::SerialNumber => format!("the serial number {}", text()),
            IdentityKind::ChassisId => {
                let by_mac = self.bytes.strip_prefix(b"mac ").and_then(mac);
                let other = || text().split_once(' ').map(|(_, id)| id.to_owned());
                format!("the chassis id {}", by_mac.or_else(other).unwrap_or_default())
            }
            IdentityKind::Mac => format!("the MAC address {}", mac(&self.bytes).unwrap_or_default()),
            IdentityKind::IpAddress => {
                format!(
                    "the address {}",
                    self.address().map(|address| address.to_string()).unwrap_or_default()
                )
            }
            IdentityKind::Name | IdentityKind::ShortName => format!("the name {}", text()),
        }
    }

    /// Returns the identities by which a host is found, the strongest first, each once.
    #[must_use]
    pub fn of_host(host: &Host) -> Vec<Self> {
        Traits::of_host(host).identities.into_iter().collect()
    }

    /// Returns the identities of a device, the strongest first, each once.
    #[must_use]
    pub fn of_device(device: &Device) -> Vec<Self> {
        Traits::of_device(device).identities.into_iter().collect()
    }

    pub(super) fn of_serial_number(text: &str) -> Option<Self> {
        let bytes = names::serial_number(text)?.into_bytes();
        Some(Self { kind: IdentityKind::SerialNumber, bytes })
    }

    pub(crate) fn of_mac(address: MacAddress) -> Option<Self> {
        let identity = || Self { kind: IdentityKind::Mac, bytes: address.octets().to_vec() };
        names::is_strong_mac(address).then(identity)
    }

    pub(crate) fn of_ip(address: IpAddr) -> Option<Self> {
        let bytes = match names::own_ip(address)? {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        Some(Self { kind: IdentityKind::IpAddress, bytes })
    }

    /// Returns the identities of a normalized name: the name itself, and its short form.
    pub(super) fn of_name(name: &str) -> impl Iterator<Item = Self> {
        let short = names::short_name(name).map(|short| (IdentityKind::ShortName, short));
        let all = [Some((IdentityKind::Name, name)), short].into_iter().flatten();
        all.map(|(kind, name)| Self { kind, bytes: name.as_bytes().to_vec() })
    }

    /// Returns the name that is equal to a short name.
    pub(super) fn to_name(&self) -> Self {
        Self { kind: IdentityKind::Name, bytes: self.bytes.clone() }
    }

    /// Returns the identity of a chassis id.
    ///
    /// The names of interfaces and components, which some agents send, are the same on many devices.
    pub(super) fn of_chassis_id(id: &LldpChassisId) -> Option<Self> {
        use LldpChassisIdSubtype::{
            ChassisComponent, InterfaceAlias, InterfaceName, LocallyAssigned, NetworkAddress, PortComponent,
        };
        let bytes = if let Some(address) = chassis_mac(id) {
            let own = Some(address).filter(|address| names::is_own_mac(*address))?;
            [b"mac ".as_slice(), own.octets()].concat()
        } else {
            match id.subtype {
                NetworkAddress => {
                    let address = names::own_ip(names::trimmed(&id.value)?.parse().ok()?)?;
                    format!("ip {address}").into_bytes()
                }
                ChassisComponent => format!("component {}", names::stated(&id.value)?).into_bytes(),
                LocallyAssigned => format!("local {}", names::stated(&id.value)?).into_bytes(),
                LldpChassisIdSubtype::MacAddress | InterfaceAlias | InterfaceName | PortComponent => {
                    return None;
                }
            }
        };
        Some(Self { kind: IdentityKind::ChassisId, bytes })
    }
}

/// Returns the MAC address that a chassis id is, whatever subtype it declares.
pub(super) fn chassis_mac(id: &LldpChassisId) -> Option<MacAddress> {
    match id.subtype {
        LldpChassisIdSubtype::MacAddress => names::mac(&id.value),
        _ => names::separated_mac(&id.value),
    }
}

/// Returns the id of a device's chassis.
///
/// If LLDP does not state it, it is the MAC address in the device id of CDP, or else the MAC address of the bridge.
pub(super) fn chassis_id_of(device: &Device) -> Option<LldpChassisId> {
    device.chassis_id.as_deref().cloned().or_else(|| {
        let by_cdp = device.cdp_device_id.as_deref().and_then(names::cdp_mac);
        let address = by_cdp.or(device.bridge_address).filter(|address| names::is_own_mac(*address))?;
        Some(LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: address.to_string() })
    })
}

/// Families of IP addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Families {
    ipv4: bool,
    ipv6: bool,
}

impl Families {
    pub(super) fn add(&mut self, address: IpAddr) {
        match address.to_canonical() {
            IpAddr::V4(_) => self.ipv4 = true,
            IpAddr::V6(_) => self.ipv6 = true,
        }
    }

    pub(super) const fn overlaps(self, other: Self) -> bool {
        (self.ipv4 && other.ipv4) || (self.ipv6 && other.ipv6)
    }
}

/// The values of a host or a device that can be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traits {
    pub(crate) identities: BTreeSet<Identity>,
    /// All MAC addresses, also those that identify nothing.
    pub(crate) macs: BTreeSet<MacAddress>,
    pub(crate) chassis_mac: Option<MacAddress>,
    /// The MAC addresses that only neighbor caches of other devices state, with the families of their IP addresses.
    ///
    /// They lead to a host, and never show that it is another one.
    pub(super) cached: BTreeMap<Identity, Families>,
    /// The families of the addresses that the device lists by interface.
    pub(super) listed: Families,
    pub(super) sys_object_id: Option<String>,
    /// The strong MAC addresses of ports and interfaces, without those that stand for the whole device.
    pub(super) port_macs: BTreeSet<MacAddress>,
    /// The short forms of `sysName`.
    pub(super) sys_names: BTreeSet<String>,
    /// The short forms of `sysName` and the DNS name, without names that are made of an address.
    pub(super) own_names: BTreeSet<String>,
    /// `sysName` and the DNS name in full.
    pub(super) full_names: BTreeSet<String>,
    /// Whether the device describes itself, as in an SNMP walk. A scan describes it from outside.
    pub(super) describes_itself: bool,
    /// The names of the ports, in lower case; those of hosts only with [`with_ports`](Self::with_ports).
    pub(super) port_names: BTreeSet<String>,
}

impl Traits {
    pub(crate) fn of_host(host: &Host) -> Self {
        let mut traits = Self::default();
        traits.identities.extend(host.serial_number.as_deref().and_then(Identity::of_serial_number));
        host.chassis_id.iter().for_each(|id| traits.add_chassis_id(id));
        for interface in &host.interfaces {
            let is_internal = interface.name.as_deref().is_some_and(names::is_internal_interface);
            traits.add_address(interface.ip_address, is_internal);
            let Some(address) = interface.mac_address else { continue };
            match (interface.mac_source, Identity::of_mac(address)) {
                (None, _) => traits.add_port_mac(address),
                (Some(_), Some(identity)) => {
                    traits.cached.entry(identity.clone()).or_default().add(interface.ip_address);
                    traits.identities.insert(identity);
                }
                (Some(_), None) => {}
            }
        }
        for address in host.if_entries.iter().filter_map(|entry| entry.mac_address) {
            traits.add_port_mac(address);
        }
        let names = [host.sys_name.as_deref(), host.hostname.as_deref(), Some(host.name.as_str())];
        for name in names.into_iter().flatten().filter_map(names::device_name) {
            traits.identities.extend(Identity::of_name(&name));
        }
        traits.add_own_names(host.sys_name.as_deref(), host.hostname.as_deref());
        traits.sys_object_id.clone_from(&host.sys_object_id);
        traits
    }

    /// Adds the names of a host's ports.
    pub(super) fn with_ports(mut self, host: &Host) -> Self {
        for entry in &host.if_entries {
            self.add_port_name(entry.if_name.as_deref().unwrap_or(&entry.if_descr));
        }
        self
    }

    pub(super) fn of_device(device: &Device) -> Self {
        let mut traits = Self::default();
        traits.identities.extend(device.serial_number.as_deref().and_then(Identity::of_serial_number));
        chassis_id_of(device).iter().for_each(|id| traits.add_chassis_id(id));
        device.bridge_address.into_iter().for_each(|address| traits.add_mac(address));
        let entries = device.tables.if_entries.iter().flat_map(|table| &table.rows);
        let mut names_by_index = BTreeMap::new();
        for row in entries {
            row.mac_address.into_iter().for_each(|address| traits.add_port_mac(address));
            if let Some(name) = row.if_name.as_deref().or(row.if_descr.as_deref()) {
                traits.add_port_name(name);
                names_by_index.insert(row.if_index, name);
            }
        }
        for row in device.tables.addresses.iter().flat_map(|table| &table.rows) {
            let name = row.if_index.and_then(|index| names_by_index.get(&index).copied());
            traits.add_address(row.ip_address, name.is_some_and(names::is_internal_interface));
            if row.if_index.is_some() && names::own_ip(row.ip_address).is_some() {
                traits.listed.add(row.ip_address);
            }
            row.mac_address.into_iter().for_each(|address| traits.add_port_mac(address));
        }
        let names = [device.sys_name.as_deref(), device.hostname.as_deref()];
        let names = names.into_iter().flatten().filter_map(names::device_name);
        for name in names.chain(device.cdp_device_id.as_deref().and_then(names::cdp_name)) {
            traits.identities.extend(Identity::of_name(&name));
        }
        traits.add_own_names(device.sys_name.as_deref(), device.hostname.as_deref());
        traits.sys_object_id.clone_from(&device.sys_object_id);
        let has_interfaces = device.tables.if_entries.as_deref().is_some_and(|table| !table.derived);
        traits.describes_itself = device.sys_name.is_some()
            && (has_interfaces || device.sys_object_id.is_some() || device.sys_descr.is_some());
        traits
    }

    pub(super) fn of_kind(&self, kind: IdentityKind) -> impl Iterator<Item = &Identity> {
        self.identities.iter().filter(move |identity| identity.kind == kind)
    }

    /// Returns the MAC addresses that can belong to one port only.
    pub(super) fn own_macs(&self) -> impl Iterator<Item = MacAddress> + '_ {
        self.macs.iter().copied().filter(|address| names::is_own_mac(*address))
    }

    pub(super) fn has_only_names(&self) -> bool {
        self.identities.iter().all(|identity| identity.kind >= IdentityKind::Name)
    }

    fn add_chassis_id(&mut self, id: &LldpChassisId) {
        self.identities.extend(Identity::of_chassis_id(id));
        self.chassis_mac = chassis_mac(id);
        self.chassis_mac.into_iter().for_each(|address| self.add_mac(address));
    }

    fn add_mac(&mut self, address: MacAddress) {
        self.macs.insert(address);
        self.identities.extend(Identity::of_mac(address));
    }

    /// Adds the MAC address of one port.
    fn add_port_mac(&mut self, address: MacAddress) {
        self.add_mac(address);
        if names::is_strong_mac(address) {
            self.port_macs.insert(address);
        }
    }

    fn add_own_names(&mut self, sys_name: Option<&str>, hostname: Option<&str>) {
        let sys_name = sys_name.and_then(names::device_name);
        let hostname = hostname.and_then(names::device_name);
        for name in sys_name.iter().chain(&hostname) {
            self.full_names.insert(name.clone());
            let short = names::short_name(name).filter(|_| !names::is_made_of_address(name));
            self.own_names.extend(short.map(str::to_owned));
        }
        let sys_name = sys_name.as_deref().and_then(names::short_name);
        self.sys_names.extend(sys_name.map(str::to_owned));
    }

    fn add_address(&mut self, address: IpAddr, is_internal: bool) {
        if !is_internal {
            self.identities.extend(Identity::of_ip(address));
        }
    }

    fn add_port_name(&mut self, name: &str) {
        self.port_names.extend(names::trimmed(name).map(str::to_lowercase));
    }
}
