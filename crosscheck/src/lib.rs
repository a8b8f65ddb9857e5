//! Deltaic's storage, log and maintenance against the clients of the vendors: what one writes the other lists, reads and deletes. All of it is
//! tests (`tests/it`), so that no program of the workspace carries these clients.
