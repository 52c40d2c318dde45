//! Preconditions of puts and deletes.

use crate::store::Precondition::{Absent, Any, Present};
use crate::store::StoreErrorKind::Conflict;
use crate::store::{Batch, Facets, Key, Precondition, Version};
use crate::testing::{CaseOutcome, Fixture, delete, expect, expect_equal, put};

crate::testing::table! {
    of "commit":
    "The state that a record must be in for a batch to be applied" =>
        put_is_applied_if_precondition_holds,
        delete_is_applied_if_precondition_holds;
    "With [`Precondition::Any`], deleting a missing record is not an error" =>
        delete_of_missing_record_succeeds;
    "`Conflict` with the key" =>
        put_conflicts_if_precondition_fails,
        delete_conflicts_if_precondition_fails,
        outdated_version_conflicts_after_put_or_delete,
        conflict_names_the_record_whose_precondition_failed;
    "so a record that is deleted and created again never has an old version" =>
        recreated_record_does_not_match_old_version;
}

#[derive(Clone, Copy)]
enum Change {
    Put,
    Delete,
}

impl Change {
    fn batch(self, key: Key, precondition: Precondition) -> Batch {
        match self {
            Self::Put => put(key, precondition, Facets::default()),
            Self::Delete => delete(key, precondition),
        }
    }
}

async fn put_is_applied_if_precondition_holds(fixture: Fixture) -> CaseOutcome {
    expect_all_applied(fixture, Change::Put).await
}

async fn delete_is_applied_if_precondition_holds(fixture: Fixture) -> CaseOutcome {
    expect_all_applied(fixture, Change::Delete).await
}

async fn expect_all_applied(mut fixture: Fixture, change: Change) -> CaseOutcome {
    for precondition in [Absent, Any] {
        let key = fixture.key();
        expect_applied(&fixture, change, key, precondition).await?;
    }
    for precondition in [Present, Any] {
        let key = fixture.key();
        fixture.put(key, Facets::default(), "there").await?;
        expect_applied(&fixture, change, key, precondition).await?;
    }
    let key = fixture.key();
    let version = fixture.put(key, Facets::default(), "there").await?.version;
    expect_applied(&fixture, change, key, Precondition::Version(version)).await
}

async fn expect_applied(
    fixture: &Fixture,
    change: Change,
    key: Key,
    precondition: Precondition,
) -> CaseOutcome {
    let before = fixture.read(key).await?;
    fixture.store.commit(change.batch(key, precondition)).await?;
    let after = fixture.read(key).await?;
    let (there, changed) = (after.is_some(), after != before);
    match change {
        Change::Put => {
            expect(there && changed, &format!("{precondition:?} holds, but the put was not applied"))
        }
        Change::Delete => expect(!there, &format!("{precondition:?} holds, but the delete was not applied")),
    }
}

async fn delete_of_missing_record_succeeds(mut fixture: Fixture) -> CaseOutcome {
    let [never, deleted] = fixture.keys();
    fixture.put(deleted, Facets::default(), "deleted").await?;
    fixture.delete(deleted).await?;
    let mut batch = delete(never, Any);
    batch.delete(deleted, Any);
    fixture.store.commit(batch).await?;
    expect_equal("the records", &fixture.store.get(&[never, deleted]).await?, &[None, None])
}

async fn put_conflicts_if_precondition_fails(fixture: Fixture) -> CaseOutcome {
    expect_all_conflict(fixture, Change::Put).await
}

async fn delete_conflicts_if_precondition_fails(fixture: Fixture) -> CaseOutcome {
    expect_all_conflict(fixture, Change::Delete).await
}

async fn expect_all_conflict(mut fixture: Fixture, change: Change) -> CaseOutcome {
    let [missing, there, other] = fixture.keys();
    let version = fixture.put(there, Facets::default(), "there").await?.version;
    let others = fixture.put(other, Facets::default(), "another").await?.version;
    let (lower, higher) = (Version(version.0.wrapping_sub(1)), Version(version.0.wrapping_add(1)));
    for precondition in [Present, Precondition::Version(version), Precondition::Version(Version(0))] {
        expect_conflict(&fixture, "of a missing record", change, missing, precondition).await?;
    }
    expect_conflict(&fixture, "of an existing record", change, there, Absent).await?;
    for wrong in [others, lower, higher] {
        expect_conflict(
            &fixture,
            "of a record of another version",
            change,
            there,
            Precondition::Version(wrong),
        )
        .await?;
    }
    Ok(())
}

async fn outdated_version_conflicts_after_put_or_delete(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let first = Precondition::Version(fixture.put(key, Facets::default(), "first").await?.version);
    let second = Precondition::Version(fixture.put(key, Facets::default(), "second").await?.version);
    for change in [Change::Put, Change::Delete] {
        expect_conflict(&fixture, "after a put", change, key, first).await?;
    }
    fixture.delete(key).await?;
    for change in [Change::Put, Change::Delete] {
        expect_conflict(&fixture, "after a delete", change, key, second).await?;
    }
    Ok(())
}

async fn expect_conflict(
    fixture: &Fixture,
    of: &str,
    change: Change,
    key: Key,
    precondition: Precondition,
) -> CaseOutcome {
    let change_text = match change {
        Change::Put => "a put",
        Change::Delete => "a delete",
    };
    let what = format!("{change_text} that expects {precondition:?} {of}");
    fixture.expect_rejected(&what, change.batch(key, precondition), Conflict(key)).await
}

async fn conflict_names_the_record_whose_precondition_failed(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c] = fixture.keys();
    let namesake = Key::new(fixture.other_kind, b.id);
    fixture.put(a, Facets::default(), "there").await?;
    let mut batch = put(a, Present, Facets::default());
    batch.put(namesake, Absent, Facets::default(), "met");
    batch.delete(b, Present);
    batch.put(c, Absent, Facets::default(), "met");
    fixture.expect_rejected("one of four writes", batch, Conflict(b)).await
}

async fn recreated_record_does_not_match_old_version(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let old = fixture.put(key, Facets::default(), "the same").await?.version;
    fixture.delete(key).await?;
    let new = fixture.put(key, Facets::default(), "the same").await?.version;
    expect(new > old, &format!("created again with {new:?}, which is not greater than {old:?}"))?;
    for change in [Change::Put, Change::Delete] {
        expect_conflict(&fixture, "after it was created again", change, key, Precondition::Version(old))
            .await?;
    }
    expect_applied(&fixture, Change::Put, key, Precondition::Version(new)).await
}
