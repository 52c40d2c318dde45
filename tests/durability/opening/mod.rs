//! Opening of folders in every state, in use or free, and closing of stores.

mod closing;
mod copies;
mod folders;
mod in_use;
#[cfg(unix)]
mod modes;

use std::path::Path;

use toposcope::store::{
    Batch, Facets, Key, Name, Precondition, SledStore, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

pub(crate) use self::in_use::hold;
#[cfg(unix)]
pub(crate) use self::modes::modes_scene;
use crate::support::{Content, Kept, Truth};

fn key(number: u128) -> Key {
    Key::new(Name::new("note"), Uuid::from_u128(number))
}

/// Returns a batch that puts one record; a number always gives the same record.
fn batch(number: u128) -> Batch {
    let mut batch = Batch::new();
    batch.put(key(number), Precondition::Absent, Facets::default(), body(number));
    batch
}

fn body(number: u128) -> String {
    format!("the body of {number}")
}

/// Returns what a store holds after these batches.
fn truth(numbers: impl IntoIterator<Item = u128>) -> Truth {
    let kept = |number| Kept { facets: Facets::default(), content: Content::Given(body(number).into()) };
    let records = numbers.into_iter().map(|number| (key(number), kept(number))).collect();
    Truth { records, ..Truth::default() }
}

async fn open(folder: &Path) -> SledStore {
    SledStore::open(folder).await.unwrap()
}

/// Creates a closed folder with one record.
async fn fill(folder: &Path) {
    let store = open(folder).await;
    store.commit(batch(1)).await.unwrap();
    store.close().await.unwrap();
}

/// Asserts that an error is of this kind and names the folder.
fn assert_error(error: &StoreError, kind: &StoreErrorKind, folder: &Path) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
}
