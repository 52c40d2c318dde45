//! Logins, and the sessions that they begin.

mod addresses;
mod attempts;
mod attempts_at_once;
mod beginning;
mod equal_work;
mod hashing_anew;
mod places;
mod purging;
mod races;
mod sessions;
