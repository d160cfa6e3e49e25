//! Clients: one a lane, each with one submission on its way at a time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_machine::admission::Call;
use everstep_machine::agent::Binding;
use everstep_machine::identity::{
    ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Settlement;
use everstep_runtime::{Host, Standing};

use crate::crowd;

/// Submissions after which a client begins a new conversation, so that depth stays out of what it
/// measures.
pub(crate) const TURNOVER: usize = 16;

/// Whose turn it is to submit what.
pub(crate) struct Client {
    name: String,
    turnover: usize,
    submitted: usize,
    binding: Arc<Binding>,
    /// From a call to its settlement.
    pub(crate) times: Vec<Duration>,
}

impl Client {
    pub(crate) fn new(name: String, turnover: usize, binding: Arc<Binding>) -> Self {
        Self { name, turnover, submitted: 0, binding, times: Vec::new() }
    }

    /// The conversation of a submission.
    pub(crate) fn lane(&self, submission: usize) -> ConversationId {
        let name = format!("{}-{}", self.name, submission / self.turnover);
        ConversationId::new(&name).expect("a name")
    }

    fn next(&mut self) -> Call {
        let call = Call {
            conversation: self.lane(self.submitted),
            principal: PrincipalId::new("ada").expect("a name"),
            tenant: TenantId::new("shop").expect("a name"),
            key: IdempotencyKey::new(&self.submitted.to_string()).expect("a name"),
            input: CanonicalJson::string("refund this, please").expect("a text"),
            allowance: everstep_machine::agent::Allowance::default(),
            steers: None,
            binding: Arc::clone(&self.binding),
            producer: ProducerId::new("front").expect("a name"),
        };
        self.submitted += 1;
        call
    }

    /// One submission, from the call to the settlement in hand.
    async fn submit(&mut self, host: &Host) {
        let call = self.next();
        let lane = call.conversation.clone();
        let began = Instant::now();
        let receipt = host.submit(call).await.expect("accepted");
        let standing = host.wait(&lane, receipt.submission).await.expect("an answer");
        self.times.push(began.elapsed());
        match standing {
            Standing::Settled(it) if matches!(it.settlement, Settlement::Completed { .. }) => {}
            other => panic!("not completed: {other:?}"),
        }
    }

    /// Submits until then, at least once and at most so often.
    async fn work(&mut self, host: &Host, until: Instant, most: usize) {
        self.submit(host).await;
        let before = self.times.len();
        while Instant::now() < until && self.times.len() - before < most - 1 {
            self.submit(host).await;
        }
    }
}

type Working<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// All of them at once, each at most so often. Returns how long it was.
pub(crate) async fn work(
    host: &Host,
    clients: &mut [Client],
    span: Duration,
    most: usize,
) -> Duration {
    let began = Instant::now();
    let until = began + span;
    let working = clients.iter_mut().map(|it| Box::pin(it.work(host, until, most)) as Working<'_>);
    crowd::all(working).await;
    began.elapsed()
}

/// Each of them once.
pub(crate) async fn once(host: &Host, clients: &mut [Client]) {
    work(host, clients, Duration::ZERO, 1).await;
}
