use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file that takes all free space of a disk.
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
pub(super) fn run(command: &str, arguments: &[&str]) {
    let output = Command::new(command).args(arguments).output().unwrap();
    assert!(output.status.success(), "{command} {arguments:?}: {output:?}");
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Unmounts a disk. A thread that has just ended may still have a file open.
pub(super) fn unmount(disk: &Path) {
    let script = "for i in $(seq 100); do umount \"$1\" && exit; sleep 0.1; done; exit 1";
    run("sh", &["-c", script, "sh", text(disk)]);
}
