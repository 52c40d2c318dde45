use crate::store::{
    Batch, Direction, Facets, Key, Name, Order, Precondition, Query, SortKey, StoreErrorKind,
};
use crate::testing::{Fixture, GROUP, Outcome, RANK, expect_error, expect_list, with_rank};

use Direction::{Ascending, Descending};

crate::testing::table! { of "list":
    "all records if there are no terms, are ordered by ascending id, whatever the directions" =>
        records_without_order_are_ordered_by_ascending_id;
    "Records that are equal in all terms" =>
        ties_are_ordered_by_ascending_id_in_both_directions;
    "Sort keys are compared as unsigned bytes" =>
        sort_keys_are_compared_as_unsigned_bytes;
    "a prefix before its extensions" =>
        prefix_sorts_before_its_extensions;
    "The list is ordered by the terms of [`Query::order`], the first term first" =>
        first_term_takes_precedence_over_second,
        sort_keys_of_two_terms_are_compared_separately;
    "each term in its own direction" =>
        each_term_has_its_own_direction;
    "A record that lacks the sort key of a term sorts as if that key were empty" =>
        missing_sort_key_sorts_as_empty,
        order_by_unused_sort_key_is_by_id;
    "for an order that names a sort key twice" =>
        order_with_duplicate_sort_key_is_invalid;
}

const BY_RANK: Order = Order::new(RANK, Ascending);
const BY_RANK_DOWN: Order = Order::new(RANK, Descending);

async fn records_without_order_are_ordered_by_ascending_id(mut fixture: Fixture) -> Outcome {
    let mut keys: [Key; 40] = fixture.keys();
    fixture.random.shuffle(&mut keys);
    for key in keys {
        let rank = fixture.random.bytes(2);
        fixture.put(key, with_rank(&rank), "record").await?;
    }
    keys.sort_unstable();
    expect_list("40 records put in random order", &fixture.store.list(&fixture.query()).await?, &keys)
}

async fn ties_are_ordered_by_ascending_id_in_both_directions(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d, e] = fixture.keys();
    for (key, rank) in [(d, b"2"), (b, b"1"), (e, b"1"), (a, b"2"), (c, b"1")] {
        fixture.put(key, with_rank(rank), "record").await?;
    }
    expect_list("ascending", &fixture.store.list(&by(&fixture, &[BY_RANK])).await?, &[b, c, e, a, d])?;
    expect_list("descending", &fixture.store.list(&by(&fixture, &[BY_RANK_DOWN])).await?, &[a, d, b, c, e])
}

async fn sort_keys_are_compared_as_unsigned_bytes(fixture: Fixture) -> Outcome {
    let ranks: [&[u8]; 12] =
        [b"\0", b"\x01", b"\t", b"-", b"10", b"9", b"B", b"_", b"a", b"\x7f", b"\x80", b"\xff"];
    orders_by_rank(fixture, &ranks).await
}

async fn prefix_sorts_before_its_extensions(fixture: Fixture) -> Outcome {
    let ranks: [&[u8]; 14] = [
        b"",
        b"\0",
        b"\0\0",
        b"\0\0\x01",
        b"\0\x01",
        b"\0\xff",
        b"\x01",
        b"a",
        b"a\0",
        b"a\0b",
        b"a\x01",
        b"aa",
        b"\xff",
        b"\xff\xff",
    ];
    orders_by_rank(fixture, &ranks).await
}

/// Puts one record per rank and lists them in both directions. The ranks must be ascending.
async fn orders_by_rank(mut fixture: Fixture, ranks: &[&'static [u8]]) -> Outcome {
    let mut records: Vec<(usize, &[u8], Key)> =
        ranks.iter().enumerate().map(|(place, rank)| (place, *rank, fixture.key())).collect();
    fixture.random.shuffle(&mut records);
    for (_, rank, key) in &records {
        fixture.put(*key, with_rank(rank), "record").await?;
    }
    records.sort_unstable();
    let mut keys: Vec<Key> = records.into_iter().map(|(_, _, key)| key).collect();
    expect_list("ascending", &fixture.store.list(&by(&fixture, &[BY_RANK])).await?, &keys)?;
    keys.reverse();
    expect_list("descending", &fixture.store.list(&by(&fixture, &[BY_RANK_DOWN])).await?, &keys)
}

async fn first_term_takes_precedence_over_second(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"y", b"1"), (b, b"x", b"2"), (c, b"y", b"0"), (d, b"x", b"3")]).await?;
    let by_group = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK]);
    expect_list("by group and rank", &fixture.store.list(&by_group).await?, &[b, d, c, a])?;
    let by_rank = by(&fixture, &[BY_RANK, Order::new(GROUP, Ascending)]);
    expect_list("by rank and group", &fixture.store.list(&by_rank).await?, &[c, a, b, d])
}

/// Fails for a store that concatenates the sort keys of a record.
async fn sort_keys_of_two_terms_are_compared_separately(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"ab", b""), (b, b"a", b"c"), (c, b"a", b"\xff"), (d, b"a\0", b"")]).await?;
    let up = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK]);
    expect_list("both ascending", &fixture.store.list(&up).await?, &[b, c, d, a])?;
    let down = by(&fixture, &[Order::new(GROUP, Descending), BY_RANK_DOWN]);
    expect_list("both descending", &fixture.store.list(&down).await?, &[a, d, c, b])
}

async fn each_term_has_its_own_direction(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"x", b"1"), (b, b"x", b"2"), (c, b"y", b"1"), (d, b"y", b"2")]).await?;
    let up_down = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK_DOWN]);
    expect_list("ascending, then descending", &fixture.store.list(&up_down).await?, &[b, a, d, c])?;
    let down_up = by(&fixture, &[Order::new(GROUP, Descending), BY_RANK]);
    expect_list("descending, then ascending", &fixture.store.list(&down_up).await?, &[c, d, a, b])
}

async fn missing_sort_key_sorts_as_empty(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d] = fixture.keys();
    fixture.put(a, with_rank(b"\0"), "the smallest key that is not empty").await?;
    fixture.put(b, Facets::default(), "no key").await?;
    fixture.put(c, with_rank(b""), "the empty key").await?;
    fixture.put(d, Facets::default(), "no key").await?;
    expect_list("ascending", &fixture.store.list(&by(&fixture, &[BY_RANK])).await?, &[b, c, d, a])?;
    expect_list("descending", &fixture.store.list(&by(&fixture, &[BY_RANK_DOWN])).await?, &[a, b, c, d])
}

async fn order_by_unused_sort_key_is_by_id(mut fixture: Fixture) -> Outcome {
    let [a, b, c] = fixture.keys();
    for key in [c, a, b] {
        fixture.put(key, with_rank(b"r"), "record").await?;
    }
    for direction in [Ascending, Descending] {
        let query = by(&fixture, &[Order::new(const { Name::new("unheard-of") }, direction)]);
        expect_list("an unknown key", &fixture.store.list(&query).await?, &[a, b, c])?;
    }
    Ok(())
}

async fn order_with_duplicate_sort_key_is_invalid(mut fixture: Fixture) -> Outcome {
    let key = fixture.key();
    fixture.put(key, with_rank(b"r"), "record").await?;
    for order in [[BY_RANK, BY_RANK], [BY_RANK, BY_RANK_DOWN]] {
        let result = fixture.store.list(&by(&fixture, &order)).await;
        expect_error("a duplicate sort key", &result, &StoreErrorKind::Invalid)?;
    }
    let order = [BY_RANK, Order::new(GROUP, Ascending), BY_RANK_DOWN];
    let empty = Query { ids: Some(Vec::new()), limit: Some(0), ..by(&fixture, &order) };
    expect_error(
        "a duplicate sort key in a query that matches nothing",
        &fixture.store.list(&empty).await,
        &StoreErrorKind::Invalid,
    )
}

async fn put_grouped(fixture: &Fixture, records: &[(Key, &[u8], &[u8])]) -> Outcome {
    let mut batch = Batch::new();
    for (key, group, rank) in records {
        let sort_keys = vec![SortKey::new(RANK, *rank), SortKey::new(GROUP, *group)];
        batch.put(*key, Precondition::Absent, Facets { sort_keys, ..Facets::default() }, "record");
    }
    Ok(fixture.store.commit(batch).await?)
}

fn by(fixture: &Fixture, order: &[Order]) -> Query {
    Query { order: order.to_vec(), ..fixture.query() }
}
