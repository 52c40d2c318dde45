use crate::text_enum::{listed, text_enum};

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

text_enum! {
    /// The colors of a picture.
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum Theme {
        /// Light or dark, as the reader prefers.
        #[default]
        Auto = "auto",
        /// Dark on light.
        Light = "light",
        /// Light on dark.
        Dark = "dark",
    }

    /// The error for text that names no theme.
    #[error("not one of {}", listed(Theme::TEXTS))]
    pub struct ThemeError;
}
