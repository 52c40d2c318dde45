//! Hosts: what is acceptable, what becomes of it, and what holds when several change them at once.

mod checks;
mod deleting;
mod moving;
mod numbers;
mod offloading;
mod order;
mod putting;
mod races;
mod taken;
mod virtualized_by;
mod virtualized_by_races;
