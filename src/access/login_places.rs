use std::sync::{Mutex, PoisonError};

use super::{ClientPrefix, SecretDigest, Tally};

/// Greatest number of logins under way, including those that wait for their turn.
const PLACES: usize = 256;

/// A client prefix may hold one place for this many free ones.
const FREE_FOR_ONE_OF_A_CLIENT: usize = 8;

/// An e-mail domain may hold one place for this many free ones.
const FREE_FOR_ONE_OF_A_DOMAIN: usize = 1;

/// The places for logins under way, shared fairly between client prefixes and between organizations.
///
/// A holder may take a place only while it holds less than a fraction of the *free* places: an eighth for a client
/// prefix, all of them for a domain. Alone, a prefix therefore gets 29 of the 256 places and a domain gets 128. The more
/// holders there are, the less each gets, and a holder that has none gets a place as long as one is free.
///
/// The organization is the domain of the e-mail address as the client wrote it, and not the one of the account: a refusal
/// that depended on the account would tell which accounts exist. Nothing here depends on what the store holds.
#[derive(Debug, Default)]
pub(super) struct LoginPlaces(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    /// At most two entries for each place.
    by_holder: Tally<Holder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Client(ClientPrefix),
    Domain([u8; 16]),
}

/// A place that a login has taken. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct LoginPlace<'a> {
    places: &'a LoginPlaces,
    holders: [Option<Holder>; 2],
}

impl LoginPlaces {
    /// Takes a place for a login from this client under this e-mail address, or returns `None` if there is none for it.
    pub(super) fn take(&self, client: Option<ClientPrefix>, email: &str) -> Option<LoginPlace<'_>> {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        let domain = Holder::Domain(SecretDigest::of(domain).lookup());
        let holders = [client.map(Holder::Client), Some(domain)];
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = PLACES.saturating_sub(taken.total);
        if holders.iter().flatten().any(|holder| !taken.has_room(holder, free)) {
            return None;
        }
        taken.total += 1;
        for holder in holders.into_iter().flatten() {
            taken.by_holder.add(holder);
        }
        Some(LoginPlace { places: self, holders })
    }
}

impl Taken {
    fn has_room(&self, holder: &Holder, free: usize) -> bool {
        let free_for_one = match holder {
            Holder::Client(_) => FREE_FOR_ONE_OF_A_CLIENT,
            Holder::Domain(_) => FREE_FOR_ONE_OF_A_DOMAIN,
        };
        self.by_holder.of(holder) < free.div_ceil(free_for_one)
    }
}

impl Drop for LoginPlace<'_> {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        for holder in self.holders.iter().flatten() {
            taken.by_holder.remove(holder);
        }
    }
}
