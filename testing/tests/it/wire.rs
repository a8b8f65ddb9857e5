//! What passes through unchanged: heads, chunks, connections that stay open.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use deltaic_testing::{Action, Proxy, Rule};

use crate::{answer, before, server};

/// A server for one connection that answers with these bytes; gives back what it was sent, up to `until`.
fn raw_server(
    bytes: &'static [u8],
    until: &'static str,
) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut seen = Vec::new();
        let mut part = [0; 1024];
        while !String::from_utf8_lossy(&seen).ends_with(until) {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&part[..read]);
        }
        stream.write_all(bytes).unwrap();
        String::from_utf8(seen).unwrap()
    });
    (address, serving)
}

fn all(proxy: &Proxy, request: &str) -> String {
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut seen = Vec::new();
    // Read as far as it goes: a reset ends it too.
    let mut part = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut part) {
        seen.extend_from_slice(&part[..read]);
    }
    String::from_utf8(seen).unwrap()
}

#[test]
fn heads_and_chunks_go_through_as_they_came() {
    let answer = b"HTTP/1.1 200 OK\r\nX-Odd-Case: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n";
    let request =
        "GET /a%20b?c=%2F HTTP/1.1\r\nHost: Some.Host:9\r\nAuthorization: AWS4-HMAC x\r\n\r\n";
    let (address, serving) = raw_server(answer, "\r\n\r\n");
    let proxy = Proxy::start(&address, []).unwrap();
    assert_eq!(all(&proxy, request).as_bytes(), answer);
    assert_eq!(serving.join().unwrap(), request);
    assert_eq!(proxy.log().bytes(), (0, 5));
}

#[test]
fn a_body_in_chunks_can_be_cut() {
    let answer =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let (address, serving) = raw_server(answer, "\r\n\r\n");
    let proxy = Proxy::start(&address, [Rule::any().then(Action::CutBody(4))]).unwrap();
    let seen = all(&proxy, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(
        seen.ends_with("3\r\nabc\r\n2\r\nd") || !seen.contains("de"),
        "{seen}"
    );
    serving.join().unwrap();
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let (address, serving) = raw_server(b"HTTP/1.0 200 OK\r\n\r\nall of it", "\r\n\r\n");
    let proxy = Proxy::start(&address, []).unwrap();
    assert!(all(&proxy, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("\r\n\r\nall of it"));
    serving.join().unwrap();
}

#[test]
fn a_client_that_sends_chunks_or_waits_for_leave_is_understood() {
    let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    let (address, serving) = raw_server(answer, "abcde");
    let proxy = Proxy::start(&address, []).unwrap();
    let seen = all(
        &proxy,
        "PUT /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    );
    assert!(
        seen.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created"),
        "{seen}"
    );
    assert_eq!(
        serving.join().unwrap(),
        "PUT /x HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\n\r\nabcde"
    );
}

#[test]
fn a_connection_takes_one_request_after_the_other() {
    let server = server();
    let proxy = before(&server, []);
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    for n in 0..5 {
        stream
            .write_all(format!("HEAD /{n} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes())
            .unwrap();
        stream
            .write_all(format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes())
            .unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert_eq!(answer(&mut stream).unwrap().2, "hello");
    }
    assert_eq!(proxy.log().total(), 10);
}
