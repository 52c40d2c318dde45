//! The order of lists, and their pages.

use crate::store::Direction::{Ascending, Descending};
use crate::store::Precondition::Absent;
use crate::store::{Batch, Cursor, Facets, Key, Name, Order, Page, Query, SortKey, Start, StoreErrorKind};
use crate::testing::{
    CaseOutcome, Fixture, GROUP, RANK, Violation, expect_equal, expect_error, expect_list, keys, with_rank,
};

crate::testing::table! {
    of "list":
    "all records if there are none, are ordered by ascending id, whatever the directions" =>
        records_without_order_are_ordered_by_ascending_id;
    "Records that are equal in all sort fields" =>
        ties_are_ordered_by_ascending_id_in_both_directions;
    "Sort keys are compared as unsigned bytes" =>
        sort_keys_are_compared_as_unsigned_bytes;
    "a prefix before its extensions" =>
        prefix_sorts_before_its_extensions;
    "The list is ordered by the sort fields of [`Query::order`], the first field first" =>
        first_field_takes_precedence_over_second,
        sort_keys_of_two_fields_are_compared_separately;
    "each in its own direction" =>
        each_field_has_its_own_direction;
    "A record that lacks the sort key of a sort field sorts as if that key were empty" =>
        missing_sort_key_sorts_as_empty,
        order_by_unused_sort_key_is_by_id;
    "for an order that names a sort key twice" =>
        order_with_duplicate_sort_key_is_invalid;
    "`total` counts all records that pass the filters, wherever the page starts and however long it is" =>
        total_is_equal_on_every_page;
    "The page holds `limit` records, or all records from its start on if there are fewer" =>
        page_holds_limit_or_remaining_records,
        limit_of_0_returns_only_the_total;
    "the record whose body brings the size of the page's bodies to that number is the last one" =>
        page_ends_with_the_record_that_reaches_max_bytes;
    "An offset at or beyond the end gives no records and the correct total" =>
        offset_beyond_the_end_returns_only_the_total;
    "`next` is `Some` exactly when more records follow the last one of the page" =>
        next_is_set_exactly_when_more_records_follow;
    "following it to the end yields the list that one page without a limit would have" =>
        following_cursors_yields_the_whole_list;
    "A cursor starts the page at the first record whose position is after the cursor's" =>
        cursor_starts_page_after_its_position;
    "whether or not the cursor's own record still exists" =>
        cursor_of_deleted_record_is_accepted,
        cursor_without_a_record_is_accepted;
    "The position does not change when records are added or deleted around it" =>
        cursor_position_is_unaffected_by_changes;
    "`Invalid` for a cursor whose number of keys differs from the number of sort fields in the order" =>
        cursor_with_wrong_number_of_keys_is_invalid;
}

const BY_RANK: Order = Order::new(RANK, Ascending);
const BY_RANK_DOWN: Order = Order::new(RANK, Descending);

async fn records_without_order_are_ordered_by_ascending_id(mut fixture: Fixture) -> CaseOutcome {
    let mut keys: [Key; 40] = fixture.keys();
    fixture.random.shuffle(&mut keys);
    for key in keys {
        let rank = fixture.bytes(2);
        fixture.put(key, with_rank(&rank), "record").await?;
    }
    keys.sort_unstable();
    expect_list("40 records put in random order", &fixture.store.list(&fixture.query()).await?, &keys)
}

async fn ties_are_ordered_by_ascending_id_in_both_directions(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d, e] = fixture.keys();
    for (key, rank) in [(d, b"2"), (b, b"1"), (e, b"1"), (a, b"2"), (c, b"1")] {
        fixture.put(key, with_rank(rank), "record").await?;
    }
    expect_list("ascending", &fixture.store.list(&by(&fixture, &[BY_RANK])).await?, &[b, c, e, a, d])?;
    expect_list("descending", &fixture.store.list(&by(&fixture, &[BY_RANK_DOWN])).await?, &[a, d, b, c, e])
}

async fn sort_keys_are_compared_as_unsigned_bytes(fixture: Fixture) -> CaseOutcome {
    let ranks: [&[u8]; 12] =
        [b"\0", b"\x01", b"\t", b"-", b"10", b"9", b"B", b"_", b"a", b"\x7f", b"\x80", b"\xff"];
    orders_by_rank(fixture, &ranks).await
}

async fn prefix_sorts_before_its_extensions(fixture: Fixture) -> CaseOutcome {
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
async fn orders_by_rank(mut fixture: Fixture, ranks: &[&'static [u8]]) -> CaseOutcome {
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

async fn first_field_takes_precedence_over_second(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"y", b"1"), (b, b"x", b"2"), (c, b"y", b"0"), (d, b"x", b"3")]).await?;
    let by_group = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK]);
    expect_list("by group and rank", &fixture.store.list(&by_group).await?, &[b, d, c, a])?;
    let by_rank = by(&fixture, &[BY_RANK, Order::new(GROUP, Ascending)]);
    expect_list("by rank and group", &fixture.store.list(&by_rank).await?, &[c, a, b, d])
}

/// Fails for a store that concatenates the sort keys of a record.
async fn sort_keys_of_two_fields_are_compared_separately(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"ab", b""), (b, b"a", b"c"), (c, b"a", b"\xff"), (d, b"a\0", b"")]).await?;
    let up = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK]);
    expect_list("both ascending", &fixture.store.list(&up).await?, &[b, c, d, a])?;
    let down = by(&fixture, &[Order::new(GROUP, Descending), BY_RANK_DOWN]);
    expect_list("both descending", &fixture.store.list(&down).await?, &[a, d, c, b])
}

async fn each_field_has_its_own_direction(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    put_grouped(&fixture, &[(a, b"x", b"1"), (b, b"x", b"2"), (c, b"y", b"1"), (d, b"y", b"2")]).await?;
    let up_down = by(&fixture, &[Order::new(GROUP, Ascending), BY_RANK_DOWN]);
    expect_list("ascending, then descending", &fixture.store.list(&up_down).await?, &[b, a, d, c])?;
    let down_up = by(&fixture, &[Order::new(GROUP, Descending), BY_RANK]);
    expect_list("descending, then ascending", &fixture.store.list(&down_up).await?, &[c, d, a, b])
}

async fn missing_sort_key_sorts_as_empty(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    fixture.put(a, with_rank(b"\0"), "the smallest key that is not empty").await?;
    fixture.put(b, Facets::default(), "no key").await?;
    fixture.put(c, with_rank(b""), "the empty key").await?;
    fixture.put(d, Facets::default(), "no key").await?;
    expect_list("ascending", &fixture.store.list(&by(&fixture, &[BY_RANK])).await?, &[b, c, d, a])?;
    expect_list("descending", &fixture.store.list(&by(&fixture, &[BY_RANK_DOWN])).await?, &[a, b, c, d])
}

async fn order_by_unused_sort_key_is_by_id(mut fixture: Fixture) -> CaseOutcome {
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

async fn order_with_duplicate_sort_key_is_invalid(mut fixture: Fixture) -> CaseOutcome {
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

async fn put_grouped(fixture: &Fixture, records: &[(Key, &[u8], &[u8])]) -> CaseOutcome {
    let mut batch = Batch::new();
    for (key, group, rank) in records {
        let sort_keys = vec![SortKey::new(RANK, *rank), SortKey::new(GROUP, *group)];
        batch.put(*key, Absent, Facets { sort_keys, ..Facets::default() }, "record");
    }
    Ok(fixture.store.commit(batch).await?)
}

fn by(fixture: &Fixture, order: &[Order]) -> Query {
    Query { order: order.to_vec(), ..fixture.query() }
}

async fn total_is_equal_on_every_page(mut fixture: Fixture) -> CaseOutcome {
    let [a, ..] = put_five(&mut fixture).await?;
    let cursor = Cursor::new(vec![b"a".to_vec()], a.id);
    for start in [Start::Offset(0), Start::Offset(3), Start::Offset(5), Start::After(cursor)] {
        for limit in [None, Some(0), Some(1), Some(2), Some(9)] {
            let page = page(&fixture, start.clone(), limit).await?;
            expect_equal(&format!("the total from {start:?} with limit {limit:?}"), &page.total, &5)?;
        }
    }
    Ok(())
}

async fn page_holds_limit_or_remaining_records(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d, e] = put_five(&mut fixture).await?;
    let of = async |start, limit| page(&fixture, Start::Offset(start), limit).await.map(|page| keys(&page));
    expect_equal("two from the beginning", &of(0, Some(2)).await?, &[a, b])?;
    expect_equal("two from the middle", &of(2, Some(2)).await?, &[c, d])?;
    expect_equal("two where one is left", &of(4, Some(2)).await?, &[e])?;
    expect_equal("as many as there are", &of(0, Some(5)).await?, &[a, b, c, d, e])?;
    expect_equal("more than there are", &of(1, Some(usize::MAX)).await?, &[b, c, d, e])?;
    expect_equal("no limit", &of(3, None).await?, &[d, e])
}

async fn page_ends_with_the_record_that_reaches_max_bytes(mut fixture: Fixture) -> CaseOutcome {
    let all: [Key; 5] = put_five(&mut fixture).await?;
    let size = "record".len();
    for limit in [None, Some(1), Some(4), Some(5)] {
        let whole = page(&fixture, Start::Offset(0), limit).await?;
        let shown = all.iter().take(limit.unwrap_or(all.len())).copied().collect::<Vec<_>>();
        for (max_bytes, read) in [(0, 1), (1, 1), (size, 1), (size + 1, 2), (3 * size, 3), (usize::MAX, 5)] {
            let query = Query { limit, max_bytes: Some(max_bytes), ..by(&fixture, &[BY_RANK]) };
            let page = fixture.store.list(&query).await?;
            let (first, rest) = shown.split_at(read.min(shown.len()));
            let what = format!("{max_bytes} bytes with limit {limit:?}");
            expect_equal(&format!("the records of {what}"), &keys(&page), &first.to_vec())?;
            expect_equal(&format!("what is unread of {what}"), &page.unread, &rest.to_vec())?;
            expect_equal(
                &format!("total and next of {what}"),
                &(page.total, page.next),
                &(5, whole.next.clone()),
            )?;
        }
    }
    Ok(())
}

async fn limit_of_0_returns_only_the_total(mut fixture: Fixture) -> CaseOutcome {
    put_five(&mut fixture).await?;
    let total_alone = Page::new(Vec::new(), 5, None);
    expect_equal("limit 0", &page(&fixture, Start::Offset(0), Some(0)).await?, &total_alone)
}

async fn offset_beyond_the_end_returns_only_the_total(mut fixture: Fixture) -> CaseOutcome {
    put_five(&mut fixture).await?;
    let total_alone = Page::new(Vec::new(), 5, None);
    for offset in [5, 6, 1 << 40, u64::MAX] {
        for limit in [None, Some(2), Some(usize::MAX)] {
            let page = page(&fixture, Start::Offset(offset), limit).await?;
            expect_equal(&format!("offset {offset} with limit {limit:?}"), &page, &total_alone)?;
        }
        for first in [Ascending, Descending] {
            let order = vec![Order::new(GROUP, first), BY_RANK_DOWN];
            let query = Query { order, start: Start::Offset(offset), ..fixture.query() };
            let page = fixture.store.list(&query).await?;
            expect_equal(&format!("offset {offset} of an order of two sort fields"), &page, &total_alone)?;
        }
    }
    Ok(())
}

async fn next_is_set_exactly_when_more_records_follow(mut fixture: Fixture) -> CaseOutcome {
    let [_, b, _, d, _] = put_five(&mut fixture).await?;
    let next = async |offset, limit| page(&fixture, Start::Offset(offset), limit).await.map(|page| page.next);
    let behind = |key: Key, rank: &[u8]| Some(Cursor::new(vec![rank.to_vec()], key.id));
    expect_equal("two of five", &next(0, Some(2)).await?, &behind(b, b"a"))?;
    expect_equal("the second two of five", &next(2, Some(2)).await?, &behind(d, b"b"))?;
    expect_equal("the last", &next(4, Some(2)).await?, &None)?;
    expect_equal("the last two exactly", &next(3, Some(2)).await?, &None)?;
    expect_equal("all exactly", &next(0, Some(5)).await?, &None)?;
    expect_equal("all without a limit", &next(0, None).await?, &None)
}

async fn following_cursors_yields_the_whole_list(mut fixture: Fixture) -> CaseOutcome {
    let all = put_five(&mut fixture).await?;
    for limit in 1..=5 {
        let mut found = Vec::new();
        let mut start = Some(Start::Offset(0));
        while let Some(from) = start {
            let page = page(&fixture, from, Some(limit)).await?;
            found.append(&mut keys(&page));
            start = page.next.map(Start::After).filter(|_| found.len() < all.len());
        }
        expect_equal(&format!("the pages of {limit}"), &found, &all)?;
    }
    Ok(())
}

async fn cursor_starts_page_after_its_position(mut fixture: Fixture) -> CaseOutcome {
    let [_, b, c, d, e] = put_five(&mut fixture).await?;
    let behind_b = Start::After(Cursor::new(vec![b"a".to_vec()], b.id));
    expect_equal("the rest", &keys(&page(&fixture, behind_b.clone(), None).await?), &[c, d, e])?;
    expect_equal("one of the rest", &keys(&page(&fixture, behind_b, Some(1)).await?), &[c])?;
    let behind_e = Start::After(Cursor::new(vec![b"c".to_vec()], e.id));
    let page = page(&fixture, behind_e, None).await?;
    expect_equal("after the last record", &page, &Page::new(Vec::new(), 5, None))
}

async fn cursor_of_deleted_record_is_accepted(mut fixture: Fixture) -> CaseOutcome {
    let [_, b, c, d, e] = put_five(&mut fixture).await?;
    let next = page(&fixture, Start::Offset(0), Some(2)).await?.next;
    let cursor = next.ok_or_else(|| Violation::new("two of five records have no next"))?;
    fixture.delete(b).await?;
    let page = page(&fixture, Start::After(cursor), None).await?;
    expect_equal("the rest after the cursor's record is deleted", &keys(&page), &[c, d, e])?;
    expect_equal("its total", &page.total, &4)
}

/// Uses positions before, between and after the records, in both directions.
async fn cursor_without_a_record_is_accepted(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d, e] = put_five(&mut fixture).await?;
    let up = [(&b""[..], a, vec![a, b, c, d, e]), (b"a\0", e, vec![c, d, e]), (b"b", c, vec![d, e])];
    for (rank, id, expected) in up.into_iter().chain([(&b"z"[..], a, vec![])]) {
        let start = Start::After(Cursor::new(vec![rank.to_vec()], id.id));
        let page = page(&fixture, start, None).await?;
        expect_equal(&format!("ascending after {rank:?}"), &keys(&page), &expected)?;
    }
    let down = [(&b"z"[..], e, vec![e, c, d, a, b]), (b"b\0", a, vec![c, d, a, b]), (b"", a, vec![])];
    for (rank, id, expected) in down {
        let start = Start::After(Cursor::new(vec![rank.to_vec()], id.id));
        let order = vec![BY_RANK_DOWN];
        let page = fixture.store.list(&Query { order, start, ..fixture.query() }).await?;
        expect_equal(&format!("descending after {rank:?}"), &keys(&page), &expected)?;
    }
    Ok(())
}

async fn cursor_position_is_unaffected_by_changes(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d, e] = put_five(&mut fixture).await?;
    let behind_b = Start::After(Cursor::new(vec![b"a".to_vec()], b.id));
    let [before, behind] = fixture.keys();
    fixture.put(before, with_rank(b"A"), "put before the cursor").await?;
    fixture.put(behind, with_rank(b"bb"), "put after the cursor").await?;
    fixture.put(a, with_rank(b"d"), "moved from before the cursor to after it").await?;
    fixture.put(d, with_rank(b""), "moved from after the cursor to before it").await?;
    let page = page(&fixture, behind_b, None).await?;
    expect_equal("the records after the cursor", &keys(&page), &[c, behind, e, a])?;
    expect_equal("the total", &page.total, &7)
}

async fn cursor_with_wrong_number_of_keys_is_invalid(mut fixture: Fixture) -> CaseOutcome {
    let [a, ..] = put_five(&mut fixture).await?;
    let group = Order::new(GROUP, Ascending);
    for order in [vec![], vec![BY_RANK], vec![BY_RANK, group]] {
        for length in (0..4).filter(|length| *length != order.len()) {
            let start = Start::After(Cursor::new(vec![b"a".to_vec(); length], a.id));
            let what = format!("{length} keys for {} sort fields", order.len());
            let result = fixture.store.list(&Query { order: order.clone(), start, ..fixture.query() }).await;
            expect_error(&what, &result, &StoreErrorKind::Invalid)?;
        }
    }
    Ok(())
}

/// Puts five records, and five of another kind that no list contains. The former have the ranks a, a, b, b and c in the
/// order of their ids.
async fn put_five(fixture: &mut Fixture) -> CaseOutcome<[Key; 5]> {
    let keys: [Key; 5] = fixture.keys();
    let ranks: [&[u8]; 5] = [b"a", b"a", b"b", b"b", b"c"];
    let mut batch = Batch::new();
    for (key, rank) in keys.into_iter().zip(ranks) {
        batch.put(key, Absent, with_rank(rank), "record");
        batch.put(Key::new(fixture.other_kind, key.id), Absent, Facets::default(), "of another kind");
    }
    fixture.store.commit(batch).await?;
    Ok(keys)
}

async fn page(fixture: &Fixture, start: Start, limit: Option<usize>) -> CaseOutcome<Page> {
    let order = vec![BY_RANK];
    Ok(fixture.store.list(&Query { order, start, limit, ..fixture.query() }).await?)
}
