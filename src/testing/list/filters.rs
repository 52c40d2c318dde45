use uuid::Uuid;

use crate::store::Precondition::Absent;
use crate::store::{Batch, Facets, Key, Link, LinkFilter, Name, Query, Term, TermFilter, TermRange};
use crate::testing::{
    CaseOutcome, Fixture, OWNER, PARENT, RANK, WORD, expect_list, of, with_links, with_terms,
};

crate::testing::table! { of "list":
    "The list contains the records that pass every filter of the query, each once" =>
        list_contains_only_records_of_the_kind,
        organization_filter_matches_one_organization_or_all,
        all_filters_must_match;
    "A filter matches if ANY of its values does" =>
        network_filter_matches_any_network_or_all,
        id_filter_matches_any_id,
        id_filter_with_hundreds_of_ids_matches,
        link_filter_matches_any_target,
        link_filter_matches_only_its_relation;
    "Matches records that meet every filter" =>
        record_matches_only_with_a_link_of_every_filter;
    "A term filter matches the records that have a term of its name in ANY of its ranges" =>
        term_filter_matches_any_range,
        term_filter_matches_only_its_name;
    "Terms are compared as unsigned bytes, a prefix before its extensions, whatever the length of a bound" =>
        term_ranges_match_exact_values_prefixes_and_intervals,
        term_ranges_match_blocks_of_addresses;
    "Matches records that have at least one term of every filter" =>
        record_matches_only_with_a_term_of_every_filter;
    "an empty list of values matches nothing" =>
        empty_filter_matches_nothing;
    "A value that occurs twice in a filter counts once" =>
        duplicate_filter_value_lists_record_once;
    "The same link twice counts once" =>
        duplicate_link_lists_record_once;
    "The same term twice counts once" =>
        duplicate_term_lists_record_once;
}

async fn list_contains_only_records_of_the_kind(mut fixture: Fixture) -> CaseOutcome {
    let [one, two] = fixture.keys();
    let namesake = Key::new(fixture.other_kind, one.id);
    for key in [one, two, namesake] {
        fixture.put(key, Facets::default(), "record").await?;
    }
    let other = Query::new(fixture.other_kind);
    expect_list("the kind", &fixture.store.list(&fixture.query()).await?, &[one, two])?;
    expect_list("the other kind", &fixture.store.list(&other).await?, &[namesake])?;
    fixture.delete(one).await?;
    expect_list("the kind after a delete", &fixture.store.list(&fixture.query()).await?, &[two])?;
    expect_list("the other kind after it", &fixture.store.list(&other).await?, &[namesake])
}

async fn organization_filter_matches_one_organization_or_all(mut fixture: Fixture) -> CaseOutcome {
    let [red, blue, empty] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    for (key, organization) in [(a, Some(red)), (b, Some(blue)), (c, None), (d, Some(red))] {
        fixture.put(key, of(organization, None), "record").await?;
    }
    let query = |organization| Query { organization, ..fixture.query() };
    expect_list("one organization", &fixture.store.list(&query(Some(red))).await?, &[a, d])?;
    expect_list("an organization without records", &fixture.store.list(&query(Some(empty))).await?, &[])?;
    expect_list("no organization filter", &fixture.store.list(&query(None)).await?, &[a, b, c, d])
}

async fn network_filter_matches_any_network_or_all(mut fixture: Fixture) -> CaseOutcome {
    let [home, office, empty] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    for (key, network) in [(a, Some(home)), (b, None), (c, Some(office)), (d, Some(home))] {
        fixture.put(key, of(None, network), "record").await?;
    }
    let query = |networks: &[Uuid]| Query { networks: Some(networks.to_vec()), ..fixture.query() };
    expect_list("one network", &fixture.store.list(&query(&[home])).await?, &[a, d])?;
    expect_list("two networks", &fixture.store.list(&query(&[office, home])).await?, &[a, c, d])?;
    expect_list("a network without records", &fixture.store.list(&query(&[empty])).await?, &[])?;
    expect_list("no network filter", &fixture.store.list(&fixture.query()).await?, &[a, b, c, d])
}

async fn id_filter_matches_any_id(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, missing] = fixture.keys();
    let stranger = fixture.other_key();
    for key in [a, b, c, stranger] {
        fixture.put(key, Facets::default(), "record").await?;
    }
    let query = |ids: &[Uuid]| Query { ids: Some(ids.to_vec()), ..fixture.query() };
    expect_list("one id", &fixture.store.list(&query(&[b.id])).await?, &[b])?;
    let ids = [c.id, missing.id, stranger.id, a.id];
    expect_list(
        "two ids, an unused one and one of another kind",
        &fixture.store.list(&query(&ids)).await?,
        &[a, c],
    )
}

async fn id_filter_with_hundreds_of_ids_matches(mut fixture: Fixture) -> CaseOutcome {
    let mut keys: Vec<Key> = (0..800).map(|_| fixture.key()).collect();
    keys.sort_unstable();
    let mut batch = Batch::new();
    for key in &keys {
        batch.put(*key, Absent, Facets::default(), "record");
    }
    fixture.store.commit(batch).await?;
    let wanted: Vec<Key> =
        keys.into_iter().enumerate().filter(|(n, _)| n % 3 > 0).map(|(_, key)| key).collect();
    let ids = wanted.iter().map(|key| key.id).collect();
    let query = Query { ids: Some(ids), ..fixture.query() };
    expect_list("two thirds of 800 records", &fixture.store.list(&query).await?, &wanted)
}

async fn link_filter_matches_any_target(mut fixture: Fixture) -> CaseOutcome {
    let [mine, yours, unowned] = fixture.ids();
    let [a, b, c, d] = fixture.keys();
    let link = |target| Link::new(OWNER, target);
    for (key, links) in [(a, vec![link(mine)]), (b, vec![]), (c, vec![link(yours), link(mine)])] {
        fixture.put(key, with_links(&links), "record").await?;
    }
    fixture.put(d, with_links(&[link(yours)]), "record").await?;
    let query = |targets: &[Uuid]| Query { links: vec![filter(OWNER, targets)], ..fixture.query() };
    expect_list("one target", &fixture.store.list(&query(&[mine])).await?, &[a, c])?;
    expect_list("two targets", &fixture.store.list(&query(&[yours, mine])).await?, &[a, c, d])?;
    expect_list("a target without links", &fixture.store.list(&query(&[unowned])).await?, &[])
}

async fn link_filter_matches_only_its_relation(mut fixture: Fixture) -> CaseOutcome {
    let [target] = fixture.ids();
    let [owned, child] = fixture.keys();
    fixture.put(owned, with_links(&[Link::new(OWNER, target)]), "owned").await?;
    fixture.put(child, with_links(&[Link::new(PARENT, target)]), "child").await?;
    let query = |relation| Query { links: vec![filter(relation, &[target])], ..fixture.query() };
    expect_list("one relation", &fixture.store.list(&query(OWNER)).await?, &[owned])?;
    expect_list("the other relation", &fixture.store.list(&query(PARENT)).await?, &[child])
}

async fn record_matches_only_with_a_link_of_every_filter(mut fixture: Fixture) -> CaseOutcome {
    let [one, two, three] = fixture.ids();
    let [a, b, c] = fixture.keys();
    let link = |target| Link::new(OWNER, target);
    fixture.put(a, with_links(&[link(one), link(two)]), "record").await?;
    fixture.put(b, with_links(&[link(one), Link::new(PARENT, three)]), "record").await?;
    fixture.put(c, with_links(&[link(two), link(three), Link::new(PARENT, three)]), "record").await?;
    let query = |links: &[LinkFilter]| Query { links: links.to_vec(), ..fixture.query() };
    let same_relation = query(&[filter(OWNER, &[one]), filter(OWNER, &[two, three])]);
    expect_list("two filters of one relation", &fixture.store.list(&same_relation).await?, &[a])?;
    let two_relations = query(&[filter(OWNER, &[one, two]), filter(PARENT, &[three])]);
    expect_list("filters of two relations", &fixture.store.list(&two_relations).await?, &[b, c])
}

async fn empty_filter_matches_nothing(mut fixture: Fixture) -> CaseOutcome {
    let ([target, network], key) = (fixture.ids(), fixture.key());
    let facets = Facets { network: Some(network), ..with_links(&[Link::new(OWNER, target)]) };
    fixture.put(key, facets, "record").await?;
    let networks = Query { networks: Some(Vec::new()), ..fixture.query() };
    expect_list("no networks", &fixture.store.list(&networks).await?, &[])?;
    let ids = Query { ids: Some(Vec::new()), ..fixture.query() };
    expect_list("no ids", &fixture.store.list(&ids).await?, &[])?;
    let links = Query { links: vec![filter(OWNER, &[target]), filter(OWNER, &[])], ..fixture.query() };
    expect_list("a link filter without targets", &fixture.store.list(&links).await?, &[])?;
    fixture.put(key, with_terms(WORD, &[b"a"]), "record").await?;
    let all = TermFilter::new(WORD, [TermRange::prefix(b"")]);
    let terms = Query { terms: vec![all, TermFilter::new(WORD, [])], ..fixture.query() };
    expect_list("a term filter without ranges", &fixture.store.list(&terms).await?, &[])
}

async fn duplicate_filter_value_lists_record_once(mut fixture: Fixture) -> CaseOutcome {
    let ([target, network], key) = (fixture.ids(), fixture.key());
    let facets = Facets { network: Some(network), ..with_links(&[Link::new(OWNER, target)]) };
    fixture.put(key, facets, "record").await?;
    let networks = Query { networks: Some(vec![network; 2]), ..fixture.query() };
    expect_list("a network twice", &fixture.store.list(&networks).await?, &[key])?;
    let ids = Query { ids: Some(vec![key.id; 2]), ..fixture.query() };
    expect_list("an id twice", &fixture.store.list(&ids).await?, &[key])?;
    let targets = Query { links: vec![filter(OWNER, &[target; 2])], ..fixture.query() };
    expect_list("a target twice", &fixture.store.list(&targets).await?, &[key])?;
    let filters = Query { links: vec![filter(OWNER, &[target]); 2], ..fixture.query() };
    expect_list("a link filter twice", &fixture.store.list(&filters).await?, &[key])
}

async fn duplicate_link_lists_record_once(mut fixture: Fixture) -> CaseOutcome {
    let [target, other] = fixture.ids();
    let key = fixture.key();
    let link = Link::new(OWNER, target);
    fixture.put(key, with_links(&[link, Link::new(OWNER, other), link]), "record").await?;
    let query = Query { links: vec![filter(OWNER, &[target, other])], ..fixture.query() };
    expect_list("the targets of its links", &fixture.store.list(&query).await?, &[key])?;
    fixture.put(key, with_links(&[Link::new(OWNER, other)]), "record").await?;
    let query = Query { links: vec![filter(OWNER, &[target])], ..fixture.query() };
    expect_list("the target after a put without it", &fixture.store.list(&query).await?, &[])
}

async fn term_filter_matches_any_range(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c, d] = fixture.keys();
    let records: [(Key, &[&[u8]]); 4] =
        [(a, &[b"core", b"switch"]), (b, &[]), (c, &[b"edge"]), (d, &[b"core"])];
    for (key, words) in records {
        fixture.put(key, with_terms(WORD, words), "record").await?;
    }
    let exact = |word: &[u8]| TermRange::exact(word);
    expect_terms(&fixture, &[exact(b"core")], &[a, d]).await?;
    expect_terms(&fixture, &[exact(b"edge"), exact(b"switch")], &[a, c]).await?;
    expect_terms(&fixture, &[TermRange::prefix("s"), exact(b"core"), TermRange::prefix("sw")], &[a, d])
        .await?;
    expect_terms(&fixture, &[exact(b"cor"), exact(b"core\0"), exact(b"")], &[]).await
}

async fn term_filter_matches_only_its_name(mut fixture: Fixture) -> CaseOutcome {
    let [word, rank, neither] = fixture.keys();
    fixture.put(word, with_terms(WORD, &[b"a"]), "word").await?;
    fixture.put(rank, with_terms(RANK, &[b"a"]), "rank").await?;
    fixture.put(neither, with_terms(RANK, &[b"b"]), "neither").await?;
    for (name, expected) in [(WORD, &[word][..]), (RANK, &[rank]), (OWNER, &[])] {
        let terms = vec![TermFilter::new(name, [TermRange::exact(*b"a")])];
        let page = fixture.store.list(&Query { terms, ..fixture.query() }).await?;
        expect_list(&format!("the terms named {name}"), &page, expected)?;
    }
    Ok(())
}

/// Compares every range between some values with the definition of a range. The ranges of each single value are
/// compared as well.
async fn term_ranges_match_exact_values_prefixes_and_intervals(mut fixture: Fixture) -> CaseOutcome {
    let longest = [0xff; Term::MAX_LENGTH];
    let values: [&[u8]; 12] =
        [b"", b"\0", b"\0\0", b"\0\xff", b"\x01", b"a", b"a\0", b"ab", b"b", b"\x7f", b"\x80", &longest];
    let keys: [Key; 12] = fixture.keys();
    for (key, value) in keys.iter().zip(values) {
        fixture.put(*key, with_terms(WORD, &[value]), "record").await?;
    }
    let beyond = [0xff; Term::MAX_LENGTH + 9];
    for from in values.into_iter().chain([&beyond[..], b"zz"]) {
        let to = values.iter().map(|to| TermRange::between(from, *to));
        let open = values.iter().map(|to| TermRange::new(from, Some(to.to_vec())));
        let own = [TermRange::exact(from), TermRange::prefix(from), TermRange::new(from, None)];
        for range in own.into_iter().chain(to).chain(open) {
            let passing = keys.iter().zip(values).filter(|(_, value)| range.contains(value));
            let expected: Vec<Key> = passing.map(|(key, _)| *key).collect();
            expect_terms(&fixture, &[range], &expected).await?;
        }
    }
    Ok(())
}

async fn term_ranges_match_blocks_of_addresses(mut fixture: Fixture) -> CaseOutcome {
    let address = |last: [u8; 4]| [&[0; 10][..], &[0xff; 2], &last].concat();
    let [outside, first, last, other] = fixture.keys();
    let places = [
        (outside, [10, 0, 15, 255]),
        (first, [10, 0, 16, 0]),
        (last, [10, 0, 31, 255]),
        (other, [10, 0, 32, 0]),
    ];
    for (key, place) in places {
        fixture.put(key, with_terms(WORD, &[&address(place)]), "record").await?;
    }
    let block = |first, last| TermRange::between(address(first), address(last));
    expect_terms(&fixture, &[block([10, 0, 16, 0], [10, 0, 31, 255])], &[first, last]).await?;
    expect_terms(&fixture, &[block([10, 0, 0, 0], [10, 255, 255, 255])], &[outside, first, last, other])
        .await?;
    expect_terms(&fixture, &[block([0; 4], [9, 255, 255, 255]), block([10, 0, 32, 0], [255; 4])], &[other])
        .await
}

async fn record_matches_only_with_a_term_of_every_filter(mut fixture: Fixture) -> CaseOutcome {
    let [a, b, c] = fixture.keys();
    let mut both = with_terms(WORD, &[b"core", b"switch"]);
    both.terms.push(Term::new(RANK, *b"1"));
    fixture.put(a, both, "record").await?;
    fixture.put(b, with_terms(WORD, &[b"core", b"router"]), "record").await?;
    fixture.put(c, with_terms(WORD, &[b"edge", b"switch"]), "record").await?;
    let word = |word: &str| TermFilter::new(WORD, [TermRange::prefix(word)]);
    let rank = TermFilter::new(RANK, [TermRange::exact(*b"1")]);
    let cases = [
        (vec![word("core"), word("switch")], vec![a]),
        (vec![word("core"), word("r")], vec![b]),
        (vec![word("s"), word("s")], vec![a, c]),
        (vec![word("s"), rank.clone()], vec![a]),
        (vec![word("router"), rank], vec![]),
    ];
    for (terms, expected) in cases {
        let what = format!("{terms:?}");
        expect_list(&what, &fixture.store.list(&Query { terms, ..fixture.query() }).await?, &expected)?;
    }
    Ok(())
}

async fn duplicate_term_lists_record_once(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    fixture.put(key, with_terms(WORD, &[b"a", b"ab", b"a"]), "record").await?;
    let whole = [TermRange::prefix("a"), TermRange::exact(*b"ab"), TermRange::prefix("a")];
    expect_terms(&fixture, &whole, &[key]).await?;
    fixture.put(key, with_terms(WORD, &[b"ab"]), "record").await?;
    expect_terms(&fixture, &[TermRange::exact(*b"a")], &[]).await
}

/// Expects these records to have words in one of the ranges.
async fn expect_terms(fixture: &Fixture, ranges: &[TermRange], expected: &[Key]) -> CaseOutcome {
    let terms = vec![TermFilter::new(WORD, ranges)];
    let page = fixture.store.list(&Query { terms, ..fixture.query() }).await?;
    expect_list(&format!("the words in {ranges:?}"), &page, expected)
}

/// One record passes all filters; each of the others fails exactly one.
async fn all_filters_must_match(mut fixture: Fixture) -> CaseOutcome {
    let [organization, network, target, other] = fixture.ids();
    let [passing, a, b, c, d, e] = fixture.keys();
    let facets = |organization, network, target| Facets {
        links: vec![Link::new(OWNER, target)],
        terms: vec![Term::new(WORD, *b"word")],
        ..of(Some(organization), Some(network))
    };
    let mut batch = Batch::new();
    batch.put(passing, Absent, facets(organization, network, target), "passes");
    batch.put(a, Absent, facets(other, network, target), "of another organization");
    batch.put(b, Absent, facets(organization, other, target), "of another network");
    batch.put(c, Absent, facets(organization, network, other), "with another link");
    batch.put(d, Absent, facets(organization, network, target), "with another id");
    let wordless = Facets { terms: Vec::new(), ..facets(organization, network, target) };
    batch.put(e, Absent, wordless, "without the term");
    fixture.store.commit(batch).await?;
    let query = Query {
        organization: Some(organization),
        networks: Some(vec![network]),
        ids: Some(vec![passing.id, a.id, b.id, c.id, e.id]),
        links: vec![filter(OWNER, &[target])],
        terms: vec![TermFilter::new(WORD, [TermRange::exact(*b"word")])],
        ..fixture.query()
    };
    expect_list("all filters", &fixture.store.list(&query).await?, &[passing])?;
    let query = Query { ids: None, ..query };
    expect_list("all filters but the ids", &fixture.store.list(&query).await?, &[passing, d])
}

fn filter(relation: Name, targets: &[Uuid]) -> LinkFilter {
    LinkFilter::new(relation, targets)
}
