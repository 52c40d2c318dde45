use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A format for graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// A picture: Scalable Vector Graphics.
    #[default]
    Svg,
    /// A flowchart of Mermaid, for Markdown documents.
    Mermaid,
    /// The DOT language of Graphviz.
    Dot,
    /// GraphML, for programs that analyze graphs.
    GraphMl,
    /// A diagram of draw.io, to edit.
    DrawIo,
    /// The graph as JSON.
    Json,
}

/// The error for text that names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of svg, mermaid, dot, graphml, drawio and json")]
#[non_exhaustive]
pub struct FormatError;

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Svg, Self::Mermaid, Self::Dot, Self::GraphMl, Self::DrawIo, Self::Json];

    /// Returns the name used in JSON and query strings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::GraphMl => "graphml",
            Self::DrawIo => "drawio",
            Self::Json => "json",
        }
    }

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
            Self::Svg => "svg",
            Self::Mermaid => "mmd",
            Self::Dot => "dot",
            Self::GraphMl => "graphml",
            Self::DrawIo => "drawio",
            Self::Json => "json",
        }
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        Self::ALL.iter().copied().find(|format| format.as_str() == text).ok_or(FormatError)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The colors of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Theme {
    /// Light or dark, as the reader prefers.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// The error for text that names no theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of auto, light and dark")]
#[non_exhaustive]
pub struct ThemeError;

impl Theme {
    /// All themes.
    pub const ALL: &[Self] = &[Self::Auto, Self::Light, Self::Dark];

    /// Returns the name used in JSON and query strings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl FromStr for Theme {
    type Err = ThemeError;

    fn from_str(text: &str) -> Result<Self, ThemeError> {
        Self::ALL.iter().copied().find(|theme| theme.as_str() == text).ok_or(ThemeError)
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
