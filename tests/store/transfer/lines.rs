//! Valid contents of a line; errors name its number and its field.

use toposcope::store::TransferErrorKind::{Malformed, Store};
use toposcope::store::{Facets, Link, UniqueKey};
use uuid::Uuid;

use super::{HEADER, MAIL, PARENT, SECRET, export, note, restore, small_store, texts};
use crate::contents::contents;

const NAMES: &str = "\"kind\":\"note\",\"id\":\"00000000-0000-0000-0000-000000000001\"";

/// Returns an export of these lines, as the crate would write it.
fn file(lines: &[&str]) -> String {
    let before = format!("{HEADER}{}", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let sum = crc32(before.as_bytes());
    format!("{before}{{\"records\":{},\"crc32\":{sum}}}\n", lines.len())
}

/// Computes the checksum bit by bit from its definition.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[tokio::test]
async fn export_has_the_documented_format() {
    let exported = String::from_utf8(export(&small_store().await).await).unwrap();
    let secret = "aHVudGVyMg==";
    let id = |number| Uuid::from_u128(number);
    let expected = file(&[
        &format!(
            "{{\"kind\":\"note\",\"id\":\"{}\",\"organization\":\"{}\",\"network\":\"{}\",\
             \"expires_at\":\"2030-01-02T03:04:05.678901Z\",\"links\":[[\"parent\",\"{}\"]],\
             \"terms\":[[\"rank\",\"{secret}\"]],\
             \"sort_keys\":[[\"rank\",\"{secret}\"]],\"unique_keys\":[[\"mail\",\"{secret}\"]],\
             \"body\":{{\"password\": \"hunter2\"}}}}",
            id(1),
            id(7),
            id(8),
            id(2)
        ),
        &format!("{{\"kind\":\"note\",\"id\":\"{}\",\"body_base64\":\"{secret}\"}}", id(2)),
        &format!("{{\"kind\":\"note\",\"id\":\"{}\",\"body\":[1, 2, 3]}}", id(3)),
    ]);
    assert_eq!(exported, expected);
}

#[tokio::test]
async fn line_written_by_another_program_is_read() {
    let line = "{ \"body\" : 1, \"unique_keys\": [[\"\\u006dail\",\"AP8=\"]], \"network\": null, \
                \"sort_keys\": [[\"rank\", \"\"]], \"id\":\"00000000-0000-0000-0000-000000000001\", \
                \"kind\": \"note\", \"links\": [[\"parent\", \"00000000-0000-0000-0000-000000000002\"]]}";
    let (store, result) = restore(file(&[line]).as_bytes()).await;
    assert_eq!(result.unwrap().records, 1);
    let facets = Facets::default()
        .with_links([Link::new(PARENT, Uuid::from_u128(2))])
        .with_unique_keys([UniqueKey::new(MAIL, [0, 0xff])]);
    assert_eq!(contents(&store).await, [(note(1), (facets, "1".into()))].into());
}

#[tokio::test]
async fn error_of_an_invalid_line_names_its_number_and_field() {
    let id = "\"id\":\"00000000-0000-0000-0000-000000000001\"";
    let cases: &[(Option<&str>, String)] = &[
        (None, String::new()),
        (None, " ".to_owned()),
        (None, "hunter2".to_owned()),
        (None, "[]".to_owned()),
        (None, "{".to_owned()),
        (None, format!("{{{NAMES},\"body\":1}} hunter2")),
        (None, format!("{{{NAMES},\"body\":1}}{{}}")),
        (None, format!("{{{NAMES},\"body\":1,\"hunter2\":1}}")),
        (None, format!("{{{NAMES},\"body\":1,\"version\":1}}")),
        (None, format!("{{{NAMES},\"body\":1,\"body\":2}}")),
        (None, format!("{{{id},\"body\":1}}")),
        (None, "{\"kind\":\"note\",\"body\":1}".to_owned()),
        (Some("kind"), format!("{{\"kind\":\"\",{id},\"body\":1}}")),
        (Some("kind"), format!("{{\"kind\":\"not a name\",{id},\"body\":1}}")),
        (Some("kind"), format!("{{\"kind\":\"longer than a name\",{id},\"body\":1}}")),
        (Some("kind"), format!("{{\"kind\":1,{id},\"body\":1}}")),
        (Some("id"), "{\"kind\":\"note\",\"id\":\"hunter2\",\"body\":1}".to_owned()),
        (Some("organization"), format!("{{{NAMES},\"organization\":\"hunter2\",\"body\":1}}")),
        (Some("network"), format!("{{{NAMES},\"network\":1,\"body\":1}}")),
        (Some("expires_at"), format!("{{{NAMES},\"expires_at\":\"hunter2\",\"body\":1}}")),
        (Some("links"), format!("{{{NAMES},\"links\":[[\"hunter2\"]],\"body\":1}}")),
        (Some("links"), format!("{{{NAMES},\"links\":[[\"parent\",\"hunter2\"]],\"body\":1}}")),
        (Some("terms"), format!("{{{NAMES},\"terms\":[[\"rank\",\"hunter2\"]],\"body\":1}}")),
        (Some("sort_keys"), format!("{{{NAMES},\"sort_keys\":[[\"rank\",\"hunter2\"]],\"body\":1}}")),
        (Some("sort_keys"), format!("{{{NAMES},\"sort_keys\":[[\"rank\",1]],\"body\":1}}")),
        (Some("unique_keys"), format!("{{{NAMES},\"unique_keys\":[[\"mail\",\"AP8\"]],\"body\":1}}")),
        (Some("unique_keys"), format!("{{{NAMES},\"unique_keys\":[[\"mail\",\"AP8=\",1]],\"body\":1}}")),
        (Some("unique_keys"), format!("{{{NAMES},\"unique_keys\":\"hunter2\",\"body\":1}}")),
        (Some("body"), format!("{{{NAMES}}}")),
        (Some("body"), format!("{{{NAMES},\"body\":1,\"body_base64\":\"\"}}")),
        (Some("body"), format!("{{{NAMES},\"body\":hunter2}}")),
        (Some("body_base64"), format!("{{{NAMES},\"body_base64\":\"hunter2!\"}}")),
        (Some("body_base64"), format!("{{{NAMES},\"body_base64\":1}}")),
    ];
    let good = "{\"kind\":\"note\",\"id\":\"00000000-0000-0000-0000-000000000009\",\"body\":1}";
    for (field, line) in cases {
        let error = restore(file(&[good, line, good]).as_bytes()).await.1.unwrap_err();
        assert_eq!((error.kind(), error.line(), error.field()), (Malformed, Some(3), *field), "{line}");
        assert!(!texts(&error).contains(SECRET), "{}", texts(&error));
    }
}

#[tokio::test]
async fn key_or_unique_key_that_occurs_twice_is_refused_by_the_store() {
    let line = format!("{{{NAMES},\"body\":1}}");
    let error = restore(file(&[&line, &line]).as_bytes()).await.1.unwrap_err();
    assert_eq!(error.kind(), Store);
    let unique_key = "\"unique_keys\":[[\"mail\",\"aHVudGVyMg==\"]]";
    let other = NAMES.replace("0001", "0002");
    let lines =
        [format!("{{{NAMES},{unique_key},\"body\":1}}"), format!("{{{other},{unique_key},\"body\":1}}")];
    let error = restore(file(&[&lines[0], &lines[1]]).as_bytes()).await.1.unwrap_err();
    assert_eq!(error.kind(), Store);
    assert!(!texts(&error).contains(SECRET) && !texts(&error).contains("aHVudGVyMg"), "{}", texts(&error));
}

#[tokio::test]
async fn sort_key_that_occurs_twice_is_refused() {
    let line = format!("{{{NAMES},\"sort_keys\":[[\"rank\",\"\"],[\"rank\",\"AA==\"]],\"body\":1}}");
    assert_eq!(restore(file(&[&line]).as_bytes()).await.1.unwrap_err().kind(), Store);
}
