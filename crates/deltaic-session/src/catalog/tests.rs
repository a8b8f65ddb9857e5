//! The catalog: names, records, and what two processes may do at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::*;

fn catalog(folder: &std::path::Path) -> Catalog {
    Catalog::new(
        folder.join(".deltaic/catalog.db"),
        Warehouse::new(&folder.display().to_string()),
    )
}

fn table(name: &ObjectName) -> CatalogObject {
    CatalogObject::Table(TableRecord {
        name: name.clone(),
        kind: ObjectKind::Managed,
        provider: Provider::Parquet,
        location: None,
        schema: Some(StructType::new([StructField::nullable(
            "id",
            DataType::Long,
        )])),
        partition_columns: vec!["id".to_owned()],
        comment: Some("c".to_owned()),
        properties: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
        created_ms: 7,
    })
}

#[test]
fn a_new_catalog_has_two_catalogs_with_a_default_schema() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path());
    let names: Vec<String> = catalog
        .catalogs()
        .unwrap()
        .into_iter()
        .map(|catalog| catalog.name)
        .collect();
    assert_eq!(names, ["main", "spark_catalog"]);
    assert_eq!(catalog.schemas("main").unwrap(), ["default"]);
    assert!(
        catalog
            .schema(&SchemaName::new("SPARK_CATALOG", "Default"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn objects_come_back_as_they_were_stored_also_to_a_later_session() {
    let folder = tempfile::tempdir().unwrap();
    let name = ObjectName::new("spark_catalog", "default", "T");
    assert!(catalog(folder.path()).create_object(&table(&name)).unwrap());
    let later = catalog(folder.path());
    assert!(!later.create_object(&table(&name)).unwrap());
    assert_eq!(later.object(&name).unwrap(), Some(table(&name)));
    assert_eq!(
        later.objects(&name.schema_name()).unwrap(),
        [("t".to_owned(), ObjectKind::Managed)]
    );
    assert!(later.drop_object(&name).unwrap());
    assert!(!later.drop_object(&name).unwrap());
}

#[test]
fn a_failed_move_of_files_undoes_the_rename() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path());
    let old = ObjectName::new("spark_catalog", "default", "a");
    let new = ObjectName::new("spark_catalog", "default", "b");
    catalog.create_object(&table(&old)).unwrap();
    let failed = catalog.rename_object(&old, &new, || {
        Err(deltaic_protocol::DeltaError::not_supported_yet("moving"))
    });
    assert!(failed.is_err());
    assert!(catalog.object(&old).unwrap().is_some());
    assert!(catalog.rename_object(&old, &new, || Ok(())).unwrap());
    assert!(catalog.object(&old).unwrap().is_none());
    assert!(catalog.object(&new).unwrap().is_some());
}

#[test]
fn a_schema_with_objects_stays() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path());
    let schema = SchemaName::new("main", "s");
    let record = SchemaRecord {
        name: schema.clone(),
        comment: None,
        location: None,
        properties: BTreeMap::new(),
    };
    assert!(catalog.create_schema(&record).unwrap());
    assert!(!catalog.create_schema(&record).unwrap());
    catalog.create_object(&table(&schema.object("t"))).unwrap();
    assert_eq!(catalog.drop_schema(&schema).unwrap(), DropSchema::NotEmpty);
    assert!(catalog.drop_object(&schema.object("t")).unwrap());
    assert_eq!(catalog.drop_schema(&schema).unwrap(), DropSchema::Dropped);
    assert_eq!(catalog.drop_schema(&schema).unwrap(), DropSchema::Missing);
    // No name without its schema.
    let error = catalog
        .create_object(&table(&schema.object("t")))
        .unwrap_err();
    assert_eq!(error.class(), Some("SCHEMA_NOT_FOUND"));
}

#[test]
fn tables_lie_where_their_catalog_and_schema_say() {
    let warehouse = Warehouse::new("/w/");
    let path = |catalog, schema| warehouse.table_path(&ObjectName::new(catalog, schema, "t"), None);
    assert_eq!(path("spark_catalog", "default"), "/w/t");
    assert_eq!(path("spark_catalog", "s"), "/w/s.db/t");
    assert_eq!(path("main", "default"), "/w/main.cat/default.db/t");
    assert_eq!(
        warehouse.table_path(&ObjectName::new("main", "s", "t"), Some("/x/")),
        "/x/t"
    );
}

#[test]
fn many_connections_at_once_make_each_name_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = Arc::new(folder.path().to_path_buf());
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let root = Arc::clone(&root);
            std::thread::spawn(move || {
                let catalog = catalog(&root);
                (0..20)
                    .filter(|n| {
                        catalog
                            .create_object(&table(&ObjectName::new(
                                "spark_catalog",
                                "default",
                                &format!("t{n}"),
                            )))
                            .unwrap()
                    })
                    .count()
            })
        })
        .collect();
    let made: usize = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    assert_eq!(made, 20);
}

#[test]
fn a_catalog_of_a_later_release_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path()).catalogs().unwrap();
    let db = rusqlite::Connection::open(folder.path().join(".deltaic/catalog.db")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    let error = catalog(folder.path()).catalogs().unwrap_err();
    assert!(
        error.text().contains("later release (layout 99)"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_database_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("x.db"),
        "not a database, but long enough to look like one to the eye",
    )
    .unwrap();
    let catalog = Catalog::new(folder.path().join("x.db"), Warehouse::new("/w"));
    let error = catalog.catalogs().unwrap_err();
    assert!(error.path().unwrap().ends_with("x.db"), "{error:?}");
}
