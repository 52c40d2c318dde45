use crate::store::Precondition::{Absent, Any, Present};
use crate::store::StoreErrorKind::{Invalid, UniqueKeyTaken};
use crate::store::{Batch, Facets, Key, UniqueKey};
use crate::testing::{CaseOutcome, Fixture, MAIL, delete, expect_equal, put, with_unique_keys};

crate::testing::table! { of "commit":
    "Unique keys are evaluated against the state after the batch, so a batch may move a unique key from \
     one record to another" =>
        unique_key_moves_between_records_in_either_write_order,
        unique_key_moves_from_record_deleted_in_the_batch,
        unique_keys_are_swapped_between_two_records,
        unique_keys_are_rotated_among_five_records,
        unique_key_stays_with_record_when_put_again;
    "If two records would share one, nothing changes and the error is `UniqueKeyTaken`" =>
        unique_key_of_another_record_is_taken,
        unique_key_is_unique_across_kinds,
        unique_key_put_twice_in_a_batch_is_taken,
        failed_batch_releases_no_unique_key;
    "a unique key is longer than [`UniqueKey::MAX_LENGTH`]" =>
        unique_key_of_maximum_length_is_distinguished_by_its_last_byte,
        unique_key_above_maximum_length_is_invalid;
    "`UniqueKeyTaken` with the unique key" =>
        error_names_the_taken_unique_key;
}

async fn unique_key_moves_between_records_in_either_write_order(mut fixture: Fixture) -> CaseOutcome {
    for giver_first in [true, false] {
        let ([giver, taker], unique_key) = (fixture.keys(), fixture.unique_key());
        fixture.put(giver, with_unique_keys(&[&unique_key]), "has it").await?;
        let give = |batch: &mut Batch| {
            batch.put(giver, Present, Facets::default(), "gives");
        };
        let mut batch = Batch::new();
        if giver_first {
            give(&mut batch);
        }
        batch.put(taker, Absent, with_unique_keys(&[&unique_key]), "takes");
        if !giver_first {
            give(&mut batch);
        }
        fixture.store.commit(batch).await?;
        expect_equal("the holder", &fixture.holder(&unique_key).await?, &Some(taker))?;
        let mut back = put(giver, Present, with_unique_keys(&[&unique_key]));
        back.delete(taker, Present);
        fixture.store.commit(back).await?;
        expect_equal("the holder after it moved back", &fixture.holder(&unique_key).await?, &Some(giver))?;
    }
    Ok(())
}

async fn unique_key_moves_from_record_deleted_in_the_batch(mut fixture: Fixture) -> CaseOutcome {
    for delete_first in [true, false] {
        let ([giver, taker], unique_key) = (fixture.keys(), fixture.unique_key());
        fixture.put(giver, with_unique_keys(&[&unique_key]), "has it").await?;
        let mut batch = Batch::new();
        if delete_first {
            batch.delete(giver, Present);
        }
        batch.put(taker, Absent, with_unique_keys(&[&unique_key]), "takes");
        if !delete_first {
            batch.delete(giver, Present);
        }
        fixture.store.commit(batch).await?;
        expect_equal("the holder", &fixture.holder(&unique_key).await?, &Some(taker))?;
    }
    Ok(())
}

async fn unique_keys_are_swapped_between_two_records(mut fixture: Fixture) -> CaseOutcome {
    let ([one, two], a, b) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(one, with_unique_keys(&[&a]), "before").await?;
    fixture.put(two, with_unique_keys(&[&b]), "before").await?;
    let mut batch = put(one, Present, with_unique_keys(&[&b]));
    batch.put(two, Present, with_unique_keys(&[&a]), "after");
    fixture.store.commit(batch).await?;
    expect_equal("the holder of the first", &fixture.holder(&a).await?, &Some(two))?;
    expect_equal("the holder of the second", &fixture.holder(&b).await?, &Some(one))
}

async fn unique_keys_are_rotated_among_five_records(mut fixture: Fixture) -> CaseOutcome {
    let keys: [Key; 5] = fixture.keys();
    let unique_keys: Vec<UniqueKey> = keys.iter().map(|_| fixture.unique_key()).collect();
    for turn in 0..3 {
        let turned: Vec<(&Key, &UniqueKey)> =
            keys.iter().zip(unique_keys.iter().cycle().skip(turn)).collect();
        let mut batch = Batch::new();
        for (key, unique_key) in &turned {
            batch.put(**key, Any, with_unique_keys(&[unique_key]), "in the ring");
        }
        fixture.store.commit(batch).await?;
        for (key, unique_key) in turned {
            expect_equal(
                &format!("a holder after turn {turn}"),
                &fixture.holder(unique_key).await?,
                &Some(*key),
            )?;
        }
    }
    Ok(())
}

async fn unique_key_stays_with_record_when_put_again(mut fixture: Fixture) -> CaseOutcome {
    let (key, kept, added) = (fixture.key(), fixture.unique_key(), fixture.unique_key());
    fixture.put(key, with_unique_keys(&[&kept]), "before").await?;
    let record = fixture.put(key, with_unique_keys(&[&added, &kept]), "after").await?;
    expect_equal("by the unique key it kept", &fixture.record_of(&kept).await?, &Some(record.clone()))?;
    expect_equal("by the unique key it got", &fixture.record_of(&added).await?, &Some(record))
}

async fn unique_key_of_another_record_is_taken(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, new, there], unique_key) = (fixture.keys(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&unique_key]), "has it").await?;
    fixture.put(there, Facets::default(), "wants it").await?;
    for (key, precondition) in [(new, Absent), (there, Present), (there, Any)] {
        let batch = put(key, precondition, with_unique_keys(&[&unique_key]));
        fixture
            .expect_rejected("a claim of a taken unique key", batch, UniqueKeyTaken(unique_key.clone()))
            .await?;
        expect_equal("the holder", &fixture.holder(&unique_key).await?, &Some(holder))?;
    }
    Ok(())
}

async fn unique_key_is_unique_across_kinds(mut fixture: Fixture) -> CaseOutcome {
    let (holder, unique_key) = (fixture.key(), fixture.unique_key());
    let namesake = Key::new(fixture.other_kind, holder.id);
    fixture.put(holder, with_unique_keys(&[&unique_key]), "has it").await?;
    let batch = put(namesake, Absent, with_unique_keys(&[&unique_key]));
    fixture.expect_rejected("a claim by another kind", batch, UniqueKeyTaken(unique_key.clone())).await?;
    let mut pass = put(namesake, Absent, with_unique_keys(&[&unique_key]));
    pass.put(holder, Present, Facets::default(), "gives");
    fixture.store.commit(pass).await?;
    expect_equal(
        "the holder after it moved to another kind",
        &fixture.holder(&unique_key).await?,
        &Some(namesake),
    )
}

async fn unique_key_put_twice_in_a_batch_is_taken(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, one, two], unique_key) = (fixture.keys(), fixture.unique_key());
    let mut batch = put(one, Any, with_unique_keys(&[&unique_key]));
    batch.put(two, Any, with_unique_keys(&[&unique_key]), "claims it too");
    let taken = UniqueKeyTaken(unique_key.clone());
    fixture.expect_rejected("two claims of a free unique key", batch.clone(), taken.clone()).await?;
    expect_equal("the holder", &fixture.holder(&unique_key).await?, &None)?;
    fixture.put(holder, with_unique_keys(&[&unique_key]), "has it").await?;
    batch.delete(holder, Present);
    fixture.expect_rejected("two claims of a unique key freed in the batch", batch, taken).await?;
    expect_equal("the holder", &fixture.holder(&unique_key).await?, &Some(holder))
}

async fn unique_key_of_maximum_length_is_distinguished_by_its_last_byte(mut fixture: Fixture) -> CaseOutcome {
    let ([one, two], stem) = (fixture.keys(), fixture.bytes(UniqueKey::MAX_LENGTH - 1));
    let [a, b] = [b"a", b"b"].map(|end| UniqueKey::new(MAIL, [&stem[..], end].concat()));
    fixture.put(one, with_unique_keys(&[&a]), "one").await?;
    fixture.put(two, with_unique_keys(&[&b]), "two").await?;
    expect_equal("the holder of the first", &fixture.holder(&a).await?, &Some(one))?;
    expect_equal("the holder of the second", &fixture.holder(&b).await?, &Some(two))
}

async fn unique_key_above_maximum_length_is_invalid(mut fixture: Fixture) -> CaseOutcome {
    let ([good, bad], free) = (fixture.keys(), fixture.unique_key());
    let long = UniqueKey::new(MAIL, fixture.bytes(UniqueKey::MAX_LENGTH + 1));
    let mut batch = put(good, Absent, with_unique_keys(&[&free]));
    batch.put(bad, Absent, with_unique_keys(&[&long]), "bad");
    fixture.expect_rejected("a unique key that is one byte too long", batch, Invalid).await?;
    expect_equal("the holder of the other unique key", &fixture.holder(&free).await?, &None)?;
    expect_equal("the holder of the long one", &fixture.holder(&long).await?, &None)
}

async fn failed_batch_releases_no_unique_key(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, giver, taker], taken, given) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&taken]), "has it").await?;
    fixture.put(giver, with_unique_keys(&[&given]), "gives").await?;
    let mut batch = delete(giver, Present);
    batch.put(taker, Absent, with_unique_keys(&[&given, &taken]), "claims both");
    fixture
        .expect_rejected("one free unique key and one taken", batch, UniqueKeyTaken(taken.clone()))
        .await?;
    expect_equal("the holder of the taken one", &fixture.holder(&taken).await?, &Some(holder))?;
    expect_equal("the holder of the one to be given", &fixture.holder(&given).await?, &Some(giver))
}

async fn error_names_the_taken_unique_key(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, one, two], taken) = (fixture.keys(), fixture.unique_key());
    let (free, other) = (fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&taken]), "has it").await?;
    let mut batch = put(one, Absent, with_unique_keys(&[&free]));
    batch.put(two, Absent, with_unique_keys(&[&other, &taken]), "claims one too many");
    fixture.expect_rejected("one of three unique keys", batch, UniqueKeyTaken(taken)).await?;
    expect_equal("the holder of a free one", &fixture.holder(&free).await?, &None)
}
