// The page thinks nothing: it shows what the server says. Names are only ever text nodes.
"use strict";

const API = "headroom/v1/";
const POLL_MS = 2000;
const EVENTS_KEPT = 15;
const REASONS_OPEN = 3;
const RETRY_MS_MAX = 15000;

const byId = (id) => document.getElementById(id);
const known = new Map(); // By address: the entity tag and the body that came with it.
const turned = new Map(); // Reasons that the reader has opened or closed.
let partition = "";
let reading = null; // Ends the stream that is open.
let failures = 0;
let paused = false;
let polling = 0;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

// Control, bidirectional and zero-width characters in names are shown, and not obeyed.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) =>
  String(text).replace(HIDDEN, (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"));
const name = (text) => element("bdi", { textContent: visible(text) });

class Refused extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
  }
}

function headers(more) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, Authorization: "Bearer " + token } : more;
}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refused(response.status, problem.detail || "the server returned the status " + response.status);
}

async function ask(path) {
  const before = known.get(path);
  const more = { Accept: "application/json" };
  if (before) more["If-None-Match"] = before.tag;
  const response = await fetch(API + path, { headers: headers(more), cache: "no-store" });
  if (response.status === 304) return before.body;
  if (!response.ok) throw await refusal(response);
  const body = await response.json();
  known.set(path, { tag: response.headers.get("ETag"), body });
  return body;
}

const number = new Intl.NumberFormat("en");
const rounded = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const plural = (count, one, many) => number.format(count) + " " + (count === 1 ? one : many);

// What nodes of a label have is counted in types of the label, such as vcore@gpu.
const plain = (type) => type.split("@")[0];

function amount(type, value) {
  if (plain(type) === "vcore") return number.format(value / 1000) + " cores";
  if (!["memory", "ephemeral-storage"].includes(plain(type))) return number.format(value);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return rounded.format(value) + " " + units[unit];
}

// With the type where the unit does not say it.
const named = (type, value) => amount(type, value) + (type === "vcore" ? "" : " " + visible(type));

function amounts(resources) {
  const all = Object.entries(resources).filter(([, value]) => value !== 0);
  if (all.length === 0) return "nothing";
  return all.map(([type, value]) => named(type, value)).join(", ");
}

function duration(seconds) {
  const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = parts.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  let left = Math.floor(seconds);
  return parts
    .slice(first, first + 2)
    .map(([unit, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return count ? count + " " + unit : "";
    })
    .filter((part) => part)
    .join(" ");
}

function clock(at) {
  const time = new Date(at);
  const text = time.toLocaleTimeString("en-GB");
  return element("time", { dateTime: at, textContent: text, title: time.toString() });
}

function connection(state, text) {
  const shown = byId("connection");
  // A live region speaks when it changes: only then is it touched.
  if (shown.textContent !== text) shown.textContent = text;
  shown.className = state;
}

function tile(title, value, more) {
  const content = element("dd", { textContent: value }, more ? element("small", {}, more) : null);
  return element("div", {}, element("dt", { textContent: title }), content);
}

// Nothing starts while a resource manager is away: the page says so before all else.
function showAway(partitions) {
  const away = partitions.filter((one) => one.away);
  const shown = byId("away");
  const key = JSON.stringify(away.map((one) => [one.name, one.away]));
  if (shown.dataset.key === key) return;
  shown.dataset.key = key;
  shown.hidden = away.length === 0;
  const lines = away.map((one) =>
    element("p", {}, "Resource manager ", name(one.away.manager), " of partition ", name(one.name), " has been away since ", clock(one.away.since), ". Nothing starts there until it returns."));
  shown.replaceChildren(...lines);
}

function showTotals(one) {
  const states = one.applications;
  const running = states.Running || 0;
  const nodes = one.nodes.active + one.nodes.draining + one.nodes.failed;
  const waiting = one.waitingAsks ? "oldest for " + duration(one.oldestWaitSeconds) : "";
  byId("totals").replaceChildren(
    tile("Nodes", number.format(nodes), one.nodes.draining ? one.nodes.draining + " draining" : ""),
    tile("Applications running", number.format(running), number.format(states.total || 0) + " in total"),
    tile("Allocations", number.format(one.allocations), ""),
    tile("Waiting asks", number.format(one.waitingAsks), waiting),
    tile("Decisions", rounded.format(one.decisionsPerSecond), "per second, over a minute"),
  );
  const rows = one.types.map((type) => {
    const [used, all] = [one.allocated[type] || 0, one.capacity[type] || 0];
    const text = amount(type, used) + " of " + amount(type, all) + " allocated";
    const reserved = one.placeholders[type] ? ", of which " + amount(type, one.placeholders[type]) + " by placeholders" : "";
    const wanted = one.pending[type] ? ", " + amount(type, one.pending[type]) + " of waiting asks" : "";
    const bar = element("progress", { max: Math.max(all, 1), value: Math.max(0, Math.min(used, all)) });
    bar.setAttribute("aria-label", visible(type) + ": " + text);
    return element("div", { className: "use" }, element("span", {}, element("strong", {}, name(type)), " " + text + reserved + wanted), bar);
  });
  const none = element("p", { textContent: "No node has registered yet. A resource manager registers nodes over the scheduler interface; see below." });
  byId("usage").replaceChildren(...(rows.length ? rows : [none]));
  const starved = one.starved.map((row) =>
    element("li", {}, name(row.queue), " has " + amount(row.type, row.allocated) + " of its guarantee of " + named(row.type, row.guaranteed) + ", and its waiting asks need " + amount(row.type, row.pending) + " more"));
  const over = one.overLimit.map((row) =>
    element("li", {}, row.kind + " ", name(row.name), row.queue ? element("span", {}, " at ", name(row.queue)) : "", " uses " + named(row.type, row.used) + ", but its limit is " + amount(row.type, row.limit)));
  byId("attention").replaceChildren(...starved, ...over);
}

function example(one) {
  const who = element("span", {}, name(one.application), " of ", name(one.user), " in ", name(one.queue));
  const what = ", " + plural(one.asks, "ask", "asks") + " like this for " + amounts(one.resources) + ", since ";
  return element("li", {}, who, what, clock(one.since), element("br"), element("span", { className: "muted", textContent: visible(one.sentence) }));
}

function reason(one, place) {
  const key = one.code + " " + one.scope;
  const head = element("summary", {}, element("strong", { textContent: plural(one.asks, "ask", "asks") }), " wait: ", element("code", { textContent: one.code }), " ", name(one.scope));
  const sum = element("p", { className: "muted", textContent: "Of " + plural(one.applications, "application", "applications") + ", for " + amounts(one.resources) + ", in " + one.queues.map(visible).join(", ") });
  const list = element("ul", { className: "examples" }, ...one.examples.map(example));
  const row = element("details", { open: turned.get(key) ?? place < REASONS_OPEN }, head, sum, list);
  head.addEventListener("click", () => turned.set(key, !row.open));
  return element("li", { className: "reason" }, row);
}

function showReasons(found) {
  const list = byId("reasons");
  // A list never moves under its reader.
  if (list.matches(":hover") || list.contains(document.activeElement)) {
    byId("reasons-note").textContent = "paused while you read";
    return;
  }
  const rows = found.reasons.map(reason);
  if (found.nextAsks) rows.push(element("li", { className: "reason", textContent: plural(found.nextAsks, "ask is", "asks are") + " next: no check fails" }));
  if (found.more) rows.push(element("li", { className: "reason muted", textContent: plural(found.more, "more reason", "more reasons") }));
  if (found.hidden) rows.push(element("li", { className: "reason muted", textContent: plural(found.hidden, "ask waits", "asks wait") + " in queues that you cannot see" }));
  if (rows.length === 0) rows.push(element("li", { textContent: "Nothing waits." }));
  byId("reasons-note").textContent = found.waitingAsks ? plural(found.waitingAsks, "ask waits", "asks wait") : "";
  list.replaceChildren(...rows);
}

function showPartitions(page) {
  showAway(page.items);
  const names = page.items.map((one) => one.name);
  if (!names.includes(partition)) partition = names[0] || "";
  const choice = byId("partition");
  if ([...choice.options].map((one) => one.value).join("\n") !== names.join("\n")) {
    choice.replaceChildren(...names.map((one) => element("option", { value: one, textContent: visible(one), selected: one === partition })));
  }
  byId("partition-choice").hidden = names.length < 2;
  const chosen = page.items.find((one) => one.name === partition);
  byId("as-of").replaceChildren("record " + number.format(page.sequence) + " of ", clock(page.asOf));
  if (chosen) {
    showTotals(chosen);
    return true;
  }
  byId("totals").replaceChildren();
  byId("usage").replaceChildren(element("p", { textContent: "There is no partition yet, because no queue file is active." }));
  return false;
}

async function refresh() {
  clearTimeout(polling);
  if (document.hidden) return;
  try {
    if (showPartitions(await ask("partitions"))) {
      showReasons(await ask("partitions/" + encodeURIComponent(partition) + "/reasons"));
    } else {
      showReasons({ reasons: [] });
    }
    failures = 0;
    byId("sign-in").hidden = true;
    connection("live", "Live");
    if (!reading) follow();
  } catch (error) {
    failed(error);
  }
  const wait = failures ? Math.min(RETRY_MS_MAX, 1000 * 2 ** failures) : POLL_MS;
  polling = setTimeout(refresh, wait);
}

function failed(error) {
  failures = Math.min(failures + 1, 10);
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
    byId("sign-in").hidden = false;
    byId("sign-in-why").textContent = error.message;
    connection("lost", "Not signed in");
    return;
  }
  connection("lost", error instanceof Refused ? visible(error.message) : "The server does not respond. Trying again");
}

function showEvents(told) {
  const list = byId("events");
  if (list.dataset.empty) list.replaceChildren();
  delete list.dataset.empty;
  const rows = told.map((one) => element("li", {}, clock(one.at), element("span", { textContent: visible(one.text) })));
  list.prepend(...rows);
  while (list.children.length > EVENTS_KEPT) list.lastChild.remove();
}

// Server-sent events, read by hand: an `EventSource` cannot say who is asking.
async function read(body, end) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!end.aborted) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const frames = text.split("\n\n");
    text = frames.pop();
    const told = frames
      .filter((frame) => /^event: event$/m.test(frame))
      .map((frame) => JSON.parse(frame.match(/^data: (.*)$/m)[1]));
    if (told.length && !paused) showEvents(told.reverse().slice(0, EVENTS_KEPT));
  }
}

async function follow() {
  reading = new AbortController();
  const { signal } = reading;
  try {
    const page = await ask("events?limit=" + EVENTS_KEPT);
    const list = byId("events");
    list.replaceChildren();
    if (page.items.length) showEvents(page.items);
    else {
      list.dataset.empty = "yes";
      list.append(element("li", { textContent: "Nothing has happened yet." }));
    }
    const wanted = { Accept: "text/event-stream", "Last-Event-ID": String(page.items.length ? page.items[0].sequence : page.sequence) };
    const response = await fetch(API + "events", { headers: headers(wanted), signal, cache: "no-store" });
    if (!response.ok) throw await refusal(response);
    await read(response.body, signal);
  } catch (error) {
    if (!signal.aborted && error instanceof Refused && error.status === 403) {
      byId("events").replaceChildren(element("li", { textContent: "You cannot read events." }));
      return; // Until the page is loaded again.
    }
  }
  reading = null;
}

byId("partition").addEventListener("change", (event) => {
  partition = event.target.value;
  refresh();
});
byId("pause").addEventListener("click", (event) => {
  paused = !paused;
  event.target.setAttribute("aria-pressed", String(paused));
});
byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token").value.trim());
  byId("token").value = "";
  known.clear();
  refresh();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    clearTimeout(polling);
    reading?.abort();
    reading = null;
  } else refresh();
});
refresh();
