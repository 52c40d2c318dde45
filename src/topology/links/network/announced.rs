//! The announcements of neighbors about devices.

use std::collections::{BTreeMap, BTreeSet};

use super::Links;
use crate::discovery::report::Capability;
use crate::model::HostId;
use crate::topology::links::contest::candidate::DeviceKey;
use crate::topology::links::device::sighting::About;

impl Links {
    /// Returns the capabilities that neighbors announce of a host, in ascending order, and the first description in the order of text.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn announced_of(&self, host: HostId) -> (Vec<Capability>, Option<&str>) {
        let mut capabilities = BTreeSet::new();
        let mut description: Option<&str> = None;
        for about in self.abouts(DeviceKey::Host(host)) {
            capabilities.extend(&about.capabilities);
            description = description.into_iter().chain(about.description.as_deref()).min();
        }
        (capabilities.into_iter().collect(), description)
    }

    /// Returns the capabilities that neighbors announce, by host and in ascending order.
    #[must_use]
    pub fn capabilities(&self) -> BTreeMap<HostId, Vec<Capability>> {
        let mut announced: BTreeMap<HostId, BTreeSet<Capability>> = BTreeMap::new();
        for (reporter, seen) in &self.seen {
            let Some(device) = self.devices.get(*reporter) else { continue };
            for seen in seen {
                let (DeviceKey::Host(host), Some(sighting)) =
                    (&seen.device, device.sightings.get(seen.sighting))
                else {
                    continue;
                };
                if !sighting.about.capabilities.is_empty() {
                    announced.entry(*host).or_default().extend(&sighting.about.capabilities);
                }
            }
        }
        announced.into_iter().map(|(host, all)| (host, all.into_iter().collect())).collect()
    }

    /// Returns the descriptions that neighbors give, by host. Of several, the first in the order of text counts.
    #[must_use]
    pub fn descriptions(&self) -> BTreeMap<HostId, String> {
        let mut described: BTreeMap<HostId, &str> = BTreeMap::new();
        for (reporter, seen) in &self.seen {
            let Some(device) = self.devices.get(*reporter) else { continue };
            for seen in seen {
                let sighting = device.sightings.get(seen.sighting);
                let description = sighting.and_then(|sighting| sighting.about.description.as_deref());
                if let (DeviceKey::Host(host), Some(description)) = (&seen.device, description) {
                    let known = described.entry(*host).or_insert(description);
                    *known = description.min(*known);
                }
            }
        }
        described.into_iter().map(|(host, text)| (host, text.to_owned())).collect()
    }

    /// Returns what neighbors announce of a device, by neighbor.
    pub(super) fn abouts(&self, key: DeviceKey) -> impl Iterator<Item = &About> {
        let hosts = self.seen_by.get(&key.node_id());
        let seen = hosts.filter_map(|host| Some((self.devices.get(host)?, self.seen.get(&host)?)));
        seen.flat_map(move |(device, seen)| {
            let start = seen.partition_point(|seen| seen.device < key);
            let seen = seen.iter().skip(start).take_while(move |seen| seen.device == key);
            seen.filter_map(|seen| Some(&device.sightings.get(seen.sighting)?.about))
        })
    }
}
