//! Neighbors, and the syntax of walks.
