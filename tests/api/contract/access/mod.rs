//! Access by credential, and the life of credentials.

mod cross_site;
mod keys;
mod last_used;
mod levels;
mod lock_out;
mod logins;
mod meanwhile;
mod sessions;
