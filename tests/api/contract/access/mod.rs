//! Who may do what, by which credential, and what becomes of credentials.

mod cross_site;
mod keys;
mod last_used;
mod levels;
mod lock_out;
mod logins;
mod meanwhile;
mod sessions;
