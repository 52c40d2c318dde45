//! Small inputs rebuilt from public reports, in the folder `cases/discovery` of the test data.
//!
//! `cases.tsv` lists for each case its files, the kind of fault, and the right result. The folder is in
//! `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate.

mod formats;
mod lldp_extensions;
mod neighbors;
mod oddities;
mod tables;
mod vendors;
mod walks;

use std::path::PathBuf;
use std::{env, fs};

/// Returns the bytes of a file of the cases. If the folder is missing, it prints a message and returns `None`.
pub(crate) fn file(name: &str) -> Option<Vec<u8>> {
    let data = data();
    let folder = data.join("cases/discovery");
    if !folder.is_dir() {
        println!("skipped: no cases at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
        return None;
    }
    Some(fs::read(folder.join(name)).unwrap())
}

/// Returns the folder of the test data.
fn data() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from)
}
