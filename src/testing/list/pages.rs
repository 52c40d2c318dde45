use crate::store::{
    Batch, Cursor, Direction, Facets, Key, Order, Page, Precondition, Query, Start, StoreErrorKind,
};
use crate::testing::{Bench, Fault, GROUP, Outcome, RANK, keys, ranked, refused, same};

crate::testing::table! { of "list":
    "`total` counts what passes the filters, wherever the page begins and however long it is" =>
        the_total_is_the_same_on_every_page;
    "The page holds `limit` records, or as many as there are from its beginning on" =>
        a_page_holds_the_limit_or_the_rest,
        a_limit_of_nothing_gives_the_total_alone;
    "An offset behind the end gives no records and the true total" =>
        an_offset_behind_the_end_gives_no_records;
    "`next` is there exactly when records follow the last one of the page" =>
        next_is_the_place_of_the_last_record_when_others_follow;
    "following it to the end gives the list that one unlimited page would have given" =>
        cursors_lead_through_the_whole_list;
    "A cursor begins the page at the first record whose place is behind the cursor's" =>
        a_cursor_begins_behind_its_place;
    "whether or not its own record still exists" =>
        a_cursor_outlives_its_record,
        a_cursor_may_be_of_no_record_at_all;
    "It stays where it is whatever is added or deleted around it" =>
        a_cursor_stays_where_it_is;
    "`Invalid` for a cursor with another number of keys than the order has terms" =>
        a_cursor_of_another_length_is_invalid;
}

async fn the_total_is_the_same_on_every_page(mut bench: Bench) -> Outcome {
    let [a, ..] = five(&mut bench).await?;
    let cursor = Cursor::new(vec![b"a".to_vec()], a.id);
    for start in [Start::Offset(0), Start::Offset(3), Start::Offset(5), Start::After(cursor)] {
        for limit in [None, Some(0), Some(1), Some(2), Some(9)] {
            let page = page(&bench, start.clone(), limit).await?;
            same(&format!("the total from {start:?} with limit {limit:?}"), &page.total, &5)?;
        }
    }
    Ok(())
}

async fn a_page_holds_the_limit_or_the_rest(mut bench: Bench) -> Outcome {
    let [a, b, c, d, e] = five(&mut bench).await?;
    let of = async |start, limit| page(&bench, Start::Offset(start), limit).await.map(|page| keys(&page));
    same("two from the beginning", &of(0, Some(2)).await?, &[a, b])?;
    same("two from the middle", &of(2, Some(2)).await?, &[c, d])?;
    same("two where one is left", &of(4, Some(2)).await?, &[e])?;
    same("as many as there are", &of(0, Some(5)).await?, &[a, b, c, d, e])?;
    same("more than there are", &of(1, Some(usize::MAX)).await?, &[b, c, d, e])?;
    same("no limit", &of(3, None).await?, &[d, e])
}

async fn a_limit_of_nothing_gives_the_total_alone(mut bench: Bench) -> Outcome {
    five(&mut bench).await?;
    let total_alone = Page { records: Vec::new(), total: 5, next: None };
    same("limit 0", &page(&bench, Start::Offset(0), Some(0)).await?, &total_alone)
}

async fn an_offset_behind_the_end_gives_no_records(mut bench: Bench) -> Outcome {
    five(&mut bench).await?;
    let total_alone = Page { records: Vec::new(), total: 5, next: None };
    for offset in [5, 6, 1 << 40, u64::MAX] {
        for limit in [None, Some(2), Some(usize::MAX)] {
            let page = page(&bench, Start::Offset(offset), limit).await?;
            same(&format!("offset {offset} with limit {limit:?}"), &page, &total_alone)?;
        }
        for first in [Direction::Ascending, Direction::Descending] {
            let order = vec![Order::new(GROUP, first), Order::new(RANK, Direction::Descending)];
            let query = Query { order, start: Start::Offset(offset), ..bench.query() };
            let page = bench.store.list(&query).await?;
            same(&format!("offset {offset} of an order of two terms"), &page, &total_alone)?;
        }
    }
    Ok(())
}

async fn next_is_the_place_of_the_last_record_when_others_follow(mut bench: Bench) -> Outcome {
    let [_, b, _, d, _] = five(&mut bench).await?;
    let next = async |offset, limit| page(&bench, Start::Offset(offset), limit).await.map(|page| page.next);
    let behind = |key: Key, rank: &[u8]| Some(Cursor::new(vec![rank.to_vec()], key.id));
    same("two of five", &next(0, Some(2)).await?, &behind(b, b"a"))?;
    same("the second two of five", &next(2, Some(2)).await?, &behind(d, b"b"))?;
    same("the last", &next(4, Some(2)).await?, &None)?;
    same("the last two exactly", &next(3, Some(2)).await?, &None)?;
    same("all exactly", &next(0, Some(5)).await?, &None)?;
    same("all without a limit", &next(0, None).await?, &None)
}

async fn cursors_lead_through_the_whole_list(mut bench: Bench) -> Outcome {
    let all = five(&mut bench).await?;
    for limit in 1..=5 {
        let mut found = Vec::new();
        let mut start = Some(Start::Offset(0));
        while let Some(from) = start {
            let page = page(&bench, from, Some(limit)).await?;
            found.append(&mut keys(&page));
            start = page.next.map(Start::After).filter(|_| found.len() < all.len());
        }
        same(&format!("the pages of {limit}"), &found, &all)?;
    }
    Ok(())
}

async fn a_cursor_begins_behind_its_place(mut bench: Bench) -> Outcome {
    let [_, b, c, d, e] = five(&mut bench).await?;
    let behind_b = Start::After(Cursor::new(vec![b"a".to_vec()], b.id));
    same("the rest", &keys(&page(&bench, behind_b.clone(), None).await?), &[c, d, e])?;
    same("one of the rest", &keys(&page(&bench, behind_b, Some(1)).await?), &[c])?;
    let behind_e = Start::After(Cursor::new(vec![b"c".to_vec()], e.id));
    let page = page(&bench, behind_e, None).await?;
    same("behind the last", &page, &Page { records: Vec::new(), total: 5, next: None })
}

async fn a_cursor_outlives_its_record(mut bench: Bench) -> Outcome {
    let [_, b, c, d, e] = five(&mut bench).await?;
    let next = page(&bench, Start::Offset(0), Some(2)).await?.next;
    let cursor = next.ok_or_else(|| Fault::new("two of five records have no next"))?;
    bench.delete(b).await?;
    let page = page(&bench, Start::After(cursor), None).await?;
    same("the rest after the cursor's record is deleted", &keys(&page), &[c, d, e])?;
    same("its total", &page.total, &4)
}

/// Places between, before and behind all records, in either direction.
async fn a_cursor_may_be_of_no_record_at_all(mut bench: Bench) -> Outcome {
    let [a, b, c, d, e] = five(&mut bench).await?;
    let up = [(&b""[..], a, vec![a, b, c, d, e]), (b"a\0", e, vec![c, d, e]), (b"b", c, vec![d, e])];
    for (rank, id, expected) in up.into_iter().chain([(&b"z"[..], a, vec![])]) {
        let start = Start::After(Cursor::new(vec![rank.to_vec()], id.id));
        let page = page(&bench, start, None).await?;
        same(&format!("ascending behind {rank:?}"), &keys(&page), &expected)?;
    }
    let down = [(&b"z"[..], e, vec![e, c, d, a, b]), (b"b\0", a, vec![c, d, a, b]), (b"", a, vec![])];
    for (rank, id, expected) in down {
        let start = Start::After(Cursor::new(vec![rank.to_vec()], id.id));
        let order = vec![Order::new(RANK, Direction::Descending)];
        let page = bench.store.list(&Query { order, start, ..bench.query() }).await?;
        same(&format!("descending behind {rank:?}"), &keys(&page), &expected)?;
    }
    Ok(())
}

async fn a_cursor_stays_where_it_is(mut bench: Bench) -> Outcome {
    let [a, b, c, d, e] = five(&mut bench).await?;
    let behind_b = Start::After(Cursor::new(vec![b"a".to_vec()], b.id));
    let [before, behind] = bench.keys();
    bench.put(before, ranked(b"A"), "put before the cursor").await?;
    bench.put(behind, ranked(b"bb"), "put behind the cursor").await?;
    bench.put(a, ranked(b"d"), "moved from before the cursor to behind it").await?;
    bench.put(d, ranked(b""), "moved from behind the cursor to before it").await?;
    let page = page(&bench, behind_b, None).await?;
    same("what lies behind the cursor now", &keys(&page), &[c, behind, e, a])?;
    same("the total", &page.total, &7)
}

async fn a_cursor_of_another_length_is_invalid(mut bench: Bench) -> Outcome {
    let [a, ..] = five(&mut bench).await?;
    let rank = Order::new(RANK, Direction::Ascending);
    let group = Order::new(GROUP, Direction::Ascending);
    for order in [vec![], vec![rank], vec![rank, group]] {
        for length in (0..4).filter(|length| *length != order.len()) {
            let start = Start::After(Cursor::new(vec![b"a".to_vec(); length], a.id));
            let what = format!("{length} keys for {} terms", order.len());
            let result = bench.store.list(&Query { order: order.clone(), start, ..bench.query() }).await;
            refused(&what, &result, &StoreErrorKind::Invalid)?;
        }
    }
    Ok(())
}

/// Five records whose order by rank is the order of their ids: two of rank a, two of rank b, one of rank c. Among others
/// that every list of this file leaves out.
async fn five(bench: &mut Bench) -> Outcome<[Key; 5]> {
    let keys: [Key; 5] = bench.keys();
    let ranks: [&[u8]; 5] = [b"a", b"a", b"b", b"b", b"c"];
    let mut batch = Batch::new();
    for (key, rank) in keys.into_iter().zip(ranks) {
        batch.put(key, Precondition::Absent, ranked(rank), "record");
        batch.put(
            Key::new(bench.other_kind, key.id),
            Precondition::Absent,
            Facets::default(),
            "of another kind",
        );
    }
    bench.store.commit(batch).await?;
    Ok(keys)
}

async fn page(bench: &Bench, start: Start, limit: Option<usize>) -> Outcome<Page> {
    let order = vec![Order::new(RANK, Direction::Ascending)];
    Ok(bench.store.list(&Query { order, start, limit, ..bench.query() }).await?)
}
