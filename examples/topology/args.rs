//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use toposcope::model::TopologyView;
use toposcope::topology::graph::{Detail, GroupBy};

use super::failure::Failure;
use super::files::FileFormat;
use super::samples::Sample;

pub(crate) const USAGE: &str = "\
Usage: cargo run --example topology -- [FLAG]… SOURCE

  SOURCE           a folder with the output of scanners and devices, one such file, or a file with one host as JSON on each
                   line; files that end in .gz, .bz2 or .xz are unpacked
  --reporter NAME  the device that files come from which do not name it [the name of each file]
  --demo WHAT      draw generated hosts instead of a SOURCE: a number of hosts, fabric, campus or home-lab
  --view VIEW      l2 (switches and their neighbors), l3 (subnets) or workloads (virtual machines, containers) [l2]
  --group-by WHAT  draw containers in the view l2: location, subnet or tag [none]
  --network NAME   the name or id of the network to draw [the one with the most edges]
  --format FORMAT  html, svg, mermaid, dot, graphml, drawio, json or all; repeatable [html and svg]
  --theme FILE     the colors, fonts and icons, as JSON that Theme::from_json reads
  --output FOLDER  the folder in which network.html, network.svg and so on are written; existing ones are replaced [.]
  --overview       draw one box for each location or block of devices
  --all            draw every host; without it, hosts of a switch are drawn as one group if the names would be too small on A3
  --help           print this help
";

/// The program's arguments.
pub(crate) struct Args {
    pub(crate) source: Source,
    pub(crate) view: TopologyView,
    pub(crate) group_by: Option<GroupBy>,
    pub(crate) network: Option<String>,
    pub(crate) formats: Vec<FileFormat>,
    pub(crate) theme: Option<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) is_unfolded: bool,
    pub(crate) detail: Option<Detail>,
    pub(crate) reporter: Option<String>,
}

/// The source of the hosts.
pub(crate) enum Source {
    Demo(u32),
    Sample(Sample),
    Path(PathBuf),
}

impl Args {
    /// Parses the arguments; `None` if they ask for help.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let (mut source, mut view, mut network, mut output) =
            (None, TopologyView::L2, None, PathBuf::from("."));
        let (mut is_unfolded, mut reporter, mut group_by) = (false, None, None);
        let (mut formats, mut theme, mut detail) = (Vec::new(), None, None);
        while let Some(argument) = arguments.next() {
            let mut value = |needs: &str| {
                let value = arguments.next().and_then(|value| value.into_string().ok());
                value.ok_or_else(|| Failure::usage(needs))
            };
            let given = match argument.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--all") => {
                    is_unfolded = true;
                    continue;
                }
                Some("--overview") => {
                    detail = Some(Detail::Overview);
                    continue;
                }
                Some("--view") => {
                    view = view_of(&value("--view requires l2, l3 or workloads")?)?;
                    continue;
                }
                Some("--group-by") => {
                    let by = value("--group-by requires location, subnet or tag")?;
                    let known = by.parse().map_err(|_| {
                        Failure::usage(format_args!(
                            "--group-by requires location, subnet or tag, not {by:?}"
                        ))
                    });
                    group_by = Some(known?);
                    continue;
                }
                Some("--network") => {
                    network = Some(value("--network requires the name or the id of a network")?);
                    continue;
                }
                Some("--reporter") => {
                    reporter = Some(value("--reporter requires the name of a device")?);
                    continue;
                }
                Some("--format") => {
                    formats.extend(FileFormat::read(&value("--format requires a format or all")?)?);
                    continue;
                }
                Some("--theme") => {
                    theme = Some(value("--theme requires a file")?.into());
                    continue;
                }
                Some("--output") => {
                    output = value("--output requires a folder")?.into();
                    continue;
                }
                Some("--demo") => {
                    let what = value("--demo requires a number of hosts, fabric, campus or home-lab")?;
                    match Sample::find(&what) {
                        Some(sample) => Source::Sample(sample),
                        None => Source::Demo(what.parse().map_err(|_| {
                            Failure::usage(format_args!(
                                "--demo requires a number of hosts, fabric, campus or home-lab, not {what:?}"
                            ))
                        })?),
                    }
                }
                Some(flag) if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                _ => Source::Path(argument.into()),
            };
            if source.replace(given).is_some() {
                return Err(Failure::usage("Only one SOURCE or --demo is allowed"));
            }
        }
        let source = source.ok_or_else(|| Failure::usage("A SOURCE or --demo is required"))?;
        if formats.is_empty() {
            formats = FileFormat::USUAL.to_vec();
        }
        Ok(Some(Self {
            source,
            view,
            group_by,
            network,
            formats,
            theme,
            output,
            is_unfolded,
            detail,
            reporter,
        }))
    }
}

fn view_of(name: &str) -> Result<TopologyView, Failure> {
    match name {
        "l2" => Ok(TopologyView::L2),
        "l3" => Ok(TopologyView::L3),
        "workloads" => Ok(TopologyView::Workloads),
        _ => Err(Failure::usage(format_args!("--view requires l2, l3 or workloads, not {name:?}"))),
    }
}
