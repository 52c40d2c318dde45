//! What the system tells of this process's memory. On Linux, which does.

use std::error::Error;

/// Bytes that the system counts for this process: `VmRSS:` now, `VmHWM:` at the worst moment.
pub(crate) fn memory(field: &str) -> Result<u64, Box<dyn Error>> {
    bytes("/proc/self/status", field)
}

/// Bytes of a field of a file in which the system tells of memory.
pub(crate) fn bytes(file: &str, field: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(file)?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("the system does not tell")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Has the system count the worst moment from now on.
pub(crate) fn forget_peak() -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}
