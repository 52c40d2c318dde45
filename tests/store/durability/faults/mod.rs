//! Disks that are full, that fail, or that are read-only. Each is created for its test in a separate mount
//! namespace, which only root may do: without root these tests report that they were skipped.

mod failing;
mod full;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::backup;
use crate::child::{Child, TIMEOUT, say};

/// Creates a disk in the folder `$1` for the command that follows.
const SMALL_DISK: &str = r#"mkdir "$1/disk" && mount -t tmpfs -o size=128m none "$1/disk""#;

/// Limits the size of files. With `XFSZ` ignored, a longer write fails instead of killing the process.
const LIMITED: &str = r#"mkdir "$1/disk" && trap "" XFSZ && ulimit -S -f 20000"#;

/// Creates a file system that claims to be much larger than its backing store.
///
/// Data that does not fit fails on writeback, where the system can only report it to a process that syncs.
/// `errors` selects how the file system reacts.
///
/// Every request is a single page. Of a longer one that fits in part, Linux's loop device writes that part
/// and reports success for all of it: no store can handle a disk like that.
fn hollow(features: &str, errors: &str) -> String {
    format!(
        r#"mkdir "$1/disk" "$1/below" && mount -t tmpfs -o size=200m none "$1/below" &&
        truncate -s 600m "$1/below/image" &&
        mkfs.ext4 -q {features} -E lazy_itable_init=1,lazy_journal_init=1,nodiscard "$1/below/image" &&
        device=$(losetup -f --show "$1/below/image") &&
        {{
            echo 4 > "/sys/block/${{device#/dev/}}/queue/max_sectors_kb" &&
                mount -o "errors={errors}" "$device" "$1/disk"
            made=$?
            # Gone with the mount; at once if there is none.
            losetup -d "$device" && [ "$made" = 0 ]
        }}"#
    )
}

#[test]
fn full_disk_refuses_only_commits_until_space_is_free() {
    play(SMALL_DISK, "full");
}

#[test]
fn disk_full_at_a_checkpoint_loses_nothing() {
    play(SMALL_DISK, "full at a checkpoint");
}

#[test]
fn disk_full_at_random_times_loses_nothing() {
    play(SMALL_DISK, "full now and then");
}

#[test]
fn opening_on_a_full_disk_succeeds_or_is_unavailable() {
    play(SMALL_DISK, "full when opened");
}

#[test]
fn process_killed_on_a_full_disk_loses_nothing() {
    play(SMALL_DISK, "killed when full");
}

#[test]
fn backup_to_a_full_disk_is_unavailable_and_leaves_nothing() {
    play(SMALL_DISK, "backup to a full disk");
}

#[test]
fn read_only_folder_is_refused_by_its_path() {
    play(SMALL_DISK, "read-only");
}

#[test]
fn store_on_a_disk_that_becomes_read_only_stays_readable() {
    play(&hollow("-J size=4", "remount-ro"), "becoming read-only");
}

#[test]
fn commit_after_a_failed_sync_survives_a_machine_stop() {
    play(&hollow("-O ^has_journal", "continue"), "a WAL that fails");
}

#[test]
fn records_after_a_failed_sync_survive_a_machine_stop() {
    play(&hollow("-O ^has_journal", "continue"), "records that fail");
}

#[test]
fn file_size_limit_refuses_only_commits() {
    play(LIMITED, "limited");
}

/// Runs the scene in a process of its own, on a disk of its own.
fn play(disk: &str, scene: &str) {
    let folder = TempDir::new().unwrap();
    if let Err(reason) = try_out(disk) {
        println!("SKIPPED, because no such disk can be made here: {reason}");
        return;
    }
    let script = format!("{disk} && shift && exec \"$@\"");
    let path = folder.path().to_str().unwrap();
    let way = ["unshare", "--mount", "sh", "-c", &script, "sh", path];
    let child = Child::start_through(&way, "fault", &[scene, path]);
    let ended = child.finish(TIMEOUT).unwrap_or_else(|| panic!("{scene}: hangs"));
    assert!(ended.status.success(), "{scene}: {} after {:?}: {}", ended.status, ended.lines, ended.errors);
    assert_eq!(ended.lines.last().map(String::as_str), Some("over"), "{scene}: {}", ended.errors);
}

fn try_out(disk: &str) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", disk, "sh"]).arg(folder.path());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Runs a scene in the process that has the disk.
pub(crate) async fn fault(arguments: &[&str]) {
    let folder = Path::new(arguments[1]);
    match arguments[0] {
        "full" => full::while_committing(folder).await,
        "full at a checkpoint" => full::at_a_checkpoint(folder).await,
        "full now and then" => full::now_and_then(folder).await,
        "full when opened" => full::when_opened(folder).await,
        "killed when full" => full::when_killed(folder).await,
        "backup to a full disk" => backup::on_a_full_disk(folder).await,
        "write on" => full::write_on(folder).await,
        "read-only" => failing::read_only_when_opened(folder).await,
        "becoming read-only" => failing::read_only_while_open(folder).await,
        "a WAL that fails" => failing::wal(folder).await,
        "records that fail" => failing::records(folder).await,
        "limited" => failing::limited_files(folder).await,
        "look" => failing::open_and_write(folder, arguments[2]).await,
        scene => panic!("there is no scene {scene}"),
    }
    say("over");
}

/// A file that takes all free space of a disk.
#[derive(Debug)]
pub(super) struct Ballast(PathBuf);

impl Ballast {
    /// Fills the disk that this folder is on.
    pub(super) fn fill(folder: &Path) -> Self {
        let path = folder.join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 64 << 10, 4 << 10] {
            let piece = vec![7; size];
            while file.write_all(&piece).is_ok() {}
        }
        Self(path)
    }

    /// Frees some of the space.
    pub(super) fn give_back(&self, size: u64) {
        let length = fs::metadata(&self.0).unwrap().len();
        File::options().write(true).open(&self.0).unwrap().set_len(length - size).unwrap();
    }
}

/// Frees the space.
impl Drop for Ballast {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

/// Runs a system command, which must not fail.
fn run(command: &str, arguments: &[&str]) {
    let output = Command::new(command).args(arguments).output().unwrap();
    assert!(output.status.success(), "{command} {arguments:?}: {output:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Unmounts a disk. A thread that has just ended may still have a file open.
fn unmount(disk: &Path) {
    let script = "for i in $(seq 100); do umount \"$1\" && exit; sleep 0.1; done; exit 1";
    run("sh", &["-c", script, "sh", text(disk)]);
}
