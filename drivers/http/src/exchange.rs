//! One request and its answer, on a connection of their own.

use std::io;
use std::time::Duration;

use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::{Agent, Error};

use crate::token::Token;
use crate::trouble::Trouble;
use crate::url::Url;

/// Bytes of an answer: a hundred times what the decisions of the largest batch need with ordinary
/// reasons.
pub const ANSWER_BYTES: u64 = 1024 * 1024;

/// A request that is about to be made, or being made.
pub(crate) struct Exchange {
    agent: Agent,
    timeout: Duration,
}

/// Shuts the request down when it is dropped: nobody waits for the answer any more.
pub(crate) struct GivesUp(Agent);

impl Exchange {
    /// One that takes no longer than that, from the look-up of the host's name to the last byte.
    pub(crate) fn within(timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            // An answer from elsewhere is not this service's, and the token is meant for nobody else.
            .max_redirects(0)
            .proxy(None)
            .http_status_as_error(false)
            .build();
        Self { agent: config.new_agent(), timeout }
    }

    pub(crate) fn gives_up(&self) -> GivesUp {
        GivesUp(self.agent.clone())
    }

    /// Posts a body, and waits for all of the answer. It blocks.
    pub(crate) fn post(
        &self,
        url: &Url,
        token: Option<&Token>,
        body: &str,
    ) -> Result<Vec<u8>, Trouble> {
        let trouble = |why| self.trouble(why);
        let mut request =
            self.agent.post(url.uri().clone()).header(CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.header());
        }
        let mut response = request.send(body).map_err(trouble)?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(Trouble::Status(status));
        }
        let body = response.body_mut().with_config().limit(ANSWER_BYTES);
        body.read_to_vec().map_err(trouble)
    }

    /// What went wrong, in a word. What the client says of it may hold what nobody is to see.
    fn trouble(&self, why: Error) -> Trouble {
        match why {
            Error::HostNotFound => Trouble::NoHost,
            Error::Timeout(_) => Trouble::TooSlow(self.timeout.as_millis()),
            Error::StatusCode(status) => Trouble::Status(status),
            Error::BodyExceedsLimit(_) => Trouble::TooLarge,
            Error::Io(why) => Trouble::Unreachable(why.kind()),
            Error::ConnectionFailed => Trouble::Unreachable(io::ErrorKind::NotConnected),
            _ => Trouble::Protocol,
        }
    }
}

impl Drop for GivesUp {
    fn drop(&mut self) {
        self.0.clone().shutdown();
    }
}
