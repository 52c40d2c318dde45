//! Folders with the output of scanners and devices.
//!
//! The endings of the file names show their formats: `.xml` (nmap), `.json` (lldpctl), `.walk` and `.snmpwalk` (net-snmp),
//! `.snmprec` (snmpsim) and `.arp`, each also with `.gz` or `.bz2`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::discovery::Format;
use toposcope::inventory::{DiscoverOptions, DiscoveredHost};
use uuid::Uuid;

use super::failure::Failure;
use super::reports::ReportFile;

/// A file, and its effect on the inventory or the reason why it had none.
pub(crate) type Outcome = (String, Result<Vec<DiscoveredHost>, Failure>);

/// Returns the files in a folder whose endings show their format. They are ordered by path.
pub(crate) fn find_reports(folder: &Path) -> Result<Vec<ReportFile>, Failure> {
    let mut found = Vec::new();
    find_files(folder, &mut found)?;
    if found.is_empty() {
        return Err(Failure::new(format!(
            "{} has no file with one of these endings: .xml (nmap), .json (lldpctl), .walk, .snmpwalk, .snmprec or \
             .arp, each also with .gz or .bz2.",
            folder.display()
        )));
    }
    Ok(found)
}

/// Reconciles files with the hosts of a network, and shows the progress.
pub(crate) async fn discover(
    inventory: &Inventory,
    caller: &Caller,
    network: Uuid,
    files: &[ReportFile],
    is_complete: bool,
) -> Result<Vec<Outcome>, Failure> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
    let style = style.map_err(|error| Failure::because("The progress bar has no template", &error))?;
    let progress = ProgressBar::new(files.len() as u64).with_style(style);
    let mut outcomes = Vec::new();
    for file in files {
        progress.set_message(file.to_string());
        let discovered = match file.parse(is_complete) {
            // A file that cannot be read says nothing about the others.
            Err(failure) => Err(failure),
            Ok(report) => {
                let answer = inventory.discover(caller, &report, DiscoverOptions::new(network)).await;
                Ok(answer.map_err(|error| Failure::because(file, &error))?.hosts)
            }
        };
        outcomes.push((file.to_string(), discovered));
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(outcomes)
}

fn find_files(folder: &Path, found: &mut Vec<ReportFile>) -> Result<(), Failure> {
    let failure =
        |error: io::Error| Failure::because(format_args!("{} cannot be read", folder.display()), &error);
    let entries = fs::read_dir(folder).map_err(failure)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failure)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find_files(&path, found)?;
        } else if let Some(format) = format_of(&path) {
            found.push(ReportFile { format, path });
        }
    }
    Ok(())
}

fn format_of(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let name = [".gz", ".bz2"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    match Path::new(name).extension()?.to_str()? {
        "xml" => Some(Format::Nmap),
        "json" => Some(Format::Lldpctl),
        "walk" | "snmpwalk" => Some(Format::Snmpwalk),
        "snmprec" => Some(Format::Snmprec),
        "arp" => Some(Format::Arp),
        _ => None,
    }
}
