//! Names of the objects that discovery reads, as net-snmp prints them.

/// The meaning of a name in an object identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// An object.
    Object(&'static [u64]),
    /// A named number within an index.
    Value(u64),
}

/// Looks a name up.
pub(super) fn resolve(name: &[u8]) -> Option<Symbol> {
    let value = match name {
        b"ipv4" | b"ipV4" => 1,
        b"ipv6" | b"ipV6" => 2,
        b"ipv4z" => 3,
        b"ipv6z" => 4,
        _ => {
            let index = OBJECTS.binary_search_by(|(other, _)| other.as_bytes().cmp(name)).ok()?;
            return OBJECTS.get(index).map(|(_, oid)| Symbol::Object(oid));
        }
    };
    Some(Symbol::Value(value))
}

/// Objects and roots, sorted by name. Below a root, net-snmp prints the objects that it has no MIB for.
const OBJECTS: &[(&str, &[u64])] = &[
    ("ccitt", &[0]),
    ("cdpCacheAddress", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 4]),
    ("cdpCacheDeviceId", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 6]),
    ("cdpCacheDevicePort", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 7]),
    ("cdpCacheNativeVLAN", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 11]),
    ("cdpCachePlatform", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 8]),
    ("cdpCacheVersion", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 5]),
    ("cdpGlobalDeviceId", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 3, 4]),
    ("cdpInterfaceName", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 1, 1, 1, 6]),
    ("dod", &[1, 3, 6]),
    ("dot1dBaseBridgeAddress", &[1, 3, 6, 1, 2, 1, 17, 1, 1]),
    ("dot1dBasePortIfIndex", &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2]),
    ("dot1dStpPortDesignatedBridge", &[1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 8]),
    ("dot1dStpPortDesignatedPort", &[1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 9]),
    ("dot1dStpPortDesignatedRoot", &[1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 6]),
    ("dot1dStpPortPathCost", &[1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 5]),
    ("dot1dStpPortState", &[1, 3, 6, 1, 2, 1, 17, 2, 15, 1, 3]),
    ("dot1dTpFdbAddress", &[1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 1]),
    ("dot1dTpFdbPort", &[1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 2]),
    ("dot1dTpFdbStatus", &[1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 3]),
    ("dot1qPvid", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 5, 1, 1]),
    ("dot1qTpFdbPort", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2, 1, 2]),
    ("dot1qTpFdbStatus", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2, 1, 3]),
    ("dot1qVlanCurrentEgressPorts", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 4]),
    ("dot1qVlanCurrentUntaggedPorts", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 5]),
    ("dot1qVlanFdbId", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 3]),
    ("dot1qVlanStaticEgressPorts", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2]),
    ("dot1qVlanStaticUntaggedPorts", &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 4]),
    ("dot3adAggPortAttachedAggID", &[1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13]),
    ("dot3adAggPortSelectedAggID", &[1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 12]),
    ("entPhysicalClass", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 5]),
    ("entPhysicalContainedIn", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 4]),
    ("entPhysicalDescr", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 2]),
    ("entPhysicalMfgName", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 12]),
    ("entPhysicalModelName", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 13]),
    ("entPhysicalSerialNum", &[1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 11]),
    ("enterprises", &[1, 3, 6, 1, 4, 1]),
    ("experimental", &[1, 3, 6, 1, 3]),
    ("ifAdminStatus", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 7]),
    ("ifAlias", &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 18]),
    ("ifDescr", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 2]),
    ("ifHighSpeed", &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 15]),
    ("ifIndex", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 1]),
    ("ifName", &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1]),
    ("ifOperStatus", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 8]),
    ("ifPhysAddress", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 6]),
    ("ifSpeed", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 5]),
    ("ifStackStatus", &[1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3]),
    ("ifType", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 3]),
    ("internet", &[1, 3, 6, 1]),
    ("ipAdEntAddr", &[1, 3, 6, 1, 2, 1, 4, 20, 1, 1]),
    ("ipAdEntIfIndex", &[1, 3, 6, 1, 2, 1, 4, 20, 1, 2]),
    ("ipAdEntNetMask", &[1, 3, 6, 1, 2, 1, 4, 20, 1, 3]),
    ("ipAddressIfIndex", &[1, 3, 6, 1, 2, 1, 4, 34, 1, 3]),
    ("ipAddressPrefix", &[1, 3, 6, 1, 2, 1, 4, 34, 1, 5]),
    ("ipAddressPrefixOrigin", &[1, 3, 6, 1, 2, 1, 4, 32, 1, 5]),
    ("ipAddressType", &[1, 3, 6, 1, 2, 1, 4, 34, 1, 4]),
    ("ipNetToMediaIfIndex", &[1, 3, 6, 1, 2, 1, 4, 22, 1, 1]),
    ("ipNetToMediaNetAddress", &[1, 3, 6, 1, 2, 1, 4, 22, 1, 3]),
    ("ipNetToMediaPhysAddress", &[1, 3, 6, 1, 2, 1, 4, 22, 1, 2]),
    ("ipNetToMediaType", &[1, 3, 6, 1, 2, 1, 4, 22, 1, 4]),
    ("ipNetToPhysicalPhysAddress", &[1, 3, 6, 1, 2, 1, 4, 35, 1, 4]),
    ("ipNetToPhysicalState", &[1, 3, 6, 1, 2, 1, 4, 35, 1, 7]),
    ("ipNetToPhysicalType", &[1, 3, 6, 1, 2, 1, 4, 35, 1, 6]),
    ("ipv6AddrAnycastFlag", &[1, 3, 6, 1, 2, 1, 55, 1, 8, 1, 4]),
    ("ipv6AddrPfxLength", &[1, 3, 6, 1, 2, 1, 55, 1, 8, 1, 2]),
    ("ipv6AddrType", &[1, 3, 6, 1, 2, 1, 55, 1, 8, 1, 3]),
    ("ipv6IfNetToMediaState", &[1, 3, 6, 1, 2, 1, 55, 1, 12, 1, 4]),
    ("ipv6NetToMediaPhysAddress", &[1, 3, 6, 1, 2, 1, 55, 1, 12, 1, 2]),
    ("ipv6NetToMediaType", &[1, 3, 6, 1, 2, 1, 55, 1, 12, 1, 3]),
    ("ipv6NetToMediaValid", &[1, 3, 6, 1, 2, 1, 55, 1, 12, 1, 6]),
    ("iso", &[1]),
    ("lldpLocChassisId", &[1, 0, 8802, 1, 1, 2, 1, 3, 2]),
    ("lldpLocChassisIdSubtype", &[1, 0, 8802, 1, 1, 2, 1, 3, 1]),
    ("lldpLocPortDesc", &[1, 0, 8802, 1, 1, 2, 1, 3, 7, 1, 4]),
    ("lldpLocPortId", &[1, 0, 8802, 1, 1, 2, 1, 3, 7, 1, 3]),
    ("lldpLocPortIdSubtype", &[1, 0, 8802, 1, 1, 2, 1, 3, 7, 1, 2]),
    ("lldpLocSysCapEnabled", &[1, 0, 8802, 1, 1, 2, 1, 3, 6]),
    ("lldpLocSysDesc", &[1, 0, 8802, 1, 1, 2, 1, 3, 4]),
    ("lldpLocSysName", &[1, 0, 8802, 1, 1, 2, 1, 3, 3]),
    ("lldpRemChassisId", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 5]),
    ("lldpRemChassisIdSubtype", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 4]),
    ("lldpRemManAddrIfId", &[1, 0, 8802, 1, 1, 2, 1, 4, 2, 1, 4]),
    ("lldpRemManAddrIfSubtype", &[1, 0, 8802, 1, 1, 2, 1, 4, 2, 1, 3]),
    ("lldpRemManAddrOID", &[1, 0, 8802, 1, 1, 2, 1, 4, 2, 1, 5]),
    ("lldpRemPortDesc", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 8]),
    ("lldpRemPortId", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 7]),
    ("lldpRemPortIdSubtype", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 6]),
    ("lldpRemSysCapEnabled", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 12]),
    ("lldpRemSysCapSupported", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 11]),
    ("lldpRemSysDesc", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 10]),
    ("lldpRemSysName", &[1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 9]),
    ("lldpV2LocChassisId", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 2]),
    ("lldpV2LocChassisIdSubtype", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 1]),
    ("lldpV2LocPortDesc", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 7, 1, 4]),
    ("lldpV2LocPortId", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 7, 1, 3]),
    ("lldpV2LocPortIdSubtype", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 7, 1, 2]),
    ("lldpV2LocSysCapEnabled", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 6]),
    ("lldpV2LocSysDesc", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 4]),
    ("lldpV2LocSysName", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 3, 3]),
    ("lldpV2RemChassisId", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 6]),
    ("lldpV2RemChassisIdSubtype", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 5]),
    ("lldpV2RemPortDesc", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 9]),
    ("lldpV2RemPortId", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 8]),
    ("lldpV2RemPortIdSubtype", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 7]),
    ("lldpV2RemSysCapEnabled", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 13]),
    ("lldpV2RemSysCapSupported", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 12]),
    ("lldpV2RemSysDesc", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 11]),
    ("lldpV2RemSysName", &[1, 3, 111, 2, 802, 1, 1, 13, 1, 4, 1, 1, 10]),
    ("mgmt", &[1, 3, 6, 1, 2]),
    ("mib-2", &[1, 3, 6, 1, 2, 1]),
    ("org", &[1, 3]),
    ("private", &[1, 3, 6, 1, 4]),
    ("snmpV2", &[1, 3, 6, 1, 6]),
    ("sysContact", &[1, 3, 6, 1, 2, 1, 1, 4]),
    ("sysDescr", &[1, 3, 6, 1, 2, 1, 1, 1]),
    ("sysLocation", &[1, 3, 6, 1, 2, 1, 1, 6]),
    ("sysName", &[1, 3, 6, 1, 2, 1, 1, 5]),
    ("sysObjectID", &[1, 3, 6, 1, 2, 1, 1, 2]),
    ("tmnxLldpRemChassisId", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 5]),
    ("tmnxLldpRemChassisIdSubtype", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 4]),
    ("tmnxLldpRemPortDesc", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 8]),
    ("tmnxLldpRemPortId", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 7]),
    ("tmnxLldpRemPortIdSubtype", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 6]),
    ("tmnxLldpRemSysCapEnabled", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 12]),
    ("tmnxLldpRemSysCapSupported", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 11]),
    ("tmnxLldpRemSysDesc", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 10]),
    ("tmnxLldpRemSysName", &[1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, 1, 1, 9]),
    ("transmission", &[1, 3, 6, 1, 2, 1, 10]),
    ("zeroDotZero", &[0, 0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_sorted_by_name() {
        assert!(OBJECTS.is_sorted_by(|(before, _), (after, _)| before < after));
    }
}
