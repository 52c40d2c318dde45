//! Pins the servers to one processor and the client to another.
//!
//! If the system moved them, results would be random: on one connection, two rounds of one server differ by half.

use std::fs;
use std::io;
use std::process::Command;

/// The processors in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processors {
    pub(crate) servers: u32,
    pub(crate) client: u32,
}

impl Processors {
    /// Returns the first and the last processor the process may use. Call it before pinning any thread.
    pub(crate) fn find() -> io::Result<Self> {
        let unknown = || io::Error::other("the system does not report the available processors");
        let status = fs::read_to_string("/proc/self/status")?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        // The format is "0-3,8".
        let numbers = list.ok_or_else(unknown)?.trim().split([',', '-']).map(str::parse);
        let numbers = numbers.collect::<Result<Vec<u32>, _>>().map_err(io::Error::other)?;
        let ends = numbers.first().copied().zip(numbers.last().copied());
        let (servers, client) = ends
            .filter(|(first, last)| first != last)
            .ok_or_else(|| io::Error::other("at least two processors are required"))?;
        Ok(Self { servers, client })
    }
}

/// Pins the calling thread, and the threads it starts, to a processor.
pub(crate) fn keep_on(processor: u32) -> io::Result<()> {
    let thread = fs::read_link("/proc/thread-self")?;
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "--pid", &processor.to_string()]).args(thread.file_name());
    let output = command.output().map_err(|error| io::Error::other(format!("taskset: {error}")))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}
