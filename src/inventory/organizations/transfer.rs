//! Export of one organization, and its restoration.
//!
//! ```text
//! nothing -> marker; all records but the organization, some at a time; marker -> organization
//! ```
//!
//! Nothing of a restoration is visible before its last commit: an organization that does not exist has no callers, and
//! no batch with a record of it is accepted. The marker is the tombstone of a [deletion](super::deletion), so that the
//! id is taken meanwhile, and deletions remove the records of an interrupted restoration. Each commit requires the
//! marker of this very restoration, and renews its time. A marker that has not been renewed for an hour is given up.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use uuid::Uuid;

use super::Organizations;
use crate::inventory::history::{Author, RestoredHistory};
use crate::inventory::records::user_facets;
use crate::inventory::schema::{
    APPLICATION_KIND, CREATED_AT, IDEMPOTENCY_KEY, KINDS_OF_ORGANIZATION, ORGANIZATION, SESSION, USER,
    encode, organization_deletion_key, organization_key, time_sort_key,
};
use crate::inventory::{Error, ErrorKind, Inventory, unchanged};
use crate::model::{Organization, OrganizationId, Timestamp, User};
use crate::store::{
    Batch, Entry, Export, ExportReader, ExportedRecord, Facets, Guard, Name, Precondition, Record, Restore,
    StoreErrorKind, TransferError, TransferErrorKind, TransferReport,
};

/// The time after which a restoration that makes no progress is given up, in microseconds.
const RESTORATION_TIMEOUT_MICROS: i64 = 60 * 60 * 1_000_000;

/// The body of the marker of a restoration.
#[derive(Serialize, Deserialize)]
struct Marker {
    restoration: Uuid,
    renewed_at: Timestamp,
}

/// The body of a marker that has been given up.
#[derive(Serialize)]
struct GivenUp {}

impl Organizations<'_> {
    /// Exports an organization with everything that belongs to it, and nothing else, for [`restore`](Self::restore).
    ///
    /// The [format](Export) is that of a whole store, and so are its secrets: protect an export like a secret. It reflects one state
    /// of the organization. It reads the whole store, so that it takes as long as an export of the whole store.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::store::{Export, Restore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let mut file = Vec::new();
    /// inventory.organizations().export(organization.id, Export::new(), &mut file).await?;
    ///
    /// let other = Inventory::new(MemoryStore::new());
    /// let restored = other.organizations().restore(Restore::new(), &file[..]).await?;
    /// assert_eq!(restored, organization);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NoOrganization`](TransferErrorKind::NoOrganization), and the errors of [`Export::write`].
    pub async fn export<W>(
        self,
        id: OrganizationId,
        export: Export<'_>,
        writer: W,
    ) -> Result<TransferReport, TransferError>
    where
        W: AsyncWrite + Unpin + Send,
    {
        let inventory = self.inventory;
        if let Err(error) = inventory.organization(id).await {
            return Err(if error.is_of_missing_organization() { no_organization() } else { failed(error) });
        }
        let form = inventory.form_of_facets().await.map_err(failed)?;
        let mut is_found = false;
        let is_of_organization = |entry: &Entry| {
            is_found |= entry.record.key == organization_key(id);
            entry.facets.organization == Some(id.uuid())
        };
        let header = (id.uuid(), form);
        let report = export.write_some(&*inventory.store, Some(header), is_of_organization, writer).await?;
        // It was deleted just before the export began, and its remaining records cannot be restored.
        if is_found { Ok(report) } else { Err(no_organization()) }
    }

    /// Restores an organization from its [`export`](Self::export), into a store that has others.
    ///
    /// Its id and those of its records must be free, and so must be the e-mail addresses of its users, unless addresses are
    /// [shared](Inventory::with_shared_emails). API keys and passwords are valid as they were at the export, also keys that were deleted
    /// since; users must log in again. The version of this crate, the indexes of custom fields and the
    /// names of ports (`with_port_names`) must be those of the exporting inventory.
    ///
    /// The organization appears at the end, complete: before, its records are in the store, but no caller reaches them.
    /// They are deleted when the restoration fails, and if the process stops, about two hours later or by
    /// [`delete`](Self::delete). Until then the id is taken. It takes as much memory as [`Restore::read`].
    ///
    /// **Restore only exports whose origin you trust**: only the organization of each record is checked. The contents
    /// of the records and the references between them are not.
    ///
    /// # Errors
    /// [`Taken`](TransferErrorKind::Taken), [`WholeStore`](TransferErrorKind::WholeStore),
    /// [`OtherForm`](TransferErrorKind::OtherForm), and the errors of [`Restore::read`] except for `NotEmpty`.
    pub async fn restore<R>(self, restore: Restore<'_>, input: R) -> Result<Organization, TransferError>
    where
        R: AsyncRead + Unpin + Send,
    {
        let inventory = self.inventory;
        let input = ExportReader::begin(input).await?;
        let Some((organization, form)) = input.organization() else {
            return Err(TransferError::new(TransferErrorKind::WholeStore));
        };
        if inventory.form_of_facets().await.map_err(failed)? != *form {
            return Err(TransferError::new(TransferErrorKind::OtherForm));
        }
        let restoration = Restoration::begin(inventory, organization.into()).await?;
        let outcome = restoration.run(restore, input).await;
        if outcome.is_err() {
            restoration.discard().await;
        }
        outcome
    }
}

/// A restoration that has begun.
struct Restoration<'a> {
    inventory: &'a Inventory,
    organization: OrganizationId,
    /// Distinguishes its marker from the markers of other restorations.
    id: Uuid,
}

impl<'a> Restoration<'a> {
    /// Stores the marker.
    async fn begin(inventory: &'a Inventory, organization: OrganizationId) -> Result<Self, TransferError> {
        let restoration = Self { inventory, organization, id: inventory.new_random_id().map_err(failed)? };
        let mut batch = Batch::new();
        restoration.renew(Precondition::Absent, &mut batch)?;
        batch.guard(Guard::record(organization_key(organization), Precondition::Absent));
        restoration.store(batch).await?;
        Ok(restoration)
    }

    async fn run<R: AsyncRead + Unpin>(
        &self,
        restore: Restore<'_>,
        mut input: ExportReader<R>,
    ) -> Result<Organization, TransferError> {
        let (mut on_progress, mut last) = (restore.into_progress(), None);
        let mut history = self.inventory.restored_history().await.map_err(failed)?;
        loop {
            let chunk = input.records().await?;
            let (mut batch, mut kinds) = (Batch::new(), BTreeSet::new());
            for record in chunk.records {
                if record.key.kind == ORGANIZATION {
                    last = Some(record);
                } else {
                    kinds.extend(Some(record.key.kind).filter(Name::is_of_application));
                    self.add(record, &mut history, &mut batch).await?;
                }
            }
            // A deletion finds the records of the application by the notes of their kinds, in whatever order they come.
            for kind in kinds {
                let (key, facets, note) =
                    self.inventory.known_kind(self.organization, kind).map_err(failed)?;
                batch.put(key, Precondition::Any, facets, note);
            }
            if !chunk.is_last {
                self.commit(batch).await?;
                on_progress(&input.report());
                continue;
            }
            let Some(record) = last else { return Err(TransferError::new(TransferErrorKind::Damaged)) };
            // New entries of the organization come after the restored ones.
            self.inventory.end_restored_history(history).await.map_err(failed)?;
            let organization = self.complete(record, batch).await?;
            self.inventory.follow_restored(self.organization);
            on_progress(&input.report());
            return Ok(organization);
        }
    }

    /// Adds a record to a batch.
    async fn add(
        &self,
        record: ExportedRecord,
        history: &mut RestoredHistory,
        batch: &mut Batch,
    ) -> Result<(), TransferError> {
        let ExportedRecord { key, mut facets, body, line } = record;
        if facets.organization != Some(self.organization.uuid()) {
            return Err(TransferError::malformed(Some("organization")).with_line(line));
        }
        // The kinds of the application are noted again with their first records. A session that was ended after the
        // export, perhaps because its id was stolen, must not become valid again.
        if [APPLICATION_KIND, SESSION, IDEMPOTENCY_KEY].contains(&key.kind) {
            return Ok(());
        }
        if !key.kind.is_of_application() && !KINDS_OF_ORGANIZATION.contains(&key.kind) {
            return Err(TransferError::malformed(Some("kind")).with_line(line));
        }
        // Records of the application may give `organization_id` another meaning.
        if !key.kind.is_of_application() && !self.is_own(&body) {
            return Err(TransferError::malformed(Some("body")).with_line(line));
        }
        match history.add(key, &facets, &body, batch).map_err(failed)? {
            Some(true) => return Ok(()),
            Some(false) => {}
            None => return Err(TransferError::malformed(Some("body")).with_line(line)),
        }
        if key.kind == USER {
            let user: User = serde_json::from_slice(&body)
                .map_err(|_| TransferError::malformed(Some("body")).with_line(line))?;
            // The facets of users are computed again, because logins must find users by facets of this
            // version.
            facets = user_facets(&user);
            if !user.email.is_empty() {
                self.inventory.guard_email(&user, batch).await.map_err(failed)?;
            }
        }
        batch.put(key, Precondition::Absent, facets, body);
        Ok(())
    }

    /// Returns whether a body names no other organization as its own.
    ///
    /// Rights follow from bodies: a user of this organization must not get those of another one.
    fn is_own(&self, body: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Owned {
            #[serde(default)]
            organization_id: Option<OrganizationId>,
        }
        // Other bodies than objects name no organization, such as the hash of a password.
        !body.starts_with(b"{")
            || serde_json::from_slice(body)
                .is_ok_and(|Owned { organization_id: id }| id.is_none_or(|id| id == self.organization))
    }

    /// Commits some of the records.
    async fn commit(&self, mut batch: Batch) -> Result<(), TransferError> {
        let marker = self.marker().await?;
        self.renew(unchanged(Some(&marker)), &mut batch)?;
        // The inventory's store accepts records of an organization only in batches that concern the organization itself.
        batch.delete(organization_key(self.organization), Precondition::Absent);
        self.store(batch).await
    }

    /// Commits the last records with the organization, in place of the marker.
    async fn complete(
        &self,
        organization: ExportedRecord,
        mut batch: Batch,
    ) -> Result<Organization, TransferError> {
        let ExportedRecord { key, facets, body, line } = organization;
        let restored = serde_json::from_slice::<Organization>(&body).ok();
        let is_valid = key == organization_key(self.organization) && facets.organization == Some(key.id);
        let Some(restored) = restored.filter(|restored| is_valid && restored.id == self.organization) else {
            return Err(TransferError::malformed(Some("body")).with_line(line));
        };
        let marker = self.marker().await?;
        batch.delete(marker.key, unchanged(Some(&marker)));
        batch.put(key, Precondition::Absent, facets, body);
        self.store(batch).await?;
        Ok(restored)
    }

    /// Adds the marker with the present time to a batch.
    fn renew(&self, precondition: Precondition, batch: &mut Batch) -> Result<(), TransferError> {
        let renewed_at = self.inventory.now();
        let body = encode(&Marker { restoration: self.id, renewed_at }).map_err(failed)?;
        let facets = Facets::default().with_sort_keys([time_sort_key(CREATED_AT, renewed_at)]);
        batch.put(organization_deletion_key(self.organization), precondition, facets, body);
        Ok(())
    }

    /// Returns the marker of this restoration.
    ///
    /// # Errors
    /// `Taken` if it has been given up.
    async fn marker(&self) -> Result<Record, TransferError> {
        let found = self.inventory.get(organization_deletion_key(self.organization)).await.map_err(failed)?;
        let is_own = |record: &Record| marker_of(record).is_some_and(|marker| marker.restoration == self.id);
        found.filter(is_own).ok_or_else(|| TransferError::new(TransferErrorKind::Taken))
    }

    async fn store(&self, batch: Batch) -> Result<(), TransferError> {
        self.inventory.store.commit(batch).await.map_err(|error| match error.kind() {
            StoreErrorKind::Conflict(_) | StoreErrorKind::UniqueKeyTaken(_) | StoreErrorKind::Linked(_) => {
                TransferError::caused(TransferErrorKind::Taken, error)
            }
            _ => error.into(),
        })
    }

    /// Deletes the records restored so far. A failure is only logged: the hourly purge tries again.
    async fn discard(&self) {
        let discard = async {
            let Ok(marker) = self.marker().await else { return Ok(()) };
            let Some(tombstone) = self.inventory.give_up_restoration(&marker).await? else { return Ok(()) };
            self.inventory.delete_records_of_organization(&tombstone).await
        };
        if let Err(error) = discard.await {
            tracing::warn!(error = error.with_causes(), "a failed restoration was not deleted");
        }
    }
}

impl Inventory {
    /// Turns the marker of a restoration into the tombstone of a deletion, and returns it. The restoration then fails.
    ///
    /// `None` if the restoration has made progress meanwhile.
    pub(super) async fn give_up_restoration(&self, marker: &Record) -> Result<Option<Record>, Error> {
        let mut batch = Batch::new();
        let facets = Facets::default().with_sort_keys([time_sort_key(CREATED_AT, self.now())]);
        batch.put(marker.key, unchanged(Some(marker)), facets, encode(&GivenUp {})?);
        if self.commit_if_unchanged(&Author::system(OrganizationId::new(marker.key.id)), batch).await? {
            self.get(marker.key).await
        } else {
            Ok(None)
        }
    }

    /// Returns whether a restoration has renewed this tombstone within the last hour.
    pub(super) fn is_being_restored(&self, tombstone: &Record) -> bool {
        let age = |marker: Marker| self.now().unix_micros() - marker.renewed_at.unix_micros();
        marker_of(tombstone).is_some_and(|marker| age(marker) < RESTORATION_TIMEOUT_MICROS)
    }
}

/// Returns whether a tombstone is the marker of a restoration.
pub(super) fn is_marker(tombstone: &Record) -> bool {
    marker_of(tombstone).is_some()
}

fn marker_of(tombstone: &Record) -> Option<Marker> {
    serde_json::from_slice(&tombstone.body).ok()
}

fn no_organization() -> TransferError {
    TransferError::new(TransferErrorKind::NoOrganization)
}

/// Returns the error of a transfer that an error of the inventory ends.
fn failed(error: Error) -> TransferError {
    let kind = match error.kind() {
        ErrorKind::Internal => TransferErrorKind::Internal,
        _ => TransferErrorKind::Store,
    };
    TransferError::caused(kind, error)
}
