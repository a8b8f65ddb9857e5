//! Commands and their reports as plain values. SQL, command line and programs all build the same request; one function (in
//! the maintenance or the query crates) runs it, and each door renders the same report.

pub mod alter;
pub mod clone;
pub mod conf;
pub mod convert;
pub mod detail;
pub mod history;
pub mod profile;
pub mod properties;
pub mod repair;
pub mod restore;
pub mod target;
pub mod vacuum;

pub use alter::{
    AddColumns, ChangeColumn, ColumnChange, ColumnPosition, DropColumns, DropFeature, NewColumn,
    RenameColumn, SetTableComment,
};
pub use clone::CloneReport;
pub use convert::{Convert, ConvertReport};
pub use detail::{Detail, DetailReport};
pub use history::{History, HistoryRow};
pub use profile::Profile;
pub use properties::{SetProperties, ShowProperties, UnsetProperties};
pub use repair::{MissingFile, RepairReport};
pub use restore::{Restore, RestoreReport};
pub use target::{TableRef, TimeTravel};
pub use vacuum::{InventoryRow, InventorySource, Vacuum, VacuumMode, VacuumReport};
