//! The endpoints, rule by rule.

mod daemon_keys;
mod moving_ports;
mod ports;
mod referrals;
mod shares;
mod user_keys;
