use serde::{Deserialize, Serialize};

use crate::printable::printable;

/// A kind of input that the parser could not use, counted over the whole input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Warning {
    /// The kind of fault.
    pub code: WarningCode,
    /// The number of occurrences.
    pub count: u64,
    /// The line of the first occurrence, counted from 1; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The unusable input of the first occurrence, as text of at most 161 characters; `None`: not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Maximum number of characters of an example.
const MAX_EXAMPLE: usize = 160;

impl Warning {
    /// Creates a warning; `line` is that of the first occurrence.
    #[must_use]
    pub const fn new(code: WarningCode, count: u64, line: Option<u64>) -> Self {
        Self { code, count, line, example: None }
    }

    /// Shows the first occurrence. Overlong text is cut, and control characters are escaped.
    #[must_use]
    pub fn with_example(self, example: &str) -> Self {
        Self { example: Some(printable(example, MAX_EXAMPLE)), ..self }
    }
}

/// The kind of a [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningCode {
    /// A line or element that the format does not define was skipped.
    RowMalformed,
    /// A row without its key, or without a value that it must have, was skipped.
    RowIncomplete,
    /// An entry of a neighbor table was skipped because the system prints only the beginning of its hardware address, such as
    /// `/proc/net/arp` of addresses of IP over InfiniBand. The table is not complete.
    HardwareAddressShortened,
    /// Rows beyond the limit were skipped.
    RowLimitReached,
    /// A value of the wrong type or out of range was ignored.
    ValueInvalid,
    /// The end of an overlong value was cut off.
    ValueTruncated,
    /// The input ends early, so that no table is complete.
    InputTruncated,
    /// An address that the device cannot use, because another device has it, was left out.
    AddressUnusable,
    /// A host that did not answer the scan was left out, with its addresses and ports. With `nmap -Pn`, a port has to answer.
    HostDown,
    /// A port that is not open was left out.
    PortNotOpen,
    /// An entry that a later part of the input replaces was left out.
    RowReplaced,
    /// Text beside the report, such as the messages of the program that wrote it, was not read.
    TextIgnored,
    /// A neighbor was seen on a local port of which it is not known which of the device's interfaces it is.
    LocalPortUnknown,
    /// An entry of a forwarding database is behind a bridge port that is not one of the device's interfaces.
    BridgePortUnknown,
    /// A port of a VLAN is not one of the device's interfaces.
    VlanPortUnknown,
    /// A row of a table of ports was left out, because the port is not one of the device's interfaces.
    PortWithoutInterface,
    /// The default VLAN of a port was left out: the port sends no frames of that VLAN without a tag, or the bridge lists
    /// no ports of VLANs and has VLAN 1 for all of them.
    PortVlanNotUntagged,
    /// An address that no single device has, such as a broadcast or multicast address, was left out.
    AddressShared,
    /// A neighbor was left out that the device marks as invalid, or whose MAC address it does not know; a route that does not
    /// count; or a document without the neighbors that the other documents have.
    EntryInvalid,
    /// An interface above another one was left out, because it is no link aggregation group.
    NotAnAggregate,
    /// A row that states nothing was skipped, such as one for a port without a neighbor.
    RowEmpty,
    /// A row that repeats another row was skipped.
    RowRepeated,
    /// A management address that belongs to no neighbor of the table was skipped.
    AddressUnassigned,
    /// A neighbor states no chassis id. It is kept, with the name of its port in place of the id, which identifies no
    /// device.
    ChassisIdMissing,
    /// A member or its aggregate is not one of the device's interfaces; the membership was ignored.
    AggregateUnknown,
    /// A neighbor by a protocol other than LLDP and CDP, or a port of one other than TCP and UDP, was skipped.
    ProtocolUnread,
    /// Variables of MIBs that discovery does not read. They are no rows.
    VariableUnread,
    /// A field that no report has was ignored, such as one of a later version or a misspelled one.
    FieldUnknown,
    /// Hosts that are the same device became one.
    HostsMerged,
    /// A custom field of a host was left out when the host became a part of another one, which has no room for it: a host has
    /// at most 64 of them, and 16 KiB. One occurrence for each field.
    CustomFieldLeftOut,
    /// A host that has a value of the device stays another host, because stronger values differ or are unknown.
    MergeRefused,
    /// A device may be any of several hosts, and none of them was changed.
    DeviceAmbiguous,
    /// An address was taken from a host, because a newer report has it on another one.
    AddressMoved,
    /// A device has other MAC addresses than before, and is the same by its name and address.
    MacChanged,
    /// Several hosts have one MAC address, which therefore identifies none of them.
    MacShared,
    /// A host of which only addresses are known got a MAC address from the neighbor cache of another device. One
    /// occurrence for each address.
    MacFromNeighborCache,
    /// Subnets of the devices' own addresses were not created, because the report or the network has too many.
    SubnetLimitReached,
    /// Two hosts of the network have the same IP address. One occurrence for each address.
    AddressOnTwoHosts,
    /// Two hosts of the network have the same MAC address. One occurrence for each address.
    MacOnTwoHosts,
    /// Two hosts of the network have the same name. One occurrence for each name.
    NameOnTwoHosts,
    /// A device has tables as unchanged that are not known of its host. It must be read again, with all tables.
    TableUnknown,
    /// The type of an interface is unknown, because `ip -j` ran without `-d`. The tables of interfaces and aggregates are
    /// therefore not complete, and no missing interface becomes stale. One occurrence for each interface.
    DetailsMissing,
}
