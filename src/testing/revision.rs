use std::collections::BTreeMap;

use fastrand::Rng;
use uuid::Uuid;

use super::{
    CaseOutcome, Fixture, Violation, delete, expect_equal, of, put, run_concurrently, with_expiry, with_rank,
};
use crate::invariant::Invariant;
use crate::store::Precondition::{Any, Present};
use crate::store::{Facets, Key, Query, Record, Revision, Store};

super::table! { of "revision":
    "Two different states never have the same revision" =>
        every_change_gives_new_revision,
        record_moving_between_organizations_changes_both_revisions,
        purge_gives_new_revision;
    "A state that recurs after a different one has a new revision" =>
        recurring_state_gets_new_revision;
    "It depends on no other organization" =>
        changes_in_one_organization_keep_revisions_of_others;
    "all records of this kind and organization were unchanged in between" =>
        lists_between_equal_revisions_are_from_one_state;
}

/// Returns the revision; a store that tracks none passes every case.
pub(super) async fn revision(fixture: &Fixture, organization: Uuid) -> CaseOutcome<Option<Revision>> {
    Ok(fixture.store.revision(fixture.kind, organization).await?)
}

/// Expects that no revision occurs twice.
fn expect_all_different(revisions: &[Option<Revision>]) -> CaseOutcome {
    for (place, revision) in revisions.iter().enumerate() {
        let twice = revision.is_some() && revisions.iter().skip(place + 1).any(|other| other == revision);
        expect_equal(&format!("whether the revision of state {place} recurs"), &twice, &false)?;
    }
    Ok(())
}

async fn every_change_gives_new_revision(mut fixture: Fixture) -> CaseOutcome {
    let (organization, [first, second]) = (fixture.uuid(), fixture.keys());
    let facets = of(Some(organization), None);
    let mut revisions = vec![revision(&fixture, organization).await?];
    fixture.put(first, facets.clone(), "one").await?;
    revisions.push(revision(&fixture, organization).await?);
    fixture.put(second, facets.clone(), "one").await?;
    revisions.push(revision(&fixture, organization).await?);
    fixture.put(first, facets.clone(), "two").await?;
    revisions.push(revision(&fixture, organization).await?);
    fixture.put(first, Facets { sort_keys: with_rank(b"1").sort_keys, ..facets.clone() }, "two").await?;
    revisions.push(revision(&fixture, organization).await?);
    fixture.delete(second).await?;
    revisions.push(revision(&fixture, organization).await?);
    fixture.delete(first).await?;
    revisions.push(revision(&fixture, organization).await?);
    expect_all_different(&revisions)
}

async fn record_moving_between_organizations_changes_both_revisions(mut fixture: Fixture) -> CaseOutcome {
    let ([from, to], key) = (fixture.ids(), fixture.key());
    fixture.put(key, of(Some(from), None), "a record").await?;
    let before = [revision(&fixture, from).await?, revision(&fixture, to).await?];
    fixture.put(key, of(Some(to), None), "a record").await?;
    let after = [revision(&fixture, from).await?, revision(&fixture, to).await?];
    for (before, after) in before.into_iter().zip(after) {
        expect_all_different(&[before, after])?;
    }
    Ok(())
}

async fn purge_gives_new_revision(mut fixture: Fixture) -> CaseOutcome {
    let (time, organization, [going, staying]) = (fixture.ancient_time(), fixture.uuid(), fixture.keys());
    fixture.put(staying, of(Some(organization), None), "stays").await?;
    fixture.put(going, Facets { organization: Some(organization), ..with_expiry(time) }, "expires").await?;
    let before = revision(&fixture, organization).await?;
    fixture.store.purge_expired(time).await?;
    expect_all_different(&[before, revision(&fixture, organization).await?])
}

async fn recurring_state_gets_new_revision(mut fixture: Fixture) -> CaseOutcome {
    let (organization, key) = (fixture.uuid(), fixture.key());
    let mut revisions = Vec::new();
    for _ in 0..3 {
        revisions.push(revision(&fixture, organization).await?);
        fixture.put(key, of(Some(organization), None), "a record").await?;
        revisions.push(revision(&fixture, organization).await?);
        fixture.store.commit(delete(key, Present)).await?;
    }
    expect_all_different(&revisions)
}

async fn changes_in_one_organization_keep_revisions_of_others(mut fixture: Fixture) -> CaseOutcome {
    let ([empty, full, other], [key, theirs]) = (fixture.ids(), fixture.keys());
    fixture.put(key, of(Some(full), None), "a record").await?;
    let emptied = fixture.uuid();
    fixture.put(theirs, of(Some(emptied), None), "a record").await?;
    fixture.delete(theirs).await?;
    let mut before = Vec::new();
    for organization in [empty, full, emptied] {
        before.push((organization, revision(&fixture, organization).await?));
    }
    for change in 0..6 {
        if change % 2 == 0 {
            fixture.put(theirs, of(Some(other), None), "theirs").await?;
        } else {
            fixture.delete(theirs).await?;
        }
        for (organization, revision) in &before {
            let now = fixture.store.revision(fixture.kind, *organization).await?;
            expect_equal("the revision of an organization after changes of another", &now, revision)?;
        }
    }
    Ok(())
}

const CHANGES: usize = 100;
const READERS: usize = 3;

/// The records that a reader saw between two equal revisions.
type Seen = Vec<(u128, Vec<Record>)>;

async fn lists_between_equal_revisions_are_from_one_state(mut fixture: Fixture) -> CaseOutcome {
    let (organization, keys) = (fixture.uuid(), fixture.keys::<4>());
    let query = Query { organization: Some(organization), ..fixture.query() };
    let seed = fixture.random.u64(..);
    let store = fixture.store.clone();
    let tasks = run_concurrently(READERS + 1, move |number| {
        let (store, query, random) = (store.clone(), query.clone(), Rng::with_seed(seed));
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
            expect_equal("the records of one revision", &records, state)?;
        }
    }
    Ok(())
}

async fn change(
    store: &dyn Store,
    organization: Uuid,
    keys: [Key; 4],
    mut random: Rng,
) -> Result<Seen, Violation> {
    for _ in 0..CHANGES {
        let Some(key) = random.choice(&keys) else { continue };
        let batch = match random.u8(..3) {
            0 => delete(*key, Any),
            _ => put(*key, Any, of(Some(organization), None)),
        };
        store.commit(batch).await?;
    }
    Ok(Seen::new())
}

async fn watch(store: &dyn Store, query: &Query) -> Result<Seen, Violation> {
    let mut seen = Seen::new();
    let organization = query.organization.asserted_or_default();
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
