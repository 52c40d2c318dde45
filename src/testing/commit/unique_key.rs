use crate::store::{Batch, Facets, Key, Precondition, StoreErrorKind, UniqueKey};
use crate::testing::{Bench, MAIL, Outcome, delete, put, same, uniquely_keyed};

crate::testing::table! { of "commit":
    "Unique keys are about the state after the batch: a unique key may pass from one record to another within it" =>
        a_unique_key_passes_to_another_record_in_either_order,
        a_unique_key_passes_on_from_a_record_deleted_in_the_batch,
        two_records_swap_their_unique_keys,
        unique_keys_move_round_in_a_ring,
        a_record_keeps_its_unique_key_when_put_again;
    "If two records would share one, nothing changes and the error is `UniqueKeyTaken`" =>
        a_unique_key_of_another_record_is_taken,
        a_unique_key_is_unique_across_kinds,
        a_unique_key_claimed_twice_by_a_batch_is_taken,
        a_refused_claim_frees_nothing;
    "a unique key is longer than [`UniqueKey::MAX_LENGTH`]" =>
        a_unique_key_of_the_greatest_length_is_told_by_its_last_byte,
        a_longer_unique_key_is_invalid;
    "`UniqueKeyTaken` and the unique key" =>
        the_error_names_the_unique_key_that_is_taken;
}

async fn a_unique_key_passes_to_another_record_in_either_order(mut bench: Bench) -> Outcome {
    for giver_first in [true, false] {
        let ([giver, taker], unique_key) = (bench.keys(), bench.unique_key());
        bench.put(giver, uniquely_keyed(&[&unique_key]), "has it").await?;
        let give = |batch: &mut Batch| {
            batch.put(giver, Precondition::Present, Facets::default(), "gives");
        };
        let mut batch = Batch::new();
        if giver_first {
            give(&mut batch);
        }
        batch.put(taker, Precondition::Absent, uniquely_keyed(&[&unique_key]), "takes");
        if !giver_first {
            give(&mut batch);
        }
        bench.store.commit(batch).await?;
        same("the holder", &bench.holder(&unique_key).await?, &Some(taker))?;
        let mut back = put(giver, Precondition::Present, uniquely_keyed(&[&unique_key]));
        back.delete(taker, Precondition::Present);
        bench.store.commit(back).await?;
        same("the holder after it has passed back", &bench.holder(&unique_key).await?, &Some(giver))?;
    }
    Ok(())
}

async fn a_unique_key_passes_on_from_a_record_deleted_in_the_batch(mut bench: Bench) -> Outcome {
    for delete_first in [true, false] {
        let ([giver, taker], unique_key) = (bench.keys(), bench.unique_key());
        bench.put(giver, uniquely_keyed(&[&unique_key]), "has it").await?;
        let mut batch = Batch::new();
        if delete_first {
            batch.delete(giver, Precondition::Present);
        }
        batch.put(taker, Precondition::Absent, uniquely_keyed(&[&unique_key]), "takes");
        if !delete_first {
            batch.delete(giver, Precondition::Present);
        }
        bench.store.commit(batch).await?;
        same("the holder", &bench.holder(&unique_key).await?, &Some(taker))?;
    }
    Ok(())
}

async fn two_records_swap_their_unique_keys(mut bench: Bench) -> Outcome {
    let ([one, two], a, b) = (bench.keys(), bench.unique_key(), bench.unique_key());
    bench.put(one, uniquely_keyed(&[&a]), "before").await?;
    bench.put(two, uniquely_keyed(&[&b]), "before").await?;
    let mut batch = put(one, Precondition::Present, uniquely_keyed(&[&b]));
    batch.put(two, Precondition::Present, uniquely_keyed(&[&a]), "after");
    bench.store.commit(batch).await?;
    same("the holder of the first", &bench.holder(&a).await?, &Some(two))?;
    same("the holder of the second", &bench.holder(&b).await?, &Some(one))
}

async fn unique_keys_move_round_in_a_ring(mut bench: Bench) -> Outcome {
    let keys: [Key; 5] = bench.keys();
    let unique_keys: Vec<UniqueKey> = keys.iter().map(|_| bench.unique_key()).collect();
    for turn in 0..3 {
        let turned: Vec<(&Key, &UniqueKey)> =
            keys.iter().zip(unique_keys.iter().cycle().skip(turn)).collect();
        let mut batch = Batch::new();
        for (key, unique_key) in &turned {
            batch.put(**key, Precondition::Any, uniquely_keyed(&[unique_key]), "in the ring");
        }
        bench.store.commit(batch).await?;
        for (key, unique_key) in turned {
            same(&format!("a holder after turn {turn}"), &bench.holder(unique_key).await?, &Some(*key))?;
        }
    }
    Ok(())
}

async fn a_record_keeps_its_unique_key_when_put_again(mut bench: Bench) -> Outcome {
    let (key, kept, added) = (bench.key(), bench.unique_key(), bench.unique_key());
    bench.put(key, uniquely_keyed(&[&kept]), "before").await?;
    let record = bench.put(key, uniquely_keyed(&[&added, &kept]), "after").await?;
    same("by the unique key it kept", &bench.store.get_by_unique_key(&kept).await?, &Some(record.clone()))?;
    same("by the unique key it got", &bench.store.get_by_unique_key(&added).await?, &Some(record))
}

async fn a_unique_key_of_another_record_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, new, there], unique_key) = (bench.keys(), bench.unique_key());
    bench.put(holder, uniquely_keyed(&[&unique_key]), "has it").await?;
    bench.put(there, Facets::default(), "wants it").await?;
    for (key, precondition) in
        [(new, Precondition::Absent), (there, Precondition::Present), (there, Precondition::Any)]
    {
        let batch = put(key, precondition, uniquely_keyed(&[&unique_key]));
        bench
            .refuses(
                "a claim of a taken unique key",
                batch,
                StoreErrorKind::UniqueKeyTaken(unique_key.clone()),
            )
            .await?;
        same("the holder", &bench.holder(&unique_key).await?, &Some(holder))?;
    }
    Ok(())
}

async fn a_unique_key_is_unique_across_kinds(mut bench: Bench) -> Outcome {
    let (holder, unique_key) = (bench.key(), bench.unique_key());
    let namesake = Key::new(bench.other_kind, holder.id);
    bench.put(holder, uniquely_keyed(&[&unique_key]), "has it").await?;
    let batch = put(namesake, Precondition::Absent, uniquely_keyed(&[&unique_key]));
    bench
        .refuses("a claim by another kind", batch, StoreErrorKind::UniqueKeyTaken(unique_key.clone()))
        .await?;
    let mut pass = put(namesake, Precondition::Absent, uniquely_keyed(&[&unique_key]));
    pass.put(holder, Precondition::Present, Facets::default(), "gives");
    bench.store.commit(pass).await?;
    same("the holder after it has passed to another kind", &bench.holder(&unique_key).await?, &Some(namesake))
}

async fn a_unique_key_claimed_twice_by_a_batch_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, one, two], unique_key) = (bench.keys(), bench.unique_key());
    let mut batch = put(one, Precondition::Any, uniquely_keyed(&[&unique_key]));
    batch.put(two, Precondition::Any, uniquely_keyed(&[&unique_key]), "claims it too");
    let taken = StoreErrorKind::UniqueKeyTaken(unique_key.clone());
    bench.refuses("two claims of a free unique key", batch.clone(), taken.clone()).await?;
    same("the holder", &bench.holder(&unique_key).await?, &None)?;
    bench.put(holder, uniquely_keyed(&[&unique_key]), "has it").await?;
    batch.delete(holder, Precondition::Present);
    bench.refuses("two claims of a unique key freed in the batch", batch, taken).await?;
    same("the holder", &bench.holder(&unique_key).await?, &Some(holder))
}

async fn a_unique_key_of_the_greatest_length_is_told_by_its_last_byte(mut bench: Bench) -> Outcome {
    let ([one, two], stem) = (bench.keys(), bench.random.bytes(UniqueKey::MAX_LENGTH - 1));
    let [a, b] = [b"a", b"b"].map(|end| UniqueKey::new(MAIL, [&stem[..], end].concat()));
    bench.put(one, uniquely_keyed(&[&a]), "one").await?;
    bench.put(two, uniquely_keyed(&[&b]), "two").await?;
    same("the holder of the first", &bench.holder(&a).await?, &Some(one))?;
    same("the holder of the second", &bench.holder(&b).await?, &Some(two))
}

async fn a_longer_unique_key_is_invalid(mut bench: Bench) -> Outcome {
    let ([good, bad], free) = (bench.keys(), bench.unique_key());
    let long = UniqueKey::new(MAIL, bench.random.bytes(UniqueKey::MAX_LENGTH + 1));
    let mut batch = put(good, Precondition::Absent, uniquely_keyed(&[&free]));
    batch.put(bad, Precondition::Absent, uniquely_keyed(&[&long]), "bad");
    bench.refuses("a unique key of one byte too many", batch, StoreErrorKind::Invalid).await?;
    same("the holder of the other unique key", &bench.holder(&free).await?, &None)?;
    same("the holder of the long one", &bench.holder(&long).await?, &None)
}

async fn a_refused_claim_frees_nothing(mut bench: Bench) -> Outcome {
    let ([holder, giver, taker], taken, given) = (bench.keys(), bench.unique_key(), bench.unique_key());
    bench.put(holder, uniquely_keyed(&[&taken]), "has it").await?;
    bench.put(giver, uniquely_keyed(&[&given]), "gives").await?;
    let mut batch = delete(giver, Precondition::Present);
    batch.put(taker, Precondition::Absent, uniquely_keyed(&[&given, &taken]), "claims both");
    bench
        .refuses("one free unique key and one taken", batch, StoreErrorKind::UniqueKeyTaken(taken.clone()))
        .await?;
    same("the holder of the taken one", &bench.holder(&taken).await?, &Some(holder))?;
    same("the holder of the one to be given", &bench.holder(&given).await?, &Some(giver))
}

async fn the_error_names_the_unique_key_that_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, one, two], taken) = (bench.keys(), bench.unique_key());
    let (free, other) = (bench.unique_key(), bench.unique_key());
    bench.put(holder, uniquely_keyed(&[&taken]), "has it").await?;
    let mut batch = put(one, Precondition::Absent, uniquely_keyed(&[&free]));
    batch.put(two, Precondition::Absent, uniquely_keyed(&[&other, &taken]), "claims one too many");
    bench.refuses("one of three unique keys", batch, StoreErrorKind::UniqueKeyTaken(taken)).await?;
    same("the holder of a free one", &bench.holder(&free).await?, &None)
}
