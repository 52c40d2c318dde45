//! The states of links, and the VLANs and the spanning tree at their ports.

use toposcope::discovery::report::{StpRow, StpState};
use toposcope::inventory::ClaimRows;
use toposcope::model::{AdminStatus, OperStatus, Vlans};
use toposcope::topology::links::{Link, LinkState};

use super::support::{Node, links, node};

fn with_state(node: Node, port: usize, admin: AdminStatus, oper: OperStatus) -> Node {
    node.change(|host| {
        let entry = &mut host.if_entries[port - 1];
        (entry.admin_status, entry.oper_status) = (Some(admin), Some(oper));
    })
}

fn with_vlans(node: Node, untagged: Option<u16>, tagged: &[u16]) -> Node {
    let vlans = Vlans { untagged, tagged: tagged.to_vec(), ..Vlans::default() };
    node.change(|host| host.if_entries[0].vlans = Some(vlans))
}

/// Returns the only link of a network.
fn only(nodes: &[Node]) -> Link {
    let links = links(nodes);
    let all: Vec<&Link> = links.links().collect();
    let [link] = all[..] else { panic!("{all:#?}") };
    link.clone()
}

fn pair() -> [Node; 2] {
    [node(1, 2).lldp(&[(1, 2, 1)]), node(2, 2).lldp(&[(1, 1, 1)])]
}

#[test]
fn worse_end_of_a_link_counts() {
    use LinkState::{Disabled, Dormant, Down, Unknown, Up};
    let [one, other] = pair();
    assert_eq!(only(&[one.clone(), other.clone()]).state, Unknown);
    let one = with_state(one, 1, AdminStatus::Up, OperStatus::Up);
    assert_eq!(only(&[one.clone(), other.clone()]).state, Up);
    for (admin, oper, expected) in [
        (AdminStatus::Up, OperStatus::Up, Up),
        (AdminStatus::Up, OperStatus::Dormant, Dormant),
        (AdminStatus::Up, OperStatus::NotPresent, Down),
        (AdminStatus::Down, OperStatus::Down, Disabled),
    ] {
        let other = with_state(other.clone(), 1, admin, oper);
        assert_eq!(only(&[one.clone(), other.clone()]).state, expected);
        assert_eq!(only(&[other, one.clone()]).state, expected);
    }
}

#[test]
fn aggregate_is_degraded_while_some_members_are_down() {
    use LinkState::{Degraded, Down, Up};
    let with = |states: [OperStatus; 3]| {
        let mut one = node(1, 3).lldp(&[(1, 2, 1), (2, 2, 2)]).lag(&[(1, 3), (2, 3)]);
        for (port, state) in (1..).zip(states) {
            one = with_state(one, port, AdminStatus::Up, state);
        }
        let other = node(2, 3).lldp(&[(1, 1, 1), (2, 1, 2)]).lag(&[(1, 3), (2, 3)]);
        let link = only(&[one, other]);
        assert_eq!(link.members.len(), 2);
        link.state
    };
    use OperStatus as Oper;
    assert_eq!(with([Oper::Up, Oper::Up, Oper::Up]), Up);
    assert_eq!(with([Oper::Down, Oper::Up, Oper::Up]), Degraded);
    assert_eq!(with([Oper::Down, Oper::Down, Oper::Up]), Down);
    // The aggregate is down although its members are not.
    assert_eq!(with([Oper::Up, Oper::Up, Oper::LowerLayerDown]), Down);
}

#[test]
fn link_carries_the_vlans_of_both_ends() {
    let text = |link: Link| {
        let ranges =
            link.vlans.map(|ranges| ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        (ranges, link.untagged_vlan)
    };
    let [one, other] = pair();
    assert_eq!(text(only(&[one.clone(), other.clone()])), (None, None));
    let one = with_vlans(one, Some(1), &[10, 11, 12, 30]);
    assert_eq!(text(only(&[one.clone(), other.clone()])), (Some("1,10-12,30".to_owned()), Some(1)));
    let same = with_vlans(other.clone(), Some(1), &[11, 12, 30, 31]);
    assert_eq!(text(only(&[one.clone(), same])), (Some("1,11-12,30".to_owned()), Some(1)));
    let different = with_vlans(other, Some(7), &[]);
    assert_eq!(text(only(&[one, different])), (Some(String::new()), None));
}

#[test]
fn link_is_blocked_if_the_spanning_tree_blocks_an_end() {
    let stp = |node: Node, state: StpState| {
        let mut row = StpRow::new(1);
        (row.if_index, row.state) = (Some(1), Some(state));
        node.with(ClaimRows::Stp(vec![row]))
    };
    let [one, other] = pair();
    assert_eq!(only(&[one.clone(), other.clone()]).blocked, None);
    let forwarding = stp(one, StpState::Forwarding);
    assert_eq!(only(&[forwarding.clone(), other.clone()]).blocked, Some(false));
    assert_eq!(only(&[forwarding, stp(other, StpState::Blocking)]).blocked, Some(true));
}

#[test]
fn members_of_an_aggregate_are_blocked_one_by_one() {
    let mut row = StpRow::new(1);
    (row.if_index, row.state) = (Some(1), Some(StpState::Blocking));
    let one = node(1, 3).lldp(&[(1, 2, 1), (2, 2, 2)]).lag(&[(1, 3), (2, 3)]).with(ClaimRows::Stp(vec![row]));
    let other = node(2, 3).lldp(&[(1, 1, 1), (2, 1, 2)]).lag(&[(1, 3), (2, 3)]);
    let members: Vec<Option<bool>> =
        only(&[one, other]).members.iter().map(|member| member.blocked).collect();
    assert_eq!(members, [Some(true), None]);
}
