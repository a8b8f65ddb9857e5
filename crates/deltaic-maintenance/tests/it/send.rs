//! Every command can be awaited on a runtime of many threads.

use deltaic_command::{Restore, TimeTravel, Vacuum};
use deltaic_log::{CommitContext, Snapshot};
use deltaic_maintenance::restore::RestoreOptions;
use deltaic_maintenance::travel::{TravelForm, TravelOptions};
use deltaic_maintenance::vacuum::VacuumOptions;
use deltaic_maintenance::{alter, detail, history, restore, travel, vacuum};
use deltaic_storage::TableStore;

fn sendable<T: Send>(_: T) {}

#[test]
fn futures_can_be_sent_between_threads() {
    // Compiling is the test; nothing is awaited.
    let _ =
        |table: &TableStore, request: &Vacuum, options: &VacuumOptions, context: &CommitContext| {
            sendable(vacuum::run(table, request, None, options, context, None));
        };
    let _ = |table: &TableStore,
             request: &Restore,
             options: &RestoreOptions,
             context: &CommitContext| {
        sendable(restore::run(table, request, options, context));
    };
    let _ = |snapshot: &Snapshot, to: &TimeTravel, options: &TravelOptions| {
        sendable(travel::resolve(snapshot, to, TravelForm::Read, options));
    };
    let _ = |snapshot: &Snapshot, change: alter::TableChange, context: &CommitContext| {
        sendable(history::rows(snapshot, None));
        sendable(detail::report(snapshot, None));
        sendable(alter::commit(snapshot, change, context));
    };
}
