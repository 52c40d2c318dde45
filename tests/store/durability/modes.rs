//! File modes of a store, and the warnings about them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toposcope::store::{Batch, Facets, Precondition, SledStore, Store};

use crate::child::{Child, Ended, TIMEOUT, say};
use crate::fixture::{Fixture, batch, key, open};

#[allow(dead_code, reason = "only a program has arguments")]
#[path = "../../../examples/store.rs"]
mod program;

/// Clears the umask, so that every file has the mode that it was created with.
const PERMISSIVE: [&str; 4] = ["sh", "-c", "umask 000 && exec \"$@\"", "sh"];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns the modes of a folder and of everything in it.
fn modes(folder: &Path) -> BTreeMap<PathBuf, u32> {
    let mut modes = BTreeMap::from([(folder.to_owned(), mode(folder))]);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            modes.append(&mut self::modes(&path));
        } else {
            modes.insert(path.clone(), mode(&path));
        }
    }
    modes
}

fn assert_private(folder: &Path) {
    let modes = modes(folder);
    assert!(modes.len() > 8, "{modes:?}");
    for (path, mode) in &modes {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(*mode, expected, "{} has the mode {mode:o}: {modes:#?}", path.display());
    }
}

/// Runs a part in a process without a umask. The process logs to its standard error.
fn play(part: &str, folder: &Path) -> Ended {
    let arguments = [part, folder.to_str().unwrap()];
    let ended = Child::start_through(&PERMISSIVE, "modes", &arguments).finish(TIMEOUT).unwrap();
    assert!(ended.status.success(), "{part}: {}", ended.errors);
    ended
}

fn warnings(ended: &Ended) -> Vec<&str> {
    ended.errors.lines().filter(|line| line.contains("WARN")).collect()
}

/// Runs in the child process.
pub(super) async fn run_part(arguments: &[&str]) {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let (part, folder) = (arguments[0], Path::new(arguments[1]));
    match part {
        "fill" => fill(folder).await,
        "open" => open(folder).await.close().await.unwrap(),
        "repair" => {
            fs::write(folder.join("records/db"), "nothing of the records").unwrap();
            let repair = SledStore::repair(folder).await.unwrap();
            assert!(repair.is_complete(), "{repair}");
        }
        "export" => {
            let place = program::Place::Folder(folder.to_owned());
            program::export(&place, Some(&folder.with_extension("jsonl"))).await.unwrap();
        }
        _ => panic!("there is no part {part}"),
    }
    say("over");
}

/// Creates files of every kind and checks them. It checks them while the store is open, and again after a second
/// opening.
async fn fill(folder: &Path) {
    let store = open(folder).await;
    store.commit(batch(1)).await.unwrap();
    store.verify().await.unwrap();
    let mut large = Batch::new();
    large.put(key(2), Precondition::Absent, Facets::default(), vec![7; 3 << 20]);
    store.commit(large).await.unwrap();
    store.verify().await.unwrap();
    if mode(folder) == 0o700 {
        assert_private(folder);
    }
    store.close().await.unwrap();
    // Another mirror is created.
    fs::remove_dir_all(folder.join("records.second")).unwrap();
    let store = open(folder).await;
    store.verify().await.unwrap();
    store.close().await.unwrap();
}

#[test]
fn new_folder_and_all_in_it_are_private_under_a_permissive_umask() {
    let fixture = Fixture::new();
    let folder = fixture.beside("above/store");
    let ended = play("fill", &folder);
    assert_private(&folder);
    // A removed copy is rebuilt, which causes another warning.
    let of_modes = warnings(&ended).into_iter().filter(|line| line.contains("other users")).count();
    assert_eq!(of_modes, 0, "{}", ended.errors);
    play("repair", &folder);
    assert_private(&folder);
}

#[test]
fn existing_folder_that_others_may_read_keeps_its_mode_and_is_warned_about_once() {
    let fixture = Fixture::new();
    let folder = fixture.path();
    for mode in [0o755, 0o750, 0o701] {
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        for _ in 0..2 {
            let ended = play("open", folder);
            assert_eq!(warnings(&ended).len(), 1, "{mode:o}: {}", ended.errors);
            assert!(ended.errors.contains(folder.to_str().unwrap()), "{}", ended.errors);
        }
        assert_eq!(self::mode(folder), mode);
        assert_eq!(self::mode(&folder.join("records")), 0o700);
        assert_eq!(self::mode(&folder.join("journal.0")), 0o600);
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn existing_files_that_others_may_read_keep_their_modes() {
    let fixture = Fixture::new();
    let folder = fixture.path();
    play("fill", folder);
    for (path, mode) in modes(folder) {
        let opened = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(opened)).unwrap();
        assert_ne!(mode, opened);
    }
    let ended = play("open", folder);
    assert_eq!(warnings(&ended).len(), 1, "{}", ended.errors);
    for name in ["", "records", "records/blobs", "records.second"] {
        assert_eq!(mode(&folder.join(name)), 0o755, "{name}");
    }
    for name in ["lock", "format", "journal.0", "acknowledged", "records/db"] {
        assert_eq!(mode(&folder.join(name)), 0o644, "{name}");
    }
}

#[test]
fn private_folder_is_opened_without_a_warning() {
    let fixture = Fixture::new();
    let folder = fixture.path();
    for _ in 0..2 {
        let ended = play("open", folder);
        assert_eq!(warnings(&ended), [""; 0], "{}", ended.errors);
    }
}

#[test]
fn export_file_of_the_folder_program_is_private_under_a_permissive_umask() {
    let fixture = Fixture::new();
    let folder = fixture.path();
    play("fill", folder);
    play("export", folder);
    assert_eq!(mode(&folder.with_extension("jsonl")), 0o600);
}
