use super::*;

type UniqueKeys<'a> = Vec<(NameId, &'a [u8])>;

fn without_terms(
    sort_keys: &[&[u8]],
    links: &[(NameId, Uuid)],
    unique_keys: &[(NameId, &[u8])],
) -> PackedFacets {
    PackedFacets::pack(None, sort_keys, links, unique_keys, &[], &CommonValues::default())
}

/// Packs facets and asserts that everything can be read back.
fn assert_comes_back(sort_keys: &[&[u8]], links: &[(NameId, Uuid)], unique_keys: &UniqueKeys<'_>) {
    for expires_at in [None, Some(Timestamp::UNIX_EPOCH.plus_micros(-1))] {
        let choices: [UniqueKeys<'_>; 3] =
            [vec![], vec![(1, b"a")], vec![(1, b""), (1, b"a"), (3, &[7; 64])]];
        for terms in choices {
            let common = CommonValues::default();
            let packed = PackedFacets::pack(expires_at, sort_keys, links, unique_keys, &terms, &common);
            assert_eq!(packed.expires_at(), expires_at);
            for (slot, key) in sort_keys.iter().enumerate() {
                assert_eq!(packed.sort_key(slot), *key, "key {slot} of {sort_keys:?}");
            }
            assert_eq!(packed.sort_key(sort_keys.len()), b"");
            assert_eq!(packed.links(&common).collect::<Vec<_>>(), links);
            assert_eq!(packed.unique_keys().collect::<UniqueKeys<'_>>(), *unique_keys);
            assert!(unique_keys.iter().all(|(name, value)| packed.has_unique_key(*name, value)));
            assert!(!packed.has_unique_key(7, b"never there"));
            assert_eq!(packed.terms(&common).collect::<UniqueKeys<'_>>(), terms);
        }
    }
}

#[test]
fn sort_keys_come_back_whatever_they_share_with_those_before() {
    let keys: [&[u8]; 5] = [b"", b"a", b"ab", b"abc", b"b"];
    for number in 0..keys.len().pow(4) {
        let place = |digit: u32| keys[number / keys.len().pow(digit) % keys.len()];
        assert_comes_back(&[place(0), place(1), place(2), place(3)], &[], &vec![]);
    }
}

#[test]
fn facets_come_back_whether_their_numbers_are_narrow_or_wide() {
    let links = [(1, Uuid::from_u128(1)), (2, Uuid::from_u128(0))];
    let unique_keys: UniqueKeys<'_> = vec![(1, b""), (1, b"\0"), (1, b"\x01"), (1, b"\0\0"), (3, b"\0")];
    let lengths = [0, 1, 300, 32_600, 32_700, 32_767, 32_768, 65_535, 65_536, 200_000];
    for length in lengths {
        let long = vec![b'a'; length];
        let longer = vec![b'a'; length + 1];
        assert_comes_back(&[], &[], &vec![]);
        assert_comes_back(&[&long], &links, &vec![]);
        assert_comes_back(&[b"b", &long, &longer, b"", b"c"], &links, &unique_keys);
    }
}

#[test]
fn every_one_of_many_unique_keys_is_found_and_nothing_between_them() {
    const COUNT: u32 = 2 * u16::MAX as u32 + 2;
    let values: Vec<[u8; 4]> = (0..COUNT).map(|number| (3 * number + 1).to_be_bytes()).collect();
    let unique_keys: UniqueKeys<'_> = values.iter().map(|value| (5, value.as_slice())).collect();
    let packed = without_terms(&[], &[], &unique_keys);
    assert_eq!(packed.unique_keys().collect::<UniqueKeys<'_>>(), unique_keys);
    for number in 0..=3 * COUNT {
        assert_eq!(packed.has_unique_key(5, &number.to_be_bytes()), number % 3 == 1, "{number}");
    }
    assert!(!packed.has_unique_key(4, &1_u32.to_be_bytes()));
}

#[test]
fn unique_keys_and_links_are_the_same_whatever_else_is_there() {
    let (links, unique_keys) = ([(1, Uuid::from_u128(1))], [(1, &b"value"[..])]);
    let packed = without_terms(&[b"key"], &links, &unique_keys);
    let (time, long, terms) = (Some(Timestamp::UNIX_EPOCH), [0; 100_000], [(1, &b"term"[..])]);
    let other = PackedFacets::pack(time, &[&long], &links, &unique_keys, &terms, &CommonValues::default());
    assert!(
        packed.unique_keys_beside(&other).next().is_none()
            && packed.has_links_of(&other, &CommonValues::default())
    );
    let other = without_terms(&[b"key"], &[(1, Uuid::nil())], &[(1, b"valuf")]);
    assert!(
        packed.unique_keys_beside(&other).eq(packed.unique_keys())
            && !packed.has_links_of(&other, &CommonValues::default())
    );
}

#[test]
fn terms_are_compared_by_value_where_the_sort_keys_that_they_share_differ() {
    let common = CommonValues::default();
    let packed =
        |key: &[u8], value: &[u8]| PackedFacets::pack(None, &[key], &[], &[], &[(1, value)], &common);
    let (old, renamed) = (packed(b"switch", b"switch"), packed(b"router", b"router"));
    assert!(!old.has_terms_of(&renamed, &common));
    assert!(renamed.terms_beside(Some(&old), &common).eq([(1, &b"router"[..])]));
    let kept = packed(b"router", b"switch");
    assert!(old.has_terms_of(&kept, &common) && kept.terms_beside(Some(&old), &common).next().is_none());
}

#[test]
fn terms_are_the_same_also_where_their_values_have_become_common() {
    let terms = |name, value: &'static [u8]| [(1, &b"core"[..]), (name, value)];
    let none = CommonValues::default();
    let mut common = CommonValues::default();
    common.insert(b"core");
    let packed = |terms: &[(NameId, &[u8])], common| PackedFacets::pack(None, &[], &[], &[], terms, common);
    let old = packed(&terms(2, b"old"), &none);
    let same = packed(&terms(2, b"old"), &common);
    let new = packed(&terms(2, b"new"), &common);
    assert!(old.has_terms_of(&same, &common) && old.terms_beside(Some(&same), &common).next().is_none());
    assert!(!old.has_terms_of(&new, &common));
    assert!(old.terms_beside(Some(&new), &common).eq([(2, &b"old"[..])]));
    assert!(new.terms_beside(Some(&old), &common).eq([(2, &b"new"[..])]));
    assert!(new.terms_beside(None, &common).eq(terms(2, b"new")));
}

#[test]
fn unique_keys_beside_those_of_another_are_the_difference_of_the_sets() {
    let values: Vec<Vec<u8>> = (0..6_u8).map(|number| vec![number; usize::from(number % 3) + 1]).collect();
    let chosen = |set: u32| {
        let keys = values.iter().enumerate().filter(|(place, _)| set & (1 << place) != 0);
        let mut keys: UniqueKeys<'_> =
            keys.map(|(place, value)| ((place % 2) as NameId, value.as_slice())).collect();
        keys.sort_unstable_by_key(|(name, value)| (*name, value.len(), *value));
        keys
    };
    for (left, right) in (0..64).flat_map(|left| (0..64).map(move |right| (left, right))) {
        let packed = |set| without_terms(&[], &[], &chosen(set));
        let difference: UniqueKeys<'_> = chosen(left & !right);
        let (left, right) = (packed(left), packed(right));
        assert_eq!(left.unique_keys_beside(&right).collect::<UniqueKeys<'_>>(), difference);
    }
}

#[test]
fn links_are_the_same_also_where_their_targets_have_become_common() {
    let links = |last| [(1, Uuid::from_u128(7)), (2, Uuid::from_u128(last))];
    let none = CommonValues::default();
    let mut common = CommonValues::default();
    common.insert(Uuid::from_u128(7).as_bytes());
    let packed = |last, common| PackedFacets::pack(None, &[], &links(last), &[], &[], common);
    let (old, same, other) = (packed(8, &none), packed(8, &common), packed(9, &common));
    assert!(old.has_links_of(&same, &common) && same.has_links_of(&old, &common));
    assert!(!old.has_links_of(&other, &common) && !same.has_links_of(&other, &common));
    assert!(old.links(&common).eq(links(8)) && other.links(&common).eq(links(9)));
}
