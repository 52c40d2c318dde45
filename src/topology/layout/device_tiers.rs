//! Tiers of the devices of a diagram, whatever containers they are in.
//!
//! A location, a tag or an opened box of an overview is drawn where its devices would be without it: the tier of a
//! container is that of its highest device that is connected with a shape beside the container.

use super::containers::{Level, SiblingLink};
use super::geometry::Size;
use super::outline::Outline;
use super::{layered, templates, tiers};

/// The tiers of devices: shapes that contain nothing.
#[derive(Debug)]
pub(super) struct DeviceTiers {
    /// The sizes of all shapes, those of devices with room for the labels of all their lines.
    pub(super) sizes: Vec<Size>,
    /// For each shape, the highest of its devices, or itself, that is connected with another shape of the same container.
    pub(super) beside: Vec<Option<DeviceTier>>,
    /// For each shape, the highest of its devices, or itself, that is connected with a shape outside of its container.
    pub(super) outward: Vec<Option<DeviceTier>>,
}

/// The tier of a device, 0 on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeviceTier {
    pub(super) tier: usize,
    /// Whether the device hangs below its only neighbor.
    pub(super) is_leaf: bool,
}

impl DeviceTiers {
    /// Returns the tiers; `None` for a diagram without containers, and if connections end at containers.
    pub(super) fn of(outline: &Outline) -> Option<Self> {
        let devices: Vec<usize> = (0..outline.len()).filter(|shape| !outline.is_container(*shape)).collect();
        let mut ends = outline.ends.iter().flatten().flat_map(|(source, target)| [*source, *target]);
        if devices.len() == outline.len() || ends.any(|end| outline.is_container(end)) {
            return None;
        }
        let mut sizes = outline.sizes.clone();
        let known = infer(outline, &devices, &mut sizes);
        let (mut beside, mut outward) = (vec![None; outline.len()], vec![None; outline.len()]);
        let raise = |at: &mut Option<DeviceTier>, tier: DeviceTier| {
            *at = Some(at.map_or(tier, |known| known.min(tier)));
        };
        for (source, target) in outline.ends.iter().flatten().copied() {
            crate::fair_threads::yield_turn();
            let Some(siblings) = outline.siblings(source, target) else { continue };
            for (device, sibling) in [(source, siblings.0), (target, siblings.1)] {
                let Some(tier) = known[device] else { continue };
                let mut at = device;
                while let Some(parent) = outline.parents[at].filter(|_| at != sibling) {
                    raise(&mut outward[at], tier);
                    at = parent;
                }
                raise(&mut beside[sibling], tier);
            }
        }
        Some(Self { sizes, beside, outward })
    }
}

/// Returns the tier of each device in a network with tiers, and widens such devices as much as their lines need.
fn infer(outline: &Outline, devices: &[usize], sizes: &mut [Size]) -> Vec<Option<DeviceTier>> {
    let links: Vec<SiblingLink> = outline
        .ends
        .iter()
        .zip(&outline.port_widths)
        .filter_map(|(ends, widths)| Some(SiblingLink { ends: (*ends)?, widths: *widths }))
        .collect();
    let all = Level::new(outline, sizes, devices, &links);
    let mut known = vec![None; outline.len()];
    let components = all.network.components().into_iter();
    for component in components.filter(|component| component.len() >= tiers::MIN_NODES) {
        crate::fair_threads::yield_turn();
        let mut level = all.part(&component);
        // A ring, a full mesh or a chain has no tiers.
        let tiers = tiers::infer(&level).filter(|_| templates::arrange(&level).is_none());
        let Some(tiers) = tiers else { continue };
        layered::widen(&mut level, &tiers);
        for (number, node) in component.iter().enumerate() {
            let device = devices[*node];
            sizes[device] = level.sizes[number];
            known[device] = Some(DeviceTier { tier: tiers.levels[number], is_leaf: tiers.is_leaf[number] });
        }
    }
    known
}
