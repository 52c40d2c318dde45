//! The merge of values: which of two counts, the stored one or that of the report.

use super::Merge;
use super::freshness::{FieldPath, Freshness};
use super::parts::MergedPart;
use crate::discovery::reconcile::attributes::{Attribute, Origin, of_device};
use crate::discovery::report::TableKind;
use crate::model::{Host, Timestamp};

/// Returns the fields of a part that come from a table, as text.
fn group_text<P: MergedPart>(part: &P, origin: Origin) -> String {
    let fields = P::attributes().iter().filter(|field| field.origin() == origin);
    fields.map(|field| field.text(part)).collect::<Vec<_>>().join(" ")
}

/// Returns the place of a field of a part.
fn place_of<P: MergedPart>(field: &dyn Attribute<P>, part: &P) -> FieldPath {
    let is_of_table = field.origin() == Origin::Table(P::TABLE);
    FieldPath { field: field.name(), origin: field.origin(), part: Some((P::LIST, part.id(), is_of_table)) }
}

impl Merge<'_> {
    /// Merges the values of the device itself.
    pub(super) fn merge_device(&mut self) {
        let reported = &self.projection.host;
        for field in of_device::<Host>() {
            let is_named_later = field.name() == "name" && self.projection.derives_name;
            if is_named_later || self.state.is_edited(field.name()) {
                continue;
            }
            let place = FieldPath { field: field.name(), origin: Origin::Device, part: None };
            let (mut is_later, time) = self.choose(&field, (&self.host, reported), &place);
            if field.name() == "chassis_id" && field.is_set(&self.host) && field.is_set(reported) {
                // An announced chassis id prevails over a MAC address that stands for it, whatever the time.
                match (self.projection.has_derived_chassis, self.state.has_derived_chassis) {
                    (false, true) => is_later = true,
                    (true, false) => is_later = false,
                    _ => {}
                }
            }
            if is_later && !field.covers(&self.host, reported) {
                field.assign(&mut self.host, reported);
                self.note_change(field.name().to_owned());
            }
            time.into_iter().for_each(|time| self.keep_time(&place, time));
        }
        if reported.chassis_id.is_some() && reported.chassis_id == self.host.chassis_id {
            let was_derived = self.state.has_derived_chassis || self.state.baseline.chassis_id.is_none();
            self.state.has_derived_chassis = was_derived && self.projection.has_derived_chassis;
        }
    }

    /// Returns whether the reported value wins, and the time at which the winner was observed, if it is known.
    ///
    /// The later value wins, and of two values of one time the greater text.
    fn choose<T>(
        &self,
        field: &dyn Attribute<T>,
        (stored, reported): (&T, &T),
        place: &FieldPath,
    ) -> (bool, Option<Timestamp>) {
        let is_stored = field.is_set(stored);
        let freshness = self.freshness(field.origin());
        if matches!(freshness, Freshness::Newer { .. }) && field.is_set(reported) {
            return (true, Some(self.observed_at));
        }
        let stored_at = if is_stored { self.value_time(place) } else { None };
        if !field.is_set(reported) {
            return (false, stored_at);
        }
        let is_greater = || field.text(reported) > field.text(stored);
        let is_derived =
            field.origin() == Origin::Table(TableKind::IfEntries) && self.projection.has_derived_entries;
        if is_derived {
            return (!is_stored || is_greater(), None);
        }
        let is_later = match (is_stored, stored_at) {
            (false, _) => freshness != (Freshness::Older { may_add: false }),
            (true, None) => true,
            (true, Some(at)) => at < self.observed_at || (at == self.observed_at && is_greater()),
        };
        let time = if is_later { Some(self.observed_at) } else { stored_at };
        (is_later, time)
    }

    /// Merges a part that the report describes.
    pub(super) fn merge_part<P: MergedPart>(&mut self, present: &mut P, reported: &P) {
        if P::attributes().is_empty() {
            return;
        }
        let before = present.clone();
        for field in P::attributes() {
            if self.freshness(field.origin()) == Freshness::Absent {
                continue;
            }
            let group = match field.origin() {
                Origin::Table(table) => before.has_group(table).zip(reported.has_group(table)),
                Origin::Device | Origin::Derived => None,
            };
            match group {
                Some(group) if self.takes_group((&before, reported), field.origin(), group) => {
                    self.assign(*field, present, reported);
                }
                Some(_) => {}
                None => self.merge_value(*field, present, reported),
            }
        }
        self.note_groups(present, reported, &before);
        if *present != before {
            present.set_times(None, self.now);
        }
    }

    /// Merges a value that counts by itself.
    fn merge_value<P: MergedPart>(&mut self, field: &dyn Attribute<P>, present: &mut P, reported: &P) {
        let is_replaced = match self.freshness(field.origin()) {
            Freshness::Newer { complete } => {
                // The first table of interfaces replaces all that followed from other tables.
                let is_first =
                    field.origin() == Origin::Table(TableKind::IfEntries) && !self.has_interface_table;
                is_first || (complete && field.is_cleared())
            }
            _ => false,
        };
        if is_replaced && !field.is_set(reported) {
            self.assign(field, present, reported);
            return;
        }
        let place = place_of(field, present);
        let (is_later, time) = self.choose(field, (&*present, reported), &place);
        if is_later {
            self.assign(field, present, reported);
        }
        time.into_iter().for_each(|time| self.keep_time(&place, time));
    }

    /// Returns whether the fields that belong together are taken from the report, all of them.
    fn takes_group<P: MergedPart>(
        &self,
        (stored, reported): (&P, &P),
        origin: Origin,
        (is_stored, is_reported): (bool, bool),
    ) -> bool {
        let is_greater = || group_text(reported, origin) > group_text(stored, origin);
        match self.freshness(origin) {
            Freshness::Absent => false,
            Freshness::Newer { complete } => complete || is_reported,
            Freshness::Same { .. } => is_reported && (!is_stored || is_greater()),
            Freshness::Older { may_add } if !is_stored => may_add && is_reported,
            Freshness::Older { .. } => {
                let noted = self.state.kept.get(&group_place(stored, origin).path());
                is_reported
                    && noted
                        .is_some_and(|at| *at < self.observed_at || (*at == self.observed_at && is_greater()))
            }
        }
    }

    /// Notes when the neighbors of a port were observed that an older report states.
    fn note_groups<P: MergedPart>(&mut self, present: &P, reported: &P, before: &P) {
        for table in [TableKind::Lldp, TableKind::Cdp] {
            let origin = Origin::Table(table);
            if reported.has_group(table) != Some(true) || self.freshness(origin) == Freshness::Absent {
                continue;
            }
            let place = group_place(present, origin);
            let is_taken = group_text(present, origin) == group_text(reported, origin);
            let is_new =
                before.has_group(table) == Some(false) || self.state.kept.contains_key(&place.path());
            if is_taken && (is_new || !matches!(self.freshness(origin), Freshness::Older { .. })) {
                self.keep_time(&place, self.observed_at);
            }
        }
    }

    /// Clears values that a complete table lacks. The table of the list itself is not considered.
    pub(super) fn merge_unreported<P: MergedPart>(&mut self, present: &mut P, blank: &P) {
        let before = self.changes.len();
        let was_changed = std::mem::take(&mut self.is_changed);
        for field in P::attributes().iter().filter(|field| field.is_cleared()) {
            let is_other = field.origin() != Origin::Table(P::TABLE);
            if is_other && self.freshness(field.origin()) == (Freshness::Newer { complete: true }) {
                self.assign(*field, present, blank);
            }
        }
        if self.is_changed || self.changes.len() > before {
            present.set_times(None, self.now);
        }
        self.is_changed |= was_changed;
    }

    fn assign<P: MergedPart>(&mut self, field: &dyn Attribute<P>, present: &mut P, reported: &P) {
        if field.covers(present, reported) {
            return;
        }
        let path = place_of(field, present).path();
        if !self.state.is_edited(&path) {
            field.assign(present, reported);
            self.note_change(path);
        }
    }
}

/// Returns the place that stands for all fields of a part that come from a table.
fn group_place<P: MergedPart>(part: &P, origin: Origin) -> FieldPath {
    let field = match origin {
        Origin::Table(table) => table.as_str(),
        Origin::Device | Origin::Derived => "",
    };
    FieldPath { field, origin, part: Some((P::LIST, part.id(), false)) }
}
