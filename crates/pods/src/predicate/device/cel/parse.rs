//! Text to expression.

use super::Fault;

/// Longest text, in bytes. Kubernetes refuses longer ones.
const MAX_LENGTH: usize = 10 * 1024;

/// Deepest nesting. Chains of operators and members count too, because evaluation descends into them.
const MAX_DEPTH: usize = 128;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Bool(bool),
    Int(i64),
    String(String),
    List(Vec<Self>),
    Name(String),
    Member(Box<Self>, String),
    Index(Box<Self>, Box<Self>),
    Call { receiver: Option<Box<Self>>, name: String, arguments: Vec<Self> },
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
    Choose(Box<Self>, Box<Self>, Box<Self>),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Operators by precedence, the weakest first. Of operators with the same beginning, the longest comes first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("in", Operator::In),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, Fault> {
    if text.len() > MAX_LENGTH {
        return Err(Fault::TooLong);
    }
    let mut parser = Parser { text, position: 0 };
    let (expression, _) = parser.expression(0)?;
    parser.skip_space();
    if parser.position == text.len() { Ok(expression) } else { Err(parser.fault()) }
}

/// An expression and its depth.
type Parsed = (Expression, usize);

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

fn checked(expression: Expression, depth: usize) -> Result<Parsed, Fault> {
    if depth > MAX_DEPTH { Err(Fault::TooDeep) } else { Ok((expression, depth)) }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'a> Parser<'a> {
    fn fault(&self) -> Fault {
        Fault::Syntax(self.position)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Takes a token if it comes next. A word is not taken from the middle of a longer one.
    fn takes(&mut self, token: &str) -> bool {
        self.skip_space();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        if token.ends_with(is_word) && after.starts_with(is_word) {
            return false;
        }
        self.position += token.len();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), Fault> {
        if self.takes(token) { Ok(()) } else { Err(self.fault()) }
    }

    fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let word = &rest[..rest.find(|it| !is_word(it)).unwrap_or(rest.len())];
        if word.is_empty() || word.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        self.position += word.len();
        Some(word)
    }

    /// Reads an expression inside of `outer` others.
    fn expression(&mut self, outer: usize) -> Result<Parsed, Fault> {
        if outer > MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        let (condition, depth) = self.binary(0, outer)?;
        if !self.takes("?") {
            return Ok((condition, depth));
        }
        let (yes, yes_depth) = self.expression(outer + 1)?;
        self.expect(":")?;
        let (no, no_depth) = self.expression(outer + 1)?;
        let depth = depth.max(yes_depth).max(no_depth) + 1;
        checked(Expression::Choose(condition.into(), yes.into(), no.into()), depth)
    }

    fn binary(&mut self, level: usize, outer: usize) -> Result<Parsed, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(outer) };
        let (mut left, mut depth) = self.binary(level + 1, outer)?;
        loop {
            let taken = operators.iter().find(|(token, _)| self.takes(token));
            let Some((_, operator)) = taken else { return Ok((left, depth)) };
            let (right, right_depth) = self.binary(level + 1, outer)?;
            let joined = Expression::Binary(*operator, left.into(), right.into());
            (left, depth) = checked(joined, depth.max(right_depth) + 1)?;
        }
    }

    fn unary(&mut self, outer: usize) -> Result<Parsed, Fault> {
        if outer > MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        let kind: fn(Box<Expression>) -> Expression = if self.takes("!") {
            Expression::Not
        } else if self.takes("-") {
            Expression::Negate
        } else {
            return self.member(outer);
        };
        let (operand, depth) = self.unary(outer + 1)?;
        checked(kind(operand.into()), depth + 1)
    }

    fn member(&mut self, outer: usize) -> Result<Parsed, Fault> {
        let (mut object, mut depth) = self.primary(outer)?;
        loop {
            if self.takes(".") {
                let name = self.word().ok_or_else(|| self.fault())?.to_owned();
                if self.takes("(") {
                    let (arguments, inner) = self.list(")", outer)?;
                    depth = depth.max(inner);
                    object = Expression::Call { receiver: Some(object.into()), name, arguments };
                } else {
                    object = Expression::Member(object.into(), name);
                }
            } else if self.takes("[") {
                let (index, inner) = self.expression(outer + 1)?;
                self.expect("]")?;
                depth = depth.max(inner);
                object = Expression::Index(object.into(), index.into());
            } else {
                return Ok((object, depth));
            }
            (object, depth) = checked(object, depth + 1)?;
        }
    }

    fn primary(&mut self, outer: usize) -> Result<Parsed, Fault> {
        self.skip_space();
        if self.takes("(") {
            let (inner, depth) = self.expression(outer + 1)?;
            self.expect(")")?;
            return Ok((inner, depth));
        }
        if self.takes("[") {
            let (items, depth) = self.list("]", outer)?;
            return checked(Expression::List(items), depth + 1);
        }
        if let Some(quote @ ('"' | '\'')) = self.rest().chars().next() {
            return Ok((Expression::String(self.string(quote)?), 1));
        }
        if let Some(word) = self.word() {
            return match word {
                "true" => Ok((Expression::Bool(true), 1)),
                "false" => Ok((Expression::Bool(false), 1)),
                name if self.takes("(") => {
                    let (arguments, depth) = self.list(")", outer)?;
                    let name = name.to_owned();
                    checked(Expression::Call { receiver: None, name, arguments }, depth + 1)
                }
                name => Ok((Expression::Name(name.to_owned()), 1)),
            };
        }
        let rest = self.rest();
        let digits = &rest[..rest.find(|it| !is_word(it)).unwrap_or(rest.len())];
        let number = digits.parse().map_err(|_| self.fault())?;
        self.position += digits.len();
        Ok((Expression::Int(number), 1))
    }

    /// Reads expressions up to `end`, and returns the greatest depth too.
    fn list(&mut self, end: &str, outer: usize) -> Result<(Vec<Expression>, usize), Fault> {
        let (mut items, mut depth) = (Vec::new(), 0);
        while !self.takes(end) {
            let (item, inner) = self.expression(outer + 1)?;
            items.push(item);
            depth = depth.max(inner);
            if !self.takes(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok((items, depth))
    }

    fn string(&mut self, quote: char) -> Result<String, Fault> {
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                end if end == quote => {
                    self.position += offset + end.len_utf8();
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('\\' | '\'' | '"'))) => text.push(escaped),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    _ => return Err(self.fault()),
                },
                other => text.push(other),
            }
        }
        Err(self.fault())
    }
}
