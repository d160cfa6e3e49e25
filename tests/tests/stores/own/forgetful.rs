//! The finding on the page: what a store gets that answers before it has written.

use everstep_machine::identity::Timestamp;
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};
use everstep_sim::conformance::{Check, Subject, check};
use everstep_tests::repository::file;

use super::{Database, OwnStore, OwnStores};

/// The last pipeline of a handle is gone when the handle is.
struct Forgetful {
    store: OwnStore,
    written: Option<Database>,
}

impl Store for Forgetful {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.written = Some(self.store.0.lock().unwrap().clone());
        self.store.execute(pipeline)
    }
}

impl Drop for Forgetful {
    fn drop(&mut self) {
        if let Some(written) = self.written.take() {
            *self.store.0.lock().unwrap() = written;
        }
    }
}

struct Forgetfuls(OwnStores);

impl Subject for Forgetfuls {
    type Store = Forgetful;

    fn fresh(&mut self) -> Forgetful {
        Forgetful { store: self.0.fresh(), written: None }
    }

    fn reopen(&mut self) -> Forgetful {
        Forgetful { store: self.0.reopen(), written: None }
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.0.set_clock(now);
    }
}

#[test]
fn store_010_the_page_shows_what_a_forgetful_store_gets() {
    let finding = check(&mut Forgetfuls(OwnStores::default()), 1, 10).expect_err("it forgets");
    assert_eq!(finding.check, Check::Reopening, "{finding}");
    let text = finding.to_string();
    // The page cuts the values short: they name every field of a lane.
    let (script, _values) = text.split_once("\nexpected: ").expect("a finding has both sides");
    let page = file("docs/stores.md").text;
    assert!(page.contains(script), "docs/stores.md lacks\n{script}");
}
