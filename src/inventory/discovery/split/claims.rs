//! Division of claims between two hosts.

use std::collections::HashSet;
use std::net::IpAddr;

use super::request::MovedParts;
use crate::discovery::ClaimRows;
use crate::discovery::claim::with_rows;
use crate::inventory::discovery::claims::{ClaimRow, ClaimedTable, RowPart};
use crate::model::{Host, PortNumber, Protocol};

/// The indexes, names and addresses by which rows of tables name the parts that move to another host.
pub(super) struct MovedPorts {
    indexes: HashSet<i64>,
    names: HashSet<String>,
    addresses: HashSet<IpAddr>,
    ports: HashSet<(PortNumber, Protocol)>,
}

impl MovedPorts {
    /// Returns the names of the parts that move. Names that a part that stays also has are left out.
    pub(super) fn of(host: &Host, selection: &MovedParts) -> Self {
        let (moved, kept): (Vec<_>, Vec<_>) =
            host.if_entries.iter().partition(|entry| selection.if_entries.contains_key(&entry.id));
        let mut indexes: HashSet<i64> = moved.iter().map(|entry| entry.if_index).collect();
        indexes.remove(&0);
        let mut names: HashSet<String> = HashSet::new();
        for entry in moved {
            names.extend([entry.if_name.clone(), Some(entry.if_descr.clone())].into_iter().flatten());
        }
        names.remove("");
        for entry in kept {
            indexes.remove(&entry.if_index);
            for name in [entry.if_name.as_ref(), Some(&entry.if_descr)].into_iter().flatten() {
                names.remove(name);
            }
        }
        let interfaces = host.interfaces.iter().filter(|part| selection.interfaces.contains_key(&part.id));
        let ports = host.ports.iter().filter(|part| selection.ports.contains_key(&part.id));
        Self {
            indexes,
            names,
            addresses: interfaces.map(|part| part.ip_address.to_canonical()).collect(),
            ports: ports.map(|part| (part.number, part.protocol)).collect(),
        }
    }

    /// Removes the rows about parts that move, and returns them as a table. `None`: there are none.
    pub(super) fn take_rows(&self, claimed: &mut ClaimedTable) -> Option<ClaimedTable> {
        let mut moves = Vec::new();
        let table = with_rows!(&mut claimed.table, rows => self.take(rows, &mut moves));
        (!table.is_empty()).then(|| claimed.divided(table, &moves))
    }

    /// Removes the rows that move, and notes for each row in `moves` whether it does.
    fn take<R: ClaimRow>(&self, rows: &mut Vec<R>, moves: &mut Vec<bool>) -> ClaimRows {
        moves.extend(rows.iter().map(|row| self.has(&row.part())));
        let mut places = moves.iter();
        R::into_table(rows.extract_if(.., |_| places.next() == Some(&true)).collect())
    }

    /// Returns whether a part moves. The index of a port of the device decides if its name is known as well.
    fn has(&self, part: &RowPart<'_>) -> bool {
        match part {
            RowPart::IfEntry { index: Some(index), .. } => self.indexes.contains(index),
            RowPart::IfEntry { index: None, name } => name.is_some_and(|name| self.names.contains(name)),
            RowPart::Address(address) => self.addresses.contains(&address.to_canonical()),
            RowPart::Port(number, protocol) => self.ports.contains(&(*number, *protocol)),
        }
    }
}
