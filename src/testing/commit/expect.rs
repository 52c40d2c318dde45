use crate::store::{Alias, Batch, Expect, Facets, Key, StoreErrorKind, Version};
use crate::testing::{Bench, Outcome, aliased, delete, holds, put, ranked, same};

crate::testing::table! { of "commit":
    "What a write or a check expects of the record it names, at the moment of the commit" =>
        a_put_that_finds_what_it_expects_is_carried_out,
        a_delete_that_finds_what_it_expects_is_carried_out;
    "With [`Expect::Any`] it is no error that there is none" =>
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
    fn batch(self, key: Key, expect: Expect) -> Batch {
        match self {
            Self::Put => put(key, expect, Facets::default()),
            Self::Delete => delete(key, expect),
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
    for expect in [Expect::Absent, Expect::Any] {
        let key = bench.key();
        succeeds(&bench, change, key, expect).await?;
    }
    for expect in [Expect::Present, Expect::Any] {
        let key = bench.key();
        bench.put(key, Facets::default(), "there").await?;
        succeeds(&bench, change, key, expect).await?;
    }
    let key = bench.key();
    let version = bench.put(key, Facets::default(), "there").await?.version;
    succeeds(&bench, change, key, Expect::Version(version)).await
}

async fn succeeds(bench: &Bench, change: Change, key: Key, expect: Expect) -> Outcome {
    let before = bench.read(key).await?;
    bench.store.commit(change.batch(key, expect)).await?;
    let after = bench.read(key).await?;
    let (there, changed) = (after.is_some(), after != before);
    match change {
        Change::Put => {
            holds(there && changed, &format!("{expect:?} was met, and the put was not carried out"))
        }
        Change::Delete => holds(!there, &format!("{expect:?} was met, and the delete was not carried out")),
    }
}

async fn deleting_what_is_not_there_is_no_error(mut bench: Bench) -> Outcome {
    let [never, deleted] = bench.keys();
    bench.put(deleted, Facets::default(), "deleted").await?;
    bench.delete(deleted).await?;
    let mut batch = delete(never, Expect::Any);
    batch.delete(deleted, Expect::Any);
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
    for expect in [Expect::Present, Expect::Version(version), Expect::Version(Version(0))] {
        conflicts(&bench, "of a missing record", change, missing, expect).await?;
    }
    conflicts(&bench, "of a record that is there", change, there, Expect::Absent).await?;
    for wrong in [others, lower, higher] {
        conflicts(&bench, "of a record of another version", change, there, Expect::Version(wrong)).await?;
    }
    Ok(())
}

async fn a_version_from_before_a_put_or_a_delete_is_a_conflict(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let first = Expect::Version(bench.put(key, Facets::default(), "first").await?.version);
    let second = Expect::Version(bench.put(key, Facets::default(), "second").await?.version);
    for change in [Change::Put, Change::Delete] {
        conflicts(&bench, "after a put", change, key, first).await?;
    }
    bench.delete(key).await?;
    for change in [Change::Put, Change::Delete] {
        conflicts(&bench, "after a delete", change, key, second).await?;
    }
    Ok(())
}

async fn conflicts(bench: &Bench, of: &str, change: Change, key: Key, expect: Expect) -> Outcome {
    let change_text = match change {
        Change::Put => "a put",
        Change::Delete => "a delete",
    };
    let what = format!("{change_text} that expects {expect:?} {of}");
    bench.refuses(&what, change.batch(key, expect), StoreErrorKind::Conflict(key)).await
}

async fn the_conflict_names_the_record_that_is_not_as_expected(mut bench: Bench) -> Outcome {
    let [a, b, c] = bench.keys();
    let namesake = Key::new(bench.other_kind, b.id);
    bench.put(a, Facets::default(), "there").await?;
    let mut batch = put(a, Expect::Present, Facets::default());
    batch.put(namesake, Expect::Absent, Facets::default(), "met");
    batch.delete(b, Expect::Present);
    batch.put(c, Expect::Absent, Facets::default(), "met");
    bench.refuses("one of four writes", batch, StoreErrorKind::Conflict(b)).await
}

async fn nothing_of_a_refused_batch_is_carried_out(mut bench: Bench) -> Outcome {
    let [created, replaced, deleted, unmet] = bench.keys();
    let (kept, claimed) = (bench.alias(), bench.alias());
    bench.put(replaced, aliased(&[&kept]), "before").await?;
    bench.put(deleted, ranked(b"a"), "before").await?;
    for unmet_first in [true, false] {
        let mut batch = Batch::new();
        if unmet_first {
            batch.delete(unmet, Expect::Present);
        }
        batch.put(created, Expect::Absent, aliased(&[&claimed]), "created");
        batch.put(replaced, Expect::Present, Facets::default(), "after");
        batch.delete(deleted, Expect::Present);
        if !unmet_first {
            batch.delete(unmet, Expect::Present);
        }
        bench.refuses("a batch with one unmet write", batch, StoreErrorKind::Conflict(unmet)).await?;
        holders_are(&bench, &[(&kept, Some(replaced)), (&claimed, None)]).await?;
    }
    Ok(())
}

async fn holders_are(bench: &Bench, expected: &[(&Alias, Option<Key>)]) -> Outcome {
    for (alias, holder) in expected {
        same("the holder of an alias after a refused batch", &bench.holder(alias).await?, holder)?;
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
        conflicts(&bench, "after it was made again", change, key, Expect::Version(old)).await?;
    }
    succeeds(&bench, Change::Put, key, Expect::Version(new)).await
}
