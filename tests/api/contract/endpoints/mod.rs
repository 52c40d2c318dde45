//! The endpoints, sentence by sentence.

mod daemon_keys;
mod moving_ports;
mod ports;
mod referrals;
mod shares;
mod user_keys;
