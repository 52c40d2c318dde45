use crate::store::{
    Batch, Direction, Facets, Key, Link, LinkFilter, Order, Precondition, Query, SortKey, StoreErrorKind,
};
use crate::testing::{Bench, OWNER, Outcome, RANK, delete, expiring, holds, of, put, ranked, same, shows};

crate::testing::table! { of "commit":
    "Carries out all changes of a batch, or none" =>
        a_batch_may_create_replace_and_delete,
        a_batch_may_have_hundreds_of_writes,
        an_empty_batch_changes_nothing;
    "A put replaces body and facets whole" =>
        a_put_moves_the_record_to_another_organization_and_network,
        a_put_replaces_the_links,
        a_put_replaces_the_sort_keys,
        a_put_replaces_the_time_of_expiry;
    "Every put record gets a version greater than any the store gave before" =>
        versions_grow_with_every_commit,
        versions_grow_after_a_delete,
        a_record_that_is_not_written_keeps_its_version;
    "`Invalid` when two writes name one key, a put names a sort key twice" =>
        two_writes_to_one_key_are_invalid,
        a_sort_key_put_twice_is_invalid;
}

async fn a_batch_may_create_replace_and_delete(mut bench: Bench) -> Outcome {
    let [created, replaced, deleted, bystander] = bench.keys();
    for key in [replaced, deleted, bystander] {
        bench.put(key, Facets::default(), "before").await?;
    }
    let mut batch = put(created, Precondition::Absent, Facets::default());
    batch.put(replaced, Precondition::Present, Facets::default(), "after");
    batch.delete(deleted, Precondition::Present);
    bench.store.commit(batch).await?;
    let answers = bench.store.get(&[created, replaced, deleted, bystander]).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    same("the bodies", &bodies, &[Some("put".into()), Some("after".into()), None, Some("before".into())])?;
    let page = bench.store.list(&bench.query()).await?;
    shows("the list", &page, &[created, replaced, bystander])
}

async fn a_batch_may_have_hundreds_of_writes(mut bench: Bench) -> Outcome {
    let keys: [Key; 600] = bench.keys();
    let batch_of = |precondition| {
        let mut batch = Batch::new();
        for key in &keys {
            batch.put(*key, precondition, ranked(key.id.as_bytes()), key.id.to_string());
        }
        batch
    };
    bench.store.commit(batch_of(Precondition::Absent)).await?;
    bench.store.commit(batch_of(Precondition::Present)).await?;
    shows("600 records", &bench.store.list(&bench.query()).await?, &keys)?;
    let mut batch = Batch::new();
    for key in &keys {
        batch.delete(*key, Precondition::Present);
    }
    bench.store.commit(batch).await?;
    shows("the list after 600 deletes", &bench.store.list(&bench.query()).await?, &[])
}

async fn an_empty_batch_changes_nothing(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let record = bench.put(key, Facets::default(), "there").await?;
    bench.store.commit(Batch::new()).await?;
    same("a record after it", &bench.read(key).await?, &Some(record))
}

async fn a_put_moves_the_record_to_another_organization_and_network(mut bench: Bench) -> Outcome {
    let [red, blue, home, office] = bench.ids();
    let key = bench.key();
    let in_organization = |organization| Query { organization: Some(organization), ..bench.query() };
    let in_network = |network| Query { networks: Some(vec![network]), ..bench.query() };
    bench.put(key, of(Some(red), Some(home)), "before").await?;
    bench.put(key, of(Some(blue), Some(office)), "after").await?;
    shows("the old organization", &bench.store.list(&in_organization(red)).await?, &[])?;
    shows("the new organization", &bench.store.list(&in_organization(blue)).await?, &[key])?;
    shows("the old network", &bench.store.list(&in_network(home)).await?, &[])?;
    shows("the new network", &bench.store.list(&in_network(office)).await?, &[key])?;
    bench.put(key, Facets::default(), "of neither").await?;
    shows("the organization it left", &bench.store.list(&in_organization(blue)).await?, &[])?;
    shows("the network it left", &bench.store.list(&in_network(office)).await?, &[])?;
    shows("the whole kind", &bench.store.list(&bench.query()).await?, &[key])
}

async fn a_put_replaces_the_links(mut bench: Bench) -> Outcome {
    let ([dropped, kept, added], key) = (bench.ids(), bench.key());
    let link = |target| Link::new(OWNER, target);
    let facets = |links: [Link; 2]| Facets { links: links.to_vec(), ..Facets::default() };
    bench.put(key, facets([link(dropped), link(kept)]), "before").await?;
    bench.put(key, facets([link(kept), link(added)]), "after").await?;
    for (what, target, expected) in
        [("dropped", dropped, &[][..]), ("kept", kept, &[key]), ("added", added, &[key])]
    {
        let links = vec![LinkFilter { relation: OWNER, targets: vec![target] }];
        let page = bench.store.list(&Query { links, ..bench.query() }).await?;
        shows(&format!("the link that was {what}"), &page, expected)?;
    }
    Ok(())
}

async fn a_put_replaces_the_sort_keys(mut bench: Bench) -> Outcome {
    let [a, b, c] = bench.keys();
    let order = vec![Order::new(RANK, Direction::Ascending)];
    let query = Query { order, ..bench.query() };
    for (key, rank) in [(a, b"1"), (b, b"2"), (c, b"3")] {
        bench.put(key, ranked(rank), "before").await?;
    }
    shows("before", &bench.store.list(&query).await?, &[a, b, c])?;
    bench.put(a, ranked(b"4"), "moved to the end").await?;
    shows("after the first has moved", &bench.store.list(&query).await?, &[b, c, a])?;
    bench.put(c, Facets::default(), "without a key").await?;
    shows("after one has lost its key", &bench.store.list(&query).await?, &[c, b, a])
}

async fn a_put_replaces_the_time_of_expiry(mut bench: Bench) -> Outcome {
    let ([freed, put_off, bound], time) = (bench.keys(), bench.antiquity());
    bench.put(freed, expiring(time), "before").await?;
    bench.put(freed, Facets::default(), "never expires").await?;
    bench.put(bound, Facets::default(), "before").await?;
    bench.put(bound, expiring(time), "expires").await?;
    bench.put(put_off, expiring(time), "before").await?;
    bench.put(put_off, expiring(time.plus_micros(1)), "expires later").await?;
    bench.store.purge_expired(time).await?;
    shows("what is left", &bench.store.list(&bench.query()).await?, &[freed, put_off])
}

async fn versions_grow_with_every_commit(mut bench: Bench) -> Outcome {
    let [a, b, c] = bench.keys();
    let mut both = put(b, Precondition::Any, Facets::default());
    both.put(c, Precondition::Any, Facets::default(), "c");
    let batches = [put(a, Precondition::Any, Facets::default()), both];
    let mut greatest = None;
    for batch in batches.iter().cycle().take(10) {
        bench.store.commit(batch.clone()).await?;
        let versions = bench.versions(batch).await?;
        let least = versions.values().min().copied();
        holds(least > greatest, &format!("after {greatest:?} a commit gave {least:?}"))?;
        greatest = versions.values().max().copied();
    }
    Ok(())
}

/// Also when the record with the greatest version is the one that went.
async fn versions_grow_after_a_delete(mut bench: Bench) -> Outcome {
    let [gone, purged, next] = bench.keys();
    let time = bench.antiquity();
    let deleted = bench.put(gone, Facets::default(), "deleted").await?.version;
    bench.delete(gone).await?;
    let expired = bench.put(purged, expiring(time), "purged").await?.version;
    holds(expired > deleted, &format!("after {deleted:?} was deleted, a put gave {expired:?}"))?;
    bench.store.purge_expired(time).await?;
    let last = bench.put(next, Facets::default(), "next").await?.version;
    holds(last > expired, &format!("after {expired:?} was purged, a put gave {last:?}"))
}

async fn a_record_that_is_not_written_keeps_its_version(mut bench: Bench) -> Outcome {
    let [bystander, written] = bench.keys();
    let record = bench.put(bystander, Facets::default(), "bystander").await?;
    bench.put(written, Facets::default(), "written").await?;
    bench.delete(written).await?;
    bench.store.commit(delete(written, Precondition::Absent)).await?;
    same("the bystander", &bench.read(bystander).await?, &Some(record))
}

async fn two_writes_to_one_key_are_invalid(mut bench: Bench) -> Outcome {
    let [there, missing, other] = bench.keys();
    bench.put(there, Facets::default(), "there").await?;
    for key in [there, missing] {
        let mut puts = put(key, Precondition::Any, Facets::default());
        puts.put(other, Precondition::Any, Facets::default(), "between").put(
            key,
            Precondition::Any,
            Facets::default(),
            "",
        );
        bench.refuses("two puts of one key", puts, StoreErrorKind::Invalid).await?;
        let mut deletes = delete(key, Precondition::Any);
        deletes.delete(key, Precondition::Any);
        bench.refuses("two deletes of one key", deletes, StoreErrorKind::Invalid).await?;
        let mut both = delete(key, Precondition::Any);
        both.put(key, Precondition::Any, Facets::default(), "again");
        bench.refuses("a delete and a put of one key", both, StoreErrorKind::Invalid).await?;
    }
    let mut namesakes = put(there, Precondition::Any, Facets::default());
    namesakes.put(
        Key::new(bench.other_kind, there.id),
        Precondition::Any,
        Facets::default(),
        "of another kind",
    );
    Ok(bench.store.commit(namesakes).await?)
}

async fn a_sort_key_put_twice_is_invalid(mut bench: Bench) -> Outcome {
    let [good, bad] = bench.keys();
    for second in [b"1", b"2"] {
        let sort_keys = vec![SortKey::new(RANK, *b"1"), SortKey::new(RANK, *second)];
        let mut batch = put(good, Precondition::Any, ranked(b"1"));
        batch.put(bad, Precondition::Any, Facets { sort_keys, ..Facets::default() }, "bad");
        bench.refuses("a sort key named twice", batch, StoreErrorKind::Invalid).await?;
    }
    Ok(())
}
