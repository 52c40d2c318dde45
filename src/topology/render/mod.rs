//! Pictures and files of a graph.
//!
//! [`Picture::render`] writes a laid-out graph in any [`Format`]. Names are data in all of them: no name can break out
//! of its place. The same picture gives the same bytes.

mod changes;
mod dot;
mod drawio;
mod file;
mod graphml;
mod legend;
mod mermaid;
mod notes;
pub mod page;
mod scene;
mod svg;
mod theme;
mod tiers;
mod widths;
mod words;
mod xml;
mod yed;

use self::file::File;
pub(crate) use self::file::json;
pub use self::file::{FileTooLarge, MAX_FILE};
pub use self::notes::notes;
pub use self::theme::{
    ColorScheme, ColorSchemeError, Icon, InvalidTheme, MAX_THEME, Theme, ThemeBuilder, ThemeColor,
    ThemeColorError,
};
use crate::model::Timestamp;
use crate::text_enum::{listed, text_enum};
use crate::topology::graph::Graph;

/// A graph, with the title, the date and the theme of its picture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Picture<'a> {
    /// The graph, laid out.
    pub graph: &'a Graph,
    /// The title, such as the name of the network.
    pub title: &'a str,
    /// A line below the title.
    pub subtitle: Option<&'a str>,
    /// The date of the picture.
    pub date: Option<Timestamp>,
    /// Whether the picture is light or dark. Only SVG has both.
    pub scheme: ColorScheme,
    /// The colors, the fonts and the icons.
    pub theme: Theme,
    /// The maximum size of the file, in bytes.
    pub limit: usize,
}

impl<'a> Picture<'a> {
    /// Creates a picture without subtitle and date, whose colors follow the reader's preference. Its file has at most
    /// [`MAX_FILE`] bytes.
    #[must_use]
    pub fn new(graph: &'a Graph, title: &'a str) -> Self {
        let (scheme, theme) = (ColorScheme::default(), Theme::default());
        Self { graph, title, subtitle: None, date: None, scheme, theme, limit: MAX_FILE }
    }

    /// Writes the picture in a format.
    ///
    /// # Errors
    /// [`FileTooLarge`] if the file would be larger than [`limit`](Self::limit).
    pub fn render(&self, format: Format) -> Result<String, FileTooLarge> {
        let mut file = File::new(self.limit);
        match format {
            Format::Json => return json(self.graph, self.limit),
            Format::Svg => svg::write(self, &mut file),
            Format::Mermaid => mermaid::write(self, &mut file),
            Format::Dot => dot::write(self, &mut file),
            Format::GraphMl => graphml::write(self, &mut file),
            Format::DrawIo => drawio::write(self, &mut file),
        }
        file.finish()
    }
}

text_enum! {
    /// A format for graphs.
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum Format {
        /// A picture: Scalable Vector Graphics.
        #[default]
        Svg = "svg",
        /// A flowchart of Mermaid, for Markdown documents.
        Mermaid = "mermaid",
        /// The DOT language of Graphviz.
        Dot = "dot",
        /// GraphML, for programs that analyze graphs.
        GraphMl = "graphml",
        /// A diagram of draw.io, to edit.
        DrawIo = "drawio",
        /// The graph as JSON.
        Json = "json",
    }

    /// The error for text that names no format.
    #[error("not one of {}", listed(Format::TEXTS))]
    pub struct FormatError;
}

impl Format {
    /// Returns the media type, with the charset where the type has one.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Svg => "image/svg+xml",
            Self::Mermaid => "text/vnd.mermaid; charset=utf-8",
            Self::Dot => "text/vnd.graphviz; charset=utf-8",
            Self::GraphMl => "application/graphml+xml",
            Self::DrawIo => "application/vnd.jgraph.mxfile",
            Self::Json => "application/json",
        }
    }

    /// Returns the extension of file names, without a dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Mermaid => "mmd",
            _ => self.as_str(),
        }
    }
}
