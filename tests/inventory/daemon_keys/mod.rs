//! API keys of discovery daemons.

mod authenticating;
mod creating;
mod managing;
