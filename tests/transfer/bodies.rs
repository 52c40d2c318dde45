//! Bodies are restored byte for byte, whether or not they look like JSON.

use toposcope::store::{Facets, MemoryStore};

use crate::support::{SplitMix64, comes_back, export, note, put};

/// Bodies that are JSON on a single line, without surrounding white space.
const EMBEDDED: [&str; 20] = [
    "null",
    "true",
    "0",
    "-0",
    "1.0",
    "1e999",
    "123456789012345678901234567890.10",
    "\"\"",
    "\"\\u0041\\ud800\\/\"",
    "\"é \u{2028} \u{7f} \u{10ffff}\"",
    "{}",
    "[]",
    "[ 1 ,\t2 ]",
    "{\"b\": 1.0, \"a\": {\"c\": null}, \"b\": 2}",
    "{\"body\": {}, \"kind\": \"\", \"records\": 1}",
    "{\"records\":3,\"crc32\":0}",
    "{\"$serde_json::private::RawValue\": \"x\"}",
    "{\"$serde_json::private::Number\": \"1\"}",
    "{\"\": \"\\n\\r\\u0000\"}",
    "[[[[[[[[[[]]]]]]]]]]",
];

const ENCODED: [&[u8]; 22] = [
    b"",
    b" ",
    b"\0",
    b"\n",
    b" {}",
    b"{} ",
    b"{}\n",
    b"{\n}",
    b"{\r}",
    b"{}\r",
    b"{} {}",
    b"nul",
    b"01",
    b"+1",
    b"{'a': 1}",
    b"\"\0\"",
    b"\"\n\"",
    b"\"\xff\"",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{\"a\": 1,}",
    b"\"\xed\xa0\x80\"",
];

#[tokio::test]
async fn json_of_one_line_is_embedded_as_it_is() {
    for body in EMBEDDED {
        let store = MemoryStore::new();
        put(&store, note(1), Facets::default(), body).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        assert!(file.contains(&format!(",\"body\":{body}}}\n")), "{body} in {file}");
        comes_back(&store).await;
    }
}

#[tokio::test]
async fn anything_else_is_encoded() {
    for body in ENCODED {
        let store = MemoryStore::new();
        put(&store, note(1), Facets::default(), body).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        assert!(file.contains(",\"body_base64\":\""), "{body:?} in {file}");
        assert_eq!(file.lines().count(), 3);
        comes_back(&store).await;
    }
}

#[tokio::test]
async fn any_bytes_come_back() {
    let mut random = SplitMix64(1);
    let pieces: [&[u8]; 16] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b":",
        b",",
        b"\\",
        b"1",
        b"null",
        b" ",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        "é".as_bytes(),
    ];
    let store = MemoryStore::new();
    for number in 0..3000 {
        let body: Vec<u8> = (0..random.below(9)).flat_map(|_| random.pick(&pieces).to_vec()).collect();
        put(&store, note(number), Facets::default(), body).await;
    }
    put(&store, note(3001), Facets::default(), (u8::MIN..=u8::MAX).collect::<Vec<u8>>()).await;
    comes_back(&store).await;
}

#[tokio::test]
async fn a_body_of_14_megabytes_comes_back_embedded_and_encoded() {
    const LENGTH: usize = 14 << 20;
    let store = MemoryStore::new();
    let text = format!("[\"{}\", 1]", "a\\n".repeat(LENGTH / 3));
    put(&store, note(1), Facets::default(), text).await;
    put(&store, note(2), Facets::default(), SplitMix64(2).bytes(LENGTH)).await;
    comes_back(&store).await;
}

#[tokio::test]
async fn a_body_that_nests_a_hundred_thousand_deep_comes_back() {
    let store = MemoryStore::new();
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    put(&store, note(1), Facets::default(), deep).await;
    comes_back(&store).await;
}
