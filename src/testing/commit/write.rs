//! Puts and deletes.

use crate::invariant::Invariant;
use crate::store::Precondition::{Absent, Any, Present};
use crate::store::StoreErrorKind::{Conflict, Invalid};
use crate::store::{
    Batch, Direction, Facets, Key, KeyFilter, Link, LinkFilter, Order, Query, SortKey, Term, TermFilter,
    TermRange, UniqueKey,
};
use crate::testing::{
    CaseOutcome, Fixture, OWNER, RANK, WORD, delete, expect, expect_equal, expect_list, of, put, with_expiry,
    with_rank, with_terms, with_unique_keys,
};

crate::testing::table! {
    of "commit":
    "Applies all writes of a batch, or none" =>
        batch_with_create_replace_and_delete_is_applied,
        batch_of_hundreds_of_writes_is_applied,
        empty_batch_changes_nothing;
    "A put replaces body and facets completely" =>
        put_replaces_organization_and_network,
        put_replaces_links,
        put_replaces_terms,
        put_replaces_sort_keys,
        put_replaces_expiry;
    "Every put record gets a version greater than any version the store assigned before" =>
        versions_increase_with_every_commit,
        versions_increase_after_delete_and_purge,
        unwritten_record_keeps_its_version;
    "A sort key [with a version](SortKey::with_version) is stored as its value followed by that version" =>
        sort_keys_with_a_version_order_records_as_they_were_committed,
        sort_key_with_a_version_is_stored_with_the_version,
        put_replaces_a_sort_key_with_a_version;
    "`Invalid` if two writes have the same key, a put names a sort key twice" =>
        two_writes_of_one_key_are_invalid,
        put_with_duplicate_sort_key_is_invalid;
    "a term is longer than [`Term::MAX_LENGTH`]" =>
        term_of_greatest_length_is_accepted_and_longer_is_invalid;
    "If one fails, nothing changes and the error names it" =>
        failed_batch_changes_nothing;
}

async fn batch_with_create_replace_and_delete_is_applied(mut fixture: Fixture) -> CaseOutcome {
    let [created, replaced, deleted, bystander] = fixture.keys();
    for key in [replaced, deleted, bystander] {
        fixture.put(key, Facets::default(), "before").await?;
    }
    let mut batch = put(created, Absent, Facets::default());
    batch.put(replaced, Present, Facets::default(), "after");
    batch.delete(deleted, Present);
    fixture.store.commit(batch).await?;
    let answers = fixture.store.get(&[created, replaced, deleted, bystander]).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    expect_equal(
        "the bodies",
        &bodies,
        &[Some("put".into()), Some("after".into()), None, Some("before".into())],
    )?;
    let page = fixture.store.list(&fixture.query()).await?;
    expect_list("the list", &page, &[created, replaced, bystander])
}

async fn batch_of_hundreds_of_writes_is_applied(mut fixture: Fixture) -> CaseOutcome {
    let keys: [Key; 600] = fixture.keys();
    let batch_of = |precondition| {
        let mut batch = Batch::new();
        for key in &keys {
            batch.put(*key, precondition, with_rank(key.id.as_bytes()), key.id.to_string());
        }
        batch
    };
    fixture.store.commit(batch_of(Absent)).await?;
    fixture.store.commit(batch_of(Present)).await?;
    expect_list("600 records", &fixture.store.list(&fixture.query()).await?, &keys)?;
    let mut batch = Batch::new();
    for key in &keys {
        batch.delete(*key, Present);
    }
    fixture.store.commit(batch).await?;
    expect_list("the list after 600 deletes", &fixture.store.list(&fixture.query()).await?, &[])
}

async fn empty_batch_changes_nothing(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let record = fixture.put(key, Facets::default(), "there").await?;
    fixture.store.commit(Batch::new()).await?;
    expect_equal("a record after an empty batch", &fixture.read(key).await?, &Some(record))
}

async fn put_replaces_organization_and_network(mut fixture: Fixture) -> CaseOutcome {
    let [red, blue, home, office] = fixture.ids();
    let key = fixture.key();
    let in_organization = |organization| Query { organization: Some(organization), ..fixture.query() };
    let in_network = |network| Query { networks: Some(vec![network]), ..fixture.query() };
    fixture.put(key, of(Some(red), Some(home)), "before").await?;
    fixture.put(key, of(Some(blue), Some(office)), "after").await?;
    expect_list("the old organization", &fixture.store.list(&in_organization(red)).await?, &[])?;
    expect_list("the new organization", &fixture.store.list(&in_organization(blue)).await?, &[key])?;
    expect_list("the old network", &fixture.store.list(&in_network(home)).await?, &[])?;
    expect_list("the new network", &fixture.store.list(&in_network(office)).await?, &[key])?;
    fixture.put(key, Facets::default(), "of neither").await?;
    expect_list("the organization it left", &fixture.store.list(&in_organization(blue)).await?, &[])?;
    expect_list("the network it left", &fixture.store.list(&in_network(office)).await?, &[])?;
    expect_list("the whole kind", &fixture.store.list(&fixture.query()).await?, &[key])
}

async fn put_replaces_links(mut fixture: Fixture) -> CaseOutcome {
    let ([dropped, kept, added], key) = (fixture.ids(), fixture.key());
    let link = |target| Link::new(OWNER, target);
    let facets = |links: [Link; 2]| Facets { links: links.to_vec(), ..Facets::default() };
    fixture.put(key, facets([link(dropped), link(kept)]), "before").await?;
    fixture.put(key, facets([link(kept), link(added)]), "after").await?;
    for (what, target, expected) in
        [("dropped", dropped, &[][..]), ("kept", kept, &[key]), ("added", added, &[key])]
    {
        let links = vec![LinkFilter::new(OWNER, vec![target])];
        let page = fixture.store.list(&Query { links, ..fixture.query() }).await?;
        expect_list(&format!("the link that was {what}"), &page, expected)?;
    }
    Ok(())
}

/// Replaces the terms of the only record of an organization. It also does so while the record moves to another
/// network or organization.
async fn put_replaces_terms(mut fixture: Fixture) -> CaseOutcome {
    let ([red, blue, home, office], key) = (fixture.ids(), fixture.key());
    let places = [(red, home), (red, home), (red, office), (blue, office), (blue, office)];
    let choices: [&[&[u8]]; 5] = [&[b"a", b"b"], &[b"b", b"c"], &[b"b", b"c"], &[b"c", b"d"], &[]];
    for ((organization, network), words) in places.into_iter().zip(choices) {
        let facets = Facets { terms: with_terms(WORD, words).terms, ..of(Some(organization), Some(network)) };
        fixture.put(key, facets, "record").await?;
        for (of, word) in
            [red, blue].into_iter().flat_map(|of| [b"a", b"b", b"c", b"d"].map(|word| (of, word)))
        {
            let terms = vec![TermFilter::new(WORD, [TermRange::exact(*word)])];
            let query = Query { organization: Some(of), terms, ..fixture.query() };
            let expected = if of == organization && words.contains(&&word[..]) { &[key][..] } else { &[] };
            expect_list(&format!("{word:?} after {words:?}"), &fixture.store.list(&query).await?, expected)?;
        }
    }
    Ok(())
}

async fn put_replaces_sort_keys(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c] = fixture.keys();
    let order = vec![Order::new(RANK, Direction::Ascending)];
    let query = Query { order, ..fixture.query() };
    for (key, rank) in [(a, b"1"), (b, b"2"), (c, b"3")] {
        fixture.put(key, with_rank(rank), "before").await?;
    }
    expect_list("before", &fixture.store.list(&query).await?, &[a, b, c])?;
    fixture.put(a, with_rank(b"4"), "moved to the end").await?;
    expect_list("after the first has moved", &fixture.store.list(&query).await?, &[b, c, a])?;
    fixture.put(c, Facets::default(), "without a key").await?;
    expect_list("after one has lost its key", &fixture.store.list(&query).await?, &[c, b, a])
}

async fn put_replaces_expiry(mut fixture: Fixture) -> CaseOutcome {
    let ([freed, put_off, bound], time) = (fixture.keys(), fixture.ancient_time());
    fixture.put(freed, with_expiry(time), "before").await?;
    fixture.put(freed, Facets::default(), "never expires").await?;
    fixture.put(bound, Facets::default(), "before").await?;
    fixture.put(bound, with_expiry(time), "expires").await?;
    fixture.put(put_off, with_expiry(time), "before").await?;
    fixture.put(put_off, with_expiry(time.plus_micros(1)), "expires later").await?;
    fixture.store.purge_expired(time).await?;
    expect_list("the list after a purge", &fixture.store.list(&fixture.query()).await?, &[freed, put_off])
}

async fn versions_increase_with_every_commit(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c] = fixture.keys();
    let mut both = put(b, Any, Facets::default());
    both.put(c, Any, Facets::default(), "c");
    let batches = [put(a, Any, Facets::default()), both];
    let mut greatest = None;
    for batch in batches.iter().cycle().take(10) {
        fixture.store.commit(batch.clone()).await?;
        let versions = fixture.versions(batch).await?;
        let least = versions.values().min().copied();
        expect(least > greatest, &format!("after {greatest:?} a commit assigned {least:?}"))?;
        greatest = versions.values().max().copied();
    }
    Ok(())
}

/// Returns facets whose rank is a prefix and the version.
fn versioned(prefix: &[u8]) -> Facets {
    Facets { sort_keys: vec![SortKey::with_version(RANK, prefix)], ..Facets::default() }
}

async fn sort_keys_with_a_version_order_records_as_they_were_committed(mut fixture: Fixture) -> CaseOutcome {
    let [first, second, third, fourth, later] = fixture.keys();
    // The second commit puts two records, which share a version or not.
    fixture.put(later, versioned(b"b"), "of a later prefix").await?;
    fixture.put(third, versioned(b"a"), "the first commit").await?;
    let mut both = put(second, Any, versioned(b"a"));
    both.put(fourth, Any, versioned(b"a"), "the second commit");
    fixture.store.commit(both).await?;
    fixture.put(first, versioned(b"a"), "the last commit").await?;
    let by_rank = |direction| Query { order: vec![Order::new(RANK, direction)], ..fixture.query() };
    let listed = fixture.store.list(&by_rank(Direction::Ascending)).await?;
    let versions: Vec<_> = listed.records.iter().map(|record| record.version).collect();
    expect(versions.get(..4).is_some_and(<[_]>::is_sorted), &format!("the versions are {versions:?}"))?;
    let ends = [listed.records.first(), listed.records.last()].map(|record| record.map(|record| record.key));
    expect_equal("the first and the last record", &ends, &[Some(third), Some(later)])?;
    let last = Query { limit: Some(2), ..by_rank(Direction::Descending) };
    let newest = fixture.store.list(&last).await?.records.pop().map(|record| record.key);
    expect_equal("the newest record of the prefix", &newest, &Some(first))
}

async fn sort_key_with_a_version_is_stored_with_the_version(mut fixture: Fixture) -> CaseOutcome {
    let [key] = fixture.keys();
    let version = fixture.put(key, versioned(b"a"), "record").await?.version;
    let value = [b"a".as_slice(), &version.0.to_be_bytes()].concat();
    let exact = KeyFilter::new(RANK, TermRange::exact(value.clone()));
    let found = fixture.store.list(&Query { keys: vec![exact], ..fixture.query() }).await?;
    expect_list("the record with the version in its key", &found, &[key])?;
    let stored = fixture.entries().await?.remove(&key).map(|entry| entry.facets.sort_keys);
    expect_equal("the sort keys of the snapshot", &stored, &Some(vec![SortKey::new(RANK, value)]))
}

async fn put_replaces_a_sort_key_with_a_version(mut fixture: Fixture) -> CaseOutcome {
    let [moved, kept] = fixture.keys();
    fixture.put(moved, versioned(b""), "first").await?;
    fixture.put(kept, versioned(b""), "second").await?;
    let query = Query { order: vec![Order::new(RANK, Direction::Ascending)], ..fixture.query() };
    expect_list("as they were committed", &fixture.store.list(&query).await?, &[moved, kept])?;
    fixture.put(moved, versioned(b""), "third").await?;
    expect_list("after the first was put again", &fixture.store.list(&query).await?, &[kept, moved])
}

/// Versions increase even if the record with the greatest version was deleted.
async fn versions_increase_after_delete_and_purge(mut fixture: Fixture) -> CaseOutcome {
    let [gone, purged, next] = fixture.keys();
    let time = fixture.ancient_time();
    let deleted = fixture.put(gone, Facets::default(), "deleted").await?.version;
    fixture.delete(gone).await?;
    let expired = fixture.put(purged, with_expiry(time), "purged").await?.version;
    expect(expired > deleted, &format!("after {deleted:?} was deleted, a put was assigned {expired:?}"))?;
    fixture.store.purge_expired(time).await?;
    let last = fixture.put(next, Facets::default(), "next").await?.version;
    expect(last > expired, &format!("after {expired:?} was purged, a put was assigned {last:?}"))
}

async fn unwritten_record_keeps_its_version(mut fixture: Fixture) -> CaseOutcome {
    let [bystander, written] = fixture.keys();
    let record = fixture.put(bystander, Facets::default(), "bystander").await?;
    fixture.put(written, Facets::default(), "written").await?;
    fixture.delete(written).await?;
    fixture.store.commit(delete(written, Absent)).await?;
    expect_equal("the bystander", &fixture.read(bystander).await?, &Some(record))
}

async fn two_writes_of_one_key_are_invalid(mut fixture: Fixture) -> CaseOutcome {
    let [there, missing, other] = fixture.keys();
    fixture.put(there, Facets::default(), "there").await?;
    for key in [there, missing] {
        let mut puts = put(key, Any, Facets::default());
        puts.put(other, Any, Facets::default(), "between").put(key, Any, Facets::default(), "");
        fixture.expect_rejected("two puts of one key", puts, Invalid).await?;
        let mut deletes = delete(key, Any);
        deletes.delete(key, Any);
        fixture.expect_rejected("two deletes of one key", deletes, Invalid).await?;
        let mut both = delete(key, Any);
        both.put(key, Any, Facets::default(), "again");
        fixture.expect_rejected("a delete and a put of one key", both, Invalid).await?;
    }
    let mut namesakes = put(there, Any, Facets::default());
    namesakes.put(Key::new(fixture.other_kind, there.id), Any, Facets::default(), "of another kind");
    Ok(fixture.store.commit(namesakes).await?)
}

async fn put_with_duplicate_sort_key_is_invalid(mut fixture: Fixture) -> CaseOutcome {
    let [good, bad] = fixture.keys();
    for second in [b"1", b"2"] {
        let sort_keys = vec![SortKey::new(RANK, *b"1"), SortKey::new(RANK, *second)];
        let mut batch = put(good, Any, with_rank(b"1"));
        batch.put(bad, Any, Facets { sort_keys, ..Facets::default() }, "bad");
        fixture.expect_rejected("a duplicate sort key", batch, Invalid).await?;
    }
    Ok(())
}

async fn term_of_greatest_length_is_accepted_and_longer_is_invalid(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let long = fixture.bytes(Term::MAX_LENGTH + 1);
    let greatest = long.get(..Term::MAX_LENGTH).asserted_or_default();
    fixture.store.commit(put(key, Absent, with_terms(WORD, &[greatest]))).await?;
    let terms = vec![TermFilter::new(WORD, [TermRange::exact(greatest)])];
    let page = fixture.store.list(&Query { terms, ..fixture.query() }).await?;
    expect_list("the record of the term", &page, &[key])?;
    fixture.expect_rejected("a long term", put(key, Any, with_terms(WORD, &[b"a", &long])), Invalid).await
}

async fn failed_batch_changes_nothing(mut fixture: Fixture) -> CaseOutcome {
    let [created, replaced, deleted, unmet] = fixture.keys();
    let (kept, claimed) = (fixture.unique_key(), fixture.unique_key());
    fixture.put(replaced, with_unique_keys(&[&kept]), "before").await?;
    fixture.put(deleted, with_rank(b"a"), "before").await?;
    for unmet_first in [true, false] {
        let mut batch = Batch::new();
        if unmet_first {
            batch.delete(unmet, Present);
        }
        batch.put(created, Absent, with_unique_keys(&[&claimed]), "created");
        batch.put(replaced, Present, Facets::default(), "after");
        batch.delete(deleted, Present);
        if !unmet_first {
            batch.delete(unmet, Present);
        }
        fixture.expect_rejected("a batch with one failing precondition", batch, Conflict(unmet)).await?;
        expect_holders(&fixture, &[(&kept, Some(replaced)), (&claimed, None)]).await?;
    }
    Ok(())
}

async fn expect_holders(fixture: &Fixture, expected: &[(&UniqueKey, Option<Key>)]) -> CaseOutcome {
    for (unique_key, holder) in expected {
        expect_equal(
            "the holder of a unique key after a failed batch",
            &fixture.holder(unique_key).await?,
            holder,
        )?;
    }
    Ok(())
}
