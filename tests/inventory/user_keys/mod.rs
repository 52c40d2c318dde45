//! API keys of users.

mod creating;
mod managing;
mod rotating;
mod updating;
mod updating_refused;
