//! The faults of agents.

use std::net::IpAddr;
use std::time::Duration;

use async_snmp::Version;

use super::Variables;

/// The content of a value that [`Fault::SendsUndecodable`] sends with the type of an address, which has another length.
pub(crate) const UNDECODABLE: &[u8] = b"not four octets";

/// A fault of an agent, or a difference from most.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It ignores GETBULK.
    IgnoresBulk,
    /// It answers GETBULK with `genErr`.
    RefusesBulk,
    /// It answers GETBULK with nothing.
    AnswersBulkWithNothing,
    /// It answers `tooBig` above this number of variables.
    TooBigAbove(u32),
    /// It drops each packet whose number is a multiple of this one.
    DropsEvery(u64),
    /// From the packet of the first number on, it drops as many as the second number.
    DropsFrom(u64, u64),
    /// It takes this time to answer.
    Takes(Duration),
    /// It answers `genErr` below this object.
    FailsBelow(&'static [u32]),
    /// It sends values of the type `Opaque` with [`UNDECODABLE`] as values that cannot be decoded.
    SendsUndecodable,
    /// It does not answer below this object.
    SilentBelow(&'static [u32]),
    /// It answers for objects themselves, and not for those behind them.
    AnswersGetAlone,
    /// Behind this object, it repeats the object for ever.
    RepeatsAt(Vec<u32>),
    /// Behind the last object below the first one, it goes back to it.
    Circles(&'static [u32]),
    /// Behind the last object below this one, it goes back to its first object.
    GoesBackBehind(&'static [u32]),
    /// Behind the last object below this one, it states that its view ends.
    EndsViewBehind(&'static [u32]),
    /// It has the objects below this one in the reversed order.
    Unsorted(&'static [u32]),
    /// It sends each answer twice.
    Duplicates,
    /// It sends an answer with another id before each answer.
    WrongIds,
    /// It answers with another community.
    AnswersWithCommunity(&'static [u8]),
    /// It answers from another address.
    AnswersFrom(IpAddr),
    /// It answers nothing after this number of packets.
    DiesAfter(u64),
    /// It answers nothing for eight seconds after this number of packets, and has started again then.
    RebootsAfter(u64),
    /// It has these variables after this number of packets.
    BecomesAfter(u64, Variables),
    /// It takes this time for each packet whose number is a multiple of this one.
    TakesForEvery(u64, Duration),
    /// It answers requests of this version with an error of this number.
    Denies(Version, i32),
    /// It answers `genErr` behind its last object.
    FailsAtEnd,
    /// Its `sysUpTime` is another one with each packet.
    UpTimeJumps,
    /// The time of its engine jumps after each packet whose number is a multiple of this one.
    EngineTimeJumps(u64),
    /// Its engine has another id after this number of packets.
    EngineChangesAfter(u64),
}
