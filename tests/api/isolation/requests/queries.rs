//! Queries of the list of hosts.

use uuid::Uuid;

use super::Asker;
use crate::common::NOBODY;
use crate::isolation::ask::Ask;

const FIELDS: [&str; 8] =
    ["created_at", "updated_at", "name", "hostname", "network_id", "virtualized_by", "interface_ip", "id"];

impl Asker<'_> {
    pub(super) fn add_hosts_query(&mut self, ask: &mut Ask) {
        let mut query: Vec<(&'static str, String)> = vec![];
        if self.random.once_in(3) {
            let network = self.network().to_string();
            let given = self.random.choose(&[network.clone(), network.clone(), network, String::new()]);
            query.push(("network_id", given));
        }
        if self.random.once_in(4) {
            let ids: Vec<Uuid> = (0..=self.random.below(5)).map(|_| self.host()).collect();
            self.push_ids(&mut query, "ids", &ids);
        }
        if self.random.once_in(4) {
            let mut tags = self.tags();
            tags.push(NOBODY);
            self.push_ids(&mut query, "tag_ids", &tags);
        }
        for name in ["group_by", "order_by"] {
            if self.random.once_in(3) {
                // The last one is not a field.
                let known = if self.random.once_in(20) { &FIELDS[7..] } else { &FIELDS[..7] };
                query.push((name, self.random.choose(known).to_owned()));
            }
        }
        if self.random.once_in(4) {
            query.push(("order_direction", self.random.choose(&["asc", "desc"]).to_owned()));
        }
        if self.random.once_in(3) {
            query.push(("limit", self.random.choose(&["0", "1", "3", "1000", ""]).to_owned()));
        }
        if self.random.once_in(4) {
            query.push(("offset", self.random.choose(&["0", "1", "4", "500"]).to_owned()));
        }
        if self.random.once_in(25) {
            query = vec![self.wrong_parameter()];
        }
        self.random.shuffle(&mut query);
        ask.query = query;
    }

    fn wrong_parameter(&mut self) -> (&'static str, String) {
        let wrong = [
            ("network_id", "x"),
            ("ids", "x"),
            ("tag_ids", "1,2"),
            ("order_direction", "up"),
            ("limit", "-1"),
            ("limit", "1001"),
            ("limit", "ten"),
            ("offset", "-1"),
            ("offset", "99999999999999999999"),
        ];
        let (name, value) = self.random.choose(&wrong);
        (name, value.to_owned())
    }

    fn push_ids(&mut self, query: &mut Vec<(&'static str, String)>, name: &'static str, ids: &[Uuid]) {
        let texts: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        if self.random.once_in(2) {
            query.push((name, texts.join(",")));
        } else {
            query.extend(texts.into_iter().map(|text| (name, text)));
        }
    }
}
