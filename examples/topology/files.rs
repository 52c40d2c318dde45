//! The files that are written, and the theme that they are drawn in.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use toposcope::model::{ShareId, ShareMetadata, ShareOptions, Timestamp};
use toposcope::topology::graph::Graph;
use toposcope::topology::render::page::{FrameAncestors, SharePage};
use toposcope::topology::render::{Format, MAX_THEME, Picture, Theme};

use super::failure::Failure;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileFormat {
    Graph(Format),
    /// A page with the picture, which opens from a disk or an attachment.
    Page,
}

impl FileFormat {
    /// The formats of which files are written unless others are asked for.
    pub(crate) const USUAL: [Self; 2] = [Self::Graph(Format::Svg), Self::Page];

    /// Reads the name of a format, or `all`.
    pub(crate) fn read(name: &str) -> Result<Vec<Self>, Failure> {
        match name {
            "all" => Ok(Format::ALL.iter().copied().map(Self::Graph).chain([Self::Page]).collect()),
            "html" => Ok(vec![Self::Page]),
            _ => match name.parse() {
                Ok(format) => Ok(vec![Self::Graph(format)]),
                Err(_) => Err(Failure::usage(format_args!(
                    "--format requires html, svg, mermaid, dot, graphml, drawio, json or all, not {name:?}"
                ))),
            },
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Page => "html",
            Self::Graph(format) => format.extension(),
        }
    }
}

/// Reads a theme from a file.
pub(crate) fn read_theme(path: &Path) -> Result<Theme, Failure> {
    let unreadable = |error| Failure::because(format_args!("{} cannot be read", path.display()), &error);
    let mut json = String::new();
    // One byte more than is allowed, so that `from_json` refuses a file that is too large.
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_THEME as u64 + 1).read_to_string(&mut json).map_err(unreadable)?;
    Theme::from_json(&json).map_err(|error| Failure::new(format!("{} is no theme. {error}", path.display())))
}

/// Writes a picture in these formats into a folder, and returns the paths of the files.
pub(crate) fn write(
    folder: &Path,
    picture: &Picture<'_>,
    formats: &[FileFormat],
) -> Result<Vec<PathBuf>, Failure> {
    let mut formats = formats.to_vec();
    formats.sort_unstable();
    formats.dedup();
    let mut paths = Vec::new();
    for format in formats {
        let content = match format {
            FileFormat::Page => page(picture)?,
            FileFormat::Graph(format) => rendered(picture, format)?,
        };
        let path = folder.join(format!("network.{}", format.extension()));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
        written.map_err(|error| {
            Failure::because(format_args!("{} cannot be written", path.display()), &error)
        })?;
        paths.push(path);
    }
    Ok(paths)
}

/// Returns the picture of a graph. Generated hosts have no date, so that they give the same picture every day.
pub(crate) fn picture<'a>(
    graph: &'a Graph,
    title: &'a str,
    date: Option<Timestamp>,
    theme: Theme,
) -> Picture<'a> {
    let mut picture = Picture::new(graph, title);
    (picture.date, picture.theme) = (date, theme);
    picture
}

fn rendered(picture: &Picture<'_>, format: Format) -> Result<String, Failure> {
    picture.render(format).map_err(|error| Failure::because("The picture cannot be written", &error))
}

fn page(picture: &Picture<'_>) -> Result<String, Failure> {
    let options = ShareOptions {
        show_export_button: true,
        show_inspect_panel: true,
        show_minimap: true,
        show_zoom_controls: true,
    };
    let name = picture.title.to_owned();
    let share = ShareMetadata { id: ShareId::nil(), name, requires_password: false, options };
    let (svg, graph) = (rendered(picture, Format::Svg)?, rendered(picture, Format::Json)?);
    let frame_ancestors = FrameAncestors::default();
    let page = SharePage::new(&share, &frame_ancestors).theme(picture.theme.clone());
    Ok(page.open(&svg, &graph).html)
}
