//! Strings in their one spelling (RFC 8785, 3.2.2.2): escaped is only what must be.

use alloc::string::String;
use core::fmt::Write;

/// Writes `text` as a JSON string, quotes included.
pub(super) fn write(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&rest[..at]);
        escape(out, rest.as_bytes()[at]);
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn escape(out: &mut String, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
            return;
        }
    };
    out.push('\\');
    out.push(char::from(short));
}
