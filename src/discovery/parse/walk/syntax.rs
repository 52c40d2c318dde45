//! Values that net-snmp was told to print without their type (`-OQ`, `-Oq`): the syntax follows from the object.

use std::borrow::Cow;

use super::super::mib::VariableValue;
use super::oid::{Resolution, resolve};

type Names = &'static [(&'static str, i64)];

const STATUS: Names = &[
    ("up", 1),
    ("down", 2),
    ("testing", 3),
    ("unknown", 4),
    ("dormant", 5),
    ("notPresent", 6),
    ("lowerLayerDown", 7),
];
/// The types of interfaces that discovery distinguishes, and other common ones, of IANAifType-MIB.
#[rustfmt::skip]
const IF_TYPE: Names = &[
    ("other", 1), ("regular1822", 2), ("ddnX25", 4), ("rfc877x25", 5), ("ethernetCsmacd", 6), ("iso88023Csmacd", 7),
    ("iso88024TokenBus", 8), ("iso88025TokenRing", 9), ("starLan", 11), ("fddi", 15), ("lapb", 16), ("sdlc", 17),
    ("ds1", 18), ("e1", 19), ("basicISDN", 20), ("primaryISDN", 21), ("propPointToPointSerial", 22), ("ppp", 23),
    ("softwareLoopback", 24), ("ethernet3Mbit", 26), ("slip", 28), ("ds3", 30), ("sip", 31), ("frameRelay", 32),
    ("rs232", 33), ("para", 34), ("atm", 37), ("sonet", 39), ("frameRelayService", 44), ("v35", 45), ("hssi", 46),
    ("modem", 48), ("aal5", 49), ("sonetPath", 50), ("propVirtual", 53), ("propMultiplexor", 54),
    ("fibreChannel", 56), ("fastEther", 62), ("isdn", 63), ("fastEtherFX", 69), ("channel", 70), ("ieee80211", 71),
    ("isdns", 75), ("isdnu", 76), ("lapd", 77), ("atmLogical", 80), ("ds0", 81), ("ds0Bundle", 82), ("async", 84),
    ("adsl", 94), ("radsl", 95), ("sdsl", 96), ("vdsl", 97), ("voiceEM", 100), ("voiceFXO", 101), ("voiceFXS", 102),
    ("voiceEncap", 103), ("voiceOverIp", 104), ("pppMultilinkBundle", 108), ("virtualIpAddress", 112),
    ("gigabitEthernet", 117), ("hdlc", 118), ("ip", 126), ("docsCableMaclayer", 127), ("docsCableDownstream", 128),
    ("docsCableUpstream", 129), ("tunnel", 131), ("atmSubInterface", 134), ("l2vlan", 135), ("l3ipvlan", 136),
    ("l3ipxvlan", 137), ("ieee1394", 144), ("mplsTunnel", 150), ("usb", 160), ("ieee8023adLag", 161), ("mpls", 166),
    ("shdsl", 169), ("infiniband", 199), ("bridge", 209),
];
const CHASSIS_ID: Names = &[
    ("chassisComponent", 1),
    ("interfaceAlias", 2),
    ("portComponent", 3),
    ("macAddress", 4),
    ("networkAddress", 5),
    ("interfaceName", 6),
    ("local", 7),
];
const PORT_ID: Names = &[
    ("interfaceAlias", 1),
    ("portComponent", 2),
    ("macAddress", 3),
    ("networkAddress", 4),
    ("interfaceName", 5),
    ("agentCircuitId", 6),
    ("local", 7),
];
const FDB_STATUS: Names = &[("other", 1), ("invalid", 2), ("learned", 3), ("self", 4), ("mgmt", 5)];
const STP_STATE: Names =
    &[("disabled", 1), ("blocking", 2), ("listening", 3), ("learning", 4), ("forwarding", 5), ("broken", 6)];
const NEIGHBOR_TYPE: Names = &[("other", 1), ("invalid", 2), ("dynamic", 3), ("static", 4), ("local", 5)];
const NEIGHBOR_STATE: Names = &[
    ("reachable", 1),
    ("stale", 2),
    ("delay", 3),
    ("probe", 4),
    ("invalid", 5),
    ("unknown", 6),
    ("incomplete", 7),
];
const ADDRESS_TYPE: Names = &[("unicast", 1), ("anycast", 2), ("broadcast", 3)];
const PHYSICAL_CLASS: Names = &[
    ("other", 1),
    ("unknown", 2),
    ("chassis", 3),
    ("backplane", 4),
    ("container", 5),
    ("powerSupply", 6),
    ("fan", 7),
    ("sensor", 8),
    ("module", 9),
    ("port", 10),
    ("stack", 11),
    ("cpu", 12),
];
const ROUTE_TYPE: Names = &[("other", 1), ("invalid", 2), ("direct", 3), ("indirect", 4)];
const NEW_ROUTE_TYPE: Names = &[("other", 1), ("reject", 2), ("local", 3), ("remote", 4), ("blackhole", 5)];
const ROW_STATUS: Names = &[("active", 1), ("notInService", 2), ("notReady", 3)];

/// Converts a value by the syntax of its object. Returns `None` if the object has none that text does not show.
pub(super) fn convert(oid: &[u64], text: &[u8]) -> Option<VariableValue<'static>> {
    match oid {
        [1, 3, 6, 1, 2, 1, 1, 2, 0] | [1, 3, 6, 1, 2, 1, 4, 34, 1, 5, ..] => {
            let mut arcs = Vec::new();
            let is_whole = resolve(text, &mut arcs) == Resolution::Complete;
            is_whole.then_some(VariableValue::Oid(Cow::Owned(arcs)))
        }
        [1, 3, 6, 1, 2, 1, 3, 1, 1, 3, ..]
        | [1, 3, 6, 1, 2, 1, 4, 20, 1, 1 | 3, ..]
        | [1, 3, 6, 1, 2, 1, 4, 21, 1, 7 | 11, ..]
        | [1, 3, 6, 1, 2, 1, 4, 22, 1, 3, ..] => {
            let address: std::net::Ipv4Addr = str::from_utf8(text).ok()?.parse().ok()?;
            Some(VariableValue::Bytes(Cow::Owned(address.octets().to_vec())))
        }
        _ => {
            let text = str::from_utf8(text).ok()?;
            names(oid)?
                .iter()
                .find(|(name, _)| is_name(text, name))
                .map(|(_, number)| VariableValue::Integer(*number))
        }
    }
}

/// Returns whether text is a name, also with the hyphens of RFC1213-MIB: `ethernet-csmacd`.
fn is_name(text: &str, name: &str) -> bool {
    let letters = text.bytes().filter(|byte| *byte != b'-').map(|byte| byte.to_ascii_lowercase());
    text == name || (text.contains('-') && letters.eq(name.bytes().map(|byte| byte.to_ascii_lowercase())))
}

/// Returns the names of the numbers that an object has.
fn names(oid: &[u64]) -> Option<Names> {
    match oid {
        [1, 3, 6, 1, 2, 1, 2, 2, 1, 7 | 8, _] => Some(STATUS),
        [1, 3, 6, 1, 2, 1, 2, 2, 1, 3, _] => Some(IF_TYPE),
        [1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3, ..] => Some(ROW_STATUS),
        [1, 3, 6, 1, 2, 1, 4, 22, 1, 4, ..] | [1, 3, 6, 1, 2, 1, 4, 35, 1, 6, ..] => Some(NEIGHBOR_TYPE),
        [1, 3, 6, 1, 2, 1, 4, 35, 1, 7, ..] => Some(NEIGHBOR_STATE),
        [1, 3, 6, 1, 2, 1, 4, 34, 1, 4, ..] => Some(ADDRESS_TYPE),
        [1, 3, 6, 1, 2, 1, 4, 21, 1, 8, ..] => Some(ROUTE_TYPE),
        [1, 3, 6, 1, 2, 1, 4, 24, 4, 1, 6, ..] | [1, 3, 6, 1, 2, 1, 4, 24, 7, 1, 8, ..] => {
            Some(NEW_ROUTE_TYPE)
        }
        [1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 3, ..] | [1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2, 1, 3, ..] => {
            Some(FDB_STATUS)
        }
        [1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 3, _] => Some(STP_STATE),
        [1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 5, _] => Some(PHYSICAL_CLASS),
        [1, 0, 8802, 1, 1, 2, 1, 3, 1, 0]
        | [1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 1, 0]
        | [1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 4, ..]
        | [1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 5, ..]
        | [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 4, ..] => Some(CHASSIS_ID),
        [1, 0, 8802, 1, 1, 2, 1, 3, 7, 1, 2, _]
        | [1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 7, 1, 2, _]
        | [1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 6, ..]
        | [1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 7, ..]
        | [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 6, ..] => Some(PORT_ID),
        _ => None,
    }
}

/// Returns whether the text of an object may have several lines. Names, ids and descriptions of ports have one.
pub(super) fn may_have_lines(oid: &[u64]) -> bool {
    matches!(
        oid,
        // sysDescr, sysContact, sysLocation and sysORDescr
        [1, 3, 6, 1, 2, 1, 1, 1 | 4 | 6, 0]
            | [1, 3, 6, 1, 2, 1, 1, 9, 1, 3, _]
            // entPhysicalDescr, and the revisions of hardware, firmware and software
            | [1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 2 | 8..=10, _]
            // lldpLocSysDesc and lldpRemSysDesc
            | [1, 0, 8802, 1, 1, 2, 1, 3, 4, 0]
            | [1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 10, ..]
            | [1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 4, 0]
            | [1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 11, ..]
            | [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 10, ..]
            // cdpCacheVersion
            | [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 5, ..]
    )
}
