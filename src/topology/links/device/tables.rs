//! The rows of a host's claims, by kind.

use crate::discovery::report::{ArpRow, FdbRow, LagRow, LldpRow, StpRow, TableKind};
use crate::discovery::{Claim, ClaimRows};
use crate::model::Timestamp;

/// The tables that ports and learned addresses follow from.
#[derive(Default)]
pub(super) struct Tables<'c> {
    pub(super) lldp: &'c [LldpRow],
    pub(super) lag: &'c [LagRow],
    pub(super) fdb: &'c [FdbRow],
    pub(super) arp: &'c [ArpRow],
    pub(super) stp: &'c [StpRow],
    pub(super) learned_at: Option<Timestamp>,
    pub(super) resolved_at: Option<Timestamp>,
    pub(super) truncated: Vec<TableKind>,
}

impl<'c> Tables<'c> {
    pub(super) fn of(claims: &'c [Claim]) -> Self {
        let mut tables = Self::default();
        for claim in claims {
            match &claim.rows {
                ClaimRows::Lldp(rows) => tables.lldp = rows,
                ClaimRows::Lag(rows) => tables.lag = rows,
                ClaimRows::Stp(rows) => tables.stp = rows,
                ClaimRows::Fdb(rows) => {
                    tables.fdb = rows;
                    tables.learned_at = Some(claim.observed_at);
                }
                ClaimRows::Arp(rows) => {
                    tables.arp = rows;
                    tables.resolved_at = Some(claim.observed_at);
                    // Rows that a neighbor cache lacks are no reason for which links are missing.
                    continue;
                }
                ClaimRows::Cdp(_) => {}
                ClaimRows::IfEntries(_) | ClaimRows::Addresses(_) | ClaimRows::Ports(_) => continue,
            }
            if !claim.complete {
                tables.truncated.push(claim.rows.kind());
            }
        }
        tables.truncated.sort_unstable();
        tables
    }
}
