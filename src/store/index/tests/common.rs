//! Targets of links and values of terms that become common while they are written.

use uuid::Uuid;

use super::loaded;
use super::random::Model;
use crate::store::index::rows::common_values::COMMON_FROM;
use crate::store::index::{Index, IndexSnapshot, Packs};
use crate::store::{
    Facets, Key, Link, LinkFilter, Name, Precondition, Query, Term, TermFilter, TermRange, Version, Write,
};

const KIND: Name = Name::new("host");
const TAG: Name = Name::new("tag");
const TARGET: Uuid = Uuid::from_u128(7);

/// Number of records in a test. It is enough for their target to become common, and for a batch to be divided among
/// threads.
const COUNT: usize = 70;

fn key(number: usize) -> Key {
    Key::new(KIND, Uuid::from_u128(number as u128))
}

fn facets() -> Facets {
    let organization = Uuid::from_u128(1);
    let terms = [Term::new(Name::new("word"), "core")];
    Facets::default().with_organization(organization).with_links([Link::new(TAG, TARGET)]).with_terms(terms)
}

fn put(number: usize) -> Write {
    Write::Put {
        key: key(number),
        precondition: Precondition::Any,
        facets: facets(),
        body: bytes::Bytes::new(),
    }
}

fn delete(number: usize) -> Write {
    Write::Delete { key: key(number), precondition: Precondition::Any }
}

fn write(index: &mut Index, writes: &[Write], packs: Packs) {
    index.apply(index.next_version(), writes, packs, |_, _| {});
}

fn tagged(index: &Index) -> usize {
    let filter = LinkFilter::new(TAG, [TARGET]);
    super::page(index, &Query { links: vec![filter], ..Query::new(KIND) }).0.len()
}

fn assert_has(snapshot: &IndexSnapshot, count: usize) {
    assert_eq!(snapshot.len(), count);
    for place in 0..count {
        let (_, _, _, found) = snapshot.entry(place).expect("the row can be read");
        assert_eq!(found, facets());
    }
}

#[test]
fn the_target_of_many_links_is_numbered_however_its_records_were_inserted() {
    let puts: Vec<Write> = (0..COUNT).map(put).collect();
    let (mut one_by_one, mut at_once) = (Index::default(), Index::default());
    puts.chunks(1).for_each(|put| write(&mut one_by_one, put, Packs::default()));
    write(&mut at_once, &puts, Packs::default());
    let model: Model = (0..COUNT).map(|number| (key(number), (Version(1), facets()))).collect();
    for index in [one_by_one, at_once, loaded(&model, Version(1))] {
        assert!(index.rows.common_values().number(TARGET.as_bytes()).is_some());
        assert_eq!(tagged(&index), COUNT);
        assert_has(&index.index_snapshot(), COUNT);
    }
}

#[test]
fn snapshots_and_packers_from_before_a_target_became_common_stay_valid() {
    let mut index = Index::default();
    let before = COMMON_FROM - 2;
    (0..before).for_each(|number| write(&mut index, &[put(number)], Packs::default()));
    let packed = [0, before, COUNT - 1].map(|number| [put(number)]);
    let (snapshot, packer) = (index.index_snapshot(), index.packer(packed.as_flattened()));
    (before..COUNT).for_each(|number| write(&mut index, &[put(number)], Packs::default()));
    assert_has(&snapshot, before);
    for writes in packed {
        let packs = packer.pack(&writes);
        write(&mut index, &writes, packs);
    }
    assert_eq!(tagged(&index), COUNT);
    assert_has(&index.index_snapshot(), COUNT);
    for number in 0..COUNT {
        let delete = Write::Delete { key: key(number), precondition: Precondition::Present };
        write(&mut index, &[delete], Packs::default());
        assert_eq!(tagged(&index), COUNT - 1 - number);
    }
    assert_has(&snapshot, before);
}

/// Writes batches that delete records and insert others, whose rows get the numbers of the deleted ones in any order.
#[test]
fn records_that_take_the_places_of_deleted_ones_are_found_by_their_terms() {
    let (mut index, mut random) = (Index::default(), fastrand::Rng::with_seed(3));
    let (mut there, mut next) = (Vec::new(), 0);
    for _ in 0..60 {
        random.shuffle(&mut there);
        let kept = there.len() - random.usize(..=there.len().min(600));
        let mut writes: Vec<Write> = there.drain(kept..).map(delete).collect();
        let new = next..next + random.usize(..700);
        next = new.end;
        writes.extend(new.clone().map(put));
        there.extend(new);
        let packs = index.packer(&writes).pack(&writes);
        write(&mut index, &writes, packs);
        let word = TermFilter::new(Name::new("word"), [TermRange::exact("core")]);
        let found = super::page(&index, &Query { terms: vec![word], ..Query::new(KIND) }).0;
        there.sort_unstable();
        let expected = there.iter().map(|number| key(*number));
        assert!(found.iter().map(|(key, _)| *key).eq(expected));
    }
}
