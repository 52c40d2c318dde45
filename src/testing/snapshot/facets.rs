use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{Entry, Facets, Key, Link, Name, SortKey, UniqueKey};
use crate::testing::{
    Bench, GROUP, MAIL, OWNER, Outcome, PARENT, RANK, by_key, expiring, linked, of, ranked, same,
    uniquely_keyed,
};

crate::testing::table! { of "snapshot":
    "organization, network and `expires_at` as they were" =>
        organization_and_network_come_as_they_were,
        the_time_of_expiry_comes_to_the_microsecond;
    "links and unique keys each once, in any order" =>
        links_come_each_once,
        unique_keys_come_each_once_and_whole,
        hundreds_of_links_and_unique_keys_come;
    "sort keys in any order, and one that is empty may be missing" =>
        sort_keys_come_with_their_very_bytes,
        sort_keys_that_are_ids_of_the_record_come_whichever_it_has,
        records_of_one_kind_with_different_sort_keys_keep_their_own;
    "the facets that it was put with" =>
        facets_come_as_they_were_last_put,
        a_unique_key_that_passed_on_comes_with_its_holder_alone;
}

/// Puts a record for each of the facets, and expects each of them in a snapshot.
async fn come_back(bench: &mut Bench, cases: &[Facets]) -> Outcome {
    let mut expected = Vec::new();
    for facets in cases {
        let key = bench.key();
        expected.push(bench.put_entry(key, facets.clone(), "record").await?);
    }
    let found = bench.entries().await?;
    for entry in &expected {
        same("a record and its facets", &found.get(&entry.record.key), &Some(entry))?;
    }
    same("all records", &found, &by_key(expected))
}

async fn organization_and_network_come_as_they_were(mut bench: Bench) -> Outcome {
    let [organization, network] = bench.ids();
    let organizations = [None, Some(organization), Some(network), Some(Uuid::nil()), Some(Uuid::max())];
    let networks = [None, Some(network), Some(organization), Some(Uuid::nil()), Some(Uuid::max())];
    let pairs = organizations.into_iter().flat_map(|one| networks.map(|other| of(one, other)));
    come_back(&mut bench, &pairs.collect::<Vec<_>>()).await
}

async fn the_time_of_expiry_comes_to_the_microsecond(mut bench: Bench) -> Outcome {
    let time = bench.antiquity();
    bench.store.purge_expired(time).await?;
    let after = [1, 2, 999_999, 1_000_001].map(|micros| time.plus_micros(micros));
    let mut cases: Vec<Facets> =
        after.into_iter().chain([Timestamp::MAX, Timestamp::MIN]).map(expiring).collect();
    cases.push(Facets::default());
    come_back(&mut bench, &cases).await
}

async fn links_come_each_once(mut bench: Bench) -> Outcome {
    let [one, two] = bench.ids();
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
        (0..=links.len()).map(|end| linked(links.get(..end).unwrap_or(&[]))).collect();
    come_back(&mut bench, &prefixes).await
}

async fn unique_keys_come_each_once_and_whole(mut bench: Bench) -> Outcome {
    const PHONE: Name = Name::new("sixteen-letters!");
    let stem = bench.random.bytes(12);
    let odd = |end: &[u8]| UniqueKey::new(MAIL, [&stem, end].concat());
    let named = UniqueKey::new(PHONE, odd(b"").value);
    let longest = UniqueKey::new(PHONE, bench.random.bytes(UniqueKey::MAX_LENGTH));
    let all_bytes =
        UniqueKey::new(MAIL, (u8::MIN..=u8::MAX).chain(stem.iter().copied()).collect::<Vec<u8>>());
    let cases = [
        uniquely_keyed(&[&odd(b"\0"), &odd(b""), &named, &odd(b"\0")]),
        uniquely_keyed(&[&odd(b"\xff"), &odd(b"\x80\n"), &odd(b"a")]),
        uniquely_keyed(&[&longest, &all_bytes]),
        Facets::default(),
    ];
    come_back(&mut bench, &cases).await
}

async fn hundreds_of_links_and_unique_keys_come(mut bench: Bench) -> Outcome {
    let mut facets = ranked(b"a");
    for _ in 0..700 {
        let (link, unique_key) = (bench.link(), bench.unique_key());
        facets.links.push(link);
        facets.unique_keys.push(unique_key);
    }
    come_back(&mut bench, &[facets, ranked(b"b")]).await
}

async fn sort_keys_come_with_their_very_bytes(mut bench: Bench) -> Outcome {
    let long = bench.random.bytes(3000);
    let values: [&[u8]; 9] = [b"", b"\0", b"\0\0", b"a", b"a\0", b" a ", b"\x80", b"\xff\xff", &long];
    let both = |value: &[u8]| {
        let sort_keys = vec![SortKey::new(RANK, value), SortKey::new(GROUP, [value, b"x"].concat())];
        Facets { sort_keys, ..Facets::default() }
    };
    let cases: Vec<Facets> = values.into_iter().flat_map(|value| [ranked(value), both(value)]).collect();
    come_back(&mut bench, &cases).await
}

async fn sort_keys_that_are_ids_of_the_record_come_whichever_it_has(mut bench: Bench) -> Outcome {
    let [red, blue, home, office] = bench.ids();
    let keys = |rank: Uuid, group: Uuid| {
        let sort_keys = vec![SortKey::new(RANK, rank.as_bytes()), SortKey::new(GROUP, group.as_bytes())];
        Facets { sort_keys, ..of(Some(red), Some(home)) }
    };
    let mut cases = vec![keys(home, home), keys(red, home), keys(home, office), keys(blue, office)];
    cases.push(Facets { network: Some(office), ..keys(home, office) });
    cases.push(Facets { network: None, ..keys(home, home) });
    cases.push(Facets { network: Some(Uuid::nil()), ..ranked(Uuid::nil().as_bytes()) });
    come_back(&mut bench, &cases).await
}

/// The later ones bring names that the earlier ones were put without.
async fn records_of_one_kind_with_different_sort_keys_keep_their_own(mut bench: Bench) -> Outcome {
    let names = ["rank", "group", "third", "fourth"].map(|name| Name::parse(name).unwrap_or(RANK));
    let choices = (0..16_u32).map(|choice| {
        let chosen = names.iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0);
        let sort_keys = chosen.map(|(place, name)| SortKey::new(*name, format!("{choice} {place}")));
        Facets { sort_keys: sort_keys.collect(), ..Facets::default() }
    });
    come_back(&mut bench, &choices.collect::<Vec<_>>()).await
}

async fn facets_come_as_they_were_last_put(mut bench: Bench) -> Outcome {
    let (key, unique_key, other, time) =
        (bench.key(), bench.unique_key(), bench.unique_key(), bench.antiquity());
    let ([red, blue, home, office], link) = (bench.ids(), bench.link());
    let full = |organization, network, unique_key: &UniqueKey| Facets {
        expires_at: Some(time),
        links: vec![link],
        sort_keys: vec![SortKey::new(RANK, "a"), SortKey::new(GROUP, "b")],
        unique_keys: vec![unique_key.clone()],
        ..of(Some(organization), Some(network))
    };
    let facets = [
        full(red, home, &unique_key),
        full(blue, office, &other),
        Facets { expires_at: None, ..full(blue, home, &other) },
        Facets { links: Vec::new(), ..full(blue, home, &unique_key) },
        Facets { sort_keys: Vec::new(), ..full(blue, home, &unique_key) },
        ranked(b"c"),
        full(red, office, &unique_key),
        Facets::default(),
    ];
    for facets in facets {
        let entry = bench.put_entry(key, facets, "record").await?;
        same("after a put", &bench.entries().await?, &by_key([entry]))?;
    }
    Ok(())
}

async fn a_unique_key_that_passed_on_comes_with_its_holder_alone(mut bench: Bench) -> Outcome {
    let (keys, unique_key): ([Key; 2], _) = (bench.keys(), bench.unique_key());
    let [one, two] = keys;
    for (from, to) in [(one, two), (two, one), (one, two)] {
        let without = bench.put_entry(from, Facets::default(), "gives").await?;
        let with: Entry = bench.put_entry(to, uniquely_keyed(&[&unique_key]), "takes").await?;
        same("after the unique key passed on", &bench.entries().await?, &by_key([without, with]))?;
    }
    Ok(())
}
