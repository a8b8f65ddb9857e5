//! Function calls, those with a syntax of their own (EXTRACT, TRIM, SUBSTRING, STRUCT …) among them. Where the special syntax
//! says nothing a plain call could not say, the result is the plain call.

use sqlparser::ast::{
    DateTimeField, DuplicateTreatment, ExceptSelectItem, Expr, ExtractSyntax, Function,
    FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentList, FunctionArguments,
    Ident, NullTreatment, ObjectName, TrimWhereField, WildcardAdditionalOptions,
};
use sqlparser::tokenizer::Span;

use super::{Follow, Parsed, Parser};

impl Parser<'_> {
    /// A call; the cursor is on `(`.
    pub fn call(&mut self, name: ObjectName) -> Parsed<Expr> {
        self.expect_symbol("(", Follow::Other)?;
        let structs = name.to_string().eq_ignore_ascii_case("struct");
        let mut list = FunctionArgumentList {
            duplicate_treatment: None,
            args: Vec::new(),
            clauses: Vec::new(),
        };
        let mut null_treatment = None;
        if !self.eat_symbol(")") {
            if self.is("DISTINCT") && !self.ends_at(1) {
                self.at += 1;
                list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
            } else if self.is("ALL") && !self.ends_at(1) {
                self.at += 1;
                list.duplicate_treatment = Some(DuplicateTreatment::All);
            }
            loop {
                list.args.push(self.argument(structs)?);
                if !self.eat_symbol(",") {
                    break;
                }
            }
            null_treatment = self.null_treatment();
            self.expect_symbol(")", Follow::Other)?;
        }
        self.after_call(name, FunctionArguments::List(list), null_treatment)
    }

    fn after_call(
        &mut self,
        name: ObjectName,
        args: FunctionArguments,
        nulls: Option<NullTreatment>,
    ) -> Parsed<Expr> {
        let mut function = Function {
            args,
            null_treatment: nulls,
            ..plain(name)
        };
        if self.eat_seq(&["WITHIN", "GROUP"]) {
            self.expect_symbol("(", Follow::Other)?;
            self.expect_seq(&["ORDER", "BY"], Follow::Expression)?;
            function.within_group = self.comma_separated(Self::sort_item)?;
            self.expect_symbol(")", Follow::Other)?;
        }
        if self.is("FILTER") && self.peek_at(1).is_symbol("(") {
            self.at += 2;
            self.expect("WHERE", Follow::Expression)?;
            function.filter = Some(Box::new(self.expr()?));
            self.expect_symbol(")", Follow::Other)?;
        }
        if function.null_treatment.is_none() {
            function.null_treatment = self.null_treatment();
        }
        if self.is("OVER") && !self.ends_at(1) {
            self.at += 1;
            function.over = Some(self.window_reference()?);
        }
        Ok(Expr::Function(function))
    }

    fn null_treatment(&mut self) -> Option<NullTreatment> {
        if self.eat_seq(&["IGNORE", "NULLS"]) {
            Some(NullTreatment::IgnoreNulls)
        } else {
            self.eat_seq(&["RESPECT", "NULLS"])
                .then_some(NullTreatment::RespectNulls)
        }
    }

    fn argument(&mut self, named: bool) -> Parsed<FunctionArg> {
        if self.ident_of(self.peek()).is_some() && self.peek_at(1).is_symbol("=>") {
            let name = self.ident()?;
            self.at += 1;
            let arg = FunctionArgExpr::Expr(self.expr()?);
            return Ok(FunctionArg::Named {
                name,
                arg,
                operator: FunctionArgOperator::RightArrow,
            });
        }
        if let Some(star) = self.wildcard()? {
            return Ok(FunctionArg::Unnamed(match star {
                (None, options) if options.opt_except.is_some() => {
                    FunctionArgExpr::WildcardWithOptions(options)
                }
                (None, _) => FunctionArgExpr::Wildcard,
                (Some(name), _) => FunctionArgExpr::QualifiedWildcard(name),
            }));
        }
        let expr = self.expr()?;
        let expr = if named { self.named(expr)? } else { expr };
        Ok(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)))
    }

    /// `*` or `a.b.*`, with `EXCEPT (…)`.
    pub fn wildcard(&mut self) -> Parsed<Option<(Option<ObjectName>, WildcardAdditionalOptions)>> {
        let mut ahead = 0;
        while self.ident_of(self.peek_at(ahead)).is_some() && self.peek_at(ahead + 1).is_symbol(".")
        {
            ahead += 2;
        }
        if !self.peek_at(ahead).is_symbol("*") {
            return Ok(None);
        }
        let mut parts = Vec::new();
        while !self.is_symbol("*") {
            parts.push(self.ident()?);
            self.at += 1;
        }
        let wildcard_token = self.attached();
        self.at += 1;
        let mut options = WildcardAdditionalOptions {
            wildcard_token,
            ..WildcardAdditionalOptions::default()
        };
        if self.is("EXCEPT") && self.peek_at(1).is_symbol("(") && !self.query_begins_at(2) {
            self.at += 1;
            let mut columns = self.parenthesized(Self::parts)?.into_iter().map(dotted);
            if let Some(first_element) = columns.next() {
                options.opt_except = Some(ExceptSelectItem {
                    first_element,
                    additional_elements: columns.collect(),
                });
            }
        }
        let name = (!parts.is_empty()).then(|| parts.into());
        Ok(Some((name, options)))
    }

    /// The functions with keywords among their arguments; `None` where the call is a plain one.
    pub fn special_call(&mut self) -> Parsed<Option<Expr>> {
        if !self.peek_at(1).is_symbol("(") {
            return Ok(None);
        }
        let start = self.at;
        let found = match self.peek().value.to_ascii_uppercase().as_str() {
            "EXTRACT" => self.extract()?,
            "POSITION" => self.position()?,
            "SUBSTR" | "SUBSTRING" => self.substring()?,
            "TRIM" => self.trim()?,
            "OVERLAY" => self.overlay()?,
            _ => None,
        };
        if found.is_none() {
            self.at = start;
        }
        Ok(found)
    }

    fn extract(&mut self) -> Parsed<Option<Expr>> {
        if !self.peek_at(3).is("FROM") {
            return Ok(None);
        }
        self.at += 2;
        let field = self.ident()?;
        self.at += 1;
        let expr = Box::new(self.expr()?);
        self.expect_symbol(")", Follow::Other)?;
        Ok(Some(Expr::Extract {
            field: DateTimeField::Custom(field),
            syntax: ExtractSyntax::From,
            expr,
        }))
    }

    fn position(&mut self) -> Parsed<Option<Expr>> {
        self.at += 2;
        let expr = Box::new(self.value_expr()?);
        if !self.eat("IN") {
            return Ok(None);
        }
        let r#in = Box::new(self.value_expr()?);
        self.expect_symbol(")", Follow::Other)?;
        Ok(Some(Expr::Position { expr, r#in }))
    }

    fn substring(&mut self) -> Parsed<Option<Expr>> {
        let name = self.ident()?;
        self.at += 1;
        let mut args = vec![self.value_expr()?];
        if !self.eat("FROM") {
            return Ok(None);
        }
        args.push(self.value_expr()?);
        if self.eat("FOR") {
            args.push(self.value_expr()?);
        }
        self.expect_symbol(")", Follow::Other)?;
        Ok(Some(call_of(name, args)))
    }

    fn trim(&mut self) -> Parsed<Option<Expr>> {
        self.at += 2;
        let side = if self.ends_at(1) {
            None
        } else {
            self.eat_any(&["BOTH", "LEADING", "TRAILING"])
        };
        let trim_where = side.map(|side| match side {
            "BOTH" => TrimWhereField::Both,
            "LEADING" => TrimWhereField::Leading,
            _ => TrimWhereField::Trailing,
        });
        let trim_what = if self.is("FROM") && side.is_some() {
            None
        } else {
            Some(Box::new(self.value_expr()?))
        };
        if !self.eat("FROM") {
            return if side.is_some() {
                self.fail()
            } else {
                Ok(None)
            };
        }
        let expr = Box::new(self.value_expr()?);
        self.expect_symbol(")", Follow::Other)?;
        Ok(Some(Expr::Trim {
            trim_where,
            trim_what,
            expr,
            trim_characters: None,
        }))
    }

    fn overlay(&mut self) -> Parsed<Option<Expr>> {
        let name = self.ident()?;
        self.at += 1;
        let mut args = vec![self.value_expr()?];
        if !self.eat("PLACING") {
            return Ok(None);
        }
        args.push(self.value_expr()?);
        self.expect("FROM", Follow::Expression)?;
        args.push(self.value_expr()?);
        if self.eat("FOR") {
            args.push(self.value_expr()?);
        }
        self.expect_symbol(")", Follow::Other)?;
        Ok(Some(call_of(name, args)))
    }
}

/// A function without arguments and options.
pub(super) fn plain(name: ObjectName) -> Function {
    Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::None,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// A function written without parentheses.
pub(super) fn bare(name: ObjectName) -> Expr {
    Expr::Function(plain(name))
}

fn call_of(name: Ident, args: Vec<Expr>) -> Expr {
    let args = args
        .into_iter()
        .map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)))
        .collect();
    let list = FunctionArgumentList {
        duplicate_treatment: None,
        args,
        clauses: Vec::new(),
    };
    Expr::Function(Function {
        args: FunctionArguments::List(list),
        ..plain(name.into())
    })
}

/// `a.b` as one identifier: EXCEPT's list has no place for nested columns.
fn dotted(parts: Vec<Ident>) -> Ident {
    let span = parts.first().map_or_else(Span::empty, |first| first.span);
    let quote_style = if let [only] = parts.as_slice() {
        only.quote_style
    } else {
        None
    };
    let value = parts
        .into_iter()
        .map(|part| part.value)
        .collect::<Vec<_>>()
        .join(".");
    Ident {
        value,
        quote_style,
        span,
    }
}
