// A plot of a study's table: small panels of points and lines. A point shows its row, and what stands behind it.

const SIZE = { width: 380, height: 260, left: 58, right: 10, top: 8, bottom: 34 };
const PANELS = 12; // more are chosen from lists
const REACH = 28; // pixels of the screen between a pointer and a point that it means
const SHAPES = {
  o: "a1,1 0 1 0 2,0a1,1 0 1 0 -2,0z", s: "v-.9h2v1.8h-2z", "^": "m0,.8l1,-1.9l1,1.9z", v: "m0,-.8l1,1.9l1,-1.9z",
  D: "l1,-1.2l1,1.2l-1,1.2z", "<": "l1.8,-1v2z", ">": "m2,0l-1.8,-1v2z", P: "h2m-1,-1v2", x: "m.2,-.8l1.6,1.6m-1.6,0l1.6,-1.6",
};
const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#000000", "#332288", "#6E6E6E"];
const SVG = "http://www.w3.org/2000/svg";
let plots = 0;

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** From numbers (or names) of an axis to its length, with the places of its labels. */
class Axis {
  constructor(values, scale, start, end) {
    this.scale = scale;
    this.names = scale === "category" ? [...new Set(values)] : [];
    const numbers = scale === "category" ? [] : values.filter((value) => Number.isFinite(value) && (scale !== "log" || value > 0));
    let [low, high] = numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [scale === "log" ? 1 : 0, 1];
    if (scale === "category") [low, high] = [-0.5, this.names.length - 0.5];
    if (scale === "log") [low, high] = [Math.log10(low), Math.log10(high)];
    const margin = scale === "category" ? 0 : 0.05 * (high - low) || 0.5;
    [this.low, this.high] = [low - margin, high + margin];
    this.at = (value) => start + ((this.number(value) - this.low) / (this.high - this.low)) * (end - start);
  }

  number(value) {
    if (this.scale === "category") return this.names.indexOf(value);
    return this.scale === "log" ? Math.log10(value) : value;
  }

  /** Values that are labelled, about five. */
  ticks() {
    if (this.scale === "category") return this.names.map((name) => [name, name]);
    const step = (least) => {
      const power = 10 ** Math.floor(Math.log10(least));
      return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
    };
    const by = this.scale === "log" ? Math.max(1, Math.ceil((this.high - this.low) / 6)) : step((this.high - this.low) / 5);
    const found = [];
    for (let i = Math.ceil(this.low / by); i * by <= this.high; i++) found.push(i * by);
    if (this.scale !== "log") return found.map((value) => [value, shortNumber(String(Number(value.toPrecision(12))))]);
    if (found.length < 2) return [this.low, this.high].map((end) => [10 ** end, shortNumber(String(10 ** end))]);
    return found.map((power) => [10 ** power, power >= -3 && power < 5 ? shortNumber(String(10 ** power)) : `1e${power}`]);
  }
}

class Plot {
  constructor(section, table, spec, behind) {
    Object.assign(this, { section, spec, behind, header: table.header, rows: table.rows, id: `plot${plots++}` });
    this.column = Object.fromEntries(table.header.map((name, index) => [name, index]));
    this.hidden = new Set();
    this.points = this.rows.map((row, index) => this.point(row, index)).filter((point) => point);
    this.curves = [...new Set(this.points.map((point) => point.curve))];
    this.build();
    this.fill();
  }

  text(row, name) { return row[this.column[name]] ?? ""; }

  /** What a reader calls a value of a column. */
  label(name, value) {
    const said = this.spec.values[name]?.[value];
    return said ?? (value === "" ? "" : `${this.spec.labels[name]} = ${shortNumber(value)}`);
  }

  joined(row, names) { return names.map((name) => this.label(name, this.text(row, name))).filter((text) => text).join(", "); }

  point(row, index) {
    const { spec } = this;
    const number = (name) => (name ? numberOf(this.text(row, name)) : undefined);
    const y = number(spec.y);
    if (!Number.isFinite(y) || (spec.y_scale === "log" && y <= 0)) return undefined;
    const x = spec.x_scale === "category" ? this.label(spec.x, this.text(row, spec.x)) : number(spec.x);
    if (x === undefined || (spec.x_scale === "log" && !(x > 0))) return undefined;
    const ends = { low: number(spec.low) ?? y, high: number(spec.high) ?? y, below: number(spec.below) };
    return { row, index, x, y, ...ends, curve: this.joined(row, spec.series), panel: this.joined(row, this.varied()) };
  }

  /** The columns of panels that differ somewhere. */
  varied() {
    this.panelColumns ??= this.spec.panels.filter((name) => new Set(this.rows.map((row) => this.text(row, name))).size > 1);
    return this.panelColumns;
  }

  look(curve) {
    const i = this.curves.indexOf(curve);
    const row = this.points.find((point) => point.curve === curve).row;
    const colour = this.spec.series.length ? this.spec.colours[this.text(row, this.spec.series[0])] : undefined;
    return { colour: colour ?? SERIES[i % SERIES.length], shape: Object.values(SHAPES)[i % Object.keys(SHAPES).length] };
  }

  build() {
    this.choices = element("div", { className: "tools" });
    if (new Set(this.points.map((point) => point.panel)).size > PANELS) this.addChoices();
    this.legend = element("div", { className: "legend", role: "group", ariaLabel: "Curves" });
    for (const curve of this.curves.length > 1 ? this.curves : []) this.legend.append(this.entry(curve));
    this.panels = element("div", { className: "panels" });
    this.tip = element("div", { className: "tip", hidden: true });
    this.details = element("div", { className: "details", hidden: true });
    this.details.setAttribute("aria-live", "polite");
    const text = "Hover or tap a point for its row; click it for what stands behind it. With the keyboard: the arrows and Enter.";
    this.section.append(element("p", { className: "same" }, text), this.choices, this.legend, this.panels, this.tip, this.details);
  }

  addChoices() {
    for (const name of this.varied()) {
      const values = [...new Set(this.points.map((point) => this.text(point.row, name)))];
      const select = element("select", { onchange: () => this.fill() });
      select.append(...values.map((value) => element("option", { value }, this.label(name, value))));
      select.dataset.column = name;
      this.choices.append(element("label", {}, `${this.spec.labels[name]} `, select));
    }
  }

  entry(curve) {
    const { colour, shape } = this.look(curve);
    const mark = drawn("svg", { viewBox: "-2 -2 6 4", width: 18, height: 12, "aria-hidden": "true", class: "marks" },
      drawn("path", { d: `M0,0${shape}`, stroke: colour, fill: "none", "stroke-width": 0.5 }));
    const button = element("button", { type: "button", ariaPressed: "true" }, mark, ` ${curve}`);
    button.addEventListener("click", () => {
      const shown = this.hidden.delete(curve) || !this.hidden.add(curve);
      button.setAttribute("aria-pressed", String(shown));
      this.fill();
    });
    return button;
  }

  /** The points that are shown, by panel. */
  chosen() {
    const wanted = [...this.choices.querySelectorAll("select")].map((select) => [select.dataset.column, select.value]);
    const fits = (point) => !this.hidden.has(point.curve) && wanted.every(([name, value]) => this.text(point.row, name) === value);
    return grouped(this.points.filter(fits), "panel");
  }

  fill() {
    const shown = this.chosen();
    const all = [...shown.values()].flat();
    this.x = new Axis(all.map((point) => point.x), this.spec.x_scale, SIZE.left, SIZE.width - SIZE.right);
    this.y = new Axis(all.flatMap((point) => [point.y, point.low, point.high]), this.spec.y_scale, SIZE.height - SIZE.bottom, SIZE.top);
    this.panels.replaceChildren(...[...shown].map(([title, points]) => this.panel(title, points)));
    this.hide();
  }

  panel(title, points) {
    const svg = drawn("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, class: "panel", tabindex: 0, role: "application" });
    const label = `${title || "The plot"}: ${this.spec.labels[this.spec.y]} against ${this.spec.labels[this.spec.x]}, ${points.length} points`;
    svg.setAttribute("aria-label", label);
    const ring = drawn("circle", { r: 7, class: "ring", visibility: "hidden" });
    svg.append(...this.frame(), ...this.band(points), ...this.marks(points), ring);
    points.sort((a, b) => this.x.at(a.x) - this.x.at(b.x) || this.y.at(b.y) - this.y.at(a.y));
    const show = (point) => this.show(svg, ring, point);
    svg.addEventListener("pointermove", (event) => show(this.nearest(svg, points, event)));
    svg.addEventListener("pointerleave", () => show(undefined));
    svg.addEventListener("blur", () => show(undefined));
    svg.addEventListener("click", (event) => this.open(this.nearest(svg, points, event)));
    svg.addEventListener("keydown", (event) => this.key(event, points, show));
    return element("figure", {}, element("figcaption", {}, title), svg);
  }

  frame() {
    const { left, right, top, bottom, width, height } = SIZE;
    const found = [];
    let last = -Infinity;
    for (const [value, text] of this.x.ticks()) {
      const at = this.x.at(value);
      found.push(drawn("path", { d: `M${at},${top}V${height - bottom}`, class: "grid" }));
      if (at - last < 6 * text.length) continue;
      found.push(drawn("text", { x: at, y: height - bottom + 13, "text-anchor": "middle" }, text));
      last = at;
    }
    for (const [value, text] of this.y.ticks()) {
      const at = this.y.at(value);
      found.push(drawn("path", { d: `M${left},${at}H${width - right}`, class: "grid" }));
      found.push(drawn("text", { x: left - 5, y: at + 3.5, "text-anchor": "end" }, text));
    }
    found.push(drawn("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, this.spec.labels[this.spec.x]));
    const middle = (top + height - bottom) / 2;
    const turned = { transform: `translate(11,${middle}) rotate(-90)`, "text-anchor": "middle" };
    found.push(drawn("text", turned, this.spec.labels[this.spec.y]));
    return found;
  }

  /** What no point is below: the least bound at each place. */
  band(points) {
    const ends = new Map();
    for (const { x, below } of points) {
      if (below !== undefined && (this.spec.y_scale !== "log" || below > 0)) ends.set(x, Math.min(below, ends.get(x) ?? Infinity));
    }
    const places = [...ends].map(([x, below]) => [this.x.at(x), Math.min(this.y.at(below), SIZE.height - SIZE.bottom)]);
    if (this.spec.x_scale === "category" || places.length < 2) return [];
    places.sort((a, b) => a[0] - b[0]);
    const floor = SIZE.height - SIZE.bottom;
    const edge = places.map(([x, y]) => `L${x.toFixed(1)},${y.toFixed(1)}`).join("");
    return [drawn("path", { d: `M${places[0][0]},${floor}${edge}L${places.at(-1)[0]},${floor}z`, class: "band" })];
  }

  /** One path of lines, one of bars and one of markers for each curve. */
  marks(points) {
    const group = drawn("g", { class: "marks" });
    for (const [curve, own] of grouped(points, "curve")) {
      const { colour, shape } = this.look(curve);
      const at = own.map((point) => [this.x.at(point.x), this.y.at(point.y), point]).sort((a, b) => a[0] - b[0]);
      const d = (pieces) => pieces.join("");
      if (this.spec.x_scale !== "category" && new Set(own.map((point) => point.x)).size === own.length) {
        const line = at.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`);
        group.append(drawn("path", { d: d(line), stroke: colour, fill: "none", "stroke-width": 1 }));
      }
      const bars = at.filter(([, , p]) => p.low < p.high && Number.isFinite(p.high) && (this.spec.y_scale !== "log" || p.low > 0));
      const bar = bars.map(([x, , p]) => `M${x.toFixed(1)},${this.y.at(p.low).toFixed(1)}V${this.y.at(p.high).toFixed(1)}`);
      group.append(drawn("path", { d: d(bar), stroke: colour, "stroke-width": 1, opacity: 0.6 }));
      const scaled = shape.replace(/-?\d*\.?\d+/g, (number) => Number((number * 3).toFixed(2)));
      const flagged = shape.startsWith("a") ? "a3,3 0 1 0 6,0a3,3 0 1 0 -6,0z" : scaled;
      const marker = at.map(([x, y]) => `M${(x - 3).toFixed(1)},${y.toFixed(1)}${flagged}`);
      group.append(drawn("path", { d: d(marker), stroke: colour, fill: "none", "stroke-width": 1.2 }));
    }
    return [group];
  }

  nearest(svg, points, event) {
    const box = svg.getBoundingClientRect();
    const scale = box.width / SIZE.width;
    let best, least = REACH;
    for (const point of points) {
      const away = Math.hypot(box.left + this.x.at(point.x) * scale - event.clientX, box.top + this.y.at(point.y) * scale - event.clientY);
      if (away < least) [best, least] = [point, away];
    }
    return best;
  }

  key(event, points, show) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      this.current = points[(points.indexOf(this.current) + step + points.length) % points.length];
      show(this.current);
    } else if (event.key === "Enter" && this.current) this.open(this.current);
    else if (event.key === "Escape") this.hide();
    else return;
    event.preventDefault();
  }

  /** The rows of a point's table that say something, with their labels. */
  said(point) {
    const names = this.header.filter((name) => !["study", "kind", "origin"].includes(name) && this.text(point.row, name) !== "");
    return names.map((name) => [this.spec.labels[name] ?? name, this.spec.values[name]?.[this.text(point.row, name)] ?? this.text(point.row, name)]);
  }

  show(svg, ring, point) {
    if (!point) { this.hide(); ring.setAttribute("visibility", "hidden"); return; }
    this.current = point;
    ring.setAttribute("cx", this.x.at(point.x));
    ring.setAttribute("cy", this.y.at(point.y));
    ring.setAttribute("visibility", "visible");
    this.tip.replaceChildren(listOf(this.said(point).map(([name, value]) => [name, shortNumber(value)])));
    this.tip.hidden = false;
    const box = ring.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const beside = box.right + 8 + width < innerWidth ? box.right + 8 : box.left - 8 - width;
    this.tip.style.left = `${Math.max(8, Math.min(beside, innerWidth - width - 8))}px`;
    this.tip.style.top = `${Math.max(8, Math.min(box.top - height / 2, innerHeight - height - 8))}px`;
  }

  hide() { this.tip.hidden = true; }

  /** What stands behind a point: its row, files, certificates, commands and claims. */
  open(point) {
    if (!point) return;
    const { behind } = this;
    const part = behind.parts[this.text(point.row, "origin")];
    const keys = [...this.spec.panels, ...this.spec.series, this.spec.x].filter((name) => this.text(point.row, name) !== "");
    const trace = `factormech trace ${behind.study} ${keys.map((name) => `--point ${name}=${quoted(this.text(point.row, name))}`).join(" ")}`;
    const made = element("div", {}, element("h3", { tabIndex: -1 }, `Row ${point.index + 1}: ${point.curve || point.panel || "a point"}`), listOf(this.said(point)));
    made.append(element("h3", {}, "Files"));
    if (part) {
      made.append(listOf([["part", part.file], ["code", part.code]]), ...part.solved.map((i) => behind.solutions[i]).filter((s) => this.fits(s, point)).map((s) => this.solution(s, point)));
    } else made.append(element("p", {}, "The part that the row was computed in is not there any more."));
    made.append(element("h3", {}, "Where it comes from"), element("pre", { tabIndex: 0 }, trace));
    const claims = behind.claims.filter(({ rows }) => rows.some(([first, last]) => first <= point.index && point.index <= last));
    made.append(element("h3", {}, "Claims that use this row"));
    const items = claims.map((claim) => element("li", {}, element("a", { href: `#${claim.anchor}` }, claim.text), ` (${claim.verdict})`));
    made.append(items.length ? element("ul", {}, ...items) : element("p", {}, "None."));
    this.details.replaceChildren(made);
    this.details.hidden = false;
    this.hide();
    made.querySelector("h3").focus();
  }

  /** Whether a solution is of a row's point. */
  fits(solution, point) {
    const same = (key) => {
      const [own, there] = [solution[key], this.text(point.row, key)];
      if (own === undefined || own === null || there === "") return true;
      return typeof own === "number" ? own === numberOf(there) : own === there;
    };
    return ["workload", "domain_size", "epsilon"].every(same);
  }

  solution(solution, point) {
    const said = ["lower_bound", "gap", "objective", "seed", "options", "code", "missing"].filter((key) => solution[key] !== undefined);
    const made = element("div", { className: "solution" }, listOf([["file", solution.file], ...said.map((key) => [CERTIFICATE[key] ?? key, String(solution[key])])]));
    if (solution.file.includes("/strategies/")) {
      const budget = solution.epsilon === undefined ? ` --epsilon ${this.text(point.row, "epsilon")}` : "";
      made.append(element("pre", { tabIndex: 0 }, `factormech strategy verify ${solution.file}${budget}`));
    }
    return made;
  }
}

const CERTIFICATE = { lower_bound: "certified lower bound", gap: "certified gap" };

function grouped(points, key) {
  const found = new Map();
  for (const point of points) {
    if (!found.has(point[key])) found.set(point[key], []);
    found.get(point[key]).push(point);
  }
  return found;
}

function listOf(pairs) {
  return element("dl", {}, ...pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

/** A word of a shell. */
function quoted(text) { return /^[\w.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`; }
