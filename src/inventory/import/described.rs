//! Lines with the id of a stored host that leave ids or times to the server, as those of scripts and spreadsheets do.
//!
//! A part without an id is the stored one with the same key, so that it keeps its id and all that refers to it. A line without times is
//! a description of the host, as in `PUT`: a host that stays as it is is not written.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::parse::{ParsedLine, refusal};
use crate::inventory::hosts::{HostEncoder, adopt_parts, decode, keep_drafted_part_ids, stamp};
use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, Interface, OrganizationId, Timestamp};
use crate::store::Record;
use crate::wire::{ImportReport, Refusal};

/// The values of a line that it leaves to the server.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The new ids of parts and bindings without ids.
    pub(super) drafted: HashSet<Uuid>,
    /// Whether the host has no time.
    pub(super) has_no_time: bool,
    /// Whether the line can have no more of an interface than its address.
    pub(super) is_row: bool,
    /// The time of records without a time.
    pub(super) now: Timestamp,
}

/// A line, with what the stored host has and the line leaves out; `None` if the host stays as it is.
type Completed = Result<Option<ParsedLine>, Refusal>;

impl Inventory {
    /// Completes lines from the hosts that they replace. Returns those that change something. The ids of the lines are distinct.
    pub(super) async fn complete_lines(
        &self,
        organization: OrganizationId,
        lines: Vec<ParsedLine>,
        report: &mut ImportReport,
        refusals: &mut Vec<Refusal>,
    ) -> Result<Vec<ParsedLine>, Error> {
        let incomplete = lines.iter().filter(|line| line.left_out.is_some());
        let ids: Vec<HostId> = incomplete.map(|line| line.encoded.host.id).collect();
        if ids.is_empty() {
            return Ok(lines);
        }
        let stored = self.own_hosts(organization, ids).await?.into_iter();
        let mut stored: HashMap<HostId, Record> =
            stored.map(|record| (record.key.id.into(), record)).collect();
        let inputs = lines.into_iter().map(|line| {
            let stored = line.left_out.as_ref().and_then(|_| stored.remove(&line.encoded.host.id));
            (stored.as_ref().map_or(0, |stored| stored.body.len()), (line, stored))
        });
        let encoder = self.host_encoder(organization);
        let work = move |(line, stored): (ParsedLine, Option<Record>)| match stored {
            Some(stored) => complete(line, &stored, encoder),
            None => Ok(Ok(Some(line))),
        };
        let mut changed = Vec::new();
        for completed in self.in_jobs(organization, inputs.collect(), work).await? {
            match completed? {
                Ok(Some(line)) => changed.push(line),
                Ok(None) => report.unchanged += 1,
                Err(refusal) => refusals.push(refusal),
            }
        }
        Ok(changed)
    }
}

fn complete(mut line: ParsedLine, stored: &Record, encoder: HostEncoder) -> Result<Completed, Error> {
    let Some(left_out) = &line.left_out else { return Ok(Ok(Some(line))) };
    let before: Host = decode(stored)?;
    let mut host = line.encoded.host;
    keep_drafted_part_ids(&before, &mut host, &left_out.drafted);
    adopt_parts(&mut host);
    if left_out.is_row {
        keep_interfaces(&before, &mut host);
    }
    if left_out.has_no_time && !stamp(&mut host, Some(&before), left_out.now) {
        return Ok(Ok(None));
    }
    match encoder.of_stored(stored.body.len()).encode(host) {
        Ok(encoded) => {
            line.encoded = encoded;
            Ok(Ok(Some(line)))
        }
        Err(error) => Ok(Err(refusal(line.line, &error))),
    }
}

/// Gives interfaces of which a row has the address alone all else that is stored of them.
fn keep_interfaces(before: &Host, host: &mut Host) {
    let stored: HashMap<_, &Interface> =
        before.interfaces.iter().map(|interface| (interface.id, interface)).collect();
    for interface in &mut host.interfaces {
        let has_more =
            interface.name.is_some() || interface.mac_address.is_some() || interface.subnet_id.is_some();
        if let Some(stored) = stored.get(&interface.id).filter(|_| !has_more) {
            *interface = Interface { position: interface.position, ..(*stored).clone() };
        }
    }
}
