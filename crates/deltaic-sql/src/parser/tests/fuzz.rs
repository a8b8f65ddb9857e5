//! Properties: commands survive being printed, and no text makes the parser fall over.

use proptest::prelude::*;
use sqlparser::ast::Ident;

use crate::ast::*;
use crate::literal;
use crate::render;

fn part() -> impl Strategy<Value = Ident> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,6}".prop_map(Ident::new),
        "[ -~äß日`]{1,8}".prop_map(|text| Ident::with_quote('`', text)),
        Just(Ident::new("timestamp")),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        prop::collection::vec(part(), 1..=3)
            .prop_filter("IDENTIFIER", |parts| !parts[0]
                .value
                .eq_ignore_ascii_case("identifier"))
            .prop_map(Name::Parts),
        ".{0,12}".prop_map(|text| Name::Identifier(Box::new(literal::string(
            text,
            sqlparser::tokenizer::Span::empty()
        )))),
    ]
}

fn text() -> impl Strategy<Value = Expr> {
    ".{0,12}".prop_map(|text| literal::string(text, sqlparser::tokenizer::Span::empty()))
}

fn number() -> impl Strategy<Value = Expr> {
    (0i32..100_000).prop_map(literal::int)
}

fn travel() -> impl Strategy<Value = Travel> {
    prop_oneof![
        number().prop_map(Travel::Version),
        text().prop_map(Travel::Version),
        text().prop_map(Travel::Timestamp)
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let texts = [
        "p = 0",
        "a.b IN (1, 2)",
        "d >= DATE '2026-01-01' AND NOT x",
        "s LIKE '%\\\\%'",
    ];
    prop::sample::select(texts.to_vec()).prop_map(|text| Predicate {
        expr: crate::parse_expr(text).unwrap(),
        text: text.to_owned(),
    })
}

fn vacuum() -> impl Strategy<Value = Statement> {
    let mode = prop::option::of(prop_oneof![Just(VacuumMode::Full), Just(VacuumMode::Lite)]);
    let hours = prop_oneof![
        number(),
        Just(literal::int(-3)),
        Just(crate::parse_expr("0.4").unwrap())
    ];
    let inventory = prop_oneof![
        name().prop_map(Inventory::Table),
        Just(Inventory::Query(Box::new(
            crate::parse_query("SELECT * FROM inv WHERE path LIKE '%x\\'%'").unwrap()
        ))),
    ];
    (
        name(),
        mode,
        prop::option::of(hours),
        prop::option::of(inventory),
        any::<bool>(),
    )
        .prop_map(|(table, mode, retain_hours, inventory, dry_run)| {
            let inventory = inventory.filter(|_| mode != Some(VacuumMode::Lite));
            Statement::Vacuum(Box::new(Vacuum {
                table,
                mode,
                inventory,
                retain_hours,
                dry_run,
            }))
        })
}

fn property() -> impl Strategy<Value = Vec<Property>> {
    prop::collection::btree_map(
        ".{1,10}",
        prop_oneof![text(), number(), any::<bool>().prop_map(literal::boolean)],
        1..4,
    )
    .prop_map(|map| {
        map.into_iter()
            .map(|(key, value)| Property { key, value })
            .collect()
    })
}

fn alter() -> impl Strategy<Value = Statement> {
    let path = || prop::collection::vec(part(), 1..3);
    let paths = || prop::collection::vec(path(), 1..3);
    let action = prop_oneof![
        name().prop_map(|to| AlterTableAction::Rename { to }),
        property().prop_map(AlterTableAction::SetProperties),
        (prop::collection::vec(".{1,10}", 1..3), any::<bool>())
            .prop_map(|(keys, if_exists)| AlterTableAction::UnsetProperties { keys, if_exists }),
        (paths(), any::<bool>())
            .prop_map(|(columns, if_exists)| AlterTableAction::DropColumns { columns, if_exists }),
        (path(), part()).prop_map(|(column, to)| AlterTableAction::RenameColumn { column, to }),
        (part(), any::<bool>(), any::<bool>()).prop_map(|(name, if_exists, cascade)| {
            AlterTableAction::DropConstraint {
                name,
                if_exists,
                cascade,
            }
        }),
        paths().prop_map(AlterTableAction::ClusterBy),
        Just(AlterTableAction::ClusterBy(Vec::new())),
        (".{1,10}", any::<bool>()).prop_map(|(feature, truncate_history)| {
            AlterTableAction::DropFeature {
                feature,
                truncate_history,
            }
        }),
        path().prop_map(|column| AlterTableAction::SyncIdentity { column }),
    ];
    (name(), action)
        .prop_map(|(name, action)| Statement::AlterTable(Box::new(AlterTable { name, action })))
}

fn command() -> impl Strategy<Value = Statement> {
    let drop = || (name(), any::<bool>(), any::<bool>());
    prop_oneof![
        vacuum(),
        alter(),
        (name(), travel())
            .prop_map(|(table, travel)| Statement::Restore(Box::new(Restore { table, travel }))),
        (name(), prop::option::of(number())).prop_map(|(table, limit)| Statement::DescribeHistory(
            DescribeHistory { table, limit }
        )),
        name().prop_map(|table| Statement::DescribeDetail(DescribeDetail { table })),
        (
            name(),
            any::<bool>(),
            prop::option::of(predicate()),
            prop::collection::vec(prop::collection::vec(part(), 1..3), 0..3)
        )
            .prop_map(
                |(table, full, predicate, zorder_by)| Statement::Optimize(Box::new(Optimize {
                    table,
                    full,
                    predicate,
                    zorder_by
                }))
            ),
        (name(), prop::option::of(predicate())).prop_map(|(table, predicate)| {
            Statement::Reorg(Box::new(Reorg {
                table,
                predicate,
                action: ReorgAction::Purge,
            }))
        }),
        name().prop_map(|table| Statement::Generate(Generate {
            mode: "symlink_format_manifest".into(),
            table
        })),
        (name(), any::<bool>())
            .prop_map(|(table, dry_run)| Statement::Repair(Repair { table, dry_run })),
        drop().prop_map(|(name, if_exists, purge)| Statement::DropTable(Drop {
            name,
            if_exists,
            cascade: false,
            purge
        })),
        drop().prop_map(|(name, if_exists, cascade)| Statement::DropSchema(Drop {
            name,
            if_exists,
            cascade,
            purge: false
        })),
        name().prop_map(|catalog| Statement::Use(Use::Catalog(catalog))),
        (name(), prop::option::of(".{0,8}")).prop_map(|(table, key)| Statement::ShowTblProperties(
            ShowTblProperties { table, key }
        )),
        (
            name(),
            prop::option::of(part().prop_filter("no join word", |part| part.quote_style.is_some())),
            prop::option::of(predicate())
        )
            .prop_map(|(table, alias, predicate)| {
                Statement::Delete(Box::new(Delete {
                    table,
                    alias,
                    condition: predicate.map(|predicate| predicate.expr),
                }))
            }),
    ]
}

/// Words and symbols that statements are made of, in no order.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "SELECT",
        "FROM",
        "t",
        "VERSION",
        "AS",
        "OF",
        "1",
        "(",
        ")",
        ",",
        "'x'",
        "*",
        "WHERE",
        "=",
        "a",
        ".",
        "`b c`",
        "NOT",
        "IN",
        "CASE",
        "WHEN",
        "END",
        "INSERT",
        "INTO",
        "VALUES",
        "CREATE",
        "TABLE",
        "ALTER",
        "SET",
        "TBLPROPERTIES",
        "@",
        "v3",
        "-",
        "INTERVAL",
        "DAY",
        "::",
        "<",
        ">",
        ">>",
        "struct",
        "map",
        "[",
        "]",
        "IDENTIFIER",
        ":p",
        "?",
        "/*+",
        "*/",
        "->",
        "VACUUM",
        "RETAIN",
        "HOURS",
        "MERGE",
        "USING",
        "ON",
        "\"",
        "'",
        "--",
        "/*",
        "LATERAL",
        "VIEW",
        "UNION",
        "OVER",
        "PARTITION",
        "BY",
        "SET",
        "DESCRIBE",
        "HISTORY",
        "1.5",
        "1e3",
        "DATE",
        "\n",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..24)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_command_survives_being_printed(command in command()) {
        let text = render::statement(&command).unwrap();
        let again = crate::parse(&text);
        prop_assert!(again.is_ok(), "{text}: {again:?}");
        prop_assert_eq!(again.unwrap(), command, "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_fall_over(text in soup()) {
        let _ = crate::parse(&text);
        let _ = crate::parse_expr(&text);
        let _ = crate::split(&text);
    }

    #[test]
    fn no_characters_make_the_parser_fall_over(text in "\\PC{0,40}") {
        let _ = crate::parse(&text);
        if let Ok(statement) = crate::parse(&format!("SELECT {text}")) {
            let _ = crate::bind(statement, &crate::Parameters::None);
        }
    }

    #[test]
    fn an_expression_survives_being_printed(text in soup()) {
        if let Ok(expr) = crate::parse_expr(&text) {
            let printed = render::expr(&expr);
            if let Ok(again) = crate::parse_expr(&printed) {
                prop_assert_eq!(render::expr(&again), printed);
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(
        crate::parse(&deep).unwrap_err().class(),
        Some("FAILED_TO_PARSE_TOO_COMPLEX")
    );
    let minus = format!("SELECT {}a", "- ".repeat(5_000));
    assert_eq!(
        crate::parse(&minus).unwrap_err().class(),
        Some("FAILED_TO_PARSE_TOO_COMPLEX")
    );
    let chain = format!("SELECT 1{}", " + 1".repeat(1_000));
    assert!(crate::parse(&chain).is_ok());
    for endless in [" + 1", " UNION ALL SELECT 1"] {
        let sql = format!("SELECT 1{}", endless.repeat(100_000));
        assert_eq!(
            crate::parse(&sql).unwrap_err().class(),
            Some("FAILED_TO_PARSE_TOO_COMPLEX")
        );
    }
    let nested = format!("SELECT {}1{}", "(".repeat(30), ")".repeat(30));
    assert!(crate::parse(&nested).is_ok());
}
