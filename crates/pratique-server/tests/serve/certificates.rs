//! HTTPS: certificates that change, clients that need one.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique_metrics::Metrics;
use pratique_server::{CertificateFiles, CertificateRotation, Certificates};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::client::Client;
use super::handler::DEADLINE;
use super::running::Running;

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

pub(crate) type Pair = (String, KeyPair, CertificateDer<'static>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, usage: ExtendedKeyUsagePurpose) -> Pair {
        let mut parameters = CertificateParams::new(vec!["localhost".into()]).unwrap();
        parameters.extended_key_usages.push(usage);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key, certificate.der().clone())
    }

    /// Its certificate's files in a folder, as a server has them.
    pub(crate) fn served_from(&self, directory: &Path) -> Arc<Certificates> {
        write(directory, &self.issue(ExtendedKeyUsagePurpose::ServerAuth));
        Arc::new(Certificates::load(files(directory, None)).unwrap())
    }

    /// Of clients that trust it, and show this certificate.
    pub(crate) fn config(&self, pair: Option<&Pair>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        match pair {
            Some((_, key, certificate)) => {
                let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
                builder
                    .with_client_auth_cert(vec![certificate.clone()], key)
                    .unwrap()
            }
            None => builder.with_no_client_auth(),
        }
    }

    pub(crate) fn client(
        &self,
        address: SocketAddr,
        pair: Option<&Pair>,
    ) -> Client<StreamOwned<ClientConnection, TcpStream>> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Client::over(self.over(stream, pair))
    }

    /// TLS over a connection, of a client that trusts it.
    pub(crate) fn over(
        &self,
        stream: TcpStream,
        pair: Option<&Pair>,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("localhost").unwrap();
        StreamOwned::new(
            ClientConnection::new(Arc::new(self.config(pair)), name).unwrap(),
            stream,
        )
    }
}

fn write(directory: &Path, (pem, key, _): &Pair) {
    fs::write(directory.join("tls.crt"), pem).unwrap();
    fs::write(directory.join("tls.key"), key.serialize_pem()).unwrap();
}

fn files(directory: &Path, client_ca: Option<&str>) -> CertificateFiles {
    CertificateFiles {
        certificate: directory.join("tls.crt"),
        key: directory.join("tls.key"),
        client_ca: client_ca.map(|name| directory.join(name)),
    }
}

#[test]
fn certificates_are_replaced_while_in_use() {
    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    write(directory.path(), &old.issue(ExtendedKeyUsagePurpose::ServerAuth));
    let certificates = Arc::new(Certificates::load(files(directory.path(), None)).unwrap());
    let server = Running::with(|settings| settings.certificates = Some(certificates.clone()));
    let mut before = old.client(server.address, None);
    assert_eq!(before.review("/validate", "web").code, 200);
    assert!(!certificates.reload().unwrap(), "nothing is new");

    fs::write(directory.path().join("tls.crt"), "-----BEGIN NOTHING-----").unwrap();
    let error = certificates.reload().unwrap_err().to_string();
    assert!(error.contains("tls.crt: "), "{error}");
    assert_eq!(
        old.client(server.address, None).review("/validate", "web").code,
        200,
        "the last good one stays"
    );

    write(directory.path(), &new.issue(ExtendedKeyUsagePurpose::ServerAuth));
    assert!(certificates.reload().unwrap());
    assert_eq!(
        new.client(server.address, None).review("/validate", "web").code,
        200
    );
    assert!(
        old.client(server.address, None)
            .send(b"GET /livez HTTP/1.1\r\n\r\n")
            .is_err()
    );
    assert_eq!(before.review("/validate", "web").code, 200, "connections go on");
}

#[test]
#[cfg(unix)]
fn a_mounted_secret_is_swapped() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    for (name, authority) in [("..1", &old), ("..2", &new)] {
        fs::create_dir(directory.path().join(name)).unwrap();
        write(
            &directory.path().join(name),
            &authority.issue(ExtendedKeyUsagePurpose::ServerAuth),
        );
    }
    symlink("..1", directory.path().join("..data")).unwrap();
    for name in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{name}"), directory.path().join(name)).unwrap();
    }
    let certificates = Arc::new(Certificates::load(files(directory.path(), None)).unwrap());
    let server = Running::with(|settings| settings.certificates = Some(certificates.clone()));
    let _rotation = CertificateRotation::start(&certificates, &Metrics::new("")).unwrap();
    assert_eq!(
        old.client(server.address, None).review("/validate", "web").code,
        200
    );

    symlink("..2", directory.path().join("..data_tmp")).unwrap();
    fs::rename(
        directory.path().join("..data_tmp"),
        directory.path().join("..data"),
    )
    .unwrap();
    let start = Instant::now();
    while new
        .client(server.address, None)
        .send(b"GET /livez HTTP/1.1\r\nHost: test\r\n\r\n")
        .is_err()
    {
        assert!(start.elapsed() < DEADLINE);
    }
}

/// A bundle of roots that is written in place ends after any of them for a moment.
#[test]
fn a_bundle_that_is_being_written_locks_nobody_out() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (Authority::new(), Authority::new());
    write(
        directory.path(),
        &first.issue(ExtendedKeyUsagePurpose::ServerAuth),
    );
    let bundle = directory.path().join("ca.crt");
    fs::write(&bundle, first.0.pem() + &second.0.pem()).unwrap();
    let certificates = Certificates::load(files(directory.path(), Some("ca.crt"))).unwrap();
    let certificates = Arc::new(certificates);
    let server = Running::with(|settings| settings.certificates = Some(certificates.clone()));
    let _rotation = CertificateRotation::start(&certificates, &Metrics::new("")).unwrap();
    let (name, key, der) = second.issue(ExtendedKeyUsagePurpose::ClientAuth);
    let known = (name, key, der);
    let check = || {
        let mut client = first.client(server.address, Some(&known));
        assert_eq!(client.review("/validate", "web").code, 200);
    };
    check();
    for round in 0..3 {
        fs::write(&bundle, format!("# {round}\n{}", first.0.pem())).unwrap();
        let written = Instant::now();
        while written.elapsed() < Duration::from_millis(300) {
            check();
        }
        fs::write(&bundle, format!("# {round}\n{}{}", first.0.pem(), second.0.pem())).unwrap();
    }
    check();

    // A root that stays away is not trusted any more.
    fs::write(&bundle, first.0.pem()).unwrap();
    let start = Instant::now();
    let is_answered = || {
        let mut client = first.client(server.address, Some(&known));
        let sent = client.send(b"GET /livez HTTP/1.1\r\nHost: test\r\n\r\n");
        sent.is_ok() && client.read().is_some()
    };
    while is_answered() {
        assert!(start.elapsed() < DEADLINE, "the root is still trusted");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whoever can write one of the files must not be able to stop the others from being renewed, nor to take the memory.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_no_certificates() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let put = |name: &str, make: &dyn Fn(&Path)| {
        make(&path("new"));
        fs::rename(path("new"), path(name)).unwrap();
    };
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    let huge = |path: &Path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    write(directory.path(), &old.issue(ExtendedKeyUsagePurpose::ServerAuth));
    fs::write(path("ca.crt"), old.0.pem()).unwrap();
    let certificates = Certificates::load(files(directory.path(), Some("ca.crt"))).unwrap();
    let certificates = Arc::new(certificates);
    let metrics = Metrics::new("");
    let rotation = CertificateRotation::start(&certificates, &metrics).unwrap();
    let check = |name: &str, make: &dyn Fn(&Path), reason: &str| {
        let before = fs::read(path(name)).unwrap();
        put(name, make);
        let error = certificates.reload().unwrap_err().to_string();
        assert_eq!(error, format!("cannot read {}: {reason}", path(name).display()));
        put(name, &|path| fs::write(path, &before).unwrap());
    };
    for name in ["tls.crt", "tls.key", "ca.crt"] {
        check(name, &pipe, "not a regular file");
        check(name, &device, "not a regular file");
        check(name, &huge, "larger than 16 MiB");
    }
    put("tls.key", &pipe);
    let server = Running::with(|settings| settings.certificates = Some(certificates.clone()));
    let (pem, key, _) = new.issue(ExtendedKeyUsagePurpose::ServerAuth);
    put("tls.crt", &|path| fs::write(path, &pem).unwrap());
    put("tls.key", &|path| fs::write(path, key.serialize_pem()).unwrap());
    let start = Instant::now();
    while new
        .client(server.address, None)
        .send(b"GET /livez HTTP/1.1\r\nHost: test\r\n\r\n")
        .is_err()
    {
        assert!(start.elapsed() < DEADLINE, "the watcher is blocked");
    }
    assert!(!rotation.has_ended());
}

/// What operators see of certificates: when they expire, and that newer ones cannot be used.
#[test]
fn certificates_are_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let issue = |year| {
        let mut parameters = CertificateParams::new(vec!["localhost".into()]).unwrap();
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &authority.0).unwrap();
        (certificate.pem(), key, certificate.der().clone())
    };
    write(directory.path(), &issue(2030));
    fs::write(directory.path().join("ca.crt"), authority.0.pem()).unwrap();
    let certificates = Certificates::load(files(directory.path(), Some("ca.crt"))).unwrap();
    let certificates = Arc::new(certificates);
    let metrics = Metrics::new("");
    let rotation = Arc::new(CertificateRotation::start(&certificates, &metrics).unwrap());
    assert!(!rotation.has_ended());
    let server = Running::with(|settings| {
        settings.metrics = metrics.clone();
        settings.certificates = Some(certificates.clone());
        settings.rotation = Some(rotation.clone());
    });
    let known = authority.issue(ExtendedKeyUsagePurpose::ClientAuth);
    let mut client = authority.client(server.address, Some(&known));
    let mut eventually = |path: &str, text: &str| {
        let start = Instant::now();
        loop {
            let body = client.get(path).body;
            if body.contains(text) {
                return body;
            }
            assert!(start.elapsed() < DEADLINE, "{text} is not in {body}");
        }
    };
    let expires = "pratique_certificate_expiration_timestamp_seconds";
    eventually(
        "/metrics",
        &format!("{expires}{{certificate=\"serving\"}} 1.893456e+09"),
    );
    eventually("/metrics", &format!("{expires}{{certificate=\"client-ca\"}} "));
    eventually(
        "/metrics",
        "pratique_certificate_reloads_total{status=\"failure\"} 0",
    );
    let configuration = eventually("/configz", "2030-01-01T00:00:00.000Z");
    assert!(
        configuration.contains("\"name\":\"client-ca\"") && configuration.contains("tls.crt"),
        "{configuration}"
    );

    fs::write(directory.path().join("tls.crt"), "nothing").unwrap();
    eventually(
        "/metrics",
        "pratique_certificate_reloads_total{status=\"failure\"} 1",
    );
    eventually("/configz", "tls.crt: no certificate in it");
    eventually("/", "tls.crt: no certificate in it");

    write(directory.path(), &issue(2040));
    eventually(
        "/metrics",
        &format!("{expires}{{certificate=\"serving\"}} 2.2089888e+09"),
    );
    let configuration = eventually("/configz", "2040-01-01T00:00:00.000Z");
    assert!(!configuration.contains("no certificate in it"), "{configuration}");
    eventually(
        "/metrics",
        "pratique_certificate_reloads_total{status=\"success\"} 2",
    );
}

#[test]
fn clients_may_need_a_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (servers, clients) = (Authority::new(), Authority::new());
    write(
        directory.path(),
        &servers.issue(ExtendedKeyUsagePurpose::ServerAuth),
    );
    fs::write(directory.path().join("ca.crt"), clients.0.pem()).unwrap();
    let certificates = Certificates::load(files(directory.path(), Some("ca.crt"))).unwrap();
    let server = Running::with(|settings| settings.certificates = Some(Arc::new(certificates)));

    let mut stranger = servers.client(server.address, None);
    assert_eq!(stranger.review("/validate", "web").code, 401);
    assert_eq!(stranger.get("/configz").code, 401);
    assert_eq!(stranger.get("/readyz").code, 200);
    assert_eq!(stranger.get("/metrics").code, 200, "unless they are protected");
    let known = clients.issue(ExtendedKeyUsagePurpose::ClientAuth);
    assert_eq!(
        servers
            .client(server.address, Some(&known))
            .review("/validate", "web")
            .code,
        200
    );

    let certificates = Certificates::load(files(directory.path(), Some("ca.crt"))).unwrap();
    let protected = Running::with(|settings| {
        settings.certificates = Some(Arc::new(certificates));
        settings.protected_metrics = true;
    });
    for (path, shown, code) in [
        ("/metrics", None, 401),
        ("/metrics", Some(&known), 200),
        ("/livez", None, 200),
        ("/readyz", None, 200),
    ] {
        assert_eq!(
            servers.client(protected.address, shown).get(path).code,
            code,
            "{path}"
        );
    }

    let forged = Authority::new().issue(ExtendedKeyUsagePurpose::ClientAuth);
    let mut forger = servers.client(server.address, Some(&forged));
    let sent = forger.send(b"GET /livez HTTP/1.1\r\nHost: test\r\n\r\n");
    assert!(sent.is_err() || forger.read().is_none());
}

#[test]
fn a_certificate_of_its_own_serves() {
    let certificates = Certificates::development(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let server = Running::with(|settings| settings.certificates = Some(Arc::new(certificates)));
    let mut nobody = Authority::new().client(server.address, None);
    assert!(
        nobody.send(b"GET /livez HTTP/1.1\r\n\r\n").is_err(),
        "nobody trusts it"
    );
}

#[test]
fn handshakes_that_never_end_are_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    write(
        directory.path(),
        &authority.issue(ExtendedKeyUsagePurpose::ServerAuth),
    );
    let certificates = Certificates::load(files(directory.path(), None)).unwrap();
    let server = Running::with(|settings| {
        settings.certificates = Some(Arc::new(certificates));
        settings.limits.handshake_timeout = Duration::from_millis(300);
        settings.limits.connections = 8;
    });
    let start = Instant::now();
    let mut half_open: Vec<_> = (0..30)
        .map(|_| {
            let mut client = Client::to(server.address);
            // The beginning of a message that is said to be longer.
            client.send(&[22, 3, 1, 2, 0, 1, 0, 1, 252]).unwrap();
            client
        })
        .collect();
    for _ in 0..20 {
        let mut friend = authority.client(server.address, None);
        assert_eq!(friend.review("/validate", "web").code, 200);
    }
    assert!(half_open.iter_mut().all(|client| client.read().is_none()));
    // Thirty, eight at a time: with the time that a handshake has by default, it would be longer.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let [one, other] = [0, 1].map(|_| authority.issue(ExtendedKeyUsagePurpose::ServerAuth));
    write(directory.path(), &one);
    fs::write(directory.path().join("tls.key"), other.1.serialize_pem()).unwrap();
    let error = Certificates::load(files(directory.path(), None))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("the certificate cannot be used: "), "{error}");
    fs::write(directory.path().join("tls.crt"), "").unwrap();
    let error = Certificates::load(files(directory.path(), None))
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("tls.crt: no certificate in it"), "{error}");
    let error = Certificates::load(files(&directory.path().join("none"), None))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}
