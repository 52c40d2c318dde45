//! Counts instructions per request with valgrind.
//!
//! Unlike times, the counts do not depend on the load of the machine.

use std::error::Error;
use std::process::Command;

use http::Request;

use crate::paths::{ADDRESSES, Path};

/// First argument of the counted process, followed by the path and the number of requests.
pub(crate) const COUNTED: &str = "counted";

/// Number of requests before counting starts. They do one-time work: filling the table of addresses and lazy
/// initialization.
const WARM_UP: u32 = ADDRESSES;
const REQUESTS: u32 = 1_000;

/// Returns whether valgrind is available.
pub(crate) fn can_count() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the average number of instructions per request.
pub(crate) fn instructions(path: &Path) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*::count::serve_counted")
        .arg(std::env::current_exe()?)
        .args([COUNTED, path.name, &REQUESTS.to_string()])
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let total = told.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, total)| total.trim());
    let total: u64 = total.filter(|_| output.status.success()).ok_or(told.clone())?.parse()?;
    if total == 0 {
        return Err("valgrind did not find the function to count".into());
    }
    Ok(total / u64::from(REQUESTS))
}

/// Runs in the counted process. Each request is built right before it is sent, as if it came from a socket.
pub(crate) fn be_counted(path: &Path, requests: u32) {
    for number in 0..WARM_UP {
        path.serve(path.request(number));
    }
    for number in WARM_UP..WARM_UP + requests {
        serve_counted(path, path.request(number));
    }
}

/// The function that valgrind counts, found by its name. Setup is excluded, because it varies by more than one request.
#[inline(never)]
fn serve_counted(path: &Path, request: Request<String>) {
    path.serve(request);
}
