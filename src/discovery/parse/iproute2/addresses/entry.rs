//! The entries of `ip -j addr` and `ip -j link`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::discovery::parse::iproute2::NonEmpty;
use crate::discovery::parse::text::mac_text;
use crate::discovery::report::IfEntryRow;
use crate::model::{AdminStatus, OperStatus};

/// The highest number of a VLAN.
const MAX_VLAN: u64 = 4094;
/// The type of Ethernet interfaces in IANA's registry.
pub(super) const ETHERNET: i64 = 6;

/// An interface.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InterfaceEntry {
    pub(super) ifindex: Option<i64>,
    pub(super) ifname: Option<String>,
    ifalias: Option<String>,
    flags: Vec<String>,
    operstate: Option<String>,
    link_type: Option<String>,
    pub(super) address: Option<String>,
    /// The interface that this one is stacked on.
    pub(super) link: Option<String>,
    /// The bridge or bond that has this interface.
    pub(super) master: Option<String>,
    linkinfo: Option<LinkInfo>,
    /// A detail that `-d` adds to every interface, also to those without `linkinfo`.
    promiscuity: Option<IgnoredAny>,
    pub(super) addr_info: Option<Vec<NonEmpty<Address>>>,
}

/// The details that `-d` adds.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LinkInfo {
    info_kind: Option<String>,
    info_slave_kind: Option<String>,
    info_data: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Address {
    family: Option<String>,
    pub(super) local: Option<String>,
    /// The address of the other end, to which the length of the prefix applies.
    #[serde(rename = "address")]
    pub(super) peer: Option<String>,
    pub(super) prefixlen: Option<u8>,
    /// Another device has the address.
    pub(super) dadfailed: bool,
}

impl Address {
    /// Returns whether the address is one of IP by its family. Those of other families, such as MCTP, are no rows.
    pub(super) fn is_of_ip(&self) -> bool {
        matches!(self.family.as_deref(), Some("inet" | "inet6"))
    }
}

impl InterfaceEntry {
    /// Returns whether the entry has a key that only interfaces have.
    ///
    /// The ports of `bridge -j link` and the groups of `ip -j maddr` have indexes and names as well.
    pub(super) const fn is_interface(&self) -> bool {
        self.operstate.is_some() || self.link_type.is_some() || self.addr_info.is_some()
    }

    /// Returns whether the entry has the details that `-d` adds.
    pub(super) const fn has_details(&self) -> bool {
        self.linkinfo.is_some() || self.promiscuity.is_some()
    }

    /// Returns whether the interface bundles others.
    pub(super) fn is_aggregate(&self) -> bool {
        matches!(self.kind(), Some("bond" | "team")) || self.has_flag("MASTER")
    }

    /// Returns whether the interface is a member of a bundle.
    pub(super) fn is_member(&self) -> bool {
        matches!(self.slave_kind(), Some("bond" | "team")) || self.has_flag("SLAVE")
    }

    /// Returns whether the table of `bridge -j vlan` has the interface: it is a bridge or the port of one.
    pub(super) fn is_of_bridge(&self) -> bool {
        self.kind() == Some("bridge") || self.slave_kind() == Some("bridge")
    }

    /// Returns the VLAN of a VLAN interface.
    pub(super) fn vlan(&self) -> Option<u16> {
        let data = self.linkinfo.as_ref()?.info_data.as_ref().filter(|_| self.kind() == Some("vlan"))?;
        let vlan = data.get("id")?.as_u64().filter(|vlan| (1..=MAX_VLAN).contains(vlan))?;
        u16::try_from(vlan).ok()
    }

    /// Returns the row of the interface without its type.
    pub(super) fn row(&self, index: i64, name: &str) -> IfEntryRow {
        let is_ethernet = self.link_type.as_deref().is_none_or(|kind| kind == "ether");
        let mac_address = self.address.as_deref().filter(|_| is_ethernet).and_then(mac_text);
        let admin_status = if self.has_flag("UP") { AdminStatus::Up } else { AdminStatus::Down };
        IfEntryRow {
            if_name: Some(name.to_owned()),
            if_alias: self.ifalias.clone(),
            mac_address: mac_address.filter(|address| !address.is_zero()),
            admin_status: Some(admin_status),
            oper_status: self.operstate.as_deref().and_then(|state| self.oper_status(state)),
            ..IfEntryRow::new(index)
        }
    }

    /// Returns the type that the kind of interface has in IANA's registry. Only `-d` prints the kind.
    pub(super) fn type_by_kind(&self) -> Option<i64> {
        match self.kind()? {
            "bond" | "team" => Some(161),
            "bridge" => Some(209),
            "vlan" => Some(135),
            "macvlan" | "macvtap" | "ipvlan" | "ipvtap" | "dummy" | "ifb" | "vrf" => Some(53),
            "gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ipip" | "ip6tnl" | "sit" | "vti"
            | "vti6" | "vxlan" | "geneve" | "wireguard" | "tun" => Some(131),
            _ => None,
        }
    }

    /// Returns the type that the link layer has in IANA's registry.
    pub(super) fn type_by_link(&self) -> Option<i64> {
        match self.link_type.as_deref()? {
            "ether" => Some(ETHERNET),
            "loopback" => Some(24),
            "ppp" => Some(23),
            "infiniband" => Some(199),
            "sit" | "ipip" | "gre" | "tunnel" | "tunnel6" | "gre6" => Some(131),
            "ieee802.11" => Some(71),
            "ieee1394" => Some(144),
            _ => None,
        }
    }

    fn oper_status(&self, state: &str) -> Option<OperStatus> {
        match state {
            "UP" => Some(OperStatus::Up),
            "DOWN" => Some(OperStatus::Down),
            "TESTING" => Some(OperStatus::Testing),
            "DORMANT" => Some(OperStatus::Dormant),
            "NOTPRESENT" => Some(OperStatus::NotPresent),
            "LOWERLAYERDOWN" => Some(OperStatus::LowerLayerDown),
            // Drivers without the state, such as that of the loopback, have the carrier only.
            "UNKNOWN" if self.has_flag("LOWER_UP") => Some(OperStatus::Up),
            "UNKNOWN" => Some(OperStatus::Unknown),
            _ => None,
        }
    }

    fn has_flag(&self, wanted: &str) -> bool {
        self.flags.iter().any(|flag| flag == wanted)
    }

    fn kind(&self) -> Option<&str> {
        self.linkinfo.as_ref()?.info_kind.as_deref()
    }

    fn slave_kind(&self) -> Option<&str> {
        self.linkinfo.as_ref()?.info_slave_kind.as_deref()
    }
}
