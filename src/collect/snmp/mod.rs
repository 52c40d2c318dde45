//! SNMP: an address and secrets become an agent, of which tables are read.
//!
//! Versions 1, 2c and 3 (USM) are spoken. Answers are taken from the address that was asked alone, with the random id of the
//! request; answers that arrive after a request was given up are dropped. A request is sent at most five times, with growing timeouts.

mod agent;
mod budget;
mod bulk;
mod clock;
mod empty_tables;
mod error;
mod get;
mod message;
mod pool;
mod read_ahead;
mod secret_search;
mod system;
mod usm;
mod value;
mod walk;
mod walked_table;

pub use agent::SnmpAgent;
pub use budget::{WalkBudget, WalkLimits};
pub(super) use clock::AgentClock;
pub use error::{AskError, SnmpRefusal};
pub(super) use message::message_id;
pub(super) use pool::WalkPool;
pub(super) use read_ahead::ReadAhead;
pub(super) use secret_search::MAX_SECRETS;
pub use system::SystemIdentity;
pub use value::{ObjectId, SnmpValue, Variable};
pub use walked_table::{TableEnd, TruncationReason, WalkedTable};
