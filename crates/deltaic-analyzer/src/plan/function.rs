//! Table functions: `range`, the generators, and those of the host.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{FunctionArg, FunctionArgExpr, TableAlias};

use crate::binder::{Around, Binder, Cx, Rel, Sight};
use crate::error::{internal, unsupported};
use crate::fold::cast_constant;
use crate::function::call::wrong_arguments;
use crate::function::generator;
use crate::node::{Kind, Node};
use crate::range;
use crate::relations;
use crate::resolver::TableRelation;
use crate::scope::Scope;
use crate::types;

impl Binder<'_> {
    /// `name(args) AS alias` in FROM.
    #[allow(clippy::too_many_arguments)]
    pub fn table_function(
        &self,
        before: Option<&Rel>,
        name: &str,
        args: &[FunctionArg],
        alias: Option<&TableAlias>,
        lateral: bool,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let lower = name.to_lowercase();
        if lower == "range" {
            let rel = self.range(args)?;
            return self.aliased(rel, alias);
        }
        if generator::is_generator(&lower) {
            let empty = Scope::default();
            let input = match before {
                Some(rel) if lateral => rel.clone(),
                _ => self.from(&[], sight, around)?,
            };
            let scope = if lateral { input.scope.clone() } else { empty };
            let cx = Cx::new(&scope, around, sight);
            let nodes = self.plain_arguments(args, &cx)?;
            let node = generator::generator(self.call(&lower, nodes))?;
            let Kind::Generator(g) = node.kind else {
                return Err(internal("a generator that is none"));
            };
            let names: Vec<String> = alias
                .map(|a| a.columns.iter().map(|c| c.name.value.clone()).collect())
                .unwrap_or_default();
            let qualifier: Vec<String> = alias
                .map(|a| vec![a.name.value.clone()])
                .unwrap_or_default();
            return self.generate(input, &g, g.outer, &qualifier, &names);
        }
        let constants = relations::arguments(args, self)?;
        match self.relations.function(&lower, &constants, &sight.view)? {
            Some(table) => {
                let rel = self.scan(table)?;
                self.aliased(rel, alias)
            }
            None => Err(DeltaError::new("UNRESOLVABLE_TABLE_VALUED_FUNCTION")
                .param("name", format!("`{name}`"))),
        }
    }

    fn plain_arguments(&self, args: &[FunctionArg], cx: &Cx<'_>) -> Result<Vec<Node>> {
        args.iter()
            .map(|a| match a {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => self.expr(e, cx),
                other => Err(unsupported(format!("the argument {other}"))),
            })
            .collect()
    }

    /// `range(end)`, `range(start, end[, step[, partitions]])`.
    fn range(&self, args: &[FunctionArg]) -> Result<Rel> {
        let (scope, sight) = (Scope::default(), Sight::default());
        let nodes = self.plain_arguments(args, &Cx::new(&scope, None, &sight))?;
        if nodes.is_empty() || nodes.len() > 4 {
            return Err(wrong_arguments("range", 1, 4, nodes.len()));
        }
        let long = |n: &Node| -> Result<i64> {
            match cast_constant(n.clone(), &DataType::Long, &self.env)? {
                ScalarValue::Int64(Some(v)) => Ok(v),
                _ => Err(DeltaError::new("UNEXPECTED_INPUT_TYPE")
                    .param("functionName", "`range`")
                    .param("paramIndex", "first")
                    .param("requiredType", "\"BIGINT\"")
                    .param("inputSql", "\"NULL\"")
                    .param("inputType", "\"VOID\"")),
            }
        };
        let values = nodes.iter().map(long).collect::<Result<Vec<_>>>()?;
        let (start, end) = if values.len() == 1 {
            (0, values[0])
        } else {
            (values[0], values[1])
        };
        let step = values.get(2).copied().unwrap_or(1);
        if step == 0 {
            return Err(DeltaError::requirement("step (0) cannot be 0"));
        }
        let partitions = match values.get(3) {
            Some(n) if *n <= 0 => {
                return Err(DeltaError::requirement(format!(
                    "numSlices ({n}) must be positive"
                )));
            }
            Some(n) => *n as usize,
            None => self.options.default_parallelism,
        };
        let table = TableRelation {
            provider: range::table(start, end, step, partitions)?,
            schema: StructType {
                fields: vec![types::field("id", DataType::Long, false)],
            },
            metadata: None,
            qualifier: vec![],
        };
        let mut rel = self.scan(&table)?;
        rel.partitions = partitions;
        for c in &mut rel.scope.columns {
            c.attr.origin = None;
        }
        Ok(rel)
    }
}
