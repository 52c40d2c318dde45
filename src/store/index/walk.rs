use super::groups::Group;
use super::list::{Begin, Term};
use super::merge::Merged;
use super::run::Place;
use super::table::Runs;
use super::{Index, RowId};
use crate::store::Direction;

impl Index {
    /// Appends the rows of sorted sets of runs, from `begin` on, until there are `wanted`.
    pub(super) fn walk(
        &self,
        sets: &[&Runs],
        terms: &[Term],
        begin: Begin<'_>,
        wanted: usize,
        found: &mut Vec<RowId>,
    ) {
        let Some(((slot, direction), rest)) = terms.split_first() else { return };
        let runs = sets.iter().filter_map(|runs| runs.get(*slot)).collect();
        let merged = Merged { rows: &self.rows, slot: *slot, runs };
        match (rest, direction) {
            ([], Direction::Ascending) => walk_ascending(&merged, begin, wanted, found),
            ([], Direction::Descending) => walk_descending(&merged, begin, wanted, found),
            _ => self.walk_groups(sets, &merged, *direction, rest, begin, wanted, found),
        }
    }

    /// Goes through the groups of the first term, each in the order of the terms that follow.
    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of one recursive walk, which no type of their own would clear"
    )]
    fn walk_groups(
        &self,
        sets: &[&Runs],
        merged: &Merged<'_>,
        direction: Direction,
        rest: &[Term],
        begin: Begin<'_>,
        wanted: usize,
        found: &mut Vec<RowId>,
    ) {
        let Some((mut group, mut begin)) = first_group(merged, direction, begin) else { return };
        loop {
            if let Some(whole) = whole_runs(sets, merged, &group) {
                self.walk(&whole, rest, begin, wanted, found);
            } else {
                let spans = merged.runs.iter().zip(&group.from).zip(&group.to);
                let rows = spans.flat_map(|((run, from), to)| run.between(*from, *to)).collect();
                found.extend(self.window(rows, rest, begin, wanted - found.len()));
            }
            if found.len() >= wanted {
                return;
            }
            begin = Begin::Rank(0);
            match merged.group_after(group, direction) {
                Some(next) => group = next,
                None => return,
            }
        }
    }
}

fn walk_ascending(merged: &Merged<'_>, begin: Begin<'_>, wanted: usize, found: &mut Vec<RowId>) {
    let from = match begin {
        Begin::Rank(rank) => merged.select(rank, &merged.start(), &merged.end()),
        Begin::Behind(keys, id) => {
            let place = (keys.first().map_or(&[][..], Vec::as_slice), id);
            merged.partition(|key| key <= place)
        }
    };
    merged.take(&from, &merged.end(), wanted, found);
}

/// From group to group, greatest key first, each group by ascending id. What is left of the list is always what lies
/// before one position.
fn walk_descending(merged: &Merged<'_>, begin: Begin<'_>, wanted: usize, found: &mut Vec<RowId>) {
    let mut left = match begin {
        Begin::Rank(rank) => {
            let Some(before) = merged.len().checked_sub(rank) else { return };
            let position = merged.select(before, &merged.start(), &merged.end());
            match merged.group_around(&position) {
                None => position,
                // The page begins within a group: its first rows belong to what came before.
                Some(group) => {
                    let passed = merged.rank(&group.to) - before;
                    let from = merged.select(passed, &group.from, &group.to);
                    merged.take(&from, &group.to, wanted, found);
                    group.from
                }
            }
        }
        Begin::Behind(keys, id) => {
            let key = keys.first().map_or(&[][..], Vec::as_slice);
            let group = merged.group_of_key(key);
            merged.take(&merged.partition(|other| other <= (key, id)), &group.to, wanted, found);
            group.from
        }
    };
    loop {
        merged.take_single_descending(&mut left, wanted, found);
        if found.len() >= wanted {
            return;
        }
        let Some(group) = merged.group_before(left) else { return };
        merged.take(&group.from, &group.to, wanted, found);
        left = group.from;
    }
}

/// The group where a list begins, and where in that group.
fn first_group<'a, 'q>(
    merged: &Merged<'a>,
    direction: Direction,
    begin: Begin<'q>,
) -> Option<(Group<'a>, Begin<'q>)> {
    match begin {
        Begin::Rank(rank) => {
            let (group, before) = merged.group_of_rank(rank, direction)?;
            Some((group, Begin::Rank(rank - before)))
        }
        Begin::Behind(keys, id) => {
            let (key, rest) = keys.split_first()?;
            let group = merged.group_from_key(key, direction)?;
            let begin = if group.key == key.as_slice() { Begin::Behind(rest, id) } else { Begin::Rank(0) };
            Some((group, begin))
        }
    }
}

/// The sets of runs that make up a group, if each belongs to it whole or not at all. Their order by the terms that
/// follow is then there already, and nothing need be sorted.
fn whole_runs<'s>(sets: &[&'s Runs], merged: &Merged<'_>, group: &Group<'_>) -> Option<Vec<&'s Runs>> {
    let mut whole = Vec::new();
    for (((set, run), from), to) in sets.iter().zip(&merged.runs).zip(&group.from).zip(&group.to) {
        if from == to {
            continue;
        }
        if *from != Place::default() || *to != run.end() {
            return None;
        }
        whole.push(*set);
    }
    Some(whole)
}
