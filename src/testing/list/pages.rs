use crate::store::{
    Batch, Cursor, Direction, Facets, Key, Order, Page, Precondition, Query, Start, StoreErrorKind,
};
use crate::testing::{Fault, Fixture, GROUP, Outcome, RANK, expect_equal, expect_error, keys, with_rank};

crate::testing::table! { of "list":
    "`total` counts all records that pass the filters, wherever the page starts and however long it is" =>
        total_is_equal_on_every_page;
    "The page holds `limit` records, or all records from its start on if there are fewer" =>
        page_holds_limit_or_remaining_records,
        limit_of_0_returns_only_the_total;
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
    "`Invalid` for a cursor whose number of keys differs from the number of terms in the order" =>
        cursor_with_wrong_number_of_keys_is_invalid;
}

async fn total_is_equal_on_every_page(mut fixture: Fixture) -> Outcome {
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

async fn page_holds_limit_or_remaining_records(mut fixture: Fixture) -> Outcome {
    let [a, b, c, d, e] = put_five(&mut fixture).await?;
    let of = async |start, limit| page(&fixture, Start::Offset(start), limit).await.map(|page| keys(&page));
    expect_equal("two from the beginning", &of(0, Some(2)).await?, &[a, b])?;
    expect_equal("two from the middle", &of(2, Some(2)).await?, &[c, d])?;
    expect_equal("two where one is left", &of(4, Some(2)).await?, &[e])?;
    expect_equal("as many as there are", &of(0, Some(5)).await?, &[a, b, c, d, e])?;
    expect_equal("more than there are", &of(1, Some(usize::MAX)).await?, &[b, c, d, e])?;
    expect_equal("no limit", &of(3, None).await?, &[d, e])
}

async fn limit_of_0_returns_only_the_total(mut fixture: Fixture) -> Outcome {
    put_five(&mut fixture).await?;
    let total_alone = Page { records: Vec::new(), total: 5, next: None };
    expect_equal("limit 0", &page(&fixture, Start::Offset(0), Some(0)).await?, &total_alone)
}

async fn offset_beyond_the_end_returns_only_the_total(mut fixture: Fixture) -> Outcome {
    put_five(&mut fixture).await?;
    let total_alone = Page { records: Vec::new(), total: 5, next: None };
    for offset in [5, 6, 1 << 40, u64::MAX] {
        for limit in [None, Some(2), Some(usize::MAX)] {
            let page = page(&fixture, Start::Offset(offset), limit).await?;
            expect_equal(&format!("offset {offset} with limit {limit:?}"), &page, &total_alone)?;
        }
        for first in [Direction::Ascending, Direction::Descending] {
            let order = vec![Order::new(GROUP, first), Order::new(RANK, Direction::Descending)];
            let query = Query { order, start: Start::Offset(offset), ..fixture.query() };
            let page = fixture.store.list(&query).await?;
            expect_equal(&format!("offset {offset} of an order of two terms"), &page, &total_alone)?;
        }
    }
    Ok(())
}

async fn next_is_set_exactly_when_more_records_follow(mut fixture: Fixture) -> Outcome {
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

async fn following_cursors_yields_the_whole_list(mut fixture: Fixture) -> Outcome {
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

async fn cursor_starts_page_after_its_position(mut fixture: Fixture) -> Outcome {
    let [_, b, c, d, e] = put_five(&mut fixture).await?;
    let behind_b = Start::After(Cursor::new(vec![b"a".to_vec()], b.id));
    expect_equal("the rest", &keys(&page(&fixture, behind_b.clone(), None).await?), &[c, d, e])?;
    expect_equal("one of the rest", &keys(&page(&fixture, behind_b, Some(1)).await?), &[c])?;
    let behind_e = Start::After(Cursor::new(vec![b"c".to_vec()], e.id));
    let page = page(&fixture, behind_e, None).await?;
    expect_equal("after the last record", &page, &Page { records: Vec::new(), total: 5, next: None })
}

async fn cursor_of_deleted_record_is_accepted(mut fixture: Fixture) -> Outcome {
    let [_, b, c, d, e] = put_five(&mut fixture).await?;
    let next = page(&fixture, Start::Offset(0), Some(2)).await?.next;
    let cursor = next.ok_or_else(|| Fault::new("two of five records have no next"))?;
    fixture.delete(b).await?;
    let page = page(&fixture, Start::After(cursor), None).await?;
    expect_equal("the rest after the cursor's record is deleted", &keys(&page), &[c, d, e])?;
    expect_equal("its total", &page.total, &4)
}

/// Uses positions before, between and after the records, in both directions.
async fn cursor_without_a_record_is_accepted(mut fixture: Fixture) -> Outcome {
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
        let order = vec![Order::new(RANK, Direction::Descending)];
        let page = fixture.store.list(&Query { order, start, ..fixture.query() }).await?;
        expect_equal(&format!("descending after {rank:?}"), &keys(&page), &expected)?;
    }
    Ok(())
}

async fn cursor_position_is_unaffected_by_changes(mut fixture: Fixture) -> Outcome {
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

async fn cursor_with_wrong_number_of_keys_is_invalid(mut fixture: Fixture) -> Outcome {
    let [a, ..] = put_five(&mut fixture).await?;
    let rank = Order::new(RANK, Direction::Ascending);
    let group = Order::new(GROUP, Direction::Ascending);
    for order in [vec![], vec![rank], vec![rank, group]] {
        for length in (0..4).filter(|length| *length != order.len()) {
            let start = Start::After(Cursor::new(vec![b"a".to_vec(); length], a.id));
            let what = format!("{length} keys for {} terms", order.len());
            let result = fixture.store.list(&Query { order: order.clone(), start, ..fixture.query() }).await;
            expect_error(&what, &result, &StoreErrorKind::Invalid)?;
        }
    }
    Ok(())
}

/// Puts five records, of ranks a, a, b, b and c in the order of their ids, and five of another kind that no list contains.
async fn put_five(fixture: &mut Fixture) -> Outcome<[Key; 5]> {
    let keys: [Key; 5] = fixture.keys();
    let ranks: [&[u8]; 5] = [b"a", b"a", b"b", b"b", b"c"];
    let mut batch = Batch::new();
    for (key, rank) in keys.into_iter().zip(ranks) {
        batch.put(key, Precondition::Absent, with_rank(rank), "record");
        batch.put(
            Key::new(fixture.other_kind, key.id),
            Precondition::Absent,
            Facets::default(),
            "of another kind",
        );
    }
    fixture.store.commit(batch).await?;
    Ok(keys)
}

async fn page(fixture: &Fixture, start: Start, limit: Option<usize>) -> Outcome<Page> {
    let order = vec![Order::new(RANK, Direction::Ascending)];
    Ok(fixture.store.list(&Query { order, start, limit, ..fixture.query() }).await?)
}
