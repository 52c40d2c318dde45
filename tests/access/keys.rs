//! The text of keys: how it is generated, checked and masked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use toposcope::access::{KeyKind, KeyText, RandomError, RandomSource, SessionId, uuid_v4, uuid_v7};
use toposcope::model::Timestamp;

use crate::support::{Constant, Counting, DAEMON_KEY, Failing, USER_KEY};

/// SplitMix64: deterministic, and uniform enough to count characters.
#[derive(Debug, Default)]
struct Stream(AtomicU64);

impl RandomSource for Stream {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for byte in bytes {
            let seed =
                self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (mixed >> 56) as u8;
        }
        Ok(())
    }
}

#[test]
fn known_keys_are_read_and_made() {
    for (text, kind) in [
        (USER_KEY, KeyKind::User),
        (DAEMON_KEY, KeyKind::Daemon),
        ("topo_u_000000000000000000000000000000003rn47h", KeyKind::User),
        ("topo_u_zyxwvutsrqponmlkjihgfedcbaZYXWVU0QV6Gu", KeyKind::User),
        ("topo_u_0000000000000000000000000000037700Mbxw", KeyKind::User),
    ] {
        let key = KeyText::parse(text).unwrap_or_else(|| panic!("{text} is refused"));
        assert_eq!((key.kind(), key.expose()), (kind, text));
    }
    for (kind, text) in [(KeyKind::User, USER_KEY), (KeyKind::Daemon, DAEMON_KEY)] {
        assert_eq!(KeyText::generate(kind, &Counting(0)).unwrap().expose(), text);
    }
}

#[test]
fn what_is_no_key_is_refused() {
    for text in [
        "",
        "topo_",
        "topo_u_",
        "topo_x_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "Topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "TOPO_U_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjh",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhOO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUVsQjhO",
        " topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO ",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO\n",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRST-_0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTé0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUéV0sQjh",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV０sQjhO",
        "topo_u_éééééééééééééééééééééééééééééééééééééé",
    ] {
        assert!(KeyText::parse(text).is_none(), "{text:?} is accepted");
    }
    // A right checksum does not make a character outside the alphabet valid.
    for (random, accepted) in [("a".repeat(32), true), ("_".repeat(32), false), ("é".repeat(16), false)] {
        let before = format!("topo_u_{random}");
        let text = format!("{before}{}", base62(crc32(&before)));
        assert_eq!(KeyText::parse(&text).is_some(), accepted, "{text:?}");
    }
}

/// Computed bit by bit, to be independent of the library's table.
fn crc32(text: &str) -> u32 {
    !text.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

fn base62(mut number: u32) -> String {
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut text = String::new();
    for _ in 0..6 {
        text.insert(0, digits[(number % 62) as usize]);
        number /= 62;
    }
    text
}

#[test]
fn every_corruption_of_one_character_is_refused() {
    for key in [USER_KEY, DAEMON_KEY] {
        for position in 0..key.len() {
            for other in (' '..='~').chain(['\0', '\u{7f}', 'é', '…']) {
                let corrupt: String = key
                    .chars()
                    .enumerate()
                    .map(|(at, was)| if at == position { other } else { was })
                    .collect();
                assert_eq!(KeyText::parse(&corrupt).is_some(), corrupt == key, "{corrupt:?}");
            }
            let missing: String =
                key.chars().enumerate().filter(|(at, _)| *at != position).map(|(_, kept)| kept).collect();
            assert!(KeyText::parse(&missing).is_none(), "{missing:?}");
        }
    }
}

#[test]
fn the_random_characters_are_uniform() {
    let source = Stream::default();
    let mut counts = BTreeMap::new();
    for _ in 0..4_000 {
        let key = KeyText::generate(KeyKind::User, &source).unwrap();
        assert!(KeyText::parse(key.expose()).is_some());
        for character in key.expose()[7..39].chars() {
            *counts.entry(character).or_insert(0_u32) += 1;
        }
    }
    assert_eq!(counts.len(), 62);
    let expected = 4_000.0 * 32.0 / 62.0;
    let chi_squared: f64 =
        counts.values().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 61 degrees of freedom: 120 is passed once in 10^5 times; a modulo bias gives thousands.
    assert!(chi_squared < 120.0, "{chi_squared}: {counts:?}");
}

#[test]
fn a_source_that_fails_or_is_not_random_makes_no_key() {
    for source in [&Failing as &dyn RandomSource, &Constant(0xff), &Constant(62)] {
        assert!(KeyText::generate(KeyKind::User, source).is_err(), "{source:?}");
    }
    assert!(SessionId::generate(&Failing).is_err());
    assert!(uuid_v4(&Failing).is_err());
    assert!(uuid_v7(&Failing, Timestamp::UNIX_EPOCH).is_err());
}

#[test]
fn a_masked_key_shows_its_kind_and_its_end() {
    assert_eq!(KeyText::parse(USER_KEY).unwrap().masked(), "topo_u_…QjhO");
    assert_eq!(KeyText::parse(DAEMON_KEY).unwrap().masked(), "topo_d_…6Ij5");
}
