//! Answers of the index of links, compared with what removal and flood, or an exhaustive search, give.

mod brute_force;
mod exhaustive;
mod failures;
mod following;
mod located;
mod naive;
mod networks;
mod next_routers;
mod routes;
mod routing;
mod silent;
mod vlans;
mod worst;
