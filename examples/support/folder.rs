//! Folders with the output of scanners and devices.
//!
//! The content of each file shows its format, whatever its name. Files that end in `.gz`, `.bz2` or `.xz` are unpacked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::discovery::Format;
use toposcope::model::NetworkId;

use super::failure::Failure;
use super::reports::{Outcome, ReportFile, reconcile};

/// Returns a file, or all files in a folder ordered by path. `reporter` is the device of those that do not name one.
pub(crate) fn find_reports(place: &Path, reporter: Option<&str>) -> Result<Vec<ReportFile>, Failure> {
    let mut paths = Vec::new();
    if place.is_dir() {
        find_files(place, &mut paths)?;
    } else {
        paths.push(place.to_owned());
    }
    if paths.is_empty() {
        return Err(Failure::new(format!(
            "{} has no files. Put walks, scans and tables of devices there.",
            place.display()
        )));
    }
    let reporter = reporter.map(str::to_owned);
    let file = |path| ReportFile { format: Format::Auto, path, reporter: reporter.clone() };
    Ok(paths.into_iter().map(file).collect())
}

/// Reconciles files with the hosts of a network, and shows the progress.
pub(crate) async fn discover(
    inventory: &Inventory,
    caller: &Caller,
    network: NetworkId,
    files: &[ReportFile],
    is_complete: bool,
) -> Result<Vec<Outcome>, Failure> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
    let style = style.map_err(|error| Failure::because("The progress bar has no template", &error))?;
    let progress = ProgressBar::new(files.len() as u64).with_style(style);
    let on_file = |file: &ReportFile| {
        progress.set_message(file.to_string());
        progress.inc(1);
    };
    let outcomes = reconcile(inventory, caller, network, files, is_complete, on_file).await;
    progress.finish_and_clear();
    outcomes
}

fn find_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failure =
        |error: io::Error| Failure::because(format_args!("{} cannot be read", folder.display()), &error);
    let entries = fs::read_dir(folder).map_err(failure)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failure)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find_files(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
