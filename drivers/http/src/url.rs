//! Where a service is.

use std::fmt;

use thiserror::Error;
use ureq::http::Uri;

/// Bytes of a URL.
const URL_BYTES: usize = 2 * 1024;

/// The URL of a service. Its words are its host alone: what stands behind that may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Uri);

/// Why a text is no URL of a service. Nothing of the text is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// It is none at all.
    #[error("it is no URL of at most {URL_BYTES} bytes")]
    NotOne,
    /// Of another scheme.
    #[error("it has to begin with http://; a service that wants TLS needs a proxy before it")]
    Scheme,
    /// With a name and a password in it, which would be shown with it.
    #[error("a name or a password does not belong in it")]
    Credentials,
}

impl Url {
    /// Checks and wraps a text.
    ///
    /// # Errors
    /// It is no URL, is not of `http`, or has credentials in it.
    pub fn new(text: &str) -> Result<Self, UrlError> {
        if text.len() > URL_BYTES {
            return Err(UrlError::NotOne);
        }
        let uri = text.parse::<Uri>().map_err(|_| UrlError::NotOne)?;
        let authority = uri.authority().ok_or(UrlError::NotOne)?;
        if uri.scheme_str() != Some("http") {
            return Err(UrlError::Scheme);
        }
        if authority.as_str().contains('@') {
            return Err(UrlError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(UrlError::NotOne);
        }
        Ok(Self(uri))
    }

    pub(crate) const fn uri(&self) -> &Uri {
        &self.0
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.host().unwrap_or_default())
    }
}
