//! The `Link` header of CSV pages.

use super::csv::csv;
use super::*;
use crate::common::host;

/// Reads a list page by page, following the links. Returns the rows.
async fn rows_of_pages(fixture: &Fixture, list: &str, query: &str) -> Vec<String> {
    let (mut rows, mut target) = (Vec::new(), format!("{list}?{query}"));
    loop {
        let (headers, text) = csv(fixture, &target).await;
        rows.extend(text.split_terminator("\r\n").skip(1).map(str::to_owned));
        let Some(link) = headers.get("link") else { return rows };
        let link = link.to_str().unwrap().strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
        assert!(link.starts_with('?') && link.contains("fields=id"), "{link}");
        target = format!("{list}{link}");
    }
}

#[test]
fn csv_page_links_to_the_next_one() {
    run_new(async |fixture| {
        fixture.put((1..=7).map(|id| host(id, OFFICE))).await;
        let body = json!({"hosts": (0..7).map(|_| with(&host_body(), "ports", json!([
            {"number": 443, "protocol": "Tcp"},
        ]))).collect::<Vec<_>>()});
        fixture.post("/api/v1/hosts/bulk", &body).await;
        for (list, count) in [(HOSTS, 14), ("/api/v1/ports", 7)] {
            let whole = rows_of_pages(&fixture, list, "fields=id&limit=0").await;
            assert_eq!(whole.len(), count);
            // One of the page sizes leaves a single item for the last page.
            for query in [
                "cursor=&limit=3&fields=id",
                "limit=3&fields=id",
                "fields=id&offset=0&limit=3",
                "limit=13&fields=id",
                "limit=6&fields=id",
            ] {
                // The second time, a page may come from a cache.
                for _ in 0..3 {
                    assert_eq!(rows_of_pages(&fixture, list, query).await, whole, "{list}?{query}");
                }
            }
        }
    });
}
