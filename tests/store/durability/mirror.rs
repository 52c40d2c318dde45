//! The two copies of the records: one is enough.

use std::fs;

use toposcope::store::Store;

use crate::compare::compare;
use crate::fixture::{Fixture, assert_sound, batch, body, copy, truth};

const PRIMARY: &str = "records";
const MIRROR: &str = "records.second";

/// Opens the folder, and asserts that both copies hold exactly these notes.
async fn assert_whole(fixture: &Fixture, numbers: impl IntoIterator<Item = u128>) {
    let store = fixture.open().await;
    compare(&store, &truth(numbers)).await.unwrap();
    assert_sound(&store).await;
    store.close().await.unwrap();
    let names = fs::read_dir(fixture.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let copies: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(PRIMARY)).collect();
    assert_eq!(copies.len(), 2, "{copies:?}");
}

#[tokio::test]
async fn missing_copy_is_rebuilt_from_the_other() {
    let fixture = Fixture::filled().await;
    for name in [PRIMARY, MIRROR, PRIMARY, MIRROR] {
        fs::remove_dir_all(fixture.file(name)).unwrap();
        assert_whole(&fixture, [1]).await;
    }
}

#[tokio::test]
async fn interrupted_exchange_of_the_copies_is_completed() {
    let fixture = Fixture::filled().await;
    let at = |name: &str| fixture.file(name);
    fs::rename(at(PRIMARY), at("records.exchanged")).unwrap();
    assert_whole(&fixture, [1]).await;
    fs::rename(at(PRIMARY), at("records.exchanged")).unwrap();
    fs::rename(at(MIRROR), at(PRIMARY)).unwrap();
    assert_whole(&fixture, [1]).await;
}

#[tokio::test]
async fn copy_of_an_interrupted_rebuild_is_not_used() {
    let fixture = Fixture::filled().await;
    fs::rename(fixture.file(MIRROR), fixture.file("records.second.new")).unwrap();
    fs::write(fixture.file("records.second.new/db"), "half").unwrap();
    assert_whole(&fixture, [1]).await;
}

#[tokio::test]
async fn copy_of_another_time_is_rebuilt() {
    let fixture = Fixture::new();
    fixture.open().await.close().await.unwrap();
    copy(fixture.path(), &fixture.beside("empty"));
    fixture.open().await.commit(batch(1)).await.unwrap();
    assert_whole(&fixture, [1]).await;
    for name in [MIRROR, PRIMARY] {
        fs::remove_dir_all(fixture.file(name)).unwrap();
        copy(&fixture.beside("empty").join(name), &fixture.file(name));
        assert_whole(&fixture, [1]).await;
    }
}

/// Creates a store with two notes, of which one copy lacks the second note. A power loss during the change of that copy
/// would leave it like this.
async fn with_interrupted_change(name: &str) -> Fixture {
    let fixture = Fixture::filled().await;
    copy(&fixture.file(name), &fixture.beside("before"));
    let store = fixture.open().await;
    store.commit(batch(2)).await.unwrap();
    store.close().await.unwrap();
    fs::remove_dir_all(fixture.file(name)).unwrap();
    copy(&fixture.beside("before"), &fixture.file(name));
    fs::write(fixture.file(name).join("changing"), "").unwrap();
    fixture
}

#[tokio::test]
async fn copy_with_an_interrupted_change_is_not_read_and_catches_up() {
    for name in [PRIMARY, MIRROR] {
        let fixture = with_interrupted_change(name).await;
        assert_whole(&fixture, [1, 2]).await;
        // Either copy alone has everything.
        fs::remove_dir_all(fixture.file(name)).unwrap();
        assert_whole(&fixture, [1, 2]).await;
    }
}

#[tokio::test]
async fn copy_with_an_interrupted_change_and_a_lost_body_is_rebuilt() {
    for name in [PRIMARY, MIRROR] {
        let fixture = with_interrupted_change(name).await;
        let file = fixture.file(name).join("db");
        let mut content = fs::read(&file).unwrap();
        let body = body(1);
        let places: Vec<usize> =
            (0..content.len()).filter(|at| content[*at..].starts_with(body.as_bytes())).collect();
        assert!(!places.is_empty());
        for place in places {
            content[place..place + 4].fill(b'?');
        }
        fs::write(&file, content).unwrap();
        assert_whole(&fixture, [1, 2]).await;
    }
}

#[tokio::test]
async fn store_recovered_from_its_mirror_accepts_commits() {
    let fixture = Fixture::filled().await;
    fs::write(fixture.file("records/db"), "nothing of the records").unwrap();
    let store = fixture.open().await;
    store.commit(batch(2)).await.unwrap();
    store.close().await.unwrap();
    fs::write(fixture.file("records/db"), "nothing of the records").unwrap();
    fixture.assert_holds([1, 2]).await;
}
