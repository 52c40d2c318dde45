//! Input that is not an export, and stores that refuse a restore.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use toposcope::store::TransferErrorKind::{NotAnExport, NotEmpty, TooLong, UnknownVersion};
use toposcope::store::{Export, Facets, MemoryStore, Restore};

use crate::support::{contents, export, note, put, restore, small_store, told};

const HEADER: &str = "{\"format\":\"toposcope-store\",\"version\":1}\n";

struct NotToBeRead;

impl AsyncRead for NotToBeRead {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        panic!("this is not to be read");
    }
}

#[tokio::test]
async fn a_store_that_holds_any_record_is_not_restored_into() {
    let store = MemoryStore::new();
    put(&store, note(9), Facets::default(), "there").await;
    let before = contents(&store).await;
    let error = Restore::new().read(&store, NotToBeRead).await.unwrap_err();
    assert_eq!((error.kind(), error.line(), error.field()), (NotEmpty, None, None));
    assert_eq!(error.to_string(), "the store already holds records; restore into an empty store");
    assert_eq!(contents(&store).await, before);
}

#[tokio::test]
async fn a_restored_store_is_not_restored_into_again() {
    let file = export(&small_store().await).await;
    let (store, _) = restore(&file).await;
    assert_eq!(Restore::new().read(&store, &file[..]).await.unwrap_err().kind(), NotEmpty);
}

#[tokio::test]
async fn what_does_not_begin_as_an_export_is_none() {
    let lines = [
        "",
        "\n",
        "{}\n",
        "[]\n",
        "hunter2\n",
        "{\"format\":\"toposcope-store\"}\n",
        "{\"format\":\"toposcope-store\",\"version\":\"1\"}\n",
        "{\"format\":\"toposcope-store\",\"version\":-1}\n",
        "{\"format\":\"hunter2\",\"version\":1}\n",
        "{\"version\":1}\n",
        "{\"records\":0,\"crc32\":0}\n",
        "\u{feff}{\"format\":\"toposcope-store\",\"version\":1}\n",
    ];
    for line in lines {
        let error = restore(line.as_bytes()).await.1.unwrap_err();
        assert_eq!((error.kind(), error.line()), (NotAnExport, Some(1)), "{line:?}");
        assert!(!told(&error).contains("hunter2"));
    }
}

#[tokio::test]
async fn another_version_is_told_from_no_export() {
    let file = String::from_utf8(export(&small_store().await).await).unwrap();
    for version in ["0", "2", "18446744073709551615", "2,\"encrypted\":true"] {
        let other = file.replace("\"version\":1}", &format!("\"version\":{version}}}"));
        let (store, result) = restore(other.as_bytes()).await;
        let error = result.unwrap_err();
        assert_eq!((error.kind(), error.line()), (UnknownVersion, Some(1)), "{version}");
        assert!(contents(&store).await.is_empty());
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_neither_written_nor_read() {
    let store = MemoryStore::new();
    put(&store, note(1), Facets::default(), vec![b'x'; Restore::MAX_LINE + 1]).await;
    let error = Export::new().write(&store, tokio::io::sink()).await.unwrap_err();
    assert_eq!((error.kind(), error.line()), (TooLong, None));
    assert!(told(&error).contains(&note(1).to_string()), "{}", told(&error));
    drop(store);
    let endless = HEADER.as_bytes().chain(tokio::io::repeat(b'x').take(Restore::MAX_LINE as u64 + 1));
    let error = Restore::new().read(&MemoryStore::new(), endless).await.unwrap_err();
    assert_eq!((error.kind(), error.line()), (TooLong, Some(2)));
}
