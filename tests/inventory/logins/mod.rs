//! Logins, and the sessions that they begin.

mod attempts;
mod concurrency;
mod equal_work;
mod login;
mod passwords;
mod sessions;
mod shared_emails;
