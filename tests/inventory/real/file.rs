use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the lines of the inventory, or `None` with a message if it is missing.
pub(crate) fn unpacked() -> Option<Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/inventory.jsonl.gz");
    let path = env::var_os("TOPOSCOPE_INVENTORY").map_or_else(beside, PathBuf::from);
    if !path.is_file() {
        skip(&format!("no inventory at {}; TOPOSCOPE_INVENTORY may name another file", path.display()));
        return None;
    }
    let unpacking = Command::new("gzip").arg("-dc").arg(&path).stderr(Stdio::inherit()).output();
    match unpacking {
        Ok(output) => {
            assert!(output.status.success(), "{} cannot be unpacked", path.display());
            Some(output.stdout)
        }
        Err(error) => {
            skip(&format!("gzip cannot be run: {error}"));
            None
        }
    }
}

/// Not by `eprintln`, whose output the test harness hides for a passing test.
fn skip(reason: &str) {
    std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes()).unwrap();
}
