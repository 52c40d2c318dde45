//! Horizontal positions of nodes side by side.

/// A node with the position where its center would be best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) center: f64,
    pub(super) width: f64,
}

/// Returns the centers nearest to the desired ones, in the order given and without overlaps. Nearness is the sum of the
/// squared distances.
///
/// Neighbors that are too close merge into a group that moves to the mean of its wishes (pool adjacent violators).
pub(super) fn side_by_side(wishes: &[Wish], gap: f64) -> Vec<f64> {
    // Subtracting the space taken up to the left turns minimum distances into an order that must not fall.
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for wish in wishes {
        offset += wish.width / 2.0;
        offsets.push(offset);
        let mut group = (wish.center - offset, 1_usize);
        while let Some((mean, count)) = groups.pop() {
            if mean <= group.0 {
                groups.push((mean, count));
                break;
            }
            let total = count + group.1;
            group = ((mean * count as f64 + group.0 * group.1 as f64) / total as f64, total);
        }
        groups.push(group);
        offset += wish.width / 2.0 + gap;
    }
    let shifts = groups.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    shifts.zip(offsets).map(|(shift, offset)| shift + offset).collect()
}
