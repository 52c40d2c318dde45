//! Reports of scanners and devices in files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::discovery::report::Warning;
use toposcope::discovery::{Format, ParseErrorKind, ParseOptions, Report, parse};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, DiscoveryReport};
use toposcope::model::{NetworkId, Timestamp};

use super::failure::Failure;

/// The bytes by which the format of a file is recognized.
const HEAD: u64 = 16 * 1024;

/// A file with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportFile {
    /// `Auto`: the content shows the format.
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
    /// The device that the file comes from, if the content does not name it.
    pub(crate) reporter: Option<String>,
}

/// A file, and its effect on the inventory or the reason why it had none.
pub(crate) type Outcome = (String, Result<DiscoveryReport, Failure>);

/// Reconciles files with the hosts of a network. `on_file` is called before each file.
///
/// Tables about other devices are ignored until their own device is a host. The files with such tables are therefore
/// tried again after the others.
pub(crate) async fn reconcile(
    inventory: &Inventory,
    caller: &Caller,
    network: NetworkId,
    files: &[ReportFile],
    is_complete: bool,
    mut on_file: impl FnMut(&ReportFile),
) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    let mut ignored = Vec::new();
    let names = device_names(files);
    for file in files {
        on_file(file);
        let outcome = match file.parse(&names, is_complete) {
            // A file that cannot be read says nothing about the others.
            Err(failure) => Err(failure),
            Ok(report) => Ok(discover(inventory, caller, network, file, &report).await?),
        };
        if outcome
            .as_ref()
            .is_ok_and(|answer| matches!(answer.hosts.as_slice(), [host] if is_ignored(host.outcome)))
        {
            ignored.push((outcomes.len(), file));
        }
        outcomes.push((file.to_string(), outcome));
    }
    for (place, file) in ignored {
        let answer = discover(inventory, caller, network, file, &file.parse(&names, is_complete)?).await?;
        if let Some((_, outcome)) = outcomes.get_mut(place) {
            *outcome = Ok(answer);
        }
    }
    Ok(outcomes)
}

/// A folder, a format, and the name of a device.
type NameKey = (Option<PathBuf>, &'static str, String);

/// The reason why a file is not read.
struct Unread {
    failure: Failure,
    /// Whether it can be read if its device is named.
    is_nameless: bool,
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self { failure, is_nameless: false }
    }
}

/// Counts the files by the device that their names give.
fn device_names(files: &[ReportFile]) -> BTreeMap<NameKey, usize> {
    let mut names = BTreeMap::new();
    for key in files.iter().filter_map(|file| file.name_key(file.recognized_format()?)) {
        *names.entry(key).or_default() += 1;
    }
    names
}

fn is_ignored(outcome: DiscoveryOutcome) -> bool {
    outcome == DiscoveryOutcome::Ignored
}

async fn discover(
    inventory: &Inventory,
    caller: &Caller,
    network: NetworkId,
    file: &ReportFile,
    report: &Report,
) -> Result<DiscoveryReport, Failure> {
    let answer = inventory.discovery().reconcile(caller, report, DiscoverOptions::new(network)).await;
    answer.map_err(|error| Failure::because(file, &error))
}

/// Returns a line for each warning: the kind, how often it occurred, and the first occurrence.
pub(crate) fn warning_lines(warnings: &[Warning]) -> Vec<String> {
    let lines = warnings.iter().map(|warning| {
        let code = serde_json::to_value(warning.code).ok();
        let code = code.as_ref().and_then(serde_json::Value::as_str).unwrap_or("other").replace('_', " ");
        let line = warning.line.map(|line| format!(", first in line {line}")).unwrap_or_default();
        let example = warning.example.as_ref().map(|example| format!(": {example}")).unwrap_or_default();
        format!("warning: {code}, {} times{line}{example}", warning.count).replace(", 1 times", ", once")
    });
    lines.collect()
}

impl ReportFile {
    /// Parses the file. A file that ends in `.gz`, `.bz2` or `.xz` is unpacked on the way.
    ///
    /// The file's name, without endings, names the device if the content does not, and no other of these files has it.
    fn parse(&self, names: &BTreeMap<NameKey, usize>, is_complete: bool) -> Result<Report, Failure> {
        let format = self.recognized_format();
        let key = format.and_then(|format| self.name_key(format));
        let from_name = || match &key {
            Some(key) if names.get(key).is_some_and(|count| *count > 1) => Err(self.shares_its_name()),
            key => Ok(key.as_ref().map(|(.., name)| name.as_str())),
        };
        let reporter = match &self.reporter {
            None if format.is_some_and(never_names_its_device) => from_name()?,
            reporter => reporter.as_deref(),
        };
        match self.parse_as(reporter, is_complete) {
            Ok(report) => Ok(report),
            Err(Unread { is_nameless: true, failure }) => {
                let name = from_name()?.ok_or(failure)?;
                self.parse_as(Some(name), is_complete).map_err(|unread| unread.failure)
            }
            Err(Unread { failure, .. }) => Err(failure),
        }
    }

    fn parse_as(&self, reporter: Option<&str>, is_complete: bool) -> Result<Report, Unread> {
        let file = File::open(&self.path).map_err(|error| self.failure("cannot be opened", &error))?;
        let Some(program) = unpacker(&self.path) else {
            return self.parse_content(file, reporter, is_complete);
        };
        let unpacking = Command::new(program).arg("-dc").stdin(file).stdout(Stdio::piped()).spawn();
        let mut unpacking =
            unpacking.map_err(|error| self.failure(&format!("cannot be unpacked with {program}"), &error))?;
        let report = self.parse_content(output(&mut unpacking, program)?, reporter, is_complete)?;
        let status = unpacking.wait().map_err(|error| self.failure("cannot be unpacked", &error))?;
        if !status.success() {
            return Err(Failure::new(format!("{self} cannot be unpacked: {program} has failed.")).into());
        }
        Ok(report)
    }

    fn recognized_format(&self) -> Option<Format> {
        if self.format == Format::Auto { Format::detect(&self.head()?) } else { Some(self.format) }
    }

    /// Returns folder, format and the device that the file's own name gives.
    fn name_key(&self, format: Format) -> Option<NameKey> {
        let name = device_name(&self.path).filter(|_| self.reporter.is_none())?;
        Some((self.path.parent().map(Path::to_owned), format.as_str(), name))
    }

    /// Returns the beginning of the content, unpacked.
    fn head(&self) -> Option<Vec<u8>> {
        let file = File::open(&self.path).ok()?;
        let mut head = Vec::new();
        let Some(program) = unpacker(&self.path) else {
            file.take(HEAD).read_to_end(&mut head).ok()?;
            return Some(head);
        };
        let mut unpacking = Command::new(program)
            .arg("-dc")
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        unpacking.stdout.take()?.take(HEAD).read_to_end(&mut head).ok()?;
        // The rest is not needed, so that the program may be ended within its work.
        let _ = unpacking.kill();
        unpacking.wait().ok()?;
        Some(head)
    }

    fn shares_its_name(&self) -> Failure {
        Failure::new(format!(
            "{self} is not read: the names of several files of its kind begin alike, so that they do not show their devices. \
             Name the device with --reporter, or begin the name of the file with it."
        ))
    }

    fn parse_content(
        &self,
        mut content: impl Read,
        reporter: Option<&str>,
        is_complete: bool,
    ) -> Result<Report, Unread> {
        let mut head = Vec::new();
        let read = content.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|error| self.failure("cannot be read", &error))?;
        let format = match self.format {
            Format::Auto => Format::detect(&head).unwrap_or(Format::Auto),
            format => format,
        };
        let mut options = ParseOptions::new(Timestamp::now());
        options.complete = is_complete;
        options.reporter = reporter.map(Into::into);
        let reader = BufReader::new(head.as_slice().chain(content));
        parse(format, reader, &options).map_err(|error| {
            let failure = Failure::new(match error.kind() {
                kind @ ParseErrorKind::FormatUnknown => format!("{self} is not read: {kind}."),
                ParseErrorKind::ReporterRequired => format!(
                    "{self} is not read as {format}: it does not name the device that it comes from. Name the device with \
                     --reporter."
                ),
                _ => format!("{self} is not read as {format}: {error}."),
            });
            Unread { failure, is_nameless: matches!(error.kind(), ParseErrorKind::ReporterRequired) }
        })
    }

    fn failure(&self, what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
        Failure::because(format_args!("{self} {what}"), error)
    }
}

impl fmt::Display for ReportFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)
    }
}

fn output(unpacking: &mut Child, program: &str) -> Result<impl Read, Failure> {
    unpacking.stdout.take().ok_or_else(|| Failure::new(format!("{program} has no output")))
}

/// Returns whether no file of the format names the device that it comes from.
const fn never_names_its_device(format: Format) -> bool {
    matches!(
        format,
        Format::Lldpctl
            | Format::Arp
            | Format::IpAddr
            | Format::IpRoute
            | Format::BridgeFdb
            | Format::BridgeVlan
    )
}

/// Returns the program that unpacks a file.
pub(crate) fn unpacker(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "gz" => Some("gzip"),
        "bz2" => Some("bzip2"),
        "xz" => Some("xz"),
        _ => None,
    }
}

fn device_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.split('.').next().filter(|name| !name.is_empty()).map(str::to_owned)
}
