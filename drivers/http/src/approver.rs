//! The approver itself.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::effect::ApprovalQuestion;
use everstep_machine::identity::{RunId, Turn};
use everstep_runtime::{Approver, BoxFuture, Decision, blocking};

use crate::answer::decisions;
use crate::body::body;
use crate::exchange::Exchange;
use crate::token::Token;
use crate::trouble::Trouble;
use crate::url::Url;

/// How long a service may take, unless somebody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks a service about calls (AUTH-14). Whatever is wrong decides nothing, so the calls wait for people.
/// Each batch is asked about once, with a connection of its own; nothing is asked again by itself.
#[derive(Clone)]
pub struct HttpApprover {
    url: Url,
    token: Option<Token>,
    timeout: Duration,
    told: Arc<dyn Fn(&Trouble) + Send + Sync>,
}

impl HttpApprover {
    /// One that asks the service at this URL, gives it ten seconds, and tells nobody what is wrong.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self { url, token: None, timeout: TIMEOUT, told: Arc::new(|_| {}) }
    }

    /// Shows the service this token.
    #[must_use]
    pub fn token(self, token: Token) -> Self {
        Self { token: Some(token), ..self }
    }

    /// How long the service may take for all of its answer.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Who is told why a service has decided nothing.
    #[must_use]
    pub fn on_trouble(self, told: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        Self { told: Arc::new(told), ..self }
    }
}

impl Approver for HttpApprover {
    fn approve(
        &self,
        run: RunId,
        turn: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<Decision>> {
        let it = self.clone();
        Box::pin(async move {
            let exchange = Exchange::within(it.timeout);
            // Held until the answer is there: whoever drops this future gives the request up.
            let _gives_up = exchange.gives_up();
            let (url, token) = (it.url, it.token);
            let body = body(run, turn, &questions);
            let answer = blocking(move || exchange.post(&url, token.as_ref(), &body)).await;
            let decided = answer.and_then(|bytes| decisions(&bytes, &questions));
            decided.unwrap_or_else(|why| {
                (it.told)(&why);
                Vec::new()
            })
        })
    }
}

impl fmt::Debug for HttpApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpApprover").field("host", &self.url).finish_non_exhaustive()
    }
}
