//! Changes of claims that no entry of the history shows.
//!
//! Each commit of such changes has a record, a note, until a turn of its network has compared what the commit has changed. If the
//! process ends before, the next one finds the note and compares all links of the network. A note is never written twice: a turn
//! knows the notes of the changes that it compares, and deletes no other one, unless it compares all links.
//!
//! An instance with other rules than those of the recorded links compares nothing. Of its notes, and those of the others that it
//! finds, only the common note of the network is kept. It gets another version with each of them, so that a turn that has
//! read the former version keeps it.

use std::collections::BTreeSet;

use serde::Serialize;
use uuid::Uuid;

use super::followers::FollowedKey;
use super::touched::TouchedNetworks;
use crate::inventory::schema::{PENDING_CLAIMS, RECORDED_ON, encode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Batch, Facets, Key, Link, LinkFilter, Precondition, Query, Start, Version};

/// The number of notes that are read together, and that one commit deletes.
const NOTES_TOGETHER: usize = 500;

/// The number of attempts to delete some notes, while other instances delete them.
const MAX_ATTEMPTS: usize = 16;

/// The body of a note.
#[derive(Serialize)]
struct PendingClaims {
    organization_id: OrganizationId,
}

/// Returns the key of the common note of a network. Stores of earlier versions had no others.
pub(super) const fn common_note_key(network: NetworkId) -> Key {
    Key::new(PENDING_CLAIMS, network.uuid())
}

impl TouchedNetworks {
    /// Notes changed claims in their commit, except on networks on which the commit has an entry that leads to links.
    pub(in crate::inventory::history) fn note_claims(
        &mut self,
        organization_id: OrganizationId,
        with_leads: &BTreeSet<NetworkId>,
        mut new_id: impl FnMut() -> Result<Uuid, Error>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let changed = self.networks.iter_mut().filter(|(_, touched)| touched.claims);
        for (network, touched) in changed.filter(|(network, _)| !with_leads.contains(network)) {
            let note = new_id()?;
            let key = Key::new(PENDING_CLAIMS, note);
            put_note(key, (organization_id, *network), Precondition::Absent, batch)?;
            touched.notes.insert(note);
        }
        Ok(())
    }
}

fn put_note(
    key: Key,
    (organization_id, network): FollowedKey,
    precondition: Precondition,
    batch: &mut Batch,
) -> Result<(), Error> {
    let on = Link::new(RECORDED_ON, network.uuid());
    let facets = Facets::default().with_organization(organization_id.uuid()).with_links([on]);
    batch.put(key, precondition, facets, encode(&PendingClaims { organization_id })?);
    Ok(())
}

/// Notes whose changes a turn compares.
#[derive(Debug)]
pub(super) struct TurnNotes {
    pub(super) own: BTreeSet<Uuid>,
    /// The common note of the network, if the turn compares all links.
    pub(super) common: Option<(Key, Version)>,
}

impl TurnNotes {
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.common.is_none()
    }
}

impl Inventory {
    /// Returns the notes of a network, without the common one.
    pub(super) async fn notes_of(
        &self,
        (organization, network): FollowedKey,
    ) -> Result<BTreeSet<Uuid>, Error> {
        let links = vec![LinkFilter::new(RECORDED_ON, [network.uuid()])];
        let query = Query { organization: Some(organization.uuid()), links, ..Query::new(PENDING_CLAIMS) };
        let mut query = Query { limit: Some(NOTES_TOGETHER), ..query };
        let mut notes = BTreeSet::new();
        loop {
            let page = self.store.list(&query).await?;
            let keys = page.records.into_iter().map(|record| record.key);
            notes.extend(keys.filter(|key| *key != common_note_key(network)).map(|key| key.id));
            match page.next {
                Some(next) => query.start = Start::After(next),
                None => return Ok(notes),
            }
        }
    }

    /// Deletes notes whose changes a turn has compared.
    pub(super) async fn delete_notes(&self, notes: &TurnNotes) -> Result<(), Error> {
        self.delete_own_notes(&notes.own).await?;
        if let Some((key, version)) = notes.common {
            let mut batch = Batch::new();
            batch.delete(key, Precondition::Version(version));
            // With another version, it is about further changes.
            self.commit_if_current(batch).await?;
        }
        Ok(())
    }

    /// Puts the common note of a network in place of others.
    pub(super) async fn merge_notes(&self, key: FollowedKey, notes: &BTreeSet<Uuid>) -> Result<(), Error> {
        if notes.is_empty() {
            return Ok(());
        }
        let common = common_note_key(key.1);
        for _ in 0..MAX_ATTEMPTS {
            let known = self.get(common).await?;
            let mut batch = Batch::new();
            put_note(common, key, unchanged(known.as_ref()), &mut batch)?;
            if self.commit_if_current(batch).await? {
                return self.delete_own_notes(notes).await;
            }
        }
        // The others stay until all links are compared.
        Ok(())
    }

    /// Deletes notes, of which other instances may have deleted some.
    async fn delete_own_notes(&self, notes: &BTreeSet<Uuid>) -> Result<(), Error> {
        let notes: Vec<Key> = notes.iter().map(|note| Key::new(PENDING_CLAIMS, *note)).collect();
        for keys in notes.chunks(NOTES_TOGETHER) {
            for _ in 0..MAX_ATTEMPTS {
                let mut batch = Batch::new();
                for record in self.store.get(keys).await?.into_iter().flatten() {
                    batch.delete(record.key, Precondition::Version(record.version));
                }
                if batch.writes().is_empty() || self.commit_if_current(batch).await? {
                    break;
                }
            }
        }
        Ok(())
    }
}
