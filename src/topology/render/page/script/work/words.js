const BLIND_SPOTS = {
  unknown_neighbor: 'Hosts name it as a neighbor, and it is not in the inventory',
  one_sided_links: 'Its neighbors report links that it does not report itself',
  crowded_port: 'Several devices are behind one port: the switch between them is unknown',
  unmanaged_switch: 'Forwarding tables imply a switch that announces nothing',
  conflicting_links: 'Claims about its links contradict each other',
};
