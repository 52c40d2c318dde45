use crate::store::{Alias, Batch, Expect, Facets, Key, StoreErrorKind};
use crate::testing::{Bench, MAIL, Outcome, aliased, delete, put, same};

crate::testing::table! { of "commit":
    "Aliases are about the state after the batch: an alias may pass from one record to another within it" =>
        an_alias_passes_to_another_record_in_either_order,
        an_alias_passes_on_from_a_record_deleted_in_the_batch,
        two_records_swap_their_aliases,
        aliases_move_round_in_a_ring,
        a_record_keeps_its_alias_when_put_again;
    "If two records would share one, nothing changes and the error is `AliasTaken`" =>
        an_alias_of_another_record_is_taken,
        an_alias_is_unique_across_kinds,
        an_alias_claimed_twice_by_a_batch_is_taken,
        a_refused_claim_frees_nothing;
    "an alias is longer than [`Alias::MAX_LENGTH`]" =>
        an_alias_of_the_greatest_length_is_told_by_its_last_byte,
        a_longer_alias_is_invalid;
    "`AliasTaken` and the alias" =>
        the_error_names_the_alias_that_is_taken;
}

async fn an_alias_passes_to_another_record_in_either_order(mut bench: Bench) -> Outcome {
    for giver_first in [true, false] {
        let ([giver, taker], alias) = (bench.keys(), bench.alias());
        bench.put(giver, aliased(&[&alias]), "has it").await?;
        let give = |batch: &mut Batch| {
            batch.put(giver, Expect::Present, Facets::default(), "gives");
        };
        let mut batch = Batch::new();
        if giver_first {
            give(&mut batch);
        }
        batch.put(taker, Expect::Absent, aliased(&[&alias]), "takes");
        if !giver_first {
            give(&mut batch);
        }
        bench.store.commit(batch).await?;
        same("the holder", &bench.holder(&alias).await?, &Some(taker))?;
        let mut back = put(giver, Expect::Present, aliased(&[&alias]));
        back.delete(taker, Expect::Present);
        bench.store.commit(back).await?;
        same("the holder after it has passed back", &bench.holder(&alias).await?, &Some(giver))?;
    }
    Ok(())
}

async fn an_alias_passes_on_from_a_record_deleted_in_the_batch(mut bench: Bench) -> Outcome {
    for delete_first in [true, false] {
        let ([giver, taker], alias) = (bench.keys(), bench.alias());
        bench.put(giver, aliased(&[&alias]), "has it").await?;
        let mut batch = Batch::new();
        if delete_first {
            batch.delete(giver, Expect::Present);
        }
        batch.put(taker, Expect::Absent, aliased(&[&alias]), "takes");
        if !delete_first {
            batch.delete(giver, Expect::Present);
        }
        bench.store.commit(batch).await?;
        same("the holder", &bench.holder(&alias).await?, &Some(taker))?;
    }
    Ok(())
}

async fn two_records_swap_their_aliases(mut bench: Bench) -> Outcome {
    let ([one, two], a, b) = (bench.keys(), bench.alias(), bench.alias());
    bench.put(one, aliased(&[&a]), "before").await?;
    bench.put(two, aliased(&[&b]), "before").await?;
    let mut batch = put(one, Expect::Present, aliased(&[&b]));
    batch.put(two, Expect::Present, aliased(&[&a]), "after");
    bench.store.commit(batch).await?;
    same("the holder of the first", &bench.holder(&a).await?, &Some(two))?;
    same("the holder of the second", &bench.holder(&b).await?, &Some(one))
}

async fn aliases_move_round_in_a_ring(mut bench: Bench) -> Outcome {
    let keys: [Key; 5] = bench.keys();
    let aliases: Vec<Alias> = keys.iter().map(|_| bench.alias()).collect();
    for turn in 0..3 {
        let turned: Vec<(&Key, &Alias)> = keys.iter().zip(aliases.iter().cycle().skip(turn)).collect();
        let mut batch = Batch::new();
        for (key, alias) in &turned {
            batch.put(**key, Expect::Any, aliased(&[alias]), "in the ring");
        }
        bench.store.commit(batch).await?;
        for (key, alias) in turned {
            same(&format!("a holder after turn {turn}"), &bench.holder(alias).await?, &Some(*key))?;
        }
    }
    Ok(())
}

async fn a_record_keeps_its_alias_when_put_again(mut bench: Bench) -> Outcome {
    let (key, kept, added) = (bench.key(), bench.alias(), bench.alias());
    bench.put(key, aliased(&[&kept]), "before").await?;
    let record = bench.put(key, aliased(&[&added, &kept]), "after").await?;
    same("by the alias it kept", &bench.store.resolve(&kept).await?, &Some(record.clone()))?;
    same("by the alias it got", &bench.store.resolve(&added).await?, &Some(record))
}

async fn an_alias_of_another_record_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, new, there], alias) = (bench.keys(), bench.alias());
    bench.put(holder, aliased(&[&alias]), "has it").await?;
    bench.put(there, Facets::default(), "wants it").await?;
    for (key, expect) in [(new, Expect::Absent), (there, Expect::Present), (there, Expect::Any)] {
        let batch = put(key, expect, aliased(&[&alias]));
        bench.refuses("a claim of a taken alias", batch, StoreErrorKind::AliasTaken(alias.clone())).await?;
        same("the holder", &bench.holder(&alias).await?, &Some(holder))?;
    }
    Ok(())
}

async fn an_alias_is_unique_across_kinds(mut bench: Bench) -> Outcome {
    let (holder, alias) = (bench.key(), bench.alias());
    let namesake = Key::new(bench.other_kind, holder.id);
    bench.put(holder, aliased(&[&alias]), "has it").await?;
    let batch = put(namesake, Expect::Absent, aliased(&[&alias]));
    bench.refuses("a claim by another kind", batch, StoreErrorKind::AliasTaken(alias.clone())).await?;
    let mut pass = put(namesake, Expect::Absent, aliased(&[&alias]));
    pass.put(holder, Expect::Present, Facets::default(), "gives");
    bench.store.commit(pass).await?;
    same("the holder after it has passed to another kind", &bench.holder(&alias).await?, &Some(namesake))
}

async fn an_alias_claimed_twice_by_a_batch_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, one, two], alias) = (bench.keys(), bench.alias());
    let mut batch = put(one, Expect::Any, aliased(&[&alias]));
    batch.put(two, Expect::Any, aliased(&[&alias]), "claims it too");
    let taken = StoreErrorKind::AliasTaken(alias.clone());
    bench.refuses("two claims of a free alias", batch.clone(), taken.clone()).await?;
    same("the holder", &bench.holder(&alias).await?, &None)?;
    bench.put(holder, aliased(&[&alias]), "has it").await?;
    batch.delete(holder, Expect::Present);
    bench.refuses("two claims of an alias freed in the batch", batch, taken).await?;
    same("the holder", &bench.holder(&alias).await?, &Some(holder))
}

async fn an_alias_of_the_greatest_length_is_told_by_its_last_byte(mut bench: Bench) -> Outcome {
    let ([one, two], stem) = (bench.keys(), bench.random.bytes(Alias::MAX_LENGTH - 1));
    let [a, b] = [b"a", b"b"].map(|end| Alias::new(MAIL, [&stem[..], end].concat()));
    bench.put(one, aliased(&[&a]), "one").await?;
    bench.put(two, aliased(&[&b]), "two").await?;
    same("the holder of the first", &bench.holder(&a).await?, &Some(one))?;
    same("the holder of the second", &bench.holder(&b).await?, &Some(two))
}

async fn a_longer_alias_is_invalid(mut bench: Bench) -> Outcome {
    let ([good, bad], free) = (bench.keys(), bench.alias());
    let long = Alias::new(MAIL, bench.random.bytes(Alias::MAX_LENGTH + 1));
    let mut batch = put(good, Expect::Absent, aliased(&[&free]));
    batch.put(bad, Expect::Absent, aliased(&[&long]), "bad");
    bench.refuses("an alias of one byte too many", batch, StoreErrorKind::Invalid).await?;
    same("the holder of the other alias", &bench.holder(&free).await?, &None)?;
    same("the holder of the long one", &bench.holder(&long).await?, &None)
}

async fn a_refused_claim_frees_nothing(mut bench: Bench) -> Outcome {
    let ([holder, giver, taker], taken, given) = (bench.keys(), bench.alias(), bench.alias());
    bench.put(holder, aliased(&[&taken]), "has it").await?;
    bench.put(giver, aliased(&[&given]), "gives").await?;
    let mut batch = delete(giver, Expect::Present);
    batch.put(taker, Expect::Absent, aliased(&[&given, &taken]), "claims both");
    bench.refuses("one free alias and one taken", batch, StoreErrorKind::AliasTaken(taken.clone())).await?;
    same("the holder of the taken one", &bench.holder(&taken).await?, &Some(holder))?;
    same("the holder of the one to be given", &bench.holder(&given).await?, &Some(giver))
}

async fn the_error_names_the_alias_that_is_taken(mut bench: Bench) -> Outcome {
    let ([holder, one, two], taken) = (bench.keys(), bench.alias());
    let (free, other) = (bench.alias(), bench.alias());
    bench.put(holder, aliased(&[&taken]), "has it").await?;
    let mut batch = put(one, Expect::Absent, aliased(&[&free]));
    batch.put(two, Expect::Absent, aliased(&[&other, &taken]), "claims one too many");
    bench.refuses("one of three aliases", batch, StoreErrorKind::AliasTaken(taken)).await?;
    same("the holder of a free one", &bench.holder(&free).await?, &None)
}
