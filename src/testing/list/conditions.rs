use uuid::Uuid;

use crate::store::{Facets, Key, KeyFilter, Link, LinkFilter, Query, SortKey, TermRange};
use crate::testing::{CaseOutcome, Fixture, OWNER, PARENT, RANK, expect, expect_list, of, with_links};

crate::testing::table! { of "list":
    "A link filter with [`LinkCondition::None`] matches the records that have none of its links" =>
        link_filter_of_none_matches_records_without_the_links,
        filters_of_any_and_none_are_combined;
    "with an empty list of targets it matches every record" =>
        link_filter_of_none_without_targets_matches_every_record;
    "A key filter matches the records whose sort key of its name is in its range" =>
        key_filter_matches_ranges_of_sort_keys,
        key_filter_is_combined_with_other_filters;
    "A record that lacks the sort key matches as if that key were empty" =>
        key_filter_matches_missing_key_as_empty;
}

async fn link_filter_of_none_matches_records_without_the_links(mut fixture: Fixture) -> CaseOutcome {
    let [one, two, never] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    let link = |target| Link::new(OWNER, target);
    fixture.put(a, with_links(&[link(one)]), "record").await?;
    fixture.put(b, with_links(&[link(one), link(two)]), "record").await?;
    fixture.put(c, with_links(&[Link::new(PARENT, one)]), "record").await?;
    fixture.put(d, with_links(&[]), "record").await?;
    let none = |targets: &[Uuid]| Query { links: vec![LinkFilter::none(OWNER, targets)], ..fixture.query() };
    expect_list("without one", &fixture.store.list(&none(&[one])).await?, &[c, d])?;
    expect_list("without the other", &fixture.store.list(&none(&[two])).await?, &[a, c, d])?;
    expect_list("without either", &fixture.store.list(&none(&[one, two])).await?, &[c, d])?;
    expect_list("without one that none has", &fixture.store.list(&none(&[never])).await?, &[a, b, c, d])?;
    let by_ids = Query { ids: Some(vec![a.id, d.id]), ..none(&[one]) };
    expect_list("with ids", &fixture.store.list(&by_ids).await?, &[d])?;
    fixture.put(d, with_links(&[link(two)]), "record").await?;
    expect_list("after a put with the link", &fixture.store.list(&none(&[two])).await?, &[a, c])
}

async fn link_filter_of_none_without_targets_matches_every_record(mut fixture: Fixture) -> CaseOutcome {
    let ([target], [a, b]) = (fixture.ids(), fixture.keys());
    fixture.put(a, with_links(&[Link::new(OWNER, target)]), "record").await?;
    fixture.put(b, with_links(&[]), "record").await?;
    let query = Query { links: vec![LinkFilter::none(OWNER, [])], ..fixture.query() };
    expect_list("no targets", &fixture.store.list(&query).await?, &[a, b])
}

async fn filters_of_any_and_none_are_combined(mut fixture: Fixture) -> CaseOutcome {
    let [organization, network, one, two] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    let facets = |links: &[Link]| Facets { links: links.to_vec(), ..of(Some(organization), Some(network)) };
    let link = |target| Link::new(OWNER, target);
    fixture.put(a, facets(&[link(one)]), "record").await?;
    fixture.put(b, facets(&[link(one), link(two)]), "record").await?;
    fixture.put(c, facets(&[]), "record").await?;
    let elsewhere = Facets { links: vec![link(one)], ..of(Some(organization), None) };
    fixture.put(d, elsewhere, "record").await?;
    let links = vec![LinkFilter::new(OWNER, [one]), LinkFilter::none(OWNER, [two])];
    let query = Query { links, organization: Some(organization), ..fixture.query() };
    expect_list("any and none", &fixture.store.list(&query).await?, &[a, d])?;
    let query = Query { networks: Some(vec![network]), ..query };
    expect_list("any and none on a network", &fixture.store.list(&query).await?, &[a])?;
    let query = Query { links: vec![LinkFilter::none(OWNER, [one])], ..query };
    expect_list("none on a network", &fixture.store.list(&query).await?, &[c])?;
    let page = fixture.store.list(&Query { limit: Some(0), ..query }).await?;
    expect(page.total == 1, "the total of a page of none is wrong")
}

async fn key_filter_matches_ranges_of_sort_keys(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    let values: [(Key, &[u8]); 4] = [(a, b"core"), (b, b"core-1"), (c, b"edge"), (d, b"\xff")];
    for (key, value) in values {
        fixture.put(key, with_rank(value), "record").await?;
    }
    let query = |range| Query { keys: vec![KeyFilter::new(RANK, range)], ..fixture.query() };
    let exact = query(TermRange::exact("core"));
    expect_list("an exact value", &fixture.store.list(&exact).await?, &[a])?;
    let prefix = query(TermRange::prefix("core"));
    expect_list("a prefix", &fixture.store.list(&prefix).await?, &[a, b])?;
    let from = query(TermRange::new("core-1", None));
    expect_list("from a value on", &fixture.store.list(&from).await?, &[b, c, d])?;
    let between = query(TermRange::between("core-1", "edge"));
    expect_list("between two values", &fixture.store.list(&between).await?, &[b, c])?;
    let nothing = query(TermRange::new("d", Some(b"core".to_vec())));
    expect_list("a range without values", &fixture.store.list(&nothing).await?, &[])?;
    fixture.put(a, with_rank(b"edge"), "record").await?;
    expect_list("an exact value after a put without it", &fixture.store.list(&exact).await?, &[])
}

async fn key_filter_matches_missing_key_as_empty(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c] = fixture.keys();
    fixture.put(a, Facets::default(), "record").await?;
    let query = |range| Query { keys: vec![KeyFilter::new(RANK, range)], ..fixture.query() };
    let empty = query(TermRange::exact(""));
    expect_list("before any record has the key", &fixture.store.list(&empty).await?, &[a])?;
    fixture.put(b, with_rank(b""), "record").await?;
    fixture.put(c, with_rank(b"a"), "record").await?;
    expect_list("the empty value", &fixture.store.list(&empty).await?, &[a, b])?;
    let others = query(TermRange::new([0], None));
    expect_list("all other values", &fixture.store.list(&others).await?, &[c])
}

async fn key_filter_is_combined_with_other_filters(mut fixture: Fixture) -> CaseOutcome {
    let [organization, network, target] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    let facets = |rank: &[u8], network| Facets {
        links: vec![Link::new(OWNER, target)],
        sort_keys: vec![SortKey::new(RANK, rank)],
        ..of(Some(organization), network)
    };
    fixture.put(a, facets(b"core", Some(network)), "record").await?;
    fixture.put(b, facets(b"core", None), "record").await?;
    fixture.put(c, facets(b"edge", Some(network)), "record").await?;
    fixture.put(d, Facets { links: Vec::new(), ..facets(b"core", Some(network)) }, "record").await?;
    let keys = vec![KeyFilter::new(RANK, TermRange::exact("core"))];
    let query = Query { keys, organization: Some(organization), ..fixture.query() };
    expect_list("of the organization", &fixture.store.list(&query).await?, &[a, b, d])?;
    let query = Query { networks: Some(vec![network]), ..query };
    expect_list("on a network", &fixture.store.list(&query).await?, &[a, d])?;
    let query = Query { links: vec![LinkFilter::new(OWNER, [target])], ..query };
    expect_list("with a link", &fixture.store.list(&query).await?, &[a])?;
    let query = Query { links: vec![LinkFilter::none(OWNER, [target])], ..query };
    expect_list("without a link", &fixture.store.list(&query).await?, &[d])
}

fn with_rank(value: &[u8]) -> Facets {
    Facets { sort_keys: vec![SortKey::new(RANK, value)], ..Facets::default() }
}
