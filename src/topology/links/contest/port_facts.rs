//! The properties of a link that the ports at its ends show.

use super::candidate::Spot;
use crate::topology::links::devices::Devices;
use crate::topology::links::vlans::{common, without};
use crate::topology::links::{LinkState, VlanRange};

/// The properties of a link that a port, or all ports of the link, show.
#[derive(Debug, Default)]
pub(super) struct PortFacts {
    pub(super) state: LinkState,
    pub(super) vlans: Option<Vec<VlanRange>>,
    pub(super) untagged_vlan: Option<u16>,
    pub(super) blocked: Option<bool>,
}

impl PortFacts {
    /// Returns the facts of a port; none for the ports of unknown devices.
    pub(super) fn of(spot: &Spot, devices: &Devices) -> Self {
        let device = spot.device.host().and_then(|host| devices.get(host));
        let port = device.zip(spot.port.as_ref()).and_then(|(device, port)| device.port(port));
        port.map_or_else(Self::default, |port| Self {
            state: port.state,
            vlans: port.vlans.as_deref().map(<[VlanRange]>::to_vec),
            untagged_vlan: port.untagged_vlan,
            blocked: port.blocked,
        })
    }

    /// Joins the facts of both ends. Frames of a VLAN that only one end sends without a tag belong to another VLAN at the other end.
    pub(super) fn of_ends(mut source: Self, mut target: Self) -> Self {
        if let (Some(one), Some(other)) = (source.untagged_vlan, target.untagged_vlan)
            && one != other
        {
            let mixed = [one.min(other), one.max(other)].map(|vlan| VlanRange { first: vlan, last: vlan });
            for facts in [&mut source, &mut target] {
                facts.vlans = facts.vlans.take().map(|vlans| without(&vlans, &mixed));
            }
        }
        source.joined(target)
    }

    /// Joins the facts of several links that are one.
    pub(super) fn joined(self, other: Self) -> Self {
        Self {
            state: self.state.max(other.state),
            vlans: match (self.vlans, other.vlans) {
                (Some(one), Some(other)) => Some(common(&one, &other)),
                (one, other) => one.or(other),
            },
            untagged_vlan: match (self.untagged_vlan, other.untagged_vlan) {
                (Some(one), Some(other)) if one != other => None,
                (one, other) => one.or(other),
            },
            blocked: self.blocked.max(other.blocked),
        }
    }

    /// Fills unknown facts of an aggregate from those of its members.
    pub(super) fn or(self, members: Self) -> Self {
        Self {
            // An aggregate may be down although its members are not.
            state: self.state.max(members.state),
            vlans: self.vlans.or(members.vlans),
            untagged_vlan: self.untagged_vlan.or(members.untagged_vlan),
            blocked: self.blocked.max(members.blocked),
        }
    }
}
