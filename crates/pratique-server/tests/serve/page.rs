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
        "&lt;script&gt;",
        "<span class=\"warning\">warning</span> Validating",
        "<a href=\"?decision=denied\">denied</a>",
        "<a href=\"?namespace=n\">n</a>",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    for link in page.split("href=\"").skip(1) {
        assert!(link.starts_with('?'), "{link}");
    }
    for text in ["<script", "src=", "url(", "@import", "onload=", "style="] {
        assert!(!page.contains(text), "{text} is in {page}");
    }
    let opened = page.matches("<td").count() + page.matches("<tr").count();
    assert_eq!(
        opened,
        page.matches("</td").count() + page.matches("</tr").count()
    );
}

#[test]
fn decisions_are_filtered() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    for name in ["deny", "web", "<script>"] {
        client.review("/validate", name);
    }
    let mut check = |query: &str, expected: &[&str]| {
        let page = client.get(&format!("/?{query}")).body;
        let decisions = page.split("<h2>Decisions").nth(1).unwrap();
        let cells = decisions.split("data-column=\"Name\">").skip(1);
        let names: Vec<&str> = cells.map(|cell| cell.split('<').next().unwrap()).collect();
        assert_eq!(names, expected, "{query}");
        page
    };
    check("", &["&lt;script&gt;", "web", "deny"]);
    check("decision=denied", &["deny"]);
    check("decision=warned", &["&lt;script&gt;", "web"]);
    check("namespace=n&decision=denied", &["deny"]);
    check("namespace=other", &[]);
    check("decision=denie", &[]);
    check("policy=m.static.k8s.io&decision=denied", &["deny"]);
    let page = check("policy=p.static.k8s.io", &["&lt;script&gt;", "web", "deny"]);
    assert!(page.contains("<a href=\"?policy=p.static.k8s.io\" aria-current=\"true\">p.static.k8s.io</a>"));
    let page = check("policy=%22%3E%3Cscript%3E", &[]);
    assert!(
        page.contains(
            "href=\"?policy=%22%3E%3Cscript%3E\" aria-current=\"true\">&quot;&gt;&lt;script&gt;</a>"
        )
    );
}

#[test]
fn names_of_others_do_not_show_the_page() {
    let server = Running::with(|settings| settings.page_hosts = vec!["Status.example".into()]);
    let port = server.address.port();
    let check = |host: &str, code: u16| {
        let mut client = Client::to(server.address);
        let request = format!("GET / HTTP/1.1\r\n{host}\r\n");
        client.send(request.as_bytes()).unwrap();
        let answer = client.read().unwrap();
        assert_eq!(answer.code, code, "{host}: {answer:?}");
        assert_eq!(answer.body.contains("<html"), code == 200);
    };
    for host in [
        "localhost",
        &format!("localhost:{port}"),
        &format!("127.0.0.1:{port}"),
        "[::1]",
        "status.example:8443",
    ] {
        check(&format!("Host: {host}\r\n"), 200);
    }
    for host in ["evil.example", &format!("evil.example:{port}"), "10.1.2.3"] {
        check(&format!("Host: {host}\r\n"), 421);
    }
    // What others need is not the page's business.
    let mut client = Client::to(server.address);
    assert_eq!(client.get("/readyz").code, 200);
}

#[test]
fn the_page_can_be_left_out() {
    let server = Running::with(|settings| settings.page = false);
    assert_eq!(Client::to(server.address).get("/").code, 404);
}
