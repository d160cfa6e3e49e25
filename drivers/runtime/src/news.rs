//! Who waits for news of which lane (STORE-012).
//!
//! A waiter subscribes to its lane, reads, and parks. Only what is said of that lane wakes it, and
//! what another process has done, of which nobody knows the lane.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::attempt::End;
use everstep_machine::identity::ConversationId;
use everstep_machine::limits::LEFT_ALONE;
use tokio::sync::watch;

/// Where waiters subscribe. Copies are the same board.
#[derive(Clone, Debug)]
pub(crate) struct News(Arc<Mutex<Board>>);

/// Who tells the news. When it is gone nobody tells any, and whoever waits is told so.
#[derive(Debug)]
pub(crate) struct Herald(News);

#[derive(Debug)]
struct Board {
    /// The lanes that somebody waits for, each with how its attempt ended if it is left alone.
    lanes: HashMap<ConversationId, watch::Sender<Option<End>>>,
    /// The lanes that are left alone, as many as the scheduler remembers.
    lost: BTreeMap<ConversationId, End>,
    /// Whether anybody tells news.
    is_open: bool,
}

/// Nobody tells any news any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMoreNews;

impl News {
    pub(crate) fn new() -> (Self, Herald) {
        let board = Board { lanes: HashMap::new(), lost: BTreeMap::new(), is_open: true };
        let news = Self(Arc::new(Mutex::new(board)));
        (news.clone(), Herald(news))
    }

    /// What is said of the lane from now on.
    pub(crate) fn subscribe(&self, lane: &ConversationId) -> Result<Subscription, NoMoreNews> {
        let mut board = self.board();
        if !board.is_open {
            return Err(NoMoreNews);
        }
        let lost = board.lost.get(lane).copied();
        let sender = board.lanes.entry(lane.clone()).or_insert_with(|| watch::Sender::new(lost));
        Ok(Subscription { said: sender.subscribe(), news: self.clone(), lane: lane.clone() })
    }

    /// A panic elsewhere leaves a sound board behind.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Herald {
    /// An attempt at the lane is over.
    pub(crate) fn ended(&self, lane: &ConversationId, end: End) {
        let mut board = self.0.board();
        let lost = match end {
            End::Corrupt(_) | End::Defect => Some(end),
            End::Idle
            | End::Settled
            | End::Parked
            | End::Incompatible
            | End::Unanswered
            | End::Superseded => None,
        };
        match lost {
            Some(_) if board.lost.len() < LEFT_ALONE => {
                board.lost.insert(lane.clone(), end);
            }
            Some(_) | None => {}
        }
        if let Some(sender) = board.lanes.get(lane) {
            sender.send_replace(lost);
        }
    }

    /// Some lane has changed, and nobody says which.
    pub(crate) fn changed_elsewhere(&self) {
        for sender in self.0.board().lanes.values() {
            sender.send_modify(|_| {});
        }
    }
}

impl Drop for Herald {
    fn drop(&mut self) {
        let mut board = self.0.board();
        board.is_open = false;
        board.lanes.clear();
    }
}

/// One waiter's ear. Dropping it forgets the lane if nobody else waits for it.
#[derive(Debug)]
pub(crate) struct Subscription {
    said: watch::Receiver<Option<End>>,
    news: News,
    lane: ConversationId,
}

impl Subscription {
    /// What was said so far is known: only what is said from now on is new. Tells how an attempt
    /// ended after which the lane is left alone.
    pub(crate) fn know(&mut self) -> Option<End> {
        *self.said.borrow_and_update()
    }

    /// Parks until something is said.
    pub(crate) async fn news(&mut self) -> Result<(), NoMoreNews> {
        self.said.changed().await.map_err(|_| NoMoreNews)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut board = self.news.board();
        // Nobody subscribes meanwhile, and this one is still counted.
        if board.lanes.get(&self.lane).is_some_and(|sender| sender.receiver_count() <= 1) {
            board.lanes.remove(&self.lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_machine::attempt::End;
    use everstep_machine::identity::ConversationId;
    use everstep_machine::limits::LEFT_ALONE;

    use super::{News, NoMoreNews};
    use crate::HostError;

    fn lane(name: &str) -> ConversationId {
        ConversationId::new(name).unwrap()
    }

    #[test]
    fn store_012_only_those_who_wait_for_the_lane_are_woken() {
        let (news, herald) = News::new();
        let mut a = news.subscribe(&lane("a")).unwrap();
        let mut also_a = news.subscribe(&lane("a")).unwrap();
        let mut b = news.subscribe(&lane("b")).unwrap();
        let mut woken = move || {
            let woken = [&a, &also_a, &b].map(|one| one.said.has_changed().unwrap());
            for one in [&mut a, &mut also_a, &mut b] {
                one.know();
            }
            woken
        };
        assert_eq!(woken(), [false; 3]);
        herald.ended(&lane("a"), End::Settled);
        assert_eq!(woken(), [true, true, false]);
        herald.ended(&lane("c"), End::Settled);
        assert_eq!(woken(), [false; 3]);
        herald.changed_elsewhere();
        assert_eq!(woken(), [true; 3], "nobody knows whom it concerns");
    }

    #[test]
    fn store_012_what_is_said_between_a_reading_and_the_parking_is_not_missed() {
        let (news, herald) = News::new();
        let mut a = news.subscribe(&lane("a")).unwrap();
        a.know();
        herald.ended(&lane("a"), End::Idle);
        crate::block_on(a.news()).unwrap().unwrap();
    }

    #[test]
    fn store_006_a_lane_that_is_left_alone_is_told_before_and_after() {
        let (news, herald) = News::new();
        let mut before = news.subscribe(&lane("a")).unwrap();
        assert_eq!(before.know(), None);
        herald.ended(&lane("a"), End::Defect);
        let mut after = news.subscribe(&lane("a")).unwrap();
        drop(news.subscribe(&lane("b")).unwrap());
        assert_eq!([before.know(), after.know()], [Some(End::Defect); 2]);
        assert_eq!(news.subscribe(&lane("b")).unwrap().know(), None);
    }

    #[test]
    fn arc_05_nothing_is_kept_of_those_who_have_gone_and_lost_lanes_are_bounded() {
        let (news, herald) = News::new();
        let waiters = [news.subscribe(&lane("a")).unwrap(), news.subscribe(&lane("a")).unwrap()];
        let [first, second] = waiters;
        drop(first);
        assert_eq!(news.board().lanes.len(), 1, "somebody waits still");
        drop(second);
        assert_eq!(news.board().lanes.len(), 0);
        for n in 0..=LEFT_ALONE {
            herald.ended(&lane(&format!("lost {n}")), End::Defect);
        }
        assert_eq!(news.board().lost.len(), LEFT_ALONE);
    }

    #[test]
    fn ops_03_whoever_waits_is_told_when_nobody_tells_any_news_any_more() {
        let (news, herald) = News::new();
        let mut a = news.subscribe(&lane("a")).unwrap();
        drop(herald);
        assert_eq!(crate::block_on(a.news()).unwrap(), Err(NoMoreNews));
        assert!(news.subscribe(&lane("a")).is_err());
        assert_eq!(HostError::from(NoMoreNews), HostError::Stopped);
    }
}
