// Shows the values under the pointer. The numbers come from the embedded summary, so what is
// read out is what the JSON says. Names are set as text, never as markup.
"use strict";
(() => {
  const summary = JSON.parse(document.getElementById("summary").textContent);
  const { width_ms: width, end_ms: end, bins } = summary.grid;
  const find = (path) =>
    path.slice(1).split("/")
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce((value, key) => value[key], summary);
  const clock = (ms) => {
    const minutes = Math.floor(ms / 60000);
    const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
    if (days > 0) return `${days} d ${hours} h`;
    if (minutes >= 60) return `${hours} h ${minutes % 60} min`;
    return minutes > 0 ? `${minutes} min ${Math.floor(ms / 1000) % 60} s` : `${ms / 1000} s`;
  };
  const row = (tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };

  for (const figure of document.querySelectorAll("figure[data-hover]")) {
    const found = find(figure.dataset.path);
    const series = Array.isArray(found) ? found : [found];
    const reader = document.createElement("div");
    reader.className = "reader";
    reader.hidden = true;
    figure.append(reader);
    for (const svg of figure.querySelectorAll("svg")) {
      const [left, right, top, bottom] =
        ["left", "right", "top", "bottom"].map((side) => Number(svg.dataset[side]));
      const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
      cursor.setAttribute("class", "cursor");
      svg.append(cursor);
      const leave = () => {
        reader.hidden = true;
        cursor.removeAttribute("d");
      };
      svg.addEventListener("pointerleave", leave);
      svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect();
        const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
        if (bins === 0 || x < left || x > right) return leave();
        const bin = Math.min(bins - 1, Math.floor((x - left) / (right - left) * end / width));
        cursor.setAttribute("d", `M${x} ${top}V${bottom}`);
        const rows = series.map((one) =>
          row("div", `${one.name}: ${Number(one.values[bin].toFixed(2))} ${one.unit}`));
        reader.replaceChildren(row("b", clock(bin * width)), ...rows.reverse());
        reader.hidden = false;
        const frame = figure.getBoundingClientRect();
        const at = event.clientX - frame.left + 14;
        const space = frame.width - reader.offsetWidth - 8;
        // Beside the pointer, on the other side where there is no room, never outside the figure.
        const place = at <= space ? at : Math.max(4, at - reader.offsetWidth - 28);
        reader.style.left = `${Math.min(place, Math.max(4, space))}px`;
        reader.style.top = `${event.clientY - frame.top + 12}px`;
      });
    }
  }
})();
