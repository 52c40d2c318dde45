//! The instructions that a request takes, as valgrind counts them: the same on a busy machine as on a quiet one.

use std::error::Error;
use std::process::Command;

use http::Request;

use crate::paths::{ADDRESSES, Path};

/// The argument that a process is begun with to be counted, before the path and how many requests.
pub(crate) const COUNTED: &str = "counted";

/// What must be there before, so that it does not count: a table of all addresses, and what is made at the first request.
const WARM_UP: u32 = ADDRESSES;
const REQUESTS: u32 = 1_000;

/// Whether there is anything to count with.
pub(crate) fn can_count() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The instructions of a request, on average.
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
        return Err("valgrind does not find the function that it is to count".into());
    }
    Ok(total / u64::from(REQUESTS))
}

/// What the process does that is counted. Each request is made when it is sent, as it comes from a socket.
pub(crate) fn be_counted(path: &Path, requests: u32) {
    for number in 0..WARM_UP {
        path.serve(path.request(number));
    }
    for number in WARM_UP..WARM_UP + requests {
        serve_counted(path, path.request(number));
    }
}

/// Valgrind counts from the entry of this function, which it knows by its name, to its end. All that comes before would
/// differ between two runs by more than a request takes.
#[inline(never)]
fn serve_counted(path: &Path, request: Request<String>) {
    path.serve(request);
}
