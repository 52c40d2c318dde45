use crate::model::{AdminStatus, OperStatus};
use crate::text_enum::text_enum;

text_enum! {
    /// The state of a link, from the best to the worst; of a node, that of its links together.
    ///
    /// ```
    /// use toposcope::topology::links::LinkState;
    ///
    /// assert!(LinkState::Unknown < LinkState::Up && LinkState::Up < LinkState::Down);
    /// assert_eq!(LinkState::Down.max(LinkState::Up), LinkState::Down);
    /// ```
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum LinkState {
        /// The state of neither end is known.
        #[default]
        Unknown = "Unknown",
        /// Ready to pass packets.
        Up = "Up",
        /// An end waits for an external event, such as an incoming call.
        Dormant = "Dormant",
        /// An end is in test mode; no packets pass.
        Testing = "Testing",
        /// Some of several members are down or disabled. Of a node: one link to a device that connects others is.
        Degraded = "Degraded",
        /// An end is down, or a component of it is missing. Of a node: all links are.
        Down = "Down",
        /// An end is disabled by an administrator. Of a node: all links are.
        Disabled = "Disabled",
    }
}

impl LinkState {
    /// Returns the state of a port.
    pub(super) const fn of_port(admin: Option<AdminStatus>, oper: Option<OperStatus>) -> Self {
        match (admin, oper) {
            (Some(AdminStatus::Down), _) => Self::Disabled,
            (Some(AdminStatus::Testing), _) | (_, Some(OperStatus::Testing)) => Self::Testing,
            (_, Some(OperStatus::Up)) => Self::Up,
            (_, Some(OperStatus::Dormant)) => Self::Dormant,
            (_, Some(OperStatus::Down | OperStatus::NotPresent | OperStatus::LowerLayerDown)) => Self::Down,
            (_, Some(OperStatus::Unknown) | None) => Self::Unknown,
        }
    }

    /// Returns whether an end is out of service.
    pub(in crate::topology) const fn is_out(self) -> bool {
        matches!(self, Self::Down | Self::Disabled)
    }

    /// Returns the state of several links together.
    pub(in crate::topology) fn of_all(states: impl Iterator<Item = Self>) -> Self {
        let (mut all, mut out, mut disabled) = (0_usize, 0_usize, 0_usize);
        let mut worst_working = Self::Unknown;
        for state in states {
            all = all.saturating_add(1);
            out = out.saturating_add(usize::from(state.is_out()));
            disabled = disabled.saturating_add(usize::from(state == Self::Disabled));
            if !state.is_out() {
                worst_working = worst_working.max(state);
            }
        }
        match out {
            0 => worst_working,
            out if out < all => Self::Degraded,
            out if out == disabled => Self::Disabled,
            _ => Self::Down,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LinkState::{self, Degraded, Disabled, Dormant, Down, Testing, Unknown, Up};
    use crate::model::{AdminStatus, OperStatus};

    #[test]
    fn configured_state_of_a_port_overrides_its_current_state() {
        let states = [
            (Some(AdminStatus::Down), Some(OperStatus::Up), Disabled),
            (Some(AdminStatus::Testing), Some(OperStatus::Down), Testing),
            (Some(AdminStatus::Up), Some(OperStatus::Up), Up),
            (Some(AdminStatus::Up), Some(OperStatus::Dormant), Dormant),
            (Some(AdminStatus::Up), Some(OperStatus::LowerLayerDown), Down),
            (None, Some(OperStatus::NotPresent), Down),
            (Some(AdminStatus::Up), Some(OperStatus::Unknown), Unknown),
            (Some(AdminStatus::Up), None, Unknown),
        ];
        for (admin, oper, expected) in states {
            assert_eq!(LinkState::of_port(admin, oper), expected, "{admin:?}, {oper:?}");
        }
    }

    #[test]
    fn links_are_degraded_if_some_of_them_are_out() {
        let all = [
            (&[][..], Unknown),
            (&[Up, Up], Up),
            (&[Up, Unknown], Up),
            (&[Up, Dormant], Dormant),
            (&[Up, Down], Degraded),
            (&[Unknown, Disabled], Degraded),
            (&[Down, Disabled], Down),
            (&[Disabled, Disabled], Disabled),
            (&[Degraded, Up], Degraded),
        ];
        for (states, expected) in all {
            assert_eq!(LinkState::of_all(states.iter().copied()), expected, "{states:?}");
        }
    }
}
