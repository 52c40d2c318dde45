use std::fs;
use std::path::{Path, PathBuf};

/// All files in a folder, by their paths in it.
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

/// Copies a folder as it is. While a store has it open and nothing is under way, not even what follows an opening (it is
/// over when the store was verified), the copy is what a kill would leave.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), target).unwrap();
    }
}
