//! Shares: views that anyone can read with their id.

mod basics;
mod callers;
mod tokens;
