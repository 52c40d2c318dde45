//! The page of a network for its users.

use http::Request;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::model::{NetworkId, Permission};
use toposcope::service::Endpoints;
use tower::ServiceExt;

use super::layouts::{path, positions};
use super::load::fill;
use super::{ACCESS, CORE, Campus, LINKS, link};
use crate::backend::run_with;
use crate::common::{
    LAB, NOBODY, OFFICE, Reply, bare, get, send_json, with, with_caller, with_header, with_key, with_session,
};

fn address(network: NetworkId) -> String {
    format!("/topology/{network}")
}

impl Campus {
    /// Requests the page with the session of a user of this level.
    async fn page_for(&self, level: Permission, query: &str) -> Reply {
        let user = self.user(&self.home, level, &[OFFICE]).await;
        let session = self.sign_in(&user).await;
        self.send(with_session(get(&format!("{}{query}", address(OFFICE))), &session)).await
    }
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.clone()).unwrap()
}

/// Returns the graph that the script of a page reads.
fn graph(page: &str) -> Value {
    let json = page.split_once("id=\"graph\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

#[test]
fn session_shows_the_network_and_members_edit_it() {
    run_with(Campus::new, async |campus| {
        for (level, may_edit) in [(Permission::Viewer, false), (Permission::Member, true)] {
            let page = campus.page_for(level, "").await;
            assert_eq!(page.status, 200);
            assert!(page.header("content-security-policy").ends_with("frame-ancestors 'self'"));
            let page = text(&page);
            assert!([CORE, ACCESS].iter().all(|name| page.contains(name)), "{page}");
            for part in [" data-edits", "id=\"undo\"", "id=\"add-link\""] {
                assert_eq!(page.contains(part), may_edit, "{level} {part}");
            }
            assert_eq!(graph(&page)["network_id"], json!(OFFICE));
            assert_eq!(graph(&page), campus.graph("").await);
        }
    });
}

#[test]
fn page_begins_with_the_overview_where_names_would_be_too_small() {
    run_with(Campus::new, async |campus| {
        fill(&campus, 400).await;
        let open = async |query: &str| {
            let page = text(&campus.page_for(Permission::Viewer, query).await);
            (graph(&page), page)
        };
        let (overview, page) = open("").await;
        assert_eq!(overview, campus.graph("detail=overview").await);
        assert!(page.contains("data-detail=\"overview\"") && page.contains("?detail=devices"));
        let closed = overview["nodes"].as_array().unwrap().iter().find(|node| node["kind"] == "Area");
        let query = format!("expand={}", closed.unwrap()["id"].as_str().unwrap());
        let (opened, _) = open(&format!("?{query}")).await;
        assert_eq!(opened, campus.graph(&format!("detail=overview&{query}")).await);
        assert!(opened["nodes"].as_array().unwrap().len() > overview["nodes"].as_array().unwrap().len());
        for query in ["detail=devices", "collapse=false"] {
            let (devices, page) = open(&format!("?{query}")).await;
            assert_eq!(devices, campus.graph(query).await, "{query}");
            assert!(page.contains("data-detail=\"devices\"") && page.contains("?detail=overview"));
        }
        assert_eq!(campus.graph("").await["detail"], "devices");
    });
}

#[test]
fn page_without_a_session_is_a_login_form() {
    run_with(Campus::new, async |campus| {
        let ended = with_session(get(&address(OFFICE)), "0".repeat(32).as_str());
        for request in [get(&address(OFFICE)), ended, get(&address(NOBODY.into()))] {
            let page = campus.send(request).await;
            assert_eq!(page.status, 401);
            let page = text(&page);
            assert!(page.contains("id=\"login-form\"") && page.contains("<script type=\"module\">"));
            assert!([CORE, "office", &OFFICE.to_string()].iter().all(|text| !page.contains(text)), "{page}");
        }
        let server = campus.configured(|builder| builder.without(Endpoints::LOGIN));
        let page = server.send(get(&address(OFFICE))).await;
        assert_eq!(page.status, 401);
        assert!(text(&page).contains("You are not logged in") && !text(&page).contains("<script"));
    });
}

#[test]
fn network_of_another_organization_does_not_exist() {
    run_with(Campus::new, async |campus| {
        let foreign = campus.owner_key(&campus.abroad).await;
        let page = campus.send_as(&foreign, get(&address(OFFICE))).await;
        let unknown = campus.send_as(&foreign, get(&address(NOBODY.into()))).await;
        assert_eq!((page.status.as_u16(), unknown.status.as_u16()), (404, 404));
        assert_eq!(page.body, unknown.body);
        assert!(text(&page).contains("does not exist") && !text(&page).contains(CORE));
        for target in ["/topology/x".to_owned(), "/topology/%22%3E%3Cscript%3E".to_owned()] {
            let page = campus.send_as(&campus.member, get(&target)).await;
            assert_eq!(page.status, 404);
            assert!(!text(&page).contains("<script"));
        }
        // A network of the caller's organization that is not granted.
        assert_eq!(campus.send_as(&campus.member, get(&address(LAB))).await.status, 403);
        let tagged = with_header(get(&address(LAB)), "if-none-match", "*");
        assert_eq!(campus.send_as(&campus.member, tagged).await.status, 403);
    });
}

#[test]
fn caller_of_the_host_application_sees_the_page() {
    run_with(Campus::new, async |campus| {
        let page = campus.send(with_caller(get(&address(OFFICE)), campus.viewer())).await;
        assert_eq!(page.status, 200);
        assert!(!text(&page).contains(" data-edits"));
        let foreign = campus.owner(&campus.abroad);
        assert_eq!(campus.send(with_caller(get(&address(OFFICE)), foreign)).await.status, 404);
    });
}

#[test]
fn query_of_the_page_selects_what_it_shows() {
    run_with(Campus::new, async |campus| {
        let page = text(&campus.page_for(Permission::Viewer, "?view=l3").await);
        assert_eq!(graph(&page), campus.graph("view=l3").await);
        assert!(
            page.contains("data-view=\"l3\"") && page.contains("view=l3&detail=devices&format=dot"),
            "{page}"
        );
        for (query, field) in [("?view=l9", "view"), ("?layout=false", "layout"), ("?x=%3Cb%3E", "x")] {
            let page = campus.page_for(Permission::Viewer, query).await;
            assert_eq!(page.status, 400);
            assert!(text(&page).contains(field) && !text(&page).contains("<b>"), "{}", text(&page));
        }
    });
}

#[test]
fn tag_of_the_page_depends_on_the_network_and_on_the_level() {
    run_with(Campus::new, async |campus| {
        let viewer = campus.key(Permission::Viewer, &[OFFICE]).await;
        let tag_for = async |key: &str| {
            let page = campus.send_as(key, get(&address(OFFICE))).await;
            assert!(
                text(&page).contains(&page.header("etag").replace('"', "&quot;")),
                "the script knows the tag"
            );
            page.header("etag").to_owned()
        };
        let (tag, of_member) = (tag_for(&viewer).await, tag_for(&campus.member).await);
        assert_ne!(tag, of_member);
        let again = async |key: &str, tag: &str| {
            let request = with_header(get(&address(OFFICE)), "if-none-match", tag);
            campus.send_as(key, request).await.status.as_u16()
        };
        assert_eq!((again(&viewer, &tag).await, again(&campus.member, &tag).await), (304, 200));
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 1.0, 2.0)])).await.data();
        assert_eq!(again(&viewer, &tag).await, 200);
        let page = text(&campus.send_as(&viewer, get(&address(OFFICE))).await);
        let pinned = graph(&page)["nodes"].as_array().unwrap().iter().any(|node| node["pinned"] == true);
        assert!(pinned, "the page shows the pin");
    });
}

#[test]
fn page_is_left_out_alone_or_with_all_topologies() {
    run_with(Campus::new, async |campus| {
        for (removed, graph) in [(Endpoints::TOPOLOGY_PAGE, 200), (Endpoints::TOPOLOGY, 404)] {
            let server = campus.configured(|builder| builder.without(removed));
            // The answers need not be documented: another server has more endpoints.
            let status = async |target: &str| {
                let request = with_key(get(target), &campus.member);
                server.api.clone().oneshot(request).await.unwrap().status().as_u16()
            };
            assert_eq!(status(&address(OFFICE)).await, 404);
            assert_eq!(status(&super::of_office(super::GRAPH, "")).await, graph);
        }
    });
}

/// Returns a request with the headers that browsers send from the page of another site.
fn from_another_site(request: Request<String>) -> Request<String> {
    let request = with_header(request, "origin", "https://evil.example");
    with_header(request, "sec-fetch-site", "cross-site")
}

#[test]
fn writes_of_other_sites_are_refused_where_a_cookie_may_stand_for_the_caller() {
    run_with(Campus::new, async |campus| {
        let user = campus.user(&campus.home, Permission::Member, &[OFFICE]).await;
        let session = campus.sign_in(&user).await;
        let caller = Caller::new(campus.home.organization.id, user.id, Permission::Member, Scope::all());
        let writes = |suppressed: bool| {
            let link = with(&link(campus.core, campus.access), "suppressed", suppressed);
            [
                send_json("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 1.0, 2.0)])),
                send_json("POST", LINKS, &link),
            ]
        };
        let of_host = |request, cookie: bool| {
            let request = with_caller(request, caller.clone());
            if cookie { with_header(request, "cookie", "sid=1") } else { request }
        };
        for write in writes(false) {
            for request in [with_session(write.clone(), &session), of_host(write, true)] {
                let refused = campus.send(from_another_site(request)).await;
                refused.refuses(403, "auth_cross_site_request");
            }
        }
        for (first, second) in writes(false).into_iter().zip(writes(true)) {
            // Without a cookie, another site could not have sent it for the user.
            campus.send(from_another_site(of_host(first, false))).await.data();
            campus.send(of_host(second, true)).await.data();
        }
        let read = from_another_site(with_session(bare("GET", &address(OFFICE)), &session));
        assert_eq!(campus.send(read).await.status, 200);
    });
}
