//! Hosts: validity, storage, and concurrent changes.

mod checks;
mod numbers;
mod offloading;
mod order;
mod putting;
mod races;
mod taken;
mod virtualized_by;
mod virtualized_by_races;
