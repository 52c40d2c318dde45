//! The meaning of the numbers of an LLDP agent's local ports.
//!
//! LLDP-MIB recommends `dot1dBasePort` for bridges and `ifIndex` for others, and agents also count their ports. A number
//! alone therefore names a port only if the numbers of other ports, whose names are known, follow a rule, or if every
//! possible meaning leads to the same interface.

use super::bridge::BasePorts;
use super::interfaces::Interfaces;
use crate::discovery::parse::meter::Meter;

/// `ifType` of Ethernet, with the obsolete types for fast and gigabit Ethernet.
const ETHERNET: [i64; 4] = [6, 62, 69, 117];

/// How the ports whose interface is known agree with a rule.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    for_it: usize,
    against: usize,
}

impl Evidence {
    fn add(&mut self, agrees: bool) {
        if agrees { self.for_it += 1 } else { self.against += 1 }
    }

    const fn is_confirmed(self) -> bool {
        self.for_it > 0 && self.against == 0
    }
}

/// The meaning of the numbers of local ports.
#[derive(Debug)]
pub(super) struct Numbering<'n> {
    interfaces: &'n Interfaces,
    base_ports: &'n BasePorts,
    /// The Ethernet interfaces by index: the order in which an agent may count its ports.
    counted: Vec<i64>,
    by_index: Evidence,
    by_base_port: Evidence,
}

impl<'n> Numbering<'n> {
    /// Learns from the ports whose interface is known: pairs of a number and an index.
    pub(super) fn new(
        known: impl Iterator<Item = (i64, i64)>,
        interfaces: &'n Interfaces,
        base_ports: &'n BasePorts,
        meter: &mut Meter,
    ) -> Self {
        let counted = interfaces.of_types(&ETHERNET, meter);
        let mut numbering = Self {
            interfaces,
            base_ports,
            counted,
            by_index: Evidence::default(),
            by_base_port: Evidence::default(),
        };
        for (number, index) in known {
            meter.add_steps(2);
            numbering.by_index.add(number == index);
            if let Some(base_port) = base_ports.get(number) {
                numbering.by_base_port.add(base_port == index);
            }
        }
        numbering
    }

    /// Returns whether the numbers of all known ports are their interface indexes.
    pub(super) const fn is_by_index(&self) -> bool {
        self.by_index.is_confirmed()
    }

    /// Returns the interface that a number alone names, or `None` if that cannot be known.
    pub(super) fn interface(&self, number: i64) -> Option<i64> {
        let by_index = self.interfaces.contains(number).then_some(number);
        let base_port = self.base_ports.get(number);
        let by_base_port = base_port.filter(|index| self.interfaces.contains(*index));
        let has_evidence = self.by_index.for_it + self.by_index.against > 0;
        match (self.by_index.is_confirmed(), self.by_base_port.is_confirmed()) {
            (true, true) if base_port.is_some() => by_base_port.filter(|index| *index == number),
            (true, _) => by_index,
            (false, true) => by_base_port,
            (false, false) if has_evidence => None,
            (false, false) if base_port.is_some() => match by_index {
                Some(index) => by_base_port.filter(|by_base_port| *by_base_port == index),
                None => by_base_port,
            },
            // It may be a bridge port that is missing.
            (false, false) if self.base_ports.has_losses() => None,
            (false, false) => {
                by_index.filter(|index| self.counted_port(number).is_none_or(|nth| nth == *index))
            }
        }
    }

    /// Returns the interface that a number means if the agent counts its ports from 1.
    fn counted_port(&self, number: i64) -> Option<i64> {
        self.counted.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
    }
}
