//! A processor for the servers and another for the client. Where the system moves the two about, a ratio tells of its luck:
//! on one connection, two rounds of the same server differ by a half.

use std::fs;
use std::io;
use std::process::Command;

/// Which are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processors {
    pub(crate) servers: u32,
    pub(crate) client: u32,
}

impl Processors {
    /// The first and the last that the process may use. To be called before any thread is kept on one.
    pub(crate) fn find() -> io::Result<Self> {
        let unknown = || io::Error::other("the system does not tell which processors there are");
        let status = fs::read_to_string("/proc/self/status")?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        // Such as "0-3,8".
        let numbers = list.ok_or_else(unknown)?.trim().split([',', '-']).map(str::parse);
        let numbers = numbers.collect::<Result<Vec<u32>, _>>().map_err(io::Error::other)?;
        let ends = numbers.first().copied().zip(numbers.last().copied());
        let (servers, client) = ends
            .filter(|(first, last)| first != last)
            .ok_or_else(|| io::Error::other("two processors are needed"))?;
        Ok(Self { servers, client })
    }
}

/// Keeps the calling thread, and those that it begins, on a processor.
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
