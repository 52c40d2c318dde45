//! Revisions of organizations that have lost their last records.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::random::{Model, put};
use super::write;
use crate::store::index::{Index, MAX_EMPTIED};
use crate::store::{Facets, Key, Name, Precondition, Write};

const KIND: Name = Name::new("thing");

fn of(organization: u128) -> Facets {
    Facets::default().with_organization(Uuid::from_u128(organization))
}

#[test]
fn memory_of_emptied_organizations_is_bounded_and_no_revision_repeats() {
    let (mut index, mut model) = (Index::default(), Model::new());
    let [recurring, key] = [1, 2].map(|id| Key::new(KIND, Uuid::from_u128(id)));
    let delete = |key| Write::Delete { key, precondition: Precondition::Present };
    let mut seen = BTreeSet::new();
    let mut note = |index: &Index| {
        assert!(seen.insert(index.revision(KIND, Uuid::from_u128(1)).number()));
    };
    for round in 0..5 {
        note(&index);
        write(&mut index, &mut model, &[put(recurring, of(1))]);
        note(&index);
        write(&mut index, &mut model, &[delete(recurring)]);
        // Others are created and deleted, more and more of them.
        for organization in 0..20 * round {
            let before = index.revision(KIND, Uuid::from_u128(1));
            write(&mut index, &mut model, &[put(key, of(1_000 + 100 * round + organization))]);
            assert_eq!(index.revision(KIND, Uuid::from_u128(1)), before);
            write(&mut index, &mut model, &[delete(key)]);
            let emptied: usize = index.tables.values().map(super::super::KindTable::emptied).sum();
            assert!(emptied <= MAX_EMPTIED, "{emptied}");
        }
    }
    // More have been emptied than are remembered.
    assert!(model.is_empty());
}

#[test]
fn changes_since_a_revision_are_known_while_they_are_remembered() {
    let (mut index, mut model) = (Index::default(), Model::new());
    let organization = Uuid::from_u128(1);
    let put_one = |index: &mut Index, model: &mut Model, id, organization| {
        write(index, model, &[put(Key::new(KIND, Uuid::from_u128(id)), of(organization))]);
    };
    assert_eq!(index.changed_since(KIND, organization, index.revision(KIND, organization)), Some(Vec::new()));
    let empty = index.revision(KIND, organization);
    put_one(&mut index, &mut model, 7, 1);
    let before = index.revision(KIND, organization);
    put_one(&mut index, &mut model, 9, 1);
    put_one(&mut index, &mut model, 8, 2);
    put_one(&mut index, &mut model, 9, 1);
    assert_eq!(index.changed_since(KIND, organization, before), Some(vec![Uuid::from_u128(9)]));
    assert_eq!(index.changed_since(KIND, organization, empty), Some([7, 9].map(Uuid::from_u128).to_vec()));
    // The state of another index.
    assert_eq!(Index::default().changed_since(KIND, organization, before), None);
    // Later changes of another organization take the places of the remembered ones.
    for id in 100..200 {
        put_one(&mut index, &mut model, id, 2);
    }
    assert_eq!(index.changed_since(KIND, organization, before), None);
    let now = index.revision(KIND, organization);
    assert_eq!(index.changed_since(KIND, organization, now), Some(Vec::new()));
}
