//! The results of a bulk request.

use serde::{Deserialize, Serialize};

use crate::inventory::{Error, ErrorKind};
use crate::model::{HostId, Timestamp};
use crate::wire::Atomicity;

/// The change that a bulk request has made to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkChange {
    /// A new host was created.
    Created,
    /// An existing host was replaced.
    Updated,
    /// The existing host is the same, so nothing was written.
    Unchanged,
}

/// The result of a bulk request for one of its hosts.
#[derive(Debug)]
#[non_exhaustive]
pub struct BulkResult {
    /// The host's position in the request, from 0.
    pub index: usize,
    /// The id of the stored host.
    ///
    /// It differs from the requested id if that belongs to another organization. For a host that was not stored, it is
    /// the requested id, or `None` if there was none or the host could not be parsed.
    pub id: Option<HostId>,
    /// The change, or the reason why the host was not stored.
    pub outcome: Result<BulkChange, Error>,
}

/// The results of a request so far.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) atomicity: Atomicity,
    hosts: Vec<Known>,
}

/// The id and the outcome of a host, as far as they are known.
#[derive(Debug, Default)]
struct Known {
    id: Option<HostId>,
    /// Whether the request has another id, or none.
    is_assigned: bool,
    outcome: Option<Result<BulkChange, Error>>,
    /// The `updated_at` that the client expects of the stored host.
    expected_updated_at: Option<Timestamp>,
}

impl Results {
    pub(super) fn new(hosts: usize, atomicity: Atomicity) -> Self {
        Self { atomicity, hosts: (0..hosts).map(|_| Known::default()).collect() }
    }

    pub(super) fn set_id(&mut self, index: usize, id: HostId) {
        if let Some(known) = self.hosts.get_mut(index) {
            known.id = Some(id);
        }
    }

    /// Sets the `updated_at` that the client expects of the stored host.
    pub(super) fn expect(&mut self, index: usize, updated_at: Option<Timestamp>) {
        if let Some(known) = self.hosts.get_mut(index) {
            known.expected_updated_at = updated_at;
        }
    }

    /// Returns the `updated_at` that the client expects of the stored host.
    pub(super) fn expected_updated_at(&self, index: usize) -> Option<Timestamp> {
        self.hosts.get(index)?.expected_updated_at
    }

    /// Sets an id that the server has chosen.
    pub(super) fn assign_id(&mut self, index: usize, id: HostId) {
        if let Some(known) = self.hosts.get_mut(index) {
            (known.id, known.is_assigned) = (Some(id), true);
        }
    }

    pub(super) fn set(&mut self, index: usize, outcome: Result<BulkChange, Error>) {
        if let Some(known) = self.hosts.get_mut(index) {
            known.outcome = Some(outcome);
        }
    }

    /// Records why a host cannot be stored. Returns the error if the request is all or nothing.
    pub(super) fn fail(&mut self, index: usize, error: Error) -> Result<(), Error> {
        let error = within(index, error);
        match self.atomicity {
            Atomicity::AllOrNothing => return Err(error),
            Atomicity::PerHost => self.set(index, Err(error)),
        }
        Ok(())
    }

    /// Records a failure of the store for all remaining hosts. Returns the error if nothing was stored.
    pub(super) fn fail_remaining(&mut self, error: Error) -> Result<(), Error> {
        let is_stored =
            |outcome: &Option<_>| matches!(outcome, Some(Ok(BulkChange::Created | BulkChange::Updated)));
        if !self.hosts.iter().any(|host| is_stored(&host.outcome)) {
            return Err(error);
        }
        let kind = error.kind().clone();
        let mut first = Some(error);
        for host in self.hosts.iter_mut().filter(|host| host.outcome.is_none()) {
            host.outcome = Some(Err(first.take().unwrap_or_else(|| kind.clone().into())));
        }
        Ok(())
    }

    /// Returns the number of hosts in the request.
    pub(super) const fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Returns the places, ids and changes of the hosts that are stored or unchanged.
    pub(super) fn done(&self) -> impl Iterator<Item = (usize, HostId, BulkChange)> {
        let done = |(index, host): (usize, &Known)| match (host.id, &host.outcome) {
            (Some(id), Some(Ok(change))) => Some((index, id, *change)),
            _ => None,
        };
        self.hosts.iter().enumerate().filter_map(done)
    }

    pub(super) fn finish(self) -> Result<Vec<BulkResult>, Error> {
        let results = self.hosts.into_iter().enumerate().map(|(index, host)| {
            let outcome =
                host.outcome.ok_or_else(|| Error::internal("a host of a bulk request has no result"))?;
            // No host has an id that was chosen for one that was not stored.
            let id = host.id.filter(|_| outcome.is_ok() || !host.is_assigned);
            Ok(BulkResult { index, id, outcome })
        });
        results.collect()
    }
}

/// Names the place of a host in the request, before the field of its error or else beside the error.
fn within(index: usize, error: Error) -> Error {
    let path = |field: &str| {
        if field.is_empty() { format!("hosts.{index}") } else { format!("hosts.{index}.{field}") }
    };
    match error.kind() {
        ErrorKind::Invalid { field, problem } => Error::invalid(path(field), problem.clone()),
        ErrorKind::ReferenceInvalid { entity, field } => {
            ErrorKind::ReferenceInvalid { entity: *entity, field: path(field) }.into()
        }
        ErrorKind::Refused { field: Some(field), .. } => {
            let path = path(field);
            error.at(path)
        }
        _ => {
            let path = path(error.field().unwrap_or_default());
            error.at(path)
        }
    }
}
