use std::net::IpAddr;

use crate::collect::snmp::{AskError, ObjectId, TableEnd, TruncationReason, WalkedTable};
use crate::discovery::{ParseError, Report};

/// An event of a crawl: a device that was read, or an address without a report.
#[derive(Debug)]
#[non_exhaustive]
pub enum CrawlEvent {
    /// A device was read.
    Device(Box<CrawledDevice>),
    /// An address did not answer, or its answers are no report.
    Failed(CrawlFailure),
    /// The device was read under another address.
    Repeated(IpAddr),
    /// The options skip the `sysObjectID` of the device.
    Skipped(IpAddr),
}

/// A device that was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct CrawledDevice {
    /// The address that was asked.
    pub address: IpAddr,
    /// The address that answered, if it is another one.
    pub answers_from: Option<IpAddr>,
    /// The number of neighbors between a seed and the device.
    pub depth: u32,
    /// The tables of the device.
    pub report: Report,
    /// The objects below which variables are missing, with the reasons.
    pub truncated: Vec<(ObjectId, TruncationReason)>,
}

impl CrawledDevice {
    pub(super) fn truncation(table: WalkedTable) -> Option<(ObjectId, TruncationReason)> {
        match table.end {
            TableEnd::Truncated(reason) => Some((table.root, reason)),
            _ => None,
        }
    }
}

/// An address of which there is no report.
#[derive(Debug)]
#[non_exhaustive]
pub struct CrawlFailure {
    /// The address.
    pub address: IpAddr,
    /// The reason.
    pub reason: CrawlFailureReason,
}

/// The reason why there is no report of an address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlFailureReason {
    /// The address did not answer.
    #[error(transparent)]
    NotAnswered(AskError),
    /// The tables of the device are no report.
    #[error(transparent)]
    NotReported(ParseError),
}

/// The counts of a crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrawlProgress {
    /// Addresses that were asked.
    pub asked: usize,
    /// Addresses that have answered.
    pub answered: usize,
    /// Devices that were read.
    pub devices: usize,
    /// Devices of these whose tables are unchanged.
    pub unchanged: usize,
    /// Neighbors that devices report by LLDP and CDP. A cable of which both ends report counts twice.
    pub links: usize,
    /// Addresses of which there is no report.
    pub failed: usize,
    /// Addresses that are not asked, and devices that have answered and are not read, because of the numbers in the options. Of the addresses
    /// beyond [`CrawlOptions::targets`](super::CrawlOptions::targets), no more than 65,536 are counted.
    pub left_out: usize,
}
