//! Rules of the host application: what a policy sees, and what becomes of its answers.

mod answers;
#[cfg(feature = "discovery")]
mod daemons;
mod time;
#[cfg(all(feature = "discovery", feature = "topology"))]
mod ways;

use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::Value;
use toposcope::inventory::{ApplicationError, ChangeKind, Policy, ProposedChange};
#[cfg(feature = "topology")]
use toposcope::model::{AddressReservation, TopologyLayout, TopologyLink};
use toposcope::model::{DaemonApiKey, Host, Network, Organization, Share, Subnet, Tag, User, UserApiKey};
#[cfg(feature = "discovery")]
use toposcope::model::{Discovery, DiscoveryDaemon};
use uuid::Uuid;

/// A change as a policy has seen it.
#[derive(Clone, Debug)]
struct Seen {
    kind: ChangeKind,
    entity: &'static str,
    id: Uuid,
    organization: Uuid,
    is_by_daemon: bool,
    is_dry_run: bool,
    /// The record as JSON; null for a creation.
    before: Value,
    /// The record as JSON; null for a deletion.
    after: Value,
}

impl Seen {
    fn of(change: &ProposedChange<'_>) -> Self {
        Self {
            kind: change.kind(),
            entity: change.entity().as_str(),
            id: change.id(),
            organization: change.organization_id().uuid(),
            is_by_daemon: change.actor().caller().is_none(),
            is_dry_run: change.is_dry_run(),
            before: json_of(change, false),
            after: json_of(change, true),
        }
    }

    /// Returns the kind of change and of record.
    fn name(&self) -> String {
        format!("{:?} {}", self.kind, self.entity)
    }
}

/// Returns the record before or after a change. Every record is of a public type.
fn json_of(change: &ProposedChange<'_>, is_after: bool) -> Value {
    macro_rules! first_of {
        ($($(#[$attribute:meta])* $record:ty),* $(,)?) => {
            $($(#[$attribute])* {
                let found = if is_after { change.after::<$record>() } else { change.before::<$record>() };
                if let Some(record) = found {
                    return serde_json::to_value(record).unwrap();
                }
            })*
        };
    }
    first_of!(
        Host,
        Network,
        Subnet,
        Tag,
        User,
        UserApiKey,
        DaemonApiKey,
        Share,
        Organization,
        #[cfg(feature = "discovery")]
        DiscoveryDaemon,
        #[cfg(feature = "discovery")]
        Discovery,
        #[cfg(feature = "topology")]
        AddressReservation,
        #[cfg(feature = "topology")]
        TopologyLink,
        #[cfg(feature = "topology")]
        TopologyLayout,
    );
    Value::Null
}

/// A policy that allows everything, and records what it sees.
#[derive(Debug, Default)]
struct Observer(Mutex<Vec<Seen>>);

impl Observer {
    /// Returns the changes seen since the previous call.
    fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[async_trait]
impl Policy for Observer {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        self.0.lock().unwrap().push(Seen::of(change));
        Ok(())
    }
}
