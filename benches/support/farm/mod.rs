//! A farm of SNMP agents: networks whose cables are known, to test collectors with.
//!
//! | Module | Holds |
//! |---|---|
//! | [`network`], [`device`] | named networks: devices and cables, and the variables that the agents of the devices have |
//! | [`agent`], [`fault`], [`usm`] | one agent: its variables, its credentials, and its faults |
//! | [`faulty`] | networks in which devices have named faults |
//! | [`agents`], [`line`] | all agents by address, and what happens to packets on their way |
//! | [`collected`] | an inventory of reports, and the cables that it shows |
//! | [`reader`] | the user by whom networks are read over SNMPv3 |
//! | [`counters`] | the packets of each second: to each address, each /24 and in all, and those to addresses without an agent |
//! | [`memory`] | the farm as a transport in virtual time, without a socket |
//! | [`socket`] | the farm on one UDP socket for all addresses of 127.0.0.0/8 |

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a farm serves tests, and its networks are its own"
)]

pub(crate) mod agent;
pub(crate) mod agents;
#[cfg(all(feature = "service", feature = "topology"))]
pub(crate) mod collected;
pub(crate) mod counters;
pub(crate) mod device;
mod fault;
pub(crate) mod faulty;
pub(crate) mod line;
mod memory;
pub(crate) mod named_faults;
pub(crate) mod network;
mod pdu;
#[cfg(all(feature = "service", feature = "topology"))]
mod reader;
#[cfg(target_os = "linux")]
pub(crate) mod socket;
mod usm;

use std::collections::BTreeMap;

use toposcope::collect::snmp::SnmpValue;

pub(crate) use agent::Agent;
pub(crate) use fault::{Fault, UNDECODABLE};
pub(crate) use memory::Farm;
#[cfg(all(feature = "service", feature = "topology"))]
pub(crate) use reader::reader;
pub(crate) use usm::{FarmEngine, FarmUser};

/// The variables of an agent.
pub(crate) type Variables = BTreeMap<Vec<u32>, SnmpValue>;
