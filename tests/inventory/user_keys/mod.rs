//! API keys of users.

mod creating;
mod managing;
mod updating;
mod updating_refused;
