//! Reports of scanners and devices in files.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toposcope::discovery::{Format, ParseOptions, Report, ReporterId, parse};
use toposcope::model::Timestamp;

use super::failure::Failure;

/// A file with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportFile {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
}

impl ReportFile {
    /// Parses the file. A file that ends in `.gz` or `.bz2` is unpacked on the way.
    ///
    /// The file's name, without endings, names the device if the format never does.
    pub(crate) fn parse(&self, is_complete: bool) -> Result<Report, Failure> {
        let file = File::open(&self.path).map_err(|error| self.failure("cannot be opened", &error))?;
        let unpacked: Box<dyn Read> = match unpacker(&self.path) {
            None => Box::new(file),
            Some(program) => {
                let unpacking = Command::new(program).arg("-dc").stdin(file).stdout(Stdio::piped()).spawn();
                let unpacking = unpacking.map_err(|error| self.failure("cannot be unpacked", &error))?;
                Box::new(unpacking.stdout.ok_or_else(|| Failure::new(format!("{program} has no output")))?)
            }
        };
        let mut options = ParseOptions::new(Timestamp::now());
        options.complete = is_complete;
        if matches!(self.format, Format::Lldpctl | Format::Arp) {
            options.reporter = device_name(&self.path).map(ReporterId::SysName);
        }
        parse(self.format, BufReader::new(unpacked), &options).map_err(|error| {
            Failure::new(format!("{} is not read as {}: {error}", self.path.display(), self.format))
        })
    }

    fn failure(&self, what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
        Failure::because(format_args!("{} {what}", self.path.display()), error)
    }
}

impl fmt::Display for ReportFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)
    }
}

/// Returns the program that unpacks a file.
fn unpacker(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "gz" => Some("gzip"),
        "bz2" => Some("bzip2"),
        _ => None,
    }
}

fn device_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.split('.').next().filter(|name| !name.is_empty()).map(str::to_owned)
}
