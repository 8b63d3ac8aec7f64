//! The page for people.

use super::client::Client;
use super::running::Running;

#[test]
fn the_page_is_whole_and_harmless() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    client.review("/validate", "deny");
    client.review("/mutate", "<script>alert(1)</script>");
    let answer = client.get("/");
    assert_eq!(answer.code, 200);
    let head = answer.head.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'",
        "x-frame-options: deny",
        "x-content-type-options: nosniff",
    ] {
        assert!(head.contains(header), "{head}");
    }
    let page = &answer.body;
    for text in [
        "/etc/&lt;manifests&gt;",
        "a.yaml: &lt;no&gt;",
        "p.static.k8s.io",
        "no &lt;b&gt;such&lt;/b&gt; names",
        "n/&lt;script&gt;",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    for text in ["<script", "src=", "href=", "url(", "@import", "onload=", "style="] {
        assert!(!page.contains(text), "{text} is in {page}");
    }
    let opened = page.matches("<td").count() + page.matches("<tr").count();
    assert_eq!(
        opened,
        page.matches("</td").count() + page.matches("</tr").count()
    );
}

#[test]
fn the_page_can_be_left_out() {
    let server = Running::with(|settings| settings.page = false);
    assert_eq!(Client::to(server.address).get("/").code, 404);
}
