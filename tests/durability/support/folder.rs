use std::fs;
use std::path::{Path, PathBuf};

/// Returns all files in a folder, by their relative paths.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files);
    files.sort_unstable();
    files
}

fn collect(folder: &Path, within: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(within)).unwrap() {
        let entry = entry.unwrap();
        let path = within.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(folder, &path, files);
        } else {
            files.push(path);
        }
    }
}

/// Copies a folder as it is.
///
/// If a store has it open without any background work, the copy is what a kill would leave. The background
/// work of an opening is over once the store was verified.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), target).unwrap();
    }
}
