//! The facets that a snapshot returns.

use uuid::Uuid;

use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::store::{Entry, Facets, Key, Link, Name, SortKey, Term, UniqueKey};
use crate::testing::{
    CaseOutcome, Fixture, GROUP, MAIL, OWNER, PARENT, RANK, WORD, by_key, expect_equal, of, with_expiry,
    with_links, with_rank, with_terms, with_unique_keys,
};

crate::testing::table! {
    of "snapshot":
    "organization, network and `expires_at` unchanged" =>
        snapshot_returns_organization_and_network_unchanged,
        snapshot_returns_expiry_to_the_microsecond;
    "links, terms and unique keys each once, in any order" =>
        snapshot_returns_each_link_once,
        snapshot_returns_each_term_once,
        snapshot_returns_each_unique_key_once,
        snapshot_returns_hundreds_of_links_and_unique_keys;
    "sort keys in any order, and empty ones may be omitted" =>
        snapshot_returns_sort_keys_byte_for_byte,
        snapshot_returns_sort_keys_that_equal_other_facets,
        snapshot_returns_each_records_own_sort_keys;
    "the facets that it was put with" =>
        snapshot_returns_facets_of_latest_put,
        snapshot_shows_moved_unique_key_only_on_its_new_holder;
}

/// Puts a record with each of the facets. Expects all of them in a snapshot.
async fn expect_in_snapshot(fixture: &mut Fixture, cases: &[Facets]) -> CaseOutcome {
    let mut expected = Vec::new();
    for facets in cases {
        let key = fixture.key();
        expected.push(fixture.put_entry(key, facets.clone(), "record").await?);
    }
    let found = fixture.entries().await?;
    for entry in &expected {
        expect_equal("a record and its facets", &found.get(&entry.record.key), &Some(entry))?;
    }
    expect_equal("all records", &found, &by_key(expected))
}

async fn snapshot_returns_organization_and_network_unchanged(mut fixture: Fixture) -> CaseOutcome {
    let [organization, network] = fixture.ids();
    let organizations = [None, Some(organization), Some(network), Some(Uuid::nil()), Some(Uuid::max())];
    let networks = [None, Some(network), Some(organization), Some(Uuid::nil()), Some(Uuid::max())];
    let pairs = organizations.into_iter().flat_map(|one| networks.map(|other| of(one, other)));
    expect_in_snapshot(&mut fixture, &pairs.collect::<Vec<_>>()).await
}

async fn snapshot_returns_expiry_to_the_microsecond(mut fixture: Fixture) -> CaseOutcome {
    let time = fixture.ancient_time();
    fixture.store.purge_expired(time).await?;
    let after = [1, 2, 999_999, 1_000_001].map(|micros| time.plus_micros(micros));
    let mut cases: Vec<Facets> =
        after.into_iter().chain([Timestamp::MAX, Timestamp::MIN]).map(with_expiry).collect();
    cases.push(Facets::default());
    expect_in_snapshot(&mut fixture, &cases).await
}

async fn snapshot_returns_each_link_once(mut fixture: Fixture) -> CaseOutcome {
    let [one, two] = fixture.ids();
    let links = [
        Link::new(PARENT, two),
        Link::new(OWNER, two),
        Link::new(OWNER, one),
        Link::new(PARENT, two),
        Link::new(OWNER, Uuid::nil()),
        Link::new(OWNER, Uuid::max()),
        Link::new(OWNER, two),
    ];
    let prefixes: Vec<Facets> =
        (0..=links.len()).map(|end| with_links(links.get(..end).unwrap_or(&[]))).collect();
    expect_in_snapshot(&mut fixture, &prefixes).await
}

/// Lets many records share some terms. A store may represent the terms of many records in another way.
async fn snapshot_returns_each_term_once(mut fixture: Fixture) -> CaseOutcome {
    let longest = fixture.bytes(Term::MAX_LENGTH);
    let values: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"core", b"core\0", b"\xff", &longest, b"core"];
    let mut cases: Vec<Facets> =
        (0..100).map(|end| with_terms(WORD, values.get(..end % 9).asserted_or_default())).collect();
    let both = with_terms(WORD, &[b"core", b"a"]).with_terms(with_terms(RANK, &[b"b", b"core"]).terms);
    cases.push(Facets { unique_keys: vec![fixture.unique_key()], ..both });
    expect_in_snapshot(&mut fixture, &cases).await
}

async fn snapshot_returns_each_unique_key_once(mut fixture: Fixture) -> CaseOutcome {
    const PHONE: Name = Name::new("sixteen-letters!");
    let stem = fixture.bytes(12);
    let odd = |end: &[u8]| UniqueKey::new(MAIL, [&stem, end].concat());
    let named = UniqueKey::new(PHONE, odd(b"").value);
    let longest = UniqueKey::new(PHONE, fixture.bytes(UniqueKey::MAX_LENGTH));
    let all_bytes =
        UniqueKey::new(MAIL, (u8::MIN..=u8::MAX).chain(stem.iter().copied()).collect::<Vec<u8>>());
    let cases = [
        with_unique_keys(&[&odd(b"\0"), &odd(b""), &named, &odd(b"\0")]),
        with_unique_keys(&[&odd(b"\xff"), &odd(b"\x80\n"), &odd(b"a")]),
        with_unique_keys(&[&longest, &all_bytes]),
        Facets::default(),
    ];
    expect_in_snapshot(&mut fixture, &cases).await
}

async fn snapshot_returns_hundreds_of_links_and_unique_keys(mut fixture: Fixture) -> CaseOutcome {
    let mut facets = with_rank(b"a");
    for _ in 0..700 {
        let (link, unique_key) = (fixture.link(), fixture.unique_key());
        facets.links.push(link);
        facets.terms.push(Term::new(WORD, &unique_key.value[..]));
        facets.unique_keys.push(unique_key);
    }
    expect_in_snapshot(&mut fixture, &[facets, with_rank(b"b")]).await
}

async fn snapshot_returns_sort_keys_byte_for_byte(mut fixture: Fixture) -> CaseOutcome {
    let long = fixture.bytes(3000);
    let values: [&[u8]; 9] = [b"", b"\0", b"\0\0", b"a", b"a\0", b" a ", b"\x80", b"\xff\xff", &long];
    let both = |value: &[u8]| {
        let sort_keys = vec![SortKey::new(RANK, value), SortKey::new(GROUP, [value, b"x"].concat())];
        Facets { sort_keys, ..Facets::default() }
    };
    let cases: Vec<Facets> = values.into_iter().flat_map(|value| [with_rank(value), both(value)]).collect();
    expect_in_snapshot(&mut fixture, &cases).await
}

async fn snapshot_returns_sort_keys_that_equal_other_facets(mut fixture: Fixture) -> CaseOutcome {
    let [red, blue, home, office] = fixture.ids();
    let keys = |rank: Uuid, group: Uuid| {
        let sort_keys = vec![SortKey::new(RANK, rank.as_bytes()), SortKey::new(GROUP, group.as_bytes())];
        Facets { sort_keys, ..of(Some(red), Some(home)) }
    };
    let mut cases = vec![keys(home, home), keys(red, home), keys(home, office), keys(blue, office)];
    cases.push(Facets { network: Some(office), ..keys(home, office) });
    cases.push(Facets { network: None, ..keys(home, home) });
    cases.push(Facets { network: Some(Uuid::nil()), ..with_rank(Uuid::nil().as_bytes()) });
    expect_in_snapshot(&mut fixture, &cases).await
}

/// Later records have sort key names that earlier ones lack.
async fn snapshot_returns_each_records_own_sort_keys(mut fixture: Fixture) -> CaseOutcome {
    let names = ["rank", "group", "third", "fourth"].map(|name| Name::parse(name).unwrap_or(RANK));
    let choices = (0..16_u32).map(|choice| {
        let chosen = names.iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0);
        let sort_keys = chosen.map(|(place, name)| SortKey::new(*name, format!("{choice} {place}")));
        Facets { sort_keys: sort_keys.collect(), ..Facets::default() }
    });
    expect_in_snapshot(&mut fixture, &choices.collect::<Vec<_>>()).await
}

async fn snapshot_returns_facets_of_latest_put(mut fixture: Fixture) -> CaseOutcome {
    let (key, unique_key, other, time) =
        (fixture.key(), fixture.unique_key(), fixture.unique_key(), fixture.ancient_time());
    let ([red, blue, home, office], link) = (fixture.ids(), fixture.link());
    let full = |organization, network, unique_key: &UniqueKey| Facets {
        expires_at: Some(time),
        links: vec![link],
        terms: vec![Term::new(WORD, "core")],
        sort_keys: vec![SortKey::new(RANK, "a"), SortKey::new(GROUP, "b")],
        unique_keys: vec![unique_key.clone()],
        ..of(Some(organization), Some(network))
    };
    let facets = [
        full(red, home, &unique_key),
        full(blue, office, &other),
        Facets { expires_at: None, ..full(blue, home, &other) },
        Facets { links: Vec::new(), ..full(blue, home, &unique_key) },
        Facets { terms: Vec::new(), ..full(blue, home, &unique_key) },
        Facets { terms: vec![Term::new(WORD, "edge")], ..full(blue, home, &unique_key) },
        Facets { sort_keys: Vec::new(), ..full(blue, home, &unique_key) },
        with_rank(b"c"),
        full(red, office, &unique_key),
        Facets::default(),
    ];
    for facets in facets {
        let entry = fixture.put_entry(key, facets, "record").await?;
        expect_equal("after a put", &fixture.entries().await?, &by_key([entry]))?;
    }
    Ok(())
}

async fn snapshot_shows_moved_unique_key_only_on_its_new_holder(mut fixture: Fixture) -> CaseOutcome {
    let (keys, unique_key): ([Key; 2], _) = (fixture.keys(), fixture.unique_key());
    let [one, two] = keys;
    for (from, to) in [(one, two), (two, one), (one, two)] {
        let without = fixture.put_entry(from, Facets::default(), "gives").await?;
        let with: Entry = fixture.put_entry(to, with_unique_keys(&[&unique_key]), "takes").await?;
        expect_equal("after the unique key moved", &fixture.entries().await?, &by_key([without, with]))?;
    }
    Ok(())
}
