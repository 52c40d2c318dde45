use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What takes all room of a disk.
#[derive(Debug)]
pub(super) struct Ballast(PathBuf);

impl Ballast {
    /// Fills the disk that this folder is on.
    pub(super) fn fill(folder: &Path) -> Self {
        let path = folder.join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 64 << 10, 4 << 10] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
        Self(path)
    }

    /// Gives back some of the room.
    pub(super) fn give_back(&self, size: u64) {
        let length = fs::metadata(&self.0).unwrap().len();
        File::options().write(true).open(&self.0).unwrap().set_len(length - size).unwrap();
    }
}

/// There is room again.
impl Drop for Ballast {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

/// Runs a command of the system's, which must not fail.
pub(super) fn run(command: &str, arguments: &[&str]) {
    let output = Command::new(command).args(arguments).output().unwrap();
    assert!(output.status.success(), "{command} {arguments:?}: {output:?}");
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Takes a disk away. A thread that has just ended may have something open still.
pub(super) fn unmount(disk: &Path) {
    let script = "for i in $(seq 100); do umount \"$1\" && exit; sleep 0.1; done; exit 1";
    run("sh", &["-c", script, "sh", text(disk)]);
}
