//! The tables of the ledger against the definition of what they have to load.

use everstep_machine::ledger::{Admission, InputMarker, MarkState, Phase};
use proptest::prelude::*;

use super::*;
use crate::testkit::{abort, blank, desk, intent, lane, mark, row, settled, submission};

/// The same row, said to the run of another one.
fn said(row: Row) -> Row {
    let steers = Some(submission(3));
    let admission = Admission { steers, ..(*row.admission).clone() };
    Row { admission: Arc::new(admission), ..row }
}

/// A row that may stand for anything: queued, on an errand or at rest.
fn any_row(n: u8) -> impl Strategy<Value = Row> {
    let open = || vec![mark(MarkState::Open)];
    let intended = || vec![mark(MarkState::Intended(intent()))];
    let rows = vec![
        row(n, Phase::Admitted),
        row(n, Phase::Ready),
        Row { claims: 1, ..row(n, Phase::Running(InputMarker::Applied)) },
        Row { claims: 1, marks: open(), ..row(n, Phase::Unknown) },
        Row { abort: Some(abort()), ..row(n, Phase::Ready) },
        Row { abort: Some(abort()), claims: 1, ..row(n, Phase::Ready) },
        Row { marks: intended(), ..row(n, settled()) },
        row(n, settled()),
        row(n, settled()),
        said(row(n, Phase::Ready)),
        row(n, Phase::Joining { host: submission(3) }),
        row(n, Phase::Joined { host: submission(4) }),
    ];
    prop::sample::select(rows)
}

/// Rows of a lane at the places that are chosen, in the order of their writing.
fn any_rows() -> impl Strategy<Value = Vec<Arc<Row>>> {
    let row = (0..12_u8).prop_flat_map(any_row);
    prop::collection::vec(row.prop_map(Arc::new), 0..24)
}

fn footprints() -> Vec<Footprint> {
    let named = (0..14).map(submission);
    let of_named = named.clone().map(Footprint::Submission);
    let candidates = named.clone().map(Some).chain([None]).map(Footprint::Candidates);
    let pairs = named.clone().map(|it| Footprint::Pair(it, submission(3)));
    let joining = named.clone().map(|it| Footprint::Joining(submission(3), it));
    let attached = named.clone().map(Footprint::Attached);
    let offered = named.map(Footprint::Offered);
    of_named.chain(candidates).chain(pairs).chain(joining).chain(attached).chain(offered).collect()
}

fn write_lane(connection: &Connection) {
    write(connection, &desk(), &Change::Lane(lane())).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_002_what_is_loaded_is_what_the_footprint_selects(rows in any_rows()) {
        let connection = blank();
        let neighbour = ConversationId::new("desk2").unwrap();
        write_lane(&connection);
        let mut held: Vec<Arc<Row>> = Vec::new();
        for row in rows {
            write(&connection, &desk(), &Change::Row(Arc::clone(&row))).unwrap();
            write(&connection, &neighbour, &Change::Row(Arc::clone(&row))).unwrap();
            held.retain(|other| other.sequence != row.sequence);
            held.push(row);
        }
        for footprint in footprints() {
            let loaded = slice(&connection, &desk(), footprint).unwrap();
            prop_assert_eq!(&loaded.rows, &footprint.select(held.iter()), "{:?}", footprint);
            prop_assert_eq!(loaded.lane, lane());
        }
    }
}

/// How SQLite means to answer a query.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    for parameter in 1..=statement.parameter_count() {
        statement.raw_bind_parameter(parameter, 0).unwrap();
    }
    let mut rows = statement.raw_query();
    let mut plan = String::new();
    while let Some(row) = rows.next().unwrap() {
        plan += &row.get::<_, String>(3).unwrap();
        plan += "\n";
    }
    plan
}

#[test]
fn store_002_a_footprint_is_loaded_by_seeks_alone() {
    let connection = blank();
    for sql in [LANE, ANY_ROW, NAMED, LOWEST, ROWS] {
        let plan = plan(&connection, sql);
        assert!(plan.contains("SEARCH") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        assert!(!plan.contains("SCAN ledger"), "{sql}\n{plan}");
    }
    let lowest = plan(&connection, LOWEST);
    assert!(
        lowest.contains("ledger_row_waiting (conversation=? AND standing=? AND sequence>?)"),
        "{lowest}"
    );
}

#[test]
fn store_002_work_is_found_without_meeting_what_is_done() {
    let connection = blank();
    write_lane(&connection);
    for n in 0..200 {
        write(&connection, &desk(), &Change::Row(Arc::new(row(n, settled())))).unwrap();
    }
    assert_eq!(next_waiting(&connection, None, &mut vec![]).unwrap(), None);
    write(&connection, &desk(), &Change::Row(Arc::new(row(200, Phase::Ready)))).unwrap();
    assert_eq!(next_waiting(&connection, None, &mut vec![]).unwrap(), Some(desk()));
    assert_eq!(next_waiting(&connection, Some(&desk()), &mut vec![]).unwrap(), None);
    let next = "SELECT conversation FROM ledger_row INDEXED BY ledger_row_waiting
        WHERE standing <> 2 AND standing <> 3 AND conversation > ?1
        ORDER BY conversation LIMIT 1";
    let plan = plan(&connection, next);
    assert!(plan.contains("ledger_row_waiting (conversation>?)"), "{plan}");
}

#[test]
fn case_cr_15_a_write_that_meets_another_row_is_no_success() {
    let connection = blank();
    write(&connection, &desk(), &Change::Row(Arc::new(row(1, Phase::Ready)))).unwrap();
    let other = Row { sequence: AdmissionSequence(1), ..row(2, Phase::Ready) };
    let refused = write(&connection, &desk(), &Change::Row(Arc::new(other)));
    let place = Place::Row(desk(), AdmissionSequence(1));
    assert_flawed(refused, &place, &Flaw::Taken);
    let again = Row { sequence: AdmissionSequence(2), ..row(1, Phase::Ready) };
    let refused = write(&connection, &desk(), &Change::Row(Arc::new(again)));
    assert_flawed(refused, &Place::Row(desk(), AdmissionSequence(2)), &Flaw::Taken);
}

#[test]
fn store_006_flaw_counter_a_place_beyond_every_history_is_not_written() {
    let connection = blank();
    let beyond = Row { sequence: AdmissionSequence(u64::MAX), ..row(1, Phase::Ready) };
    let refused = write(&connection, &desk(), &Change::Row(Arc::new(beyond)));
    assert_flawed(refused, &Place::Row(desk(), AdmissionSequence(u64::MAX)), &Flaw::Counter);
}

#[test]
fn store_006_flaw_missing_rows_without_their_lane() {
    let connection = blank();
    assert!(slice(&connection, &desk(), Footprint::Candidates(None)).unwrap().rows.is_empty());
    write(&connection, &desk(), &Change::Row(Arc::new(row(1, Phase::Ready)))).unwrap();
    let read = slice(&connection, &desk(), Footprint::Candidates(None));
    assert_flawed(read, &Place::Lane(desk()), &Flaw::Missing);
}

/// Asserts that something was refused as corrupt, with this place and this flaw.
#[track_caller]
pub(crate) fn assert_flawed<T: std::fmt::Debug>(
    result: Result<T, Trouble>,
    place: &Place,
    flaw: &Flaw,
) {
    match result {
        Err(Trouble::Flawed(at, what)) => assert_eq!((&at, &what), (place, flaw)),
        other => panic!("not flawed: {other:?}"),
    }
}

#[test]
fn store_006_flaw_column_what_is_searched_by_agrees_with_what_is_found() {
    let damage = [
        ("standing", "UPDATE ledger_row SET standing = 1"),
        ("submission", "UPDATE ledger_row SET submission = x'08080808080808080808080808080808'"),
    ];
    for (column, sql) in damage {
        let connection = blank();
        write_lane(&connection);
        write(&connection, &desk(), &Change::Row(Arc::new(row(1, Phase::Ready)))).unwrap();
        connection.execute_batch(sql).unwrap();
        let place = Place::Row(desk(), AdmissionSequence(1));
        let all = rows(&connection, &desk(), AdmissionSequence(0), 8);
        assert_flawed(all, &place, &Flaw::Column(column));
    }
}

#[test]
fn store_006_flaw_cell_a_row_in_the_place_of_another_does_not_read() {
    let connection = blank();
    write_lane(&connection);
    write(&connection, &desk(), &Change::Row(Arc::new(row(1, Phase::Ready)))).unwrap();
    connection.execute_batch("UPDATE ledger_row SET sequence = 7").unwrap();
    let place = Place::Row(desk(), AdmissionSequence(7));
    let read = named(&connection, &desk(), submission(1));
    assert_flawed(read, &place, &Flaw::Cell(cell::CellError::Seal));
    connection.execute_batch("UPDATE ledger_lane SET conversation = 'shop'").unwrap();
    let shop = ConversationId::new("shop").unwrap();
    let read = stored_lane(&connection, &shop);
    assert_flawed(read, &Place::Lane(shop), &Flaw::Cell(cell::CellError::Seal));
}
