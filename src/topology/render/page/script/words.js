const CONFIDENCE = {
  Confirmed: 'Confirmed: both ends name each other, or a user entered the link',
  Reported: 'Reported: one end names the other',
  Inferred: 'Inferred from forwarding tables',
  Conflicting: 'Conflicting: equally strong claims contradict each other',
};
// The names of the ports at a side of an edge: of its own port, or of the first members.
const MAX_PORTS = 8;
const portsOf = (edge, side) => {
  if (edge[side]?.name) return edge[side].name;
  const names = edge.members.map((member) => member[side]?.name).filter(Boolean);
  return names.slice(0, MAX_PORTS).join(', ') + (names.length > MAX_PORTS ? ', …' : '');
};
const STATES = {
  Unknown: 'unknown',
  Up: 'Up',
  Dormant: 'Dormant: an end waits for an external event',
  Testing: 'In test mode: no packets pass',
  Degraded: 'Partly down',
  Down: 'Down',
  Disabled: 'Disabled by an administrator',
};
// The state in a word, if a reader has to know it.
const problem = (state) => (['Unknown', 'Up', undefined].includes(state) ? null : STATES[state]?.replace(/:.*| by .*/, '') ?? state);
const stateOf = (edge) => (STATES[edge.state] ?? edge.state ?? 'unknown') + (edge.since ? ` since ${time(edge.since)}` : '');
const vlansOf = (edge) => edge.vlans.map(({ first, last }) => (first === last ? first : `${first}–${last}`)).join(', ') || 'none in common';
const EDGE_KINDS = {
  Physical: 'Cable between two ports',
  Adjacency: 'Neighbors, ports unknown',
  Bridged: 'Connection through a segment, or inferred',
  Routed: 'Link between routers',
  Member: 'Interface in a subnet',
  Hosts: 'Runs on',
};
const NODE_KINDS = {
  Stub: 'not scanned',
  Segment: 'shared segment',
  Service: 'container',
  Subnet: 'subnet',
  Area: 'area',
  Group: 'folded devices',
};
const RULES = {
  manual: 'Entered by a user',
  mutual_lldp: 'Each end names the other by LLDP',
  mutual_cdp: 'Each end names the other by CDP',
  one_sided_lldp: 'One end names the other by LLDP',
  one_sided_cdp: 'One end names the other by CDP',
  stored_neighbor: 'Neighbor stored with the interface',
  stp_designated: 'Designated bridge of the spanning tree',
  mutual_fdb: 'Each end learned the other’s address on one port',
  shared_fdb: 'Shared forwarding entries show no bridge in between',
  single_sided_fdb: 'One port learned the address of a single device',
  arp_fdb: 'One port learned the MAC address that an ARP cache gives to the host',
};
