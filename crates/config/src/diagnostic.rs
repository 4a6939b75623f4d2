//! What is wrong with a queue file, and where.

use std::fmt;
use std::sync::Arc;

/// How many diagnostics are kept; a file with more is wrong in kind, not in detail.
pub const DIAGNOSTICS_MAX: usize = 100;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// The rule that a file breaks, by its name in the specification.
        ///
        /// Codes are for tests, logs and documentation and never change their meaning;
        /// the sentences beside them may.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $name,)+ }

        impl Code {
            /// Every code, in the order of the checks.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The name, `Q-NAME` for example.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

codes! {
    /// The text is not YAML, or larger than a queue file may be.
    Yaml = "YAML",
    /// A key that nobody reads.
    YamlKey = "YAML-KEY",
    /// The same key twice in one mapping.
    YamlDuplicate = "YAML-DUP",
    /// A value of the wrong kind: a list for a text, a text for a number.
    YamlType = "YAML-TYPE",
    /// Accepted as `YuniKorn` does, although it hardly says what was meant. A warning.
    YamlLenient = "YAML-LENIENT",
    /// Two partitions of one name.
    PartitionDuplicate = "P-DUP",
    /// A partition without `queues`.
    QueuesMissing = "Q-NONE",
    /// The root queue names resources; its maximum is the cluster.
    RootResources = "Q-ROOTRES",
    /// A queue name with illegal characters or of illegal length.
    QueueName = "Q-NAME",
    /// Two children of one name.
    QueueDuplicate = "Q-DUP",
    /// A queue with the name of the recovery queue.
    QueueReserved = "Q-RESERVED",
    /// An ACL of more than two words, or with superfluous spaces.
    AclSpaces = "A-SPACES",
    /// Not a quantity.
    QuantitySyntax = "R-SYNTAX",
    /// A quantity that does not fit into 64 bits.
    QuantityOverflow = "R-OVERFLOW",
    /// An unknown suffix, or `m` on a type other than `vcore`.
    QuantitySuffix = "R-SUFFIX",
    /// Own guarantee above own maximum.
    GuaranteeOverMax = "Q-G>M",
    /// Own maximum above an ancestor's.
    MaxOverParent = "Q-M>PARENT",
    /// The children's guarantees add up to more than the own one.
    SumOverGuarantee = "Q-SUMG>G",
    /// The children's guarantees add up to more than the maximum in force.
    SumOverMax = "Q-SUMG>M",
    /// No number of applications below a queue that has one.
    ApplicationsMissing = "Q-APPS0",
    /// More applications than the parent.
    ApplicationsOverParent = "Q-APPS>PARENT",
    /// Different limits for the partition and for its root.
    LimitRootDiffers = "L-ROOTDIFF",
    /// A limit for nobody.
    LimitForNobody = "L-EMPTY",
    /// Not a user name.
    LimitUserName = "L-USERNAME",
    /// Not a group name.
    LimitGroupName = "L-GROUPNAME",
    /// A user named twice in one queue's limits.
    LimitUserTwice = "L-DUPUSER",
    /// A group named twice in one queue's limits.
    LimitGroupTwice = "L-DUPGROUP",
    /// A name behind the wildcard.
    LimitAfterWildcard = "L-AFTERWILD",
    /// A group wildcard without any named group in front.
    LimitOnlyWildcardGroup = "L-ONLYWILDGROUP",
    /// Only zeros.
    LimitAllZero = "L-ZERORES",
    /// Neither resources nor applications.
    LimitNothing = "L-NOTHING",
    /// More applications than the queue.
    LimitApplicationsOverQueue = "L-APPS>QUEUE",
    /// More resources than the queue.
    LimitResourcesOverQueue = "L-RES>QUEUE",
    /// More resources than the same name has in an ancestor.
    LimitResourcesOverAncestor = "L-RES>ANC",
    /// More resources than the wildcard has in an ancestor.
    LimitResourcesOverWildcard = "L-RES>WILD",
    /// More applications than the same name has in an ancestor, or no number.
    LimitApplicationsOverAncestor = "L-APPS>ANC",
    /// More applications than the wildcard has in an ancestor, or no number.
    LimitApplicationsOverWildcard = "L-APPS>WILD",
    /// The name of a placement rule is not an identifier.
    RuleName = "PR-NAME",
    /// A filter that neither allows nor denies.
    RuleFilterType = "PR-FTYPE",
    /// The one user of a filter is neither a name nor an expression.
    RuleFilterUser = "PR-FUSER",
    /// The one group of a filter is neither a name nor an expression.
    RuleFilterGroup = "PR-FGROUP",
    /// A full path below another fixed queue.
    RuleQualified = "PR-QUALIFIED",
    /// A queue below a leaf.
    RuleUnderLeaf = "PR-UNDERLEAF",
    /// A queue that does not exist and may not be made.
    RuleNoQueue = "PR-NOQUEUE",
    /// Queues are to be made below a queue that is no parent.
    RuleNotParent = "PR-NOTPARENT",
    /// Applications are sent to a queue that is no leaf.
    RuleNotLeaf = "PR-NOTLEAF",
    /// No placement rule of that name. A warning.
    RuleUnknown = "PR-UNKNOWN",
    /// The recovery rule is always in force and cannot be written. A warning.
    RuleRecovery = "PR-RECOVERY",
    /// A `fixed` or `tag` rule that cannot be built. A warning.
    RuleValue = "PR-VALUE",
    /// No node sorting policy of that name.
    NodePolicy = "N-POLICY",
    /// A weight below zero.
    NodeWeight = "N-WEIGHT",
    /// A property whose value is not understood, so that its default holds. A warning.
    PropertyValue = "P-VALUE",
    /// A setting without effect where it stands. A warning.
    NoEffect = "NO-EFFECT",
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// A range of the text in bytes; may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Whether the file can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can, but hardly says what was meant.
    Warning,
    /// It cannot.
    Error,
}

/// When the reference finds the fault.
///
/// `YuniKorn` answers *valid* to a file with a fault of the second kind, and then fails to
/// load it. Headroom refuses both; only the compatible validation answer tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// When the file is validated.
    Validation,
    /// When its queues are built.
    Building,
}

/// A place in the text with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where.
    pub span: Span,
    /// What is there.
    pub label: String,
}

/// One fault, or one warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// Whether the file can still be used.
    pub severity: Severity,
    /// When the reference finds it.
    pub stage: Stage,
    /// One sentence with both sides of the comparison and their units.
    pub message: String,
    /// The place that is wrong; its label may be empty.
    pub primary: Mark,
    /// Other places that it depends on.
    pub secondary: Vec<Mark>,
    /// What to write instead.
    pub help: Option<String>,
    /// Line of the primary place, from 1.
    pub line: usize,
    /// Column of the primary place in characters, from 1.
    pub column: usize,
}

impl Diagnostic {
    /// A fault at `span` that validation finds.
    pub(crate) fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            stage: Stage::Validation,
            message: message.into(),
            primary: Mark { span, label: String::new() },
            secondary: Vec::new(),
            help: None,
            line: 0,
            column: 0,
        }
    }

    /// A warning at `span`.
    pub(crate) fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub(crate) fn at_stage(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.primary.label = label.into();
        self
    }

    pub(crate) fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push(Mark { span, label: label.into() });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Collects diagnostics while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Report {
    list: Vec<Diagnostic>,
    suppressed: usize,
    errors: usize,
    errors_of_validation: usize,
}

impl Report {
    /// Take note, or only count it when there are many already.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.errors += 1;
            self.errors_of_validation += usize::from(diagnostic.stage == Stage::Validation);
        }
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    /// Whether more would only be counted; a rule that costs much may then stop.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= DIAGNOSTICS_MAX
    }

    /// Forget what is said to be missing. Where the file could not be read in full, it may
    /// be what was not understood.
    pub(crate) fn forget_absences(&mut self) {
        let absences = [
            Code::QueuesMissing,
            Code::LimitForNobody,
            Code::LimitNothing,
            Code::ApplicationsMissing,
            Code::NoEffect,
        ];
        self.list.retain(|one| !absences.contains(&one.code));
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Sort by place, and find lines and columns in `source`.
    pub(crate) fn finish(mut self, source: &str) -> Diagnostics {
        self.list.sort_by_key(|one| (one.primary.span.start, one.code));
        // What an alias repeats is wrong in one place only.
        self.list.dedup();
        let (mut line, mut from) = (1, 0);
        let mut line_start = 0;
        for diagnostic in &mut self.list {
            let start = diagnostic.primary.span.start.min(source.len());
            for (offset, _) in source[from..start].match_indices('\n') {
                line += 1;
                line_start = from + offset + 1;
            }
            from = start;
            diagnostic.line = line;
            diagnostic.column = source[line_start..start].chars().count() + 1;
        }
        Diagnostics {
            source: Arc::from(source),
            list: self.list,
            suppressed: self.suppressed,
            errors_of_validation: self.errors_of_validation,
        }
    }
}

/// Everything that was found in one file, with the text that it points into.
///
/// In the order of the file. [`Diagnostics::render`] shows it to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    pub(crate) source: Arc<str>,
    pub(crate) list: Vec<Diagnostic>,
    pub(crate) suppressed: usize,
    errors_of_validation: usize,
}

impl Diagnostics {
    /// The diagnostics, by their place in the file; at most [`DIAGNOSTICS_MAX`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// How many were found beyond [`DIAGNOSTICS_MAX`] and not kept; there may be more.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether `YuniKorn`'s validation refuses the file too.
    ///
    /// False when only [`Stage::Building`] faults were found: the reference then calls
    /// the file valid and fails to load it.
    pub fn refused_by_validation(&self) -> bool {
        self.errors_of_validation > 0
    }

    /// The text that the spans point into.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Diagnostics {
    /// One line for each: `line 3, column 5: Q-NAME: …`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, one) in self.list.iter().enumerate() {
            if position > 0 {
                out.write_str("\n")?;
            }
            let Diagnostic { line, column, code, message, .. } = one;
            write!(out, "line {line}, column {column}: {code}: {message}")?;
        }
        if self.suppressed > 0 {
            write!(out, "\nand {} more", self.suppressed)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
