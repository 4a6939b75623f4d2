//! From nodes to the fields of a queue file.

use headroom_core::config::QueuePreemptionConfig;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::wrapped;
use crate::yaml::Node;

use super::fields::{Fields, blocks_of};
use super::{
    ApplicationLimits, At, Capacity, File, Filter, Limit, NodeLabels, Partition, Queue, Resources,
    Rule, Template, TenantDefaultsBlock, Tenants, Text, UserLimits, Waiting,
};

/// Read a file; faults go to `report`, and what is readable is returned.
pub(crate) fn read(document: &Node, report: &mut Report) -> File {
    if let Some(fault) = wrapper(document) {
        report.push(fault);
        return File::default();
    }
    let keys = &["partitions", "checksum"];
    let mut fields = Fields::of(document, "a queue file", keys, report);
    fields.text("checksum");
    let (nodes, _) = fields.list("partitions").unwrap_or_default();
    File { partitions: nodes.into_iter().map(|node| partition(node, report)).collect() }
}

/// The fault of a file that is not the queue file but something that holds one.
fn wrapper(document: &Node) -> Option<Diagnostic> {
    let (what, span) = wrapped::of_node(document)?;
    let message = format!("this is {what}, and the queue file is a text in it");
    let fault = Diagnostic::error(Code::ConfigMap, span, message);
    Some(fault.help(
        "take the queue file out: headroom convert configmap FILE > queues.yaml; headroom validate FILE reads \
         it as it is",
    ))
}

fn partition(node: &Node, report: &mut Report) -> Partition {
    let keys = &[
        "name",
        "queues",
        "placementrules",
        "limits",
        "preemption",
        "nodesortpolicy",
        "usergroupresolver",
        "limitprecedence",
        "userlimits",
        "applicationlimits",
        "tenants",
    ];
    let mut fields = Fields::of(node, "a partition", keys, report);
    let mut partition = Partition { name: fields.text("name"), ..Partition::default() };
    partition.queues =
        fields.list("queues").map(|(nodes, span)| At { value: queues(nodes, fields.report), span });
    partition.limits = limits(&mut fields);
    partition.limit_precedence = fields.text("limitprecedence");
    let (rules, _) = fields.list("placementrules").unwrap_or_default();
    partition.rules = rules.into_iter().map(|node| rule(node, fields.report)).collect();
    if let Some(node) = fields.get("preemption") {
        let keys = &[
            "enabled",
            "quotapreemptionenabled",
            "strictguarantee",
            "balance",
            "intraqueueenabled",
            "observeonly",
        ];
        let mut preemption = Fields::of(node, "`preemption`", keys, fields.report);
        partition.preemption = preemption.flag("enabled");
        partition.quota_preemption = preemption.flag("quotapreemptionenabled");
        partition.strict_guarantee = preemption.flag("strictguarantee");
        partition.balance = preemption.flag("balance");
        partition.intra_queue = preemption.flag("intraqueueenabled");
        partition.observe_only = preemption.flag("observeonly");
    }
    if let Some(node) = fields.get("nodesortpolicy") {
        let keys = &["type", "resourceweights"];
        let mut policy = Fields::of(node, "`nodesortpolicy`", keys, fields.report);
        partition.node_policy = policy.text("type");
        partition.node_weights = policy.decimals("resourceweights");
    }
    if let Some(node) = fields.get("usergroupresolver") {
        let mut resolver = Fields::of(node, "`usergroupresolver`", &["type"], fields.report);
        partition.resolver = resolver.text("type");
    }
    partition.user_limits = user_limits(&mut fields).map(Box::new);
    partition.application_limits = application_limits(&mut fields).map(Box::new);
    partition.tenants = tenants(&mut fields);
    partition
}

fn tenants(fields: &mut Fields<'_, '_>) -> Option<Tenants> {
    let entry = fields.entry("tenants")?;
    let span = fields.get("tenants").map_or(entry.key.span, |block| block.span);
    let keys = &[
        "enabled",
        "rootqueue",
        "exempt",
        "defaults",
        "recoverytimeoutseconds",
        "verifyintervalseconds",
        "idempotencyttlseconds",
        "audit",
    ];
    let mut fields = Fields::of(&entry.value, "`tenants`", keys, fields.report);
    let mut tenants = Tenants {
        span,
        enabled: fields.flag("enabled"),
        root: fields.word("rootqueue"),
        exempt: fields.texts("exempt").unwrap_or_default(),
        recovery: fields.number("recoverytimeoutseconds"),
        verify: fields.number("verifyintervalseconds"),
        idempotency: fields.number("idempotencyttlseconds"),
        ..Tenants::default()
    };
    if let Some(node) = fields.get("audit") {
        let mut audit = Fields::of(node, "`audit`", &["retentiondays"], fields.report);
        tenants.retention = audit.number("retentiondays");
    }
    if let Some(node) = fields.get("defaults") {
        tenants.defaults = Some(tenant_defaults(node, fields.report));
    }
    Some(tenants)
}

fn tenant_defaults(node: &Node, report: &mut Report) -> TenantDefaultsBlock {
    // The interface says `onLower`; keys of this file are lower case.
    let keys = &["quota", "maxwaiting", "waiting", "onlower", "onLower", "oversized"];
    let mut fields = Fields::of(node, "`defaults` of tenants", keys, report);
    let mut block = TenantDefaultsBlock {
        quota: fields.pairs("quota"),
        max_waiting: fields.number("maxwaiting"),
        oversized: fields.word("oversized"),
        ..TenantDefaultsBlock::default()
    };
    if let Some(node) = fields.get("onlower").or_else(|| fields.get("onLower")) {
        let keys = &["action", "graceseconds"];
        let mut lowered = Fields::of(node, "`onlower`", keys, fields.report);
        block.on_lower = lowered.word("action");
        block.grace = lowered.number("graceseconds");
    }
    if let Some(node) = fields.get("waiting") {
        let keys = &[
            "strategy",
            "agingintervalseconds",
            "agingstep",
            "agingmax",
            "maxovertakes",
            "maxheadwaitseconds",
            "maxwaitseconds",
        ];
        let mut waiting = Fields::of(node, "`waiting`", keys, fields.report);
        block.waiting = Some(Waiting {
            strategy: waiting.word("strategy"),
            aging_interval: waiting.number("agingintervalseconds"),
            aging_step: waiting.number("agingstep"),
            aging_max: waiting.number("agingmax"),
            max_overtakes: waiting.number("maxovertakes"),
            max_head_wait: waiting.number("maxheadwaitseconds"),
            max_wait: waiting.number("maxwaitseconds"),
        });
    }
    block
}

fn queues(nodes: Vec<&Node>, report: &mut Report) -> Vec<Queue> {
    nodes.into_iter().map(|node| queue(node, report)).collect()
}

fn queue(node: &Node, report: &mut Report) -> Queue {
    let keys = &[
        "name",
        "parent",
        "queues",
        "resources",
        "maxapplications",
        "properties",
        "adminacl",
        "submitacl",
        "childtemplate",
        "limits",
        "userlimits",
        "applicationlimits",
        "capacity",
        "preemption",
        "state",
        "orderingpolicy",
        "maximumapplicationlifetime",
        "defaultapplicationlifetime",
        "nodelabels",
    ];
    let mut fields = Fields::of(node, "a queue", keys, report);
    let mut queue = Queue {
        name: fields.text("name"),
        parent: fields.flag("parent").unwrap_or(false),
        resources: resources(&mut fields),
        max_applications: fields.count("maxapplications"),
        properties: properties(&mut fields),
        admin_acl: fields.text("adminacl"),
        submit_acl: fields.text("submitacl"),
        limits: limits(&mut fields),
        user_limits: user_limits(&mut fields).map(Box::new),
        application_limits: application_limits(&mut fields).map(Box::new),
        capacity: capacity(&mut fields).map(Box::new),
        preemption: preemption(&mut fields),
        start: fields.word("state"),
        ordering: fields.word("orderingpolicy"),
        maximum_lifetime: fields.number("maximumapplicationlifetime"),
        default_lifetime: fields.number("defaultapplicationlifetime"),
        node_labels: node_labels(&mut fields).map(Box::new),
        ..Queue::default()
    };
    if let Some(node) = fields.get("childtemplate") {
        let template = At { value: template(node, fields.report), span: node.span };
        queue.template = Some(Box::new(template));
    }
    if let Some((nodes, _)) = fields.list("queues") {
        queue.children = queues(nodes, fields.report);
    }
    queue
}

fn preemption(fields: &mut Fields<'_, '_>) -> QueuePreemptionConfig {
    let Some(node) = fields.get("preemption") else {
        return QueuePreemptionConfig::default();
    };
    let keys = &["disabled", "intraqueuedisabled", "balance"];
    let mut fields = Fields::of(node, "`preemption` of a queue", keys, fields.report);
    QueuePreemptionConfig {
        disabled: fields.flag("disabled"),
        intra_queue_disabled: fields.flag("intraqueuedisabled"),
        balance: fields.flag("balance"),
    }
}

fn template(node: &Node, report: &mut Report) -> Template {
    let keys = &[
        "maxapplications",
        "properties",
        "resources",
        "userlimits",
        "applicationlimits",
        "capacity",
    ];
    let mut fields = Fields::of(node, "`childtemplate`", keys, report);
    Template {
        max_applications: fields.count("maxapplications"),
        properties: properties(&mut fields),
        resources: resources(&mut fields),
        user_limits: user_limits(&mut fields).map(Box::new),
        application_limits: application_limits(&mut fields).map(Box::new),
        capacity: capacity(&mut fields).map(Box::new),
    }
}

fn capacity(fields: &mut Fields<'_, '_>) -> Option<Capacity> {
    let entry = fields.entry("capacity")?;
    let span = fields.get("capacity").map_or(entry.key.span, |block| block.span);
    let keys = &["mode", "value", "maximum"];
    let mut fields = Fields::of(&entry.value, "`capacity`", keys, fields.report);
    Some(Capacity {
        span,
        mode: fields.word("mode"),
        value: fields.number("value"),
        maximum: fields.number("maximum"),
    })
}

fn node_labels(fields: &mut Fields<'_, '_>) -> Option<NodeLabels> {
    let node = fields.get("nodelabels")?;
    // Every other key with a mapping is a label.
    let keys = NodeLabels::KEYS;
    let labels: Vec<Text> = blocks_of(node).filter(|key| !keys.contains(&&*key.value)).collect();
    let mut known = keys.to_vec();
    known.extend(labels.iter().map(|label| &*label.value));
    let mut fields = Fields::of(node, "`nodelabels`", &known, fields.report);
    let (accessible, default) = (fields.texts("accessible"), fields.word("default"));
    let exclusive = fields.texts("exclusive").unwrap_or_default();
    let lends = fields.texts("lends").unwrap_or_default();
    let mut capacities = Vec::with_capacity(labels.len());
    for label in &labels {
        if let Some(block) = fields.get(&label.value) {
            let what = format!("label `{}`", label.value);
            let keys = &["value", "maximum"];
            let mut fields = Fields::of(block, &what, keys, fields.report);
            let (value, maximum) = (fields.number("value"), fields.number("maximum"));
            let capacity = Capacity { span: label.span, mode: None, value, maximum };
            capacities.push((label.clone(), capacity));
        }
    }
    Some(NodeLabels { accessible, default, exclusive, lends, capacities })
}

fn properties(fields: &mut Fields<'_, '_>) -> Vec<(Text, Text)> {
    fields.pairs("properties").unwrap_or_default().value
}

fn resources(fields: &mut Fields<'_, '_>) -> Resources {
    let Some(node) = fields.get("resources") else {
        return Resources::default();
    };
    let keys = ["max", "guaranteed"];
    let mut fields = Fields::of(node, "`resources`", &keys, fields.report);
    let unset = |key: &&str| {
        let entry = fields.entry(key)?;
        fields.get(key).is_none().then(|| At { value: (*key).to_owned(), span: entry.key.span })
    };
    let nulls = keys.iter().filter_map(unset).collect();
    Resources { max: fields.pairs("max"), guaranteed: fields.pairs("guaranteed"), nulls }
}

fn user_limits(fields: &mut Fields<'_, '_>) -> Option<UserLimits> {
    let entry = fields.entry("userlimits")?;
    let mut span = entry.value.span;
    if fields.get("userlimits").is_none() {
        span = entry.key.span;
        let message = "`userlimits` without anything is taken as `userlimits: {}`";
        let warning = Diagnostic::warning(Code::YamlLenient, span, message);
        fields.report.push(warning.help("write `{}` behind it for the defaults, or remove it"));
    }
    let keys = &[
        "minimumuserlimitpercent",
        "userlimitfactor",
        "weights",
        "formula",
        "enforcement",
        "calculator",
        "minimumallocation",
        "increment",
        "maximumallocation",
    ];
    let mut fields = Fields::of(&entry.value, "`userlimits`", keys, fields.report);
    Some(UserLimits {
        span,
        formula: fields.word("formula"),
        enforcement: fields.word("enforcement"),
        calculator: fields.word("calculator"),
        floor: fields.number("minimumuserlimitpercent"),
        factor: fields.number("userlimitfactor"),
        weights: fields.numbers("weights"),
        minimum_allocation: fields.pairs("minimumallocation"),
        increment: fields.pairs("increment"),
        maximum_allocation: fields.pairs("maximumallocation"),
    })
}

fn application_limits(fields: &mut Fields<'_, '_>) -> Option<ApplicationLimits> {
    let entry = fields.entry("applicationlimits")?;
    let span = match fields.get("applicationlimits") {
        Some(block) => block.span,
        None => entry.key.span,
    };
    let keys = &[
        "maximumapplications",
        "maximumapplicationsperuser",
        "maxparallelapps",
        "maxparallelappsperuser",
        "maxparallelappsbyuser",
        "maximumdriverresourcepercent",
        "globalqueuemaxapplication",
    ];
    let mut fields = Fields::of(&entry.value, "`applicationlimits`", keys, fields.report);
    for key in keys {
        if let Some(entry) = fields.entry(key).filter(|_| fields.get(key).is_none()) {
            let message = format!("`{key}` without a value is taken as if it were not there");
            let warning = Diagnostic::warning(Code::YamlLenient, entry.key.span, message);
            fields.report.push(warning.help("write a value behind it, or remove it"));
        }
    }
    Some(ApplicationLimits {
        span,
        max: fields.number("maximumapplications"),
        max_per_user: fields.number("maximumapplicationsperuser"),
        max_parallel: fields.number("maxparallelapps"),
        max_parallel_per_user: fields.number("maxparallelappsperuser"),
        max_parallel_by_user: fields.numbers("maxparallelappsbyuser"),
        driver: fields.number("maximumdriverresourcepercent"),
        max_per_queue: fields.number("globalqueuemaxapplication"),
    })
}

fn limits(fields: &mut Fields<'_, '_>) -> At<Vec<Limit>> {
    let (nodes, span) = fields.list("limits").unwrap_or((Vec::new(), Span::default()));
    At { value: nodes.into_iter().map(|node| limit(node, fields.report)).collect(), span }
}

fn limit(node: &Node, report: &mut Report) -> Limit {
    let keys = &["limit", "users", "groups", "maxresources", "maxapplications"];
    let mut fields = Fields::of(node, "a limit", keys, report);
    Limit {
        span: fields.span,
        description: fields.text("limit"),
        users: fields.texts("users"),
        groups: fields.texts("groups"),
        max_resources: fields.pairs("maxresources"),
        max_applications: fields.count("maxapplications"),
    }
}

fn rule(node: &Node, report: &mut Report) -> Rule {
    let keys = &["name", "create", "filter", "parent", "value"];
    let mut fields = Fields::of(node, "a placement rule", keys, report);
    let mut rule = Rule {
        name: fields.text("name"),
        create: fields.flag("create").unwrap_or(false),
        value: fields.text("value"),
        ..Rule::default()
    };
    if let Some(node) = fields.get("filter") {
        let keys = &["type", "users", "groups"];
        let mut filter = Fields::of(node, "`filter`", keys, fields.report);
        rule.filter = Filter {
            kind: filter.text("type"),
            users: filter.texts("users").unwrap_or_default(),
            groups: filter.texts("groups").unwrap_or_default(),
        };
    }
    if let Some(node) = fields.get("parent") {
        rule.parent = Some(Box::new(self::rule(node, fields.report)));
    }
    rule
}
