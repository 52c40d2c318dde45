//! Reports of scanners, SNMP walks and daemons as input for the inventory.
//!
//! [`parse`](fn@parse) turns the output of a tool into a [`Report`]: the devices it describes, and for each device *tables* of
//! *claims*, such as its interfaces, its neighbors or its forwarding database. Each row of a table is a claim. Parsing performs no I/O of its own and
//! knows no store. [`reconcile`] recognizes the devices among hosts and merges them. Nothing here contacts the network.
//!
//! | [`Format`] | Input |
//! |---|---|
//! | [`Format::Nmap`] | XML of nmap (`-oX`), and of masscan |
//! | [`Format::Lldpctl`] | `lldpctl -f json` and `-f json0` |
//! | [`Format::Snmpwalk`] | output of net-snmp's `snmpwalk`, numeric or symbolic, of one device |
//! | [`Format::Snmprec`] | a recording of snmpsim, of one device |
//! | [`Format::Arp`] | `ip -j neigh`, `ip neigh`, `arp -an`, `ndp -an`, and the ARP and IPv6 neighbor tables of switches and routers in text, JSON and CSV |
//! | [`Format::IpAddr`] | `ip -j -d addr` and `ip -j -d link` |
//! | [`Format::IpRoute`] | `ip -j route` and `ip -j -6 route` |
//! | [`Format::BridgeFdb`] | `bridge -j fdb` |
//! | [`Format::BridgeVlan`] | `bridge -j vlan` |
//! | [`Format::Report`] | a [`Report`] as JSON |
//! | [`Format::Auto`] | any of these, recognized by the content |
//!
//! All of them are read in UTF-8 and in UTF-16.
//!
//! The MIBs that walks are searched for are SNMPv2-MIB (the system group), IF-MIB, IP-MIB, IP-FORWARD-MIB, IPV6-MIB,
//! BRIDGE-MIB, Q-BRIDGE-MIB, LLDP-MIB, LLDP-V2-MIB, TIMETRA-LLDP-MIB, CISCO-CDP-MIB, IEEE8023-LAG-MIB and ENTITY-MIB.

pub(crate) mod claim;
mod parse;
pub mod reconcile;
pub mod report;

pub use claim::{Claim, ClaimRows, MissingRows, SeenPart};
pub use parse::{Format, FormatError, ParseError, ParseErrorKind, ParseOptions, ReporterId, parse};
#[cfg(feature = "collect")]
pub(crate) use parse::{VariableReader, VariableValue};
pub use report::Report;
