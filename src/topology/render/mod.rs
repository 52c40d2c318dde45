//! Pictures and files of a graph.
//!
//! [`Picture::render`] writes a laid-out graph in any [`Format`]. Names are data in all of them: no name can break out
//! of its place. The same picture gives the same bytes.

mod dot;
mod drawio;
mod format;
mod graphml;
mod mermaid;
mod number;
pub mod page;
mod scene;
mod svg;
mod words;
mod xml;

use crate::model::Timestamp;
use crate::topology::graph::Graph;

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
}

impl<'a> Picture<'a> {
    /// Creates a picture without subtitle and date, whose colors follow the reader's preference.
    #[must_use]
    pub const fn new(graph: &'a Graph, title: &'a str) -> Self {
        Self { graph, title, subtitle: None, date: None, theme: Theme::Auto }
    }

    /// Writes the picture in a format.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Svg => svg::write(self),
            Format::Mermaid => mermaid::write(self),
            Format::Dot => dot::write(self),
            Format::GraphMl => graphml::write(self),
            Format::DrawIo => drawio::write(self),
            // Numbers, strings and maps with string keys always have a JSON form.
            Format::Json => serde_json::to_string(self.graph).unwrap_or_default(),
        }
    }
}
