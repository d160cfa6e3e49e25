//! A service on the loopback device: it reads one request after the other, and answers as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What was asked: the head of the request, and its body.
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

/// A service.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Receiver<Asked>,
    gone: Receiver<()>,
}

/// A whole answer of HTTP.
pub(crate) fn answer(status: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

impl Service {
    /// One that says this, once it has read a request; nothing if there is nothing to say, and then it
    /// waits until whoever has asked goes away.
    pub(crate) fn saying(answer: impl Fn(&Asked) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/decide", listener.local_addr().expect("it has one"));
        let ((say, asked), (left, gone)) = (channel(), channel());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("somebody asks");
                let request = request(&stream);
                let said = answer(&request);
                if say.send(request).is_err() {
                    break;
                }
                // Whoever has heard enough may go in the middle of it.
                let _ = stream.write_all(&said);
                if said.is_empty() {
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
                    if let Ok(0) = stream.read(&mut [0]) {
                        let _ = left.send(());
                    }
                }
            }
        });
        Self { url, asked, gone }
    }

    pub(crate) fn with(answer: Vec<u8>) -> Self {
        Self::saying(move |_| answer.clone())
    }

    pub(crate) fn asked(&self) -> Asked {
        self.asked.recv_timeout(Duration::from_secs(60)).expect("it was asked")
    }

    pub(crate) fn asked_more(&self) -> bool {
        self.asked.try_recv().is_ok()
    }

    /// Waits until whoever has asked has gone away without an answer.
    pub(crate) fn is_left(&self) -> bool {
        self.gone.recv_timeout(Duration::from_secs(60)).is_ok()
    }
}

fn request(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(said) = line.to_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().expect("a number");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("all of it");
    Asked { head, body: serde_json::from_slice(&body).expect("JSON") }
}
