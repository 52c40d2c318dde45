//! Pictures and files of a graph.
//!
//! [`Picture::render`] writes a laid-out graph in any [`Format`]. Names are data in all of them: no name can break out
//! of its place. The same picture gives the same bytes.

mod dot;
mod drawio;
mod file;
mod format;
mod graphml;
mod mermaid;
mod number;
pub mod page;
mod scene;
mod svg;
mod words;
mod xml;

use self::file::File;
use crate::model::Timestamp;
use crate::topology::graph::Graph;

pub(crate) use self::file::json;
pub use self::file::{FileTooLarge, MAX_FILE};
pub use self::format::{Format, FormatError, Theme, ThemeError};
pub use self::svg::style_source;

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
    /// The colors.
    pub theme: Theme,
    /// The maximum size of the file, in bytes.
    pub limit: usize,
}

impl<'a> Picture<'a> {
    /// Creates a picture without subtitle and date, whose colors follow the reader's preference. Its file has at most
    /// [`MAX_FILE`] bytes.
    #[must_use]
    pub const fn new(graph: &'a Graph, title: &'a str) -> Self {
        Self { graph, title, subtitle: None, date: None, theme: Theme::Auto, limit: MAX_FILE }
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
