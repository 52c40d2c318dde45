//! Formats, encodings, and forms of the same tool.
