//! Encodes the checked hosts of a bulk request.

use super::check::{BulkItem, Checked, Stored};
use super::times::stamp;
use super::{BulkChange, Results};
use crate::inventory::hosts::change::Before;
use crate::inventory::hosts::document::{EncodedHost, HostEncoder};
use crate::inventory::hosts::validate::validate_host;
use crate::inventory::hosts::virtualization::Summary;
use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, OrganizationId, Record as _, Timestamp};
use crate::store::Record;

/// The writes for some hosts of a request.
#[derive(Debug, Default)]
pub(super) struct Decision {
    pub(super) puts: Vec<EncodedHost>,
    /// The position of each put in the request.
    pub(super) indices: Vec<usize>,
    pub(super) before: Before,
}

/// The position of a host in the request, and its replacement. `None` if the host equals the stored one.
type Encoded = (usize, Result<Option<Replacement>, Error>);

/// A host to be written, with the host that it replaces.
type Replacement = (EncodedHost, Option<(Record, Summary)>);

impl Inventory {
    /// Sets the times of hosts, validates and encodes them.
    ///
    /// Times differ by a microsecond from host to host, so that a list by time has the order of the request.
    pub(super) async fn encode_hosts(
        &self,
        organization: OrganizationId,
        hosts: Vec<Checked>,
    ) -> Result<Vec<Encoded>, Error> {
        let (encoder, now) = (self.host_encoder(organization), self.now());
        let inputs = hosts.into_iter().map(|checked| (checked.item.host.likely_size(), checked)).collect();
        let work = move |Checked { item, stored }: Checked| {
            let now = now.plus_micros(i64::try_from(item.index).unwrap_or(i64::MAX));
            (item.index, encode(item.host, stored, encoder, now))
        };
        self.in_jobs(organization, inputs, work).await
    }
}

impl Decision {
    /// Decides to write the encoded hosts. Hosts that cannot be stored, or do not change, get their results.
    pub(super) fn new(encoded: Vec<Encoded>, results: &mut Results) -> Result<Self, Error> {
        let mut decision = Self::default();
        for (index, encoded) in encoded {
            match encoded {
                Ok(None) => results.set(index, Ok(BulkChange::Unchanged)),
                Ok(Some((put, before))) => {
                    decision.before.extend(before.map(|before| (put.host.id, before)));
                    decision.indices.push(index);
                    decision.puts.push(put);
                }
                Err(error) => results.fail(index, error)?,
            }
        }
        Ok(decision)
    }

    /// Returns the places, ids and changes of the hosts that are written.
    pub(super) fn changes(&self) -> impl Iterator<Item = (usize, HostId, BulkChange)> {
        self.puts.iter().zip(&self.indices).map(|(put, index)| {
            let is_replaced = self.before.contains_key(&put.host.id);
            let change = if is_replaced { BulkChange::Updated } else { BulkChange::Created };
            (*index, put.host.id, change)
        })
    }

    /// Takes back the hosts, whose replacements must be decided again.
    pub(super) fn take_items(&mut self) -> Vec<BulkItem> {
        let Self { puts, indices, .. } = std::mem::take(self);
        indices.into_iter().zip(puts).map(|(index, put)| BulkItem { index, host: put.host }).collect()
    }
}

/// Sets the times of a host, and encodes it. `None` if the host equals the stored one.
fn encode(
    mut host: Host,
    stored: Option<Stored>,
    encoder: HostEncoder,
    now: Timestamp,
) -> Result<Option<Replacement>, Error> {
    let Some((record, stored)) = stored else {
        stamp(&mut host, None, now);
        return Ok(Some((encoder.encode(host)?, None)));
    };
    // Validate before the lists are sorted, so that errors name the places in the request.
    validate_host(&host)?;
    if !stamp(&mut host, Some(&stored), now) {
        return Ok(None);
    }
    let encoded = encoder.of_stored(record.body.len()).encode(host)?;
    Ok(Some((encoded, Some((record, Summary::from(&stored))))))
}
