//! The hosts: generated ones, those of an inventory, or those of reports of scanners and devices.

use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};

use tokio::fs::File;
use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::discovery::Format;
use toposcope::inventory::{DiscoveredHost, DiscoveryOutcome, DiscoveryReport, Import};
use toposcope::model::Network;

use super::args::Source;
use super::demo;
use super::failure::Failure;
use super::folder::{discover, find_reports};
use super::reports::{unpacker, warning_lines};

/// The bytes by which the content of a file is recognized.
const HEAD: u64 = 16 * 1024;

impl Source {
    /// Fills an inventory. Returns messages for the user about the files that were read, and those
    /// that could not be.
    pub(crate) async fn read(
        &self,
        inventory: &Inventory,
        caller: &Caller,
        reporter: Option<&str>,
    ) -> Result<String, Failure> {
        match self {
            Self::Demo(count) => {
                demo::store(inventory, caller.organization_id(), None, *count, |_| ()).await?;
                Ok(format!("{count} hosts generated.\n"))
            }
            Self::Sample(sample) => {
                Ok(format!("{} hosts generated.\n", sample.store(inventory, caller).await?))
            }
            Self::Path(path) if path.is_dir() => read_reports(inventory, caller, path, reporter).await,
            Self::Path(path) => {
                let mut content = unpacked(path)?;
                if is_report(path, &mut content)? {
                    read_reports(inventory, caller, path, reporter).await
                } else {
                    read_lines(inventory, caller, path, content).await
                }
            }
        }
    }
}

/// Opens a file. A file that ends in `.gz`, `.bz2` or `.xz` is unpacked into a temporary one.
fn unpacked(path: &Path) -> Result<fs::File, Failure> {
    let name = path.display();
    let failure =
        |what: &str, error: &io::Error| Failure::because(format_args!("{name} cannot be {what}"), error);
    let file = fs::File::open(path).map_err(|error| failure("opened", &error))?;
    let Some(program) = unpacker(path) else { return Ok(file) };
    let mut content = tempfile::tempfile().map_err(|error| failure("unpacked", &error))?;
    let output = content.try_clone().map_err(|error| failure("unpacked", &error))?;
    let status = Command::new(program).arg("-dc").stdin(file).stdout(Stdio::from(output)).status();
    let status = status.map_err(|error| failure(&format!("unpacked with {program}"), &error))?;
    if !status.success() {
        return Err(Failure::new(format!("{name} cannot be unpacked: {program} has failed.")));
    }
    content.rewind().map_err(|error| failure("unpacked", &error))?;
    Ok(content)
}

/// Returns whether a file is the output of a scanner or of a device, rather than a list of hosts.
fn is_report(path: &Path, content: &mut fs::File) -> Result<bool, Failure> {
    let mut head = Vec::new();
    let read = content.by_ref().take(HEAD).read_to_end(&mut head).and_then(|_| content.rewind());
    read.map_err(|error| Failure::because(format_args!("{} cannot be read", path.display()), &error))?;
    // Hosts may have fields by which a report would be recognized.
    let network_id = b"\"network_id\"";
    let has_hosts = head.trim_ascii_start().starts_with(b"{")
        && head.windows(network_id.len()).any(|bytes| bytes == network_id);
    Ok(!has_hosts && Format::detect(&head).is_some())
}

/// Reads a file or all files of a folder into a network of its name.
async fn read_reports(
    inventory: &Inventory,
    caller: &Caller,
    path: &Path,
    reporter: Option<&str>,
) -> Result<String, Failure> {
    let files = find_reports(path, reporter)?;
    let name = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let name = name.unwrap_or_else(|| "Discovered".to_owned());
    let network =
        inventory.networks().create(&Caller::system(caller.organization_id()), Network::new(&name)).await?;
    let outcomes = discover(inventory, caller, network.id, &files, false).await?;
    let text: String = outcomes.iter().map(|(file, outcome)| described(file, outcome)).collect();
    let read = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    if read == 0 {
        return Err(Failure::new(format!("{text}None of {} files could be read.", files.len())));
    }
    Ok(format!("{text}{read} of {} files read.\n", files.len()))
}

/// Describes the gaps of a file: the reason why it was not read, or its ignored devices and its
/// warnings.
fn described(file: &str, outcome: &Result<DiscoveryReport, Failure>) -> String {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(failure) => return format!("{failure}\n"),
    };
    let is_left_out = |host: &&DiscoveredHost| {
        matches!(host.outcome, DiscoveryOutcome::Ignored | DiscoveryOutcome::Ambiguous)
    };
    let hosts = answer.hosts.iter().filter(is_left_out);
    let hosts = hosts.map(|host| format!("{}: {}", host.name, host.reason.as_deref().unwrap_or("left out")));
    let lines = hosts.chain(warning_lines(&answer.warnings));
    lines.map(|line| format!("{file}: {line}\n")).collect()
}

/// Reads a file with a host on each line.
async fn read_lines(
    inventory: &Inventory,
    caller: &Caller,
    path: &Path,
    content: fs::File,
) -> Result<String, Failure> {
    let name = path.display();
    let import = Import::new().create_missing_networks();
    let caller = Caller::system(caller.organization_id());
    let report = inventory.hosts().import(&caller, File::from_std(content), import).await?;
    if report.imported == 0 {
        let first = report.refusals.first();
        let reason =
            first.map(|first| format!(", such as line {}: {}", first.line, first.reason)).unwrap_or_default();
        return Err(Failure::new(format!(
            "{name} has no host{reason}. A file must have one host as JSON on each line, as GET /api/v1/hosts?limit=0 sends \
             them with Accept: application/x-ndjson, or be the output of a scanner or a device."
        )));
    }
    let refusals = report.refusals.iter();
    let mut text: String =
        refusals.map(|refusal| format!("{name}: line {}: {}\n", refusal.line, refusal.reason)).collect();
    let unnamed = report.refused.saturating_sub(report.refusals.len() as u64);
    if unnamed > 0 {
        text += &format!("{name}: {unnamed} further lines refused\n");
    }
    let refused =
        if report.refused == 0 { String::new() } else { format!("; {} lines refused", report.refused) };
    Ok(format!("{text}{} hosts read{refused}.\n", report.imported))
}
