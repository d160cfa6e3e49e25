//! Many clients in one task, each looked at only when it was woken.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Which clients were woken, and who looks at them.
#[derive(Default)]
struct Bell {
    woken: Mutex<(Vec<usize>, Option<Waker>)>,
}

impl Bell {
    fn ring(&self, client: usize) {
        let mut woken = self.woken.lock().expect("nobody panics with it");
        woken.0.push(client);
        if let Some(waker) = &woken.1 {
            waker.wake_by_ref();
        }
    }

    fn listen(&self, context: &Context<'_>) -> Vec<usize> {
        let mut woken = self.woken.lock().expect("nobody panics with it");
        woken.1 = Some(context.waker().clone());
        std::mem::take(&mut woken.0)
    }
}

struct Rope {
    bell: Arc<Bell>,
    client: usize,
}

impl Wake for Rope {
    fn wake(self: Arc<Self>) {
        self.bell.ring(self.client);
    }
}

/// Runs all of them to their ends.
pub(crate) async fn all<'a, T>(
    clients: impl IntoIterator<Item = Pin<Box<dyn Future<Output = T> + 'a>>>,
) -> Vec<T> {
    let bell = Arc::new(Bell::default());
    let mut clients: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(client, future)| {
            bell.ring(client);
            let waker = Waker::from(Arc::new(Rope { bell: Arc::clone(&bell), client }));
            Some((future, waker))
        })
        .collect();
    let (mut left, mut done) = (clients.len(), Vec::new());
    poll_fn(move |context| {
        for woken in bell.listen(context) {
            let Some((future, waker)) = &mut clients[woken] else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                clients[woken] = None;
                left -= 1;
                done.push(output);
            }
        }
        if left == 0 { Poll::Ready(std::mem::take(&mut done)) } else { Poll::Pending }
    })
    .await
}
