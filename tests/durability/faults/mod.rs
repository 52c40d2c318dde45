//! Disks that are full, that fail, or that are read-only. Each is created for its test in a separate mount
//! namespace, which only root may do: without root these tests report that they were skipped.

mod disk;
mod failing;
mod full;
mod limited;
mod read_only;
mod world;

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Child, PATIENCE};

/// Creates a disk in the folder `$1` for the command that follows.
const SMALL: &str = r#"mkdir "$1/disk" && mount -t tmpfs -o size=192m none "$1/disk""#;

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
fn a_disk_that_is_full_refuses_commits_and_nothing_else_until_there_is_room() {
    play(SMALL, "full");
}

#[test]
fn a_disk_that_is_full_at_a_checkpoint_loses_nothing() {
    play(SMALL, "full at a checkpoint");
}

#[test]
fn a_disk_that_is_full_now_and_then_loses_nothing() {
    play(SMALL, "full now and then");
}

#[test]
fn a_folder_on_a_disk_that_is_full_opens_or_tells_that_it_cannot() {
    play(SMALL, "full when opened");
}

#[test]
fn a_process_that_is_killed_while_the_disk_is_full_loses_nothing() {
    play(SMALL, "killed when full");
}

#[test]
fn a_folder_that_must_not_be_written_to_is_refused_by_its_name() {
    play(SMALL, "read-only");
}

#[test]
fn a_store_whose_disk_becomes_read_only_goes_on_being_read() {
    play(&hollow("-J size=4", "remount-ro"), "becoming read-only");
}

#[test]
fn a_commit_after_one_that_could_not_be_synced_is_there_when_the_machine_stops() {
    play(&hollow("-O ^has_journal", "continue"), "a journal that fails");
}

#[test]
fn records_that_could_not_be_synced_are_there_when_the_machine_stops() {
    play(&hollow("-O ^has_journal", "continue"), "records that fail");
}

#[test]
fn files_that_must_not_grow_refuse_commits_and_nothing_else() {
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
    let child = Child::start_through(&way, "fault", &[scene.to_owned(), path.to_owned()]);
    let ended = child.finish(PATIENCE).unwrap_or_else(|| panic!("{scene}: hangs"));
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
pub(crate) async fn fault(arguments: &[String]) {
    let folder = Path::new(&arguments[1]);
    match arguments[0].as_str() {
        "full" => full::while_committing(folder).await,
        "full at a checkpoint" => full::at_a_checkpoint(folder).await,
        "full now and then" => full::now_and_then(folder).await,
        "full when opened" => full::when_opened(folder).await,
        "killed when full" => full::when_killed(folder).await,
        "write on" => full::write_on(folder).await,
        "read-only" => read_only::when_opened(folder).await,
        "becoming read-only" => read_only::while_open(folder).await,
        "a journal that fails" => failing::journal(folder).await,
        "records that fail" => failing::records(folder).await,
        "limited" => limited::files(folder).await,
        "look" => limited::look(folder, &arguments[2]).await,
        scene => panic!("there is no scene {scene}"),
    }
    crate::support::say("over");
}
