//! Memory figures of this process, on Linux.

use std::error::Error;

/// Returns a memory figure of this process in bytes.
///
/// `VmRSS:` is the resident memory, `VmHWM:` its peak, and `RssAnon:` the resident memory without mapped files, such as
/// the code of the program.
pub(crate) fn memory(field: &str) -> Result<u64, Box<dyn Error>> {
    bytes("/proc/self/status", field)
}

/// Returns a field of a memory statistics file, in bytes.
pub(crate) fn bytes(file: &str, field: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(file)?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("the system does not tell")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Resets the peak memory counter.
pub(crate) fn forget_peak() -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}
