//! What is stored of a host before a device is merged into it.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Known, Plan};
use crate::discovery::reconcile::derived_name;
use crate::discovery::report::TableKind;
use crate::inventory::Error;
use crate::inventory::discovery::claims::ClaimedTable;
use crate::inventory::discovery::consolidate::absorb::Replaced;
use crate::inventory::discovery::neighbors::follow::Naming;
use crate::inventory::discovery::opened::{Opened, Stored};
use crate::inventory::discovery::records::HostDiscovery;
use crate::inventory::hosts::{Before, Summary};
use crate::store::Record;

/// What is stored of a host, and of the hosts that become a part of it. It is empty for a new host.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) before: Before,
    /// By what others may have named the hosts.
    pub(super) naming: Vec<Naming>,
    pub(super) state_record: Option<Record>,
    /// What discovery knew of the host itself.
    pub(super) discovery: Option<HostDiscovery>,
    /// The claims of the host itself.
    pub(super) claims: BTreeMap<TableKind, ClaimedTable>,
    pub(super) merged_hosts: Vec<Uuid>,
    /// Whether the host, or one that becomes a part of it, is shown.
    pub(super) is_shown: bool,
    /// Whether the host is named after its fields.
    pub(super) derives_name: bool,
    /// The replacements of hosts and parts that are gone.
    pub(super) replaced: Replaced,
}

impl Plan {
    /// Decodes what is stored. Also returns the host with everything of the hosts that become a part of it.
    pub(super) fn open_known(&mut self) -> Result<(Past, Option<Opened>), Error> {
        let mut past = Past::default();
        let Some(Known { host, others }) = self.known.take() else { return Ok((past, None)) };
        let mut opened = past.open(&host)?;
        past.discovery.clone_from(&opened.discovery);
        past.claims.clone_from(&opened.claims);
        past.state_record = host.state;
        let others = others.iter().map(|other| past.open(other)).collect::<Result<Vec<_>, _>>()?;
        past.is_shown = !opened.host.hidden || others.iter().any(|other| !other.host.hidden);
        past.derives_name = derived_name(&opened.host) == opened.host.name;
        for other in others {
            past.merged_hosts.push(other.host.id);
            opened.take_edits(&other);
            past.replaced.extend(opened.absorb(self.place, other, self.now));
        }
        Ok((past, Some(opened)))
    }
}

impl Past {
    fn open(&mut self, stored: &Stored) -> Result<Opened, Error> {
        let opened = stored.open()?;
        self.before.insert(opened.host.id, (stored.record.clone(), Summary::from(&opened.host)));
        self.naming.push(Naming::of(&opened.host));
        Ok(opened)
    }
}
