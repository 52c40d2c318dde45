use crate::store::{
    Batch, Direction, Facets, Key, Name, Order, Precondition, Query, SortKey, StoreErrorKind,
};
use crate::testing::{Bench, GROUP, Outcome, RANK, ranked, refused, shows};

use Direction::{Ascending, Descending};

crate::testing::table! { of "list":
    "everything when there is no term, by id, ascending in either direction" =>
        without_an_order_records_go_by_ascending_id;
    "what is equal in all terms" =>
        ties_go_by_ascending_id_in_both_directions;
    "keys compared as bytes" =>
        keys_are_compared_as_unsigned_bytes;
    "a prefix before what it begins" =>
        a_prefix_goes_before_what_it_begins;
    "Ordered by the terms of the order, first term first" =>
        the_first_term_goes_before_the_second,
        a_key_does_not_flow_into_the_next;
    "each term in its own direction" =>
        every_term_has_its_own_direction;
    "A record without a sort key of that name has the empty one" =>
        a_missing_key_is_the_empty_key,
        an_order_that_no_record_has_a_key_for_is_by_id;
    "for an order that names a sort key twice" =>
        an_order_that_names_a_key_twice_is_invalid;
}

const BY_RANK: Order = Order::new(RANK, Ascending);
const BY_RANK_DOWN: Order = Order::new(RANK, Descending);

async fn without_an_order_records_go_by_ascending_id(mut bench: Bench) -> Outcome {
    let mut keys: [Key; 40] = bench.keys();
    bench.random.shuffle(&mut keys);
    for key in keys {
        let rank = bench.random.bytes(2);
        bench.put(key, ranked(&rank), "record").await?;
    }
    keys.sort_unstable();
    shows("40 records put in random order", &bench.store.list(&bench.query()).await?, &keys)
}

async fn ties_go_by_ascending_id_in_both_directions(mut bench: Bench) -> Outcome {
    let [a, b, c, d, e] = bench.keys();
    for (key, rank) in [(d, b"2"), (b, b"1"), (e, b"1"), (a, b"2"), (c, b"1")] {
        bench.put(key, ranked(rank), "record").await?;
    }
    shows("ascending", &bench.store.list(&by(&bench, &[BY_RANK])).await?, &[b, c, e, a, d])?;
    shows("descending", &bench.store.list(&by(&bench, &[BY_RANK_DOWN])).await?, &[a, d, b, c, e])
}

async fn keys_are_compared_as_unsigned_bytes(bench: Bench) -> Outcome {
    let ranks: [&[u8]; 12] =
        [b"\0", b"\x01", b"\t", b"-", b"10", b"9", b"B", b"_", b"a", b"\x7f", b"\x80", b"\xff"];
    orders_by_rank(bench, &ranks).await
}

async fn a_prefix_goes_before_what_it_begins(bench: Bench) -> Outcome {
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
    orders_by_rank(bench, &ranks).await
}

/// Puts one record for each rank, the ranks being given in ascending order, and lists them in both directions.
async fn orders_by_rank(mut bench: Bench, ranks: &[&'static [u8]]) -> Outcome {
    let mut records: Vec<(usize, &[u8], Key)> =
        ranks.iter().enumerate().map(|(place, rank)| (place, *rank, bench.key())).collect();
    bench.random.shuffle(&mut records);
    for (_, rank, key) in &records {
        bench.put(*key, ranked(rank), "record").await?;
    }
    records.sort_unstable();
    let mut keys: Vec<Key> = records.into_iter().map(|(_, _, key)| key).collect();
    shows("ascending", &bench.store.list(&by(&bench, &[BY_RANK])).await?, &keys)?;
    keys.reverse();
    shows("descending", &bench.store.list(&by(&bench, &[BY_RANK_DOWN])).await?, &keys)
}

async fn the_first_term_goes_before_the_second(mut bench: Bench) -> Outcome {
    let [a, b, c, d] = bench.keys();
    put_grouped(&bench, &[(a, b"y", b"1"), (b, b"x", b"2"), (c, b"y", b"0"), (d, b"x", b"3")]).await?;
    let by_group = by(&bench, &[Order::new(GROUP, Ascending), BY_RANK]);
    shows("by group and rank", &bench.store.list(&by_group).await?, &[b, d, c, a])?;
    let by_rank = by(&bench, &[BY_RANK, Order::new(GROUP, Ascending)]);
    shows("by rank and group", &bench.store.list(&by_rank).await?, &[c, a, b, d])
}

/// As they would if the keys of a record were strung together.
async fn a_key_does_not_flow_into_the_next(mut bench: Bench) -> Outcome {
    let [a, b, c, d] = bench.keys();
    put_grouped(&bench, &[(a, b"ab", b""), (b, b"a", b"c"), (c, b"a", b"\xff"), (d, b"a\0", b"")]).await?;
    let up = by(&bench, &[Order::new(GROUP, Ascending), BY_RANK]);
    shows("both ascending", &bench.store.list(&up).await?, &[b, c, d, a])?;
    let down = by(&bench, &[Order::new(GROUP, Descending), BY_RANK_DOWN]);
    shows("both descending", &bench.store.list(&down).await?, &[a, d, c, b])
}

async fn every_term_has_its_own_direction(mut bench: Bench) -> Outcome {
    let [a, b, c, d] = bench.keys();
    put_grouped(&bench, &[(a, b"x", b"1"), (b, b"x", b"2"), (c, b"y", b"1"), (d, b"y", b"2")]).await?;
    let up_down = by(&bench, &[Order::new(GROUP, Ascending), BY_RANK_DOWN]);
    shows("ascending, then descending", &bench.store.list(&up_down).await?, &[b, a, d, c])?;
    let down_up = by(&bench, &[Order::new(GROUP, Descending), BY_RANK]);
    shows("descending, then ascending", &bench.store.list(&down_up).await?, &[c, d, a, b])
}

async fn a_missing_key_is_the_empty_key(mut bench: Bench) -> Outcome {
    let [a, b, c, d] = bench.keys();
    bench.put(a, ranked(b"\0"), "the smallest key that is not empty").await?;
    bench.put(b, Facets::default(), "no key").await?;
    bench.put(c, ranked(b""), "the empty key").await?;
    bench.put(d, Facets::default(), "no key").await?;
    shows("ascending", &bench.store.list(&by(&bench, &[BY_RANK])).await?, &[b, c, d, a])?;
    shows("descending", &bench.store.list(&by(&bench, &[BY_RANK_DOWN])).await?, &[a, b, c, d])
}

async fn an_order_that_no_record_has_a_key_for_is_by_id(mut bench: Bench) -> Outcome {
    let [a, b, c] = bench.keys();
    for key in [c, a, b] {
        bench.put(key, ranked(b"r"), "record").await?;
    }
    for direction in [Ascending, Descending] {
        let query = by(&bench, &[Order::new(const { Name::new("unheard-of") }, direction)]);
        shows("an unknown key", &bench.store.list(&query).await?, &[a, b, c])?;
    }
    Ok(())
}

async fn an_order_that_names_a_key_twice_is_invalid(mut bench: Bench) -> Outcome {
    let key = bench.key();
    bench.put(key, ranked(b"r"), "record").await?;
    for order in [[BY_RANK, BY_RANK], [BY_RANK, BY_RANK_DOWN]] {
        let result = bench.store.list(&by(&bench, &order)).await;
        refused("a key named twice", &result, &StoreErrorKind::Invalid)?;
    }
    let order = [BY_RANK, Order::new(GROUP, Ascending), BY_RANK_DOWN];
    let empty = Query { ids: Some(Vec::new()), limit: Some(0), ..by(&bench, &order) };
    refused("the same where nothing is listed", &bench.store.list(&empty).await, &StoreErrorKind::Invalid)
}

async fn put_grouped(bench: &Bench, records: &[(Key, &[u8], &[u8])]) -> Outcome {
    let mut batch = Batch::new();
    for (key, group, rank) in records {
        let sort_keys = vec![SortKey::new(RANK, *rank), SortKey::new(GROUP, *group)];
        batch.put(*key, Precondition::Absent, Facets { sort_keys, ..Facets::default() }, "record");
    }
    Ok(bench.store.commit(batch).await?)
}

fn by(bench: &Bench, order: &[Order]) -> Query {
    Query { order: order.to_vec(), ..bench.query() }
}
