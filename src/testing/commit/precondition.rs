use crate::store::{Batch, Facets, Key, Precondition, StoreErrorKind, UniqueKey, Version};
use crate::testing::{Bench, Outcome, delete, holds, put, ranked, same, uniquely_keyed};

crate::testing::table! { of "commit":
    "What a write or a check expects of the record it names, at the moment of the commit" =>
        a_put_that_finds_what_it_expects_is_carried_out,
        a_delete_that_finds_what_it_expects_is_carried_out;
    "With [`Precondition::Any`] it is no error that there is none" =>
        deleting_what_is_not_there_is_no_error;
    "`Conflict` and the key" =>
        a_put_that_finds_something_else_is_a_conflict,
        a_delete_that_finds_something_else_is_a_conflict,
        a_version_from_before_a_put_or_a_delete_is_a_conflict,
        the_conflict_names_the_record_that_is_not_as_expected;
    "If one is not met, nothing changes and the error names it" =>
        nothing_of_a_refused_batch_is_carried_out;
    "so a record that was deleted and made again is never taken for the old one" =>
        a_record_made_again_is_not_the_old_one;
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

async fn a_put_that_finds_what_it_expects_is_carried_out(bench: Bench) -> Outcome {
    carries_out_what_finds_what_it_expects(bench, Change::Put).await
}

async fn a_delete_that_finds_what_it_expects_is_carried_out(bench: Bench) -> Outcome {
    carries_out_what_finds_what_it_expects(bench, Change::Delete).await
}

async fn carries_out_what_finds_what_it_expects(mut bench: Bench, change: Change) -> Outcome {
    for precondition in [Precondition::Absent, Precondition::Any] {
        let key = bench.key();
        succeeds(&bench, change, key, precondition).await?;
    }
    for precondition in [Precondition::Present, Precondition::Any] {
        let key = bench.key();
        bench.put(key, Facets::default(), "there").await?;
        succeeds(&bench, change, key, precondition).await?;
    }
    let key = bench.key();
    let version = bench.put(key, Facets::default(), "there").await?.version;
    succeeds(&bench, change, key, Precondition::Version(version)).await
}

async fn succeeds(bench: &Bench, change: Change, key: Key, precondition: Precondition) -> Outcome {
    let before = bench.read(key).await?;
    bench.store.commit(change.batch(key, precondition)).await?;
    let after = bench.read(key).await?;
    let (there, changed) = (after.is_some(), after != before);
    match change {
        Change::Put => {
            holds(there && changed, &format!("{precondition:?} was met, and the put was not carried out"))
        }
        Change::Delete => {
            holds(!there, &format!("{precondition:?} was met, and the delete was not carried out"))
        }
    }
}

async fn deleting_what_is_not_there_is_no_error(mut bench: Bench) -> Outcome {
    let [never, deleted] = bench.keys();
    bench.put(deleted, Facets::default(), "deleted").await?;
    bench.delete(deleted).await?;
    let mut batch = delete(never, Precondition::Any);
    batch.delete(deleted, Precondition::Any);
    bench.store.commit(batch).await?;
    same("the records", &bench.store.get(&[never, deleted]).await?, &[None, None])
}

async fn a_put_that_finds_something_else_is_a_conflict(bench: Bench) -> Outcome {
    refuses_what_finds_something_else(bench, Change::Put).await
}

async fn a_delete_that_finds_something_else_is_a_conflict(bench: Bench) -> Outcome {
    refuses_what_finds_something_else(bench, Change::Delete).await
}

async fn refuses_what_finds_something_else(mut bench: Bench, change: Change) -> Outcome {
    let [missing, there, other] = bench.keys();
    let version = bench.put(there, Facets::default(), "there").await?.version;
    let others = bench.put(other, Facets::default(), "another").await?.version;
    let (lower, higher) = (Version(version.0.wrapping_sub(1)), Version(version.0.wrapping_add(1)));
    for precondition in
        [Precondition::Present, Precondition::Version(version), Precondition::Version(Version(0))]
    {
        conflicts(&bench, "of a missing record", change, missing, precondition).await?;
    }
    conflicts(&bench, "of a record that is there", change, there, Precondition::Absent).await?;
    for wrong in [others, lower, higher] {
        conflicts(&bench, "of a record of another version", change, there, Precondition::Version(wrong))
            .await?;
    }
    Ok(())
}

async fn a_version_from_before_a_put_or_a_delete_is_a_conflict(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let first = Precondition::Version(bench.put(key, Facets::default(), "first").await?.version);
    let second = Precondition::Version(bench.put(key, Facets::default(), "second").await?.version);
    for change in [Change::Put, Change::Delete] {
        conflicts(&bench, "after a put", change, key, first).await?;
    }
    bench.delete(key).await?;
    for change in [Change::Put, Change::Delete] {
        conflicts(&bench, "after a delete", change, key, second).await?;
    }
    Ok(())
}

async fn conflicts(bench: &Bench, of: &str, change: Change, key: Key, precondition: Precondition) -> Outcome {
    let change_text = match change {
        Change::Put => "a put",
        Change::Delete => "a delete",
    };
    let what = format!("{change_text} that expects {precondition:?} {of}");
    bench.refuses(&what, change.batch(key, precondition), StoreErrorKind::Conflict(key)).await
}

async fn the_conflict_names_the_record_that_is_not_as_expected(mut bench: Bench) -> Outcome {
    let [a, b, c] = bench.keys();
    let namesake = Key::new(bench.other_kind, b.id);
    bench.put(a, Facets::default(), "there").await?;
    let mut batch = put(a, Precondition::Present, Facets::default());
    batch.put(namesake, Precondition::Absent, Facets::default(), "met");
    batch.delete(b, Precondition::Present);
    batch.put(c, Precondition::Absent, Facets::default(), "met");
    bench.refuses("one of four writes", batch, StoreErrorKind::Conflict(b)).await
}

async fn nothing_of_a_refused_batch_is_carried_out(mut bench: Bench) -> Outcome {
    let [created, replaced, deleted, unmet] = bench.keys();
    let (kept, claimed) = (bench.unique_key(), bench.unique_key());
    bench.put(replaced, uniquely_keyed(&[&kept]), "before").await?;
    bench.put(deleted, ranked(b"a"), "before").await?;
    for unmet_first in [true, false] {
        let mut batch = Batch::new();
        if unmet_first {
            batch.delete(unmet, Precondition::Present);
        }
        batch.put(created, Precondition::Absent, uniquely_keyed(&[&claimed]), "created");
        batch.put(replaced, Precondition::Present, Facets::default(), "after");
        batch.delete(deleted, Precondition::Present);
        if !unmet_first {
            batch.delete(unmet, Precondition::Present);
        }
        bench.refuses("a batch with one unmet write", batch, StoreErrorKind::Conflict(unmet)).await?;
        holders_are(&bench, &[(&kept, Some(replaced)), (&claimed, None)]).await?;
    }
    Ok(())
}

async fn holders_are(bench: &Bench, expected: &[(&UniqueKey, Option<Key>)]) -> Outcome {
    for (unique_key, holder) in expected {
        same("the holder of a unique key after a refused batch", &bench.holder(unique_key).await?, holder)?;
    }
    Ok(())
}

async fn a_record_made_again_is_not_the_old_one(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let old = bench.put(key, Facets::default(), "the same").await?.version;
    bench.delete(key).await?;
    let new = bench.put(key, Facets::default(), "the same").await?.version;
    holds(new > old, &format!("made again with {new:?}, which is not greater than {old:?}"))?;
    for change in [Change::Put, Change::Delete] {
        conflicts(&bench, "after it was made again", change, key, Precondition::Version(old)).await?;
    }
    succeeds(&bench, Change::Put, key, Precondition::Version(new)).await
}
