//! Situations from the field, each test named by its number: tables that others wrote, habits of writers, and what users
//! try. The log's own kinds are tested in `deltaic-log`.

mod kit;
mod layout;
mod rows;
mod skipping;
mod travel;
mod upkeep;
