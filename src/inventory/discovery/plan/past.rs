//! The stored records of a host before a device is merged into it.

use std::sync::Arc;

use uuid::Uuid;

use super::DeviceMerge;
use crate::discovery::reconcile::{RecognitionNote, derived_name, name_of_host};
use crate::discovery::report::{TableKind, WarningCode};
use crate::inventory::Error;
use crate::inventory::discovery::consolidate::absorb::Replaced;
use crate::inventory::discovery::known_host::{Claims, HostRecords, KnownHost};
use crate::inventory::discovery::neighbors::follow::Naming;
use crate::inventory::discovery::records::BodyDigest;
use crate::inventory::hosts::{Before, Summary, decode as decode_host};
use crate::inventory::schema::decode;
use crate::model::{HostId, part_ids};
use crate::store::Record;

/// The records of a host, and of the hosts to be merged into it. Empty for a new host.
///
/// Unless a policy is asked, the bodies are dropped: only the versions are needed, and the decoded values take as much
/// memory.
#[derive(Debug, Default)]
pub(super) struct FormerRecords {
    has_policy: bool,
    pub(super) before: Before,
    /// The identities by which other devices may have named the hosts.
    pub(super) naming: Vec<Naming>,
    pub(super) state_record: Option<Record>,
    /// The digest of the discovery state of the host itself.
    pub(super) state_digest: Option<BodyDigest>,
    /// The kinds of the claims of the host itself, by its state.
    pub(super) kinds: Vec<TableKind>,
    /// The size of the stored host in bytes.
    pub(super) size: usize,
    /// The ids of the parts of the host itself, if new parts get random ids.
    pub(super) part_ids: Vec<Uuid>,
    pub(super) merged_hosts: Vec<HostId>,
    /// Whether the host, or one that is merged into it, is shown.
    pub(super) is_shown: bool,
    /// Whether the host is named after its fields.
    pub(super) derives_name: bool,
    /// The replacements of absorbed hosts and parts.
    pub(super) replaced: Replaced,
    /// The notes about custom fields of absorbed hosts that exceed the limits, and about unchanged tables that are not known.
    pub(super) notes: Vec<RecognitionNote>,
}

impl DeviceMerge {
    /// Decodes the stored records, apart from the claims, which must have been taken out.
    ///
    /// Also returns the host, into which the others have been merged.
    pub(super) fn open_known(&mut self) -> Result<(FormerRecords, Option<KnownHost>), Error> {
        let mut past = FormerRecords { has_policy: self.has_policy, ..FormerRecords::default() };
        let mut known = std::mem::take(&mut self.known).into_iter();
        let Some(mut host) = known.next() else { return Ok((past, None)) };
        past.size = host.record.body.len();
        past.state_digest = host.state.as_ref().map(|state| BodyDigest::of(&state.body));
        let mut opened = past.open(&mut host)?;
        past.kinds = opened.discovery.as_ref().map(|known| known.claims.clone()).unwrap_or_default();
        past.state_record = host.state;
        if self.random.is_some() {
            past.part_ids = part_ids(&opened.host);
        }
        let others = known.map(|mut other| past.open(&mut other)).collect::<Result<Vec<_>, _>>()?;
        past.is_shown = !opened.host.hidden || others.iter().any(|other| !other.host.hidden);
        past.derives_name = derived_name(&opened.host) == opened.host.name;
        for other in others {
            past.merged_hosts.push(other.host.id);
            opened.take_edits(&other);
            let name = name_of_host(&other.host);
            let (replaced, left_out) = opened.absorb(self.place, other, self.now);
            past.replaced.append(replaced);
            past.notes.extend(left_out.into_iter().map(|field| custom_field_left_out(&name, &field)));
        }
        Ok((past, Some(opened)))
    }
}

impl FormerRecords {
    /// Decodes a host and its state, and drops the body of each once it is decoded. A policy sees the host as stored.
    fn open(&mut self, stored: &mut HostRecords) -> Result<KnownHost, Error> {
        let HostRecords { record, host, state, .. } = stored;
        let discovery = state.as_ref().map(decode).transpose()?;
        state.iter_mut().for_each(|state| state.body.clear());
        let host = match host.take() {
            Some(host) => Arc::unwrap_or_clone(host),
            None => decode_host(record)?,
        };
        let opened = KnownHost { host, discovery, claims: Claims::new() };
        if !self.has_policy {
            record.body.clear();
        }
        self.before.insert(opened.host.id, (record.clone(), Summary::from(&opened.host)));
        self.naming.push(Naming::of(&opened.host));
        Ok(opened)
    }
}

fn custom_field_left_out(host: &str, field: &str) -> RecognitionNote {
    let text = format!("The host that {host} became a part of has no room for its custom field {field}");
    RecognitionNote::new(WarningCode::CustomFieldLeftOut, text)
}
