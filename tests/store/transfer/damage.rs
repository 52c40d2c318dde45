//! A damaged export is never accepted as complete.

use std::collections::BTreeMap;

use bytes::Bytes;
use toposcope::store::TransferErrorKind::{Damaged, Malformed, NotAnExport, Truncated};
use toposcope::store::{Facets, Key};

use super::{SECRET, export, restore, small_store, texts};
use crate::contents::contents;

/// An undamaged export of the small store.
struct SoundExport {
    file: Vec<u8>,
    contents: BTreeMap<Key, (Facets, Bytes)>,
}

impl SoundExport {
    async fn new() -> Self {
        let store = small_store().await;
        Self { file: export(&store).await, contents: contents(&store).await }
    }

    /// Asserts that a file is refused or restored identically. Returns whether it was refused.
    async fn is_refused(&self, what: &str, file: &[u8]) -> bool {
        let (store, result) = restore(file).await;
        match result {
            Ok(_) => {
                assert!(contents(&store).await == self.contents, "{what}: accepted as complete");
                false
            }
            Err(error) => {
                assert!(error.line().is_some(), "{what}: {error}");
                assert!(!texts(&error).contains(SECRET), "{what}: {}", texts(&error));
                true
            }
        }
    }
}

#[tokio::test]
async fn changed_byte_is_detected() {
    let sound = SoundExport::new().await;
    let last = sound.file.len() - 1;
    for place in 0..=last {
        let byte = sound.file[place];
        let others = (0..8).map(|bit| byte ^ (1 << bit)).chain(*b"\n \0\"0}");
        for other in others.filter(|other| *other != byte) {
            let mut file = sound.file.clone();
            file[place] = other;
            let is_refused = sound.is_refused(&format!("{other:#x} at {place}"), &file).await;
            assert!(is_refused || place == last, "{other:#x} at {place}");
        }
    }
}

#[tokio::test]
async fn missing_or_additional_byte_is_detected() {
    let sound = SoundExport::new().await;
    for place in 0..sound.file.len() {
        let mut less = sound.file.clone();
        less.remove(place);
        sound.is_refused(&format!("without the byte at {place}"), &less).await;
        for byte in *b"\n {\"1" {
            let mut more = sound.file.clone();
            more.insert(place, byte);
            sound.is_refused(&format!("with {byte:#x} at {place}"), &more).await;
        }
    }
}

#[tokio::test]
async fn truncation_at_any_byte_is_reported() {
    let sound = SoundExport::new().await;
    let header = sound.file.iter().position(|byte| *byte == b'\n').unwrap();
    let whole = sound.file.len() - 1;
    for length in 0..whole {
        let file = &sound.file[..length];
        let (_, result) = restore(file).await;
        let error = result.unwrap_err();
        let lines = file.iter().filter(|byte| **byte == b'\n').count();
        let begun = usize::from(!file.is_empty() && !file.ends_with(b"\n"));
        if length < header {
            assert_eq!((error.kind(), error.line()), (NotAnExport, Some(1)), "{length} bytes");
        } else {
            let line = Some((lines + begun) as u64);
            assert_eq!((error.kind(), error.line()), (Truncated, line), "{length} bytes");
        }
    }
    assert!(!sound.is_refused("without the end of the last line", &sound.file[..whole]).await);
}

#[tokio::test]
async fn missing_or_misplaced_line_is_refused() {
    let sound = SoundExport::new().await;
    let lines: Vec<&[u8]> = sound.file.split_inclusive(|byte| *byte == b'\n').collect();
    for one in 0..lines.len() {
        let mut less = lines.clone();
        less.remove(one);
        assert!(sound.is_refused(&format!("without line {one}"), &less.concat()).await);
        let mut twice = lines.clone();
        twice.insert(one, lines[one]);
        assert!(sound.is_refused(&format!("line {one} twice"), &twice.concat()).await);
        for other in 0..one {
            let mut swapped = lines.clone();
            swapped.swap(one, other);
            assert!(sound.is_refused(&format!("lines {one} and {other} swapped"), &swapped.concat()).await);
        }
    }
}

#[tokio::test]
async fn altered_line_of_valid_contents_is_reported_at_the_end() {
    let sound = SoundExport::new().await;
    let altered = String::from_utf8(sound.file.clone()).unwrap().replace("[1, 2, 3]", "[1, 2, 4]");
    let (store, result) = restore(altered.as_bytes()).await;
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.line()), (Damaged, Some(5)));
    assert_eq!(
        error.to_string(),
        "line 5: the export was altered: its record count or checksum does not match"
    );
    assert!(
        contents(&store).await.is_empty(),
        "a first part is stored before the whole export is known to be valid"
    );
}

#[tokio::test]
async fn input_after_the_last_line_is_refused() {
    let sound = SoundExport::new().await;
    for more in ["\n", " \n", "{}", "x"] {
        let file = [&sound.file, more.as_bytes()].concat();
        let error = restore(&file).await.1.unwrap_err();
        assert_eq!((error.kind(), error.line()), (Malformed, Some(6)), "{more:?}");
    }
    let twice = sound.file.repeat(2);
    assert!(sound.is_refused("an export after another", &twice).await);
}
