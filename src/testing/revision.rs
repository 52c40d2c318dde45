use std::collections::BTreeMap;

use uuid::Uuid;

use super::race::crowd;
use super::{Bench, Fault, Outcome, Random, delete, expiring, of, put, ranked, same};
use crate::store::{Facets, Key, Precondition, Query, Record, Revision, Store};

super::table! { of "revision":
    "Two states that differ never have the same revision" =>
        every_change_gives_another_revision,
        a_record_that_comes_or_goes_changes_the_organization_that_it_leaves_and_the_one_that_it_joins,
        what_is_purged_gives_another_revision;
    "Nor has a state that came back after another" =>
        a_state_that_comes_back_has_another_revision;
    "It depends on nothing of another organization" =>
        an_organization_that_comes_and_goes_changes_no_revision_of_another;
    "all records of this kind and organization were what they are" =>
        lists_between_two_calls_that_give_the_same_revision_are_of_one_state;
}

/// A store that cannot tell has nothing to prove.
async fn revision(bench: &Bench, organization: Uuid) -> Outcome<Option<Revision>> {
    Ok(bench.store.revision(bench.kind, organization).await?)
}

/// That none of them is there twice.
fn all_differ(revisions: &[Option<Revision>]) -> Outcome {
    for (place, revision) in revisions.iter().enumerate() {
        let twice = revision.is_some() && revisions.iter().skip(place + 1).any(|other| other == revision);
        same(&format!("whether the revision of state {place} comes back"), &twice, &false)?;
    }
    Ok(())
}

async fn every_change_gives_another_revision(mut bench: Bench) -> Outcome {
    let (organization, [first, second]) = (bench.random.uuid(), bench.keys());
    let facets = of(Some(organization), None);
    let mut revisions = vec![revision(&bench, organization).await?];
    bench.put(first, facets.clone(), "one").await?;
    revisions.push(revision(&bench, organization).await?);
    bench.put(second, facets.clone(), "one").await?;
    revisions.push(revision(&bench, organization).await?);
    bench.put(first, facets.clone(), "two").await?;
    revisions.push(revision(&bench, organization).await?);
    bench.put(first, Facets { sort_keys: ranked(b"1").sort_keys, ..facets.clone() }, "two").await?;
    revisions.push(revision(&bench, organization).await?);
    bench.delete(second).await?;
    revisions.push(revision(&bench, organization).await?);
    bench.delete(first).await?;
    revisions.push(revision(&bench, organization).await?);
    all_differ(&revisions)
}

async fn a_record_that_comes_or_goes_changes_the_organization_that_it_leaves_and_the_one_that_it_joins(
    mut bench: Bench,
) -> Outcome {
    let ([from, to], key) = (bench.ids(), bench.key());
    bench.put(key, of(Some(from), None), "a record").await?;
    let before = [revision(&bench, from).await?, revision(&bench, to).await?];
    bench.put(key, of(Some(to), None), "a record").await?;
    let after = [revision(&bench, from).await?, revision(&bench, to).await?];
    for (before, after) in before.into_iter().zip(after) {
        all_differ(&[before, after])?;
    }
    Ok(())
}

async fn what_is_purged_gives_another_revision(mut bench: Bench) -> Outcome {
    let (time, organization, [going, staying]) = (bench.antiquity(), bench.random.uuid(), bench.keys());
    bench.put(staying, of(Some(organization), None), "stays").await?;
    bench.put(going, Facets { organization: Some(organization), ..expiring(time) }, "expires").await?;
    let before = revision(&bench, organization).await?;
    bench.store.purge_expired(time).await?;
    all_differ(&[before, revision(&bench, organization).await?])
}

async fn a_state_that_comes_back_has_another_revision(mut bench: Bench) -> Outcome {
    let (organization, key) = (bench.random.uuid(), bench.key());
    let mut revisions = Vec::new();
    for _ in 0..3 {
        revisions.push(revision(&bench, organization).await?);
        bench.put(key, of(Some(organization), None), "a record").await?;
        revisions.push(revision(&bench, organization).await?);
        bench.store.commit(delete(key, Precondition::Present)).await?;
    }
    all_differ(&revisions)
}

async fn an_organization_that_comes_and_goes_changes_no_revision_of_another(mut bench: Bench) -> Outcome {
    let ([empty, full, other], [key, theirs]) = (bench.ids(), bench.keys());
    bench.put(key, of(Some(full), None), "a record").await?;
    let emptied = bench.random.uuid();
    bench.put(theirs, of(Some(emptied), None), "a record").await?;
    bench.delete(theirs).await?;
    let mut before = Vec::new();
    for organization in [empty, full, emptied] {
        before.push((organization, revision(&bench, organization).await?));
    }
    for change in 0..6 {
        if change % 2 == 0 {
            bench.put(theirs, of(Some(other), None), "theirs").await?;
        } else {
            bench.delete(theirs).await?;
        }
        for (organization, revision) in &before {
            let now = bench.store.revision(bench.kind, *organization).await?;
            same("the revision of an organization after changes of another", &now, revision)?;
        }
    }
    Ok(())
}

const CHANGES: usize = 100;
const READERS: usize = 3;

/// The records that a reader saw between two calls that gave the same revision.
type Seen = Vec<(u128, Vec<Record>)>;

async fn lists_between_two_calls_that_give_the_same_revision_are_of_one_state(mut bench: Bench) -> Outcome {
    let (organization, keys) = (bench.random.uuid(), bench.keys::<4>());
    let query = Query { organization: Some(organization), ..bench.query() };
    let seed = bench.random.draw();
    let store = bench.store.clone();
    let tasks = crowd(READERS + 1, move |number| {
        let (store, query, random) = (store.clone(), query.clone(), Random::new(seed));
        async move {
            if number == 0 {
                change(&*store, organization, keys, random).await
            } else {
                watch(&*store, &query).await
            }
        }
    });
    let mut states: BTreeMap<u128, Vec<Record>> = BTreeMap::new();
    for task in tasks.await? {
        for (revision, records) in task? {
            let state = states.entry(revision).or_insert_with(|| records.clone());
            same("the records of one revision", &records, state)?;
        }
    }
    Ok(())
}

async fn change(
    store: &dyn Store,
    organization: Uuid,
    keys: [Key; 4],
    mut random: Random,
) -> Result<Seen, Fault> {
    for _ in 0..CHANGES {
        let Some(key) = keys.get(random.below(4) as usize) else { continue };
        let batch = match random.below(3) {
            0 => delete(*key, Precondition::Any),
            _ => put(*key, Precondition::Any, of(Some(organization), None)),
        };
        store.commit(batch).await?;
    }
    Ok(Seen::new())
}

async fn watch(store: &dyn Store, query: &Query) -> Result<Seen, Fault> {
    let mut seen = Seen::new();
    let organization = query.organization.unwrap_or_default();
    for _ in 0..CHANGES {
        let before = store.revision(query.kind, organization).await?;
        let records = store.list(query).await?.records;
        if let Some(revision) = before
            && store.revision(query.kind, organization).await? == before
        {
            seen.push((revision.number(), records));
        }
    }
    Ok(seen)
}
