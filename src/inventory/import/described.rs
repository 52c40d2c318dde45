//! Lines with the id of a stored host that leave ids, times or fields to the server, as those of scripts and spreadsheets do.
//!
//! A part without an id is the stored one with the same key, so that it keeps its id and all that refers to it. A line without times is
//! a description of the host, as in `PUT`: a host that stays as it is is not written. A row of a CSV keeps the fields without a column,
//! and is a description unless its times are others than the stored ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use super::document::HostDocument;
use super::parse::{LineFacts, LineHost, ParsedLine, refusal_of_host};
use super::report::Alterations;
use super::row_fields::RowFields;
use super::storing::Storing;
use crate::inventory::Error;
use crate::inventory::hosts::{
    EncodedHost, HostEncoder, adopt_parts, check_expectation, decode, keep_drafted_part_ids, stamp,
};
use crate::inventory::schema::host_key;
use crate::model::{Host, HostId, Interface, InterfaceId, Timestamp};
use crate::store::{Key, Record};
use crate::wire::Refusal;

/// The values of a line that it leaves to the server.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The new ids of parts and bindings without ids.
    pub(super) drafted: HashSet<Uuid>,
    pub(super) given_times: GivenTimes,
    /// The fields of a row of a CSV, whose list of addresses can have no more of an interface; `None` for a line of JSON.
    pub(super) row_fields: Option<Arc<RowFields>>,
}

/// The times that a line has.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenTimes {
    pub(super) created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    /// Whether the host or a part has a time or an age.
    has_any: bool,
}

impl GivenTimes {
    pub(super) fn of(document: &HostDocument) -> Self {
        let (created_at, updated_at) = (document.created_at, document.updated_at);
        Self { created_at, updated_at, has_any: !document.has_no_time() }
    }
}

/// A line that is ready to be stored.
pub(super) type CompleteLine = (LineFacts, EncodedHost);

/// A line, with what the stored host has and the line leaves out.
enum Completed {
    Changed(Box<CompleteLine>),
    Unchanged(HostId, Alterations),
    Refused(HostId, Refusal),
}

impl Storing<'_> {
    /// Completes lines from the hosts that they replace. Returns those that change something. The ids of the lines are distinct, and those
    /// of other organizations have been replaced.
    pub(super) async fn complete_lines(
        &mut self,
        lines: Vec<ParsedLine>,
    ) -> Result<Vec<CompleteLine>, Error> {
        let (inventory, organization) = (self.inventory, self.target.organization);
        let is_incomplete = |line: &&ParsedLine| matches!(line.host, LineHost::Incomplete(..));
        let ids: Vec<HostId> = lines.iter().filter(is_incomplete).map(|line| line.host().id).collect();
        let mut stored: HashMap<HostId, Record> = HashMap::new();
        if !ids.is_empty() {
            let keys: Vec<Key> = ids.into_iter().map(host_key).collect();
            let records = inventory.store.get(&keys).await?.into_iter().flatten();
            stored.extend(records.map(|record| (HostId::new(record.key.id), record)));
        }
        let (encoder, now) = (inventory.host_encoder(organization), inventory.now());
        let mut incomplete = Vec::new();
        let mut complete = Vec::with_capacity(lines.len());
        for line in lines {
            match line.host {
                LineHost::Encoded(encoded) => complete.push((line.facts, *encoded)),
                LineHost::Incomplete(host, left_out) => {
                    let stored = stored.remove(&host.id);
                    let size = stored.as_ref().map_or(0, |stored| stored.body.len());
                    incomplete.push((size, (line.facts, host, left_out, stored)));
                }
            }
        }
        let work = move |(facts, host, left_out, stored): (LineFacts, Box<Host>, LeftOut, Option<Record>)| {
            complete_line(facts, *host, &left_out, stored.as_ref(), encoder, now)
        };
        for completed in inventory.in_jobs(organization, incomplete, work).await? {
            match completed? {
                Completed::Changed(line) => complete.push(*line),
                Completed::Unchanged(host, alterations) => {
                    self.note_stored(host);
                    self.report.accept_unchanged(&alterations);
                }
                Completed::Refused(host, refusal) => self.refuse(host, refusal),
            }
        }
        complete.sort_by_key(|(facts, _)| facts.line);
        Ok(complete)
    }
}

fn complete_line(
    facts: LineFacts,
    mut host: Host,
    left_out: &LeftOut,
    stored: Option<&Record>,
    encoder: HostEncoder,
    now: Timestamp,
) -> Result<Completed, Error> {
    let before: Option<Host> = stored.map(decode).transpose()?;
    // Whether the caller may see the former network is not known yet.
    let before = before.filter(|before| before.network_id == host.network_id);
    let id = host.id;
    if let Some(before) = &before {
        let place = i64::try_from(facts.line).unwrap_or(i64::MAX);
        let is_changed = left_out.complete(before, &mut host, now.plus_micros(place));
        // One that is not as expected is refused when it is stored.
        let is_expected = check_expectation(facts.expected_updated_at, id, Some(before.updated_at)).is_ok();
        if !is_changed && is_expected {
            return Ok(Completed::Unchanged(id, facts.alterations));
        }
    } else if let Some(field) = left_out.row_fields.as_ref().and_then(|fields| fields.missing()) {
        return Ok(Completed::Refused(id, without_stored_host(facts.line, field)));
    }
    match encoder.of_stored(stored.map_or(0, |stored| stored.body.len())).encode(host) {
        Ok(encoded) => Ok(Completed::Changed(Box::new((facts, encoded)))),
        Err(error) => Ok(Completed::Refused(id, left_out.refusal(&facts, &error))),
    }
}

/// Creates the refusal of a row that lacks a required field, and has no stored host to take it from.
pub(super) fn without_stored_host(line: u64, field: &str) -> Refusal {
    let reason = "is required, because no stored host has this id".to_owned();
    Refusal { line, field: Some(field.to_owned()), reason, code: None }
}

impl LeftOut {
    /// Sets what a line leaves out from the stored host. Returns whether the host changes.
    fn complete(&self, before: &Host, host: &mut Host, now: Timestamp) -> bool {
        let is_drafted =
            |interface: &Interface| is_address(interface) && self.drafted.contains(&interface.id.uuid());
        let is_row = self.row_fields.is_some();
        let has_address_alone: Vec<bool> =
            host.interfaces.iter().map(|interface| is_row && is_drafted(interface)).collect();
        keep_drafted_part_ids(before, host, &self.drafted);
        keep_interfaces(before, host, &has_address_alone);
        if let Some(fields) = &self.row_fields {
            fields.keep_others(before, host);
        }
        adopt_parts(host);
        if self.given_times.created_at.is_none() {
            host.created_at = before.created_at.min(host.updated_at);
        }
        if self.is_description(before, host) {
            return stamp(host, Some(before), now);
        }
        if is_row && self.has_stored_change(before) {
            host.updated_at = now;
        }
        true
    }

    /// Converts the error of a host to a refusal. Its field is a column of the row, if it has columns.
    fn refusal(&self, facts: &LineFacts, error: &Error) -> Refusal {
        let refusal = refusal_of_host(facts.line, error, &facts.alterations);
        match self.row_fields.as_ref().and_then(|fields| fields.column_without_part(error)) {
            Some((column, reason)) => Refusal { field: Some(column.to_owned()), reason, ..refusal },
            None => refusal,
        }
    }

    /// Returns whether the line has no time of a change but the stored one. Others must learn of a change to the host by another time.
    fn has_stored_change(&self, before: &Host) -> bool {
        self.given_times.updated_at.is_none_or(|given| given == before.updated_at)
    }

    /// Returns whether the times of the host are to be set as those of a description of it.
    fn is_description(&self, before: &Host, host: &Host) -> bool {
        let GivenTimes { created_at, has_any, .. } = self.given_times;
        !has_any
            || self.row_fields.is_some()
                && created_at.is_none_or(|given| given == before.created_at)
                && self.has_stored_change(before)
                && (host.last_seen_at, host.is_stale) == (before.last_seen_at, before.is_stale)
    }
}

/// Returns whether nothing but the address of an interface is given.
const fn is_address(interface: &Interface) -> bool {
    interface.name.is_none() && interface.mac_address.is_none() && interface.subnet_id.is_none()
}

/// Gives interfaces of which a row has the address alone all else that is stored of them.
///
/// They keep their positions, too, if the row has stored interfaces alone, in the stored order.
fn keep_interfaces(before: &Host, host: &mut Host, has_address_alone: &[bool]) {
    let stored: HashMap<InterfaceId, (usize, &Interface)> = before
        .interfaces
        .iter()
        .enumerate()
        .map(|(place, interface)| (interface.id, (place, interface)))
        .collect();
    let places: Option<Vec<usize>> =
        host.interfaces.iter().map(|interface| Some(stored.get(&interface.id)?.0)).collect();
    let is_in_order = places.is_some_and(|places| places.is_sorted());
    for (interface, _) in host.interfaces.iter_mut().zip(has_address_alone).filter(|(_, alone)| **alone) {
        if let Some((_, stored)) = stored.get(&interface.id) {
            let position = if is_in_order { stored.position } else { interface.position };
            *interface = Interface { position, ..(*stored).clone() };
        }
    }
}
