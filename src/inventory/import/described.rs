//! Lines with the id of a stored host that leave ids or times to the server, as those of scripts and spreadsheets do.
//!
//! A part without an id is the stored one with the same key, so that it keeps its id and all that refers to it. A line without times is
//! a description of the host, as in `PUT`: a host that stays as it is is not written.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::parse::{ParsedLine, refusal_of_host};
use super::report::Alterations;
use super::storing::Storing;
use crate::inventory::Error;
use crate::inventory::hosts::{HostEncoder, adopt_parts, decode, keep_drafted_part_ids, stamp};
use crate::inventory::schema::host_key;
use crate::model::{Host, HostId, Interface, Timestamp};
use crate::store::{Key, Record};
use crate::wire::Refusal;

/// The values of a line that it leaves to the server.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The new ids of parts and bindings without ids.
    pub(super) drafted: HashSet<Uuid>,
    /// Whether the line does not state when the host was created.
    pub(super) has_no_creation: bool,
    /// Whether the host and its parts have neither times nor ages.
    pub(super) has_no_time: bool,
    /// Whether the line is a row of a CSV, whose list of addresses can have no more of an interface.
    pub(super) is_row: bool,
}

/// A line, with what the stored host has and the line leaves out.
enum Completed {
    Changed(Box<ParsedLine>),
    Unchanged(Alterations),
    Refused(HostId, Refusal),
}

impl Storing<'_> {
    /// Completes lines from the hosts that they replace. Returns those that change something. The ids of the lines are distinct, and those
    /// of other organizations have been replaced.
    pub(super) async fn complete_lines(&mut self, lines: Vec<ParsedLine>) -> Result<Vec<ParsedLine>, Error> {
        let (inventory, organization) = (self.inventory, self.target.organization);
        let incomplete = lines.iter().filter(|line| line.left_out.is_some());
        let ids: Vec<HostId> = incomplete.map(|line| line.encoded.host.id).collect();
        if ids.is_empty() {
            return Ok(lines);
        }
        let keys: Vec<Key> = ids.into_iter().map(host_key).collect();
        let stored = inventory.store.get(&keys).await?.into_iter().flatten();
        let mut stored: HashMap<HostId, Record> =
            stored.map(|record| (record.key.id.into(), record)).collect();
        let inputs = lines.into_iter().map(|line| {
            let stored = line.left_out.as_ref().and_then(|_| stored.remove(&line.encoded.host.id));
            (stored.as_ref().map_or(0, |stored| stored.body.len()), (line, stored))
        });
        let (encoder, now) = (inventory.host_encoder(organization), inventory.now());
        let work = move |(line, stored): (ParsedLine, Option<Record>)| match stored {
            Some(stored) => complete(line, &stored, encoder, now),
            None => Ok(Completed::Changed(Box::new(line))),
        };
        let mut changed = Vec::new();
        for completed in inventory.in_jobs(organization, inputs.collect(), work).await? {
            match completed? {
                Completed::Changed(line) => changed.push(*line),
                Completed::Unchanged(alterations) => self.report.accept_unchanged(&alterations),
                Completed::Refused(host, refusal) => self.refuse(host, refusal),
            }
        }
        Ok(changed)
    }
}

fn complete(
    mut line: ParsedLine,
    stored: &Record,
    encoder: HostEncoder,
    now: Timestamp,
) -> Result<Completed, Error> {
    let before: Host = decode(stored)?;
    // Whether the caller may see the former network is not known yet.
    let is_same = before.network_id == line.encoded.host.network_id;
    let Some(left_out) = line.left_out.as_ref().filter(|_| is_same) else {
        return Ok(Completed::Changed(Box::new(line)));
    };
    let mut host = line.encoded.host;
    let has_address_alone: Vec<bool> = host
        .interfaces
        .iter()
        .map(|interface| {
            left_out.is_row && is_address(interface) && left_out.drafted.contains(&interface.id.uuid())
        })
        .collect();
    keep_drafted_part_ids(&before, &mut host, &left_out.drafted);
    keep_interfaces(&before, &mut host, &has_address_alone);
    adopt_parts(&mut host);
    if left_out.has_no_creation {
        host.created_at = before.created_at.min(host.updated_at);
    }
    let place = i64::try_from(line.line).unwrap_or(i64::MAX);
    if left_out.has_no_time && !stamp(&mut host, Some(&before), now.plus_micros(place)) {
        return Ok(Completed::Unchanged(line.alterations));
    }
    match encoder.of_stored(stored.body.len()).encode(host) {
        Ok(encoded) => {
            line.encoded = encoded;
            Ok(Completed::Changed(Box::new(line)))
        }
        Err(error) => {
            Ok(Completed::Refused(before.id, refusal_of_host(line.line, &error, &line.alterations)))
        }
    }
}

/// Returns whether nothing but the address of an interface is given.
const fn is_address(interface: &Interface) -> bool {
    interface.name.is_none() && interface.mac_address.is_none() && interface.subnet_id.is_none()
}

/// Gives interfaces of which a row has the address alone all else that is stored of them.
fn keep_interfaces(before: &Host, host: &mut Host, has_address_alone: &[bool]) {
    let stored: HashMap<_, &Interface> =
        before.interfaces.iter().map(|interface| (interface.id, interface)).collect();
    for (interface, _) in host.interfaces.iter_mut().zip(has_address_alone).filter(|(_, alone)| **alone) {
        if let Some(stored) = stored.get(&interface.id) {
            *interface = Interface { position: interface.position, ..(*stored).clone() };
        }
    }
}
