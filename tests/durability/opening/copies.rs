//! The two copies of the records: one is enough.

use std::fs;
use std::path::Path;

use toposcope::store::Store;

use super::{batch, body, fill, open, truth};
use crate::place::Place;
use crate::support::{compare, copy};

/// Opens the folder, and asserts that both copies are complete.
async fn assert_whole(folder: &Path) {
    let store = open(folder).await;
    compare(&store, &truth([1])).await.unwrap();
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{found}");
    store.close().await.unwrap();
    let names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("records"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[tokio::test]
async fn each_copy_is_made_anew_from_the_other() {
    let folder = Place::new();
    fill(folder.path()).await;
    for _ in 0..2 {
        for name in ["records", "records.second"] {
            fs::remove_dir_all(folder.path().join(name)).unwrap();
            assert_whole(folder.path()).await;
        }
    }
}

#[tokio::test]
async fn an_exchange_of_the_copies_that_was_cut_off_is_ended() {
    let folder = Place::new();
    fill(folder.path()).await;
    let at = |name: &str| folder.path().join(name);
    fs::rename(at("records"), at("records.exchanged")).unwrap();
    assert_whole(folder.path()).await;
    fs::rename(at("records"), at("records.exchanged")).unwrap();
    fs::rename(at("records.second"), at("records")).unwrap();
    assert_whole(folder.path()).await;
}

#[tokio::test]
async fn what_is_left_of_a_copy_that_was_being_made_is_no_copy() {
    let folder = Place::new();
    fill(folder.path()).await;
    fs::rename(folder.path().join("records.second"), folder.path().join("records.second.new")).unwrap();
    fs::write(folder.path().join("records.second.new/db"), "half").unwrap();
    assert_whole(folder.path()).await;
}

#[tokio::test]
async fn a_copy_from_another_time_is_made_anew() {
    let (folder, kept) = (Place::new(), Place::new());
    open(folder.path()).await.close().await.unwrap();
    for empty in ["records.second", "records"] {
        copy(&folder.path().join(empty), &kept.path().join(empty));
    }
    fill(folder.path()).await;
    for name in ["records.second", "records"] {
        fs::remove_dir_all(folder.path().join(name)).unwrap();
        copy(&kept.path().join(name), &folder.path().join(name));
        assert_whole(folder.path()).await;
    }
}

/// Replaces one copy of the records by its state before the last commit, as a power loss during its change
/// would leave it.
async fn cut_off(folder: &Path, name: &str) {
    let kept = Place::new();
    copy(&folder.join(name), kept.path());
    let store = open(folder).await;
    store.commit(batch(2)).await.unwrap();
    store.close().await.unwrap();
    fs::remove_dir_all(folder.join(name)).unwrap();
    copy(kept.path(), &folder.join(name));
    fs::write(folder.join(name).join("changing"), "").unwrap();
}

async fn assert_whole_with_both(folder: &Path) {
    let store = open(folder).await;
    compare(&store, &truth([1, 2])).await.unwrap();
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{found}");
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_copy_that_was_being_changed_is_not_read_and_comes_to_where_the_other_is() {
    for name in ["records", "records.second"] {
        let folder = Place::new();
        fill(folder.path()).await;
        cut_off(folder.path(), name).await;
        assert_whole_with_both(folder.path()).await;
        // Either copy alone has everything.
        fs::remove_dir_all(folder.path().join(name)).unwrap();
        assert_whole_with_both(folder.path()).await;
    }
}

#[tokio::test]
async fn a_copy_that_was_being_changed_and_lacks_a_body_is_made_anew() {
    for name in ["records", "records.second"] {
        let folder = Place::new();
        fill(folder.path()).await;
        cut_off(folder.path(), name).await;
        let file = folder.path().join(name).join("db");
        let mut content = fs::read(&file).unwrap();
        let body = body(1);
        let places: Vec<usize> =
            (0..content.len()).filter(|at| content[*at..].starts_with(body.as_bytes())).collect();
        assert!(!places.is_empty());
        for place in places {
            content[place..place + 4].fill(b'?');
        }
        fs::write(&file, content).unwrap();
        assert_whole_with_both(folder.path()).await;
    }
}

#[tokio::test]
async fn a_store_that_came_back_from_its_second_copy_goes_on_being_written() {
    let folder = Place::new();
    fill(folder.path()).await;
    fs::write(folder.path().join("records/db"), "nothing of what there was").unwrap();
    let store = open(folder.path()).await;
    store.commit(batch(2)).await.unwrap();
    store.close().await.unwrap();
    fs::write(folder.path().join("records/db"), "nothing of what there was").unwrap();
    let store = open(folder.path()).await;
    compare(&store, &truth([1, 2])).await.unwrap();
}
