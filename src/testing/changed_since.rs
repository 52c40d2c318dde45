use std::collections::BTreeMap;

use uuid::Uuid;

use super::revision::revision;
use super::{CaseOutcome, Fixture, delete, expect_equal, of, put, with_expiry};
use crate::store::Precondition::Any;
use crate::store::{Facets, Query, Revision, Store, Version};

super::table! { of "changed_since":
    "Every record that was put, deleted or purged, or that has joined or left the organization" =>
        every_changed_record_is_named,
        purged_record_is_named;
    "They are in ascending order, each once" =>
        changed_records_are_named_in_order;
    "For a revision that the store does not know" =>
        changes_since_unknown_revision_are_unknown;
}

/// Returns the ids of the records that have changed since a revision; `None` from a store that does not know them.
async fn changed_since(
    fixture: &Fixture,
    organization: Uuid,
    revision: Option<Revision>,
) -> CaseOutcome<Option<Vec<Uuid>>> {
    let Some(revision) = revision else { return Ok(None) };
    Ok(fixture.store.changed_since(fixture.kind, organization, revision).await?)
}

/// The records of an organization, by id, each with its version.
type State = BTreeMap<Uuid, Version>;

async fn state(fixture: &Fixture, organization: Uuid) -> CaseOutcome<State> {
    let query = Query { organization: Some(organization), ..fixture.query() };
    let records = fixture.store.list(&query).await?.records;
    Ok(records.into_iter().map(|record| (record.key.id, record.version)).collect())
}

async fn every_changed_record_is_named(mut fixture: Fixture) -> CaseOutcome {
    let ([home, other], keys) = (fixture.ids(), fixture.keys::<4>());
    let mut states = vec![(revision(&fixture, home).await?, State::new())];
    for _ in 0..40 {
        let Some(key) = fixture.random.choice(&keys).copied() else { continue };
        let batch = match fixture.random.u8(..4) {
            0 => delete(key, Any),
            1 => put(key, Any, of(Some(other), None)),
            _ => put(key, Any, of(Some(home), None)),
        };
        fixture.store.commit(batch).await?;
        let now = state(&fixture, home).await?;
        for (revision, before) in &states {
            let Some(named) = changed_since(&fixture, home, *revision).await? else { continue };
            let changed = keys.iter().map(|key| key.id).filter(|id| before.get(id) != now.get(id));
            let missing: Vec<Uuid> = changed.filter(|id| !named.contains(id)).collect();
            expect_equal("the changed records that are not named", &missing, &Vec::<Uuid>::new())?;
        }
        states.push((revision(&fixture, home).await?, now));
    }
    Ok(())
}

async fn purged_record_is_named(mut fixture: Fixture) -> CaseOutcome {
    let (time, organization, key) = (fixture.ancient_time(), fixture.uuid(), fixture.key());
    fixture.put(key, Facets { organization: Some(organization), ..with_expiry(time) }, "expires").await?;
    let before = revision(&fixture, organization).await?;
    fixture.store.purge_expired(time).await?;
    match changed_since(&fixture, organization, before).await? {
        Some(named) => expect_equal("whether the purged record is named", &named.contains(&key.id), &true),
        None => Ok(()),
    }
}

async fn changed_records_are_named_in_order(mut fixture: Fixture) -> CaseOutcome {
    let (organization, keys) = (fixture.uuid(), fixture.keys::<3>());
    let earlier = fixture.key();
    fixture.put(earlier, of(Some(organization), None), "before").await?;
    let before = revision(&fixture, organization).await?;
    for key in keys.iter().rev().chain(&keys) {
        fixture.put(*key, of(Some(organization), None), "a record").await?;
    }
    let Some(named) = changed_since(&fixture, organization, before).await? else { return Ok(()) };
    let is_ascending = named.is_sorted_by(|one, next| one < next);
    expect_equal("whether the ids are in ascending order, each once", &is_ascending, &true)
}

async fn changes_since_unknown_revision_are_unknown(mut fixture: Fixture) -> CaseOutcome {
    let (organization, key) = (fixture.uuid(), fixture.key());
    fixture.put(key, of(Some(organization), None), "a record").await?;
    let unknown = Revision::new(fixture.random.u128(..));
    let named = fixture.store.changed_since(fixture.kind, organization, unknown).await?;
    expect_equal("the changes since an unknown revision", &named, &None)
}
