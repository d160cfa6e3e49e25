//! What shows a service who asks.

use std::fmt;

use thiserror::Error;
use ureq::http::HeaderValue;

/// Bytes of a token: more than any that is in use.
const TOKEN_BYTES: usize = 8 * 1024;

/// A bearer token. It is sent to the service, and has no words for anybody else (SEC-04).
#[derive(Clone)]
pub struct Token(HeaderValue);

/// Why a text is no token. Nothing of the text is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// It is empty, or too long.
    #[error("a token has 1 to {TOKEN_BYTES} bytes")]
    Length,
    /// It holds something that no header may hold.
    #[error("a token has printable ASCII letters alone, and no blanks")]
    Letters,
}

impl Token {
    /// Checks and wraps a text of 1 to 8192 bytes.
    ///
    /// # Errors
    /// It is empty, too long, or holds anything but printable ASCII without blanks.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        if text.is_empty() || text.len() > TOKEN_BYTES {
            return Err(TokenError::Length);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Letters);
        }
        let value = HeaderValue::from_str(&format!("Bearer {text}"));
        let mut value = value.map_err(|_| TokenError::Letters)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value of the header that carries it.
    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
