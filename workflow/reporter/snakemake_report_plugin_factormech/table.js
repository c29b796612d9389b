"use strict";

const ROWS = 300; // shown at once: a browser lays out thousands of rows slowly

/** The rows of a CSV file, the header among them; fields may be quoted, and quotes in them doubled. */
function parseCsv(text) {
  const rows = [[]];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const [, raw, end] = field.exec(text);
    rows.at(-1).push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end !== "," && field.lastIndex < text.length) rows.push([]);
  }
  return rows;
}

/** A number from a field of a CSV file; undefined for what is missing or no number. */
function numberOf(text) {
  if (/^-?inf$/.test(text)) return text[0] === "-" ? -Infinity : Infinity;
  return text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
}

/** A number as a reader wants it: whole ones whole, others with four digits; the file's own is in the title. */
function shortNumber(text) {
  const value = numberOf(text);
  if (!Number.isFinite(value) || (Number.isInteger(value) && Math.abs(value) < 1e9)) return text.replace(/\.0$/, "");
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(4)));
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Save a text under the name of its file. */
function save(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** What a script of the page holds, as text. */
async function unpacked(script) {
  const bytes = Uint8Array.from(atob(script.textContent.trim()), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

class SortedTable {
  constructor(section, csv) {
    this.section = section;
    this.csv = csv;
    const [header, ...rows] = parseCsv(csv);
    this.header = header;
    this.rows = rows;
    this.columns = header.map((name, index) => this.describe(name, index));
    this.sorted = { column: undefined, direction: 1 };
    this.limit = ROWS;
    this.build();
    this.fill();
  }

  describe(name, index) {
    const values = this.rows.map((row) => row[index]);
    const there = values.filter((value) => value !== "");
    const numeric = there.length > 0 && there.every((value) => value === "nan" || numberOf(value) !== undefined);
    const same = this.rows.length > 1 && values.every((value) => value === values[0]);
    return { name, index, numeric, same, words: there.some((value) => value.length > 40) };
  }

  build() {
    const same = this.columns.filter((column) => column.same && this.rows[0][column.index] !== "");
    this.shown = this.columns.filter((column) => !column.same);
    this.filter = element("input", { type: "search", placeholder: "Filter rows", ariaLabel: "Filter rows" });
    this.filter.addEventListener("input", () => this.fill());
    this.count = element("span");
    this.more = element("button", { type: "button", onclick: () => { this.limit = Infinity; this.fill(); } }, "Show all rows");
    const download = element("button", { type: "button", onclick: () => save(this.section.dataset.file, this.csv) }, "Save CSV");
    this.heads = this.shown.map((column) => {
      const button = element("button", { type: "button", onclick: () => this.sortBy(column) }, column.name);
      return element("th", { scope: "col", className: column.numeric ? "number" : "" }, button);
    });
    this.body = element("tbody");
    this.section.append(element("div", { className: "tools" }, this.filter, this.count, this.more, download));
    if (same.length) {
      const words = same.map((column) => `${column.name} = ${this.rows[0][column.index]}`).join(", ");
      this.section.append(element("p", { className: "same" }, `The same in every row: ${words}.`));
    }
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...this.heads)), this.body);
    const scroll = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Rows of ${this.section.dataset.file}` }, table);
    this.section.append(scroll);
  }

  /** Up, down, then as in the file. */
  sortBy(column) {
    const { column: before, direction } = this.sorted;
    if (before !== column) this.sorted = { column, direction: 1 };
    else this.sorted = direction === 1 ? { column, direction: -1 } : { column: undefined, direction: 1 };
    this.fill();
  }

  /** The rows that the filter leaves, in order; what is missing comes last, whatever the direction. */
  visible() {
    const sought = this.filter.value.toLowerCase();
    const rows = this.rows.filter((row) => row.some((value) => value.toLowerCase().includes(sought)));
    const { column, direction } = this.sorted;
    if (!column) return rows;
    const key = (row) => (column.numeric ? numberOf(row[column.index]) : row[column.index] || undefined);
    const compare = (a, b) => (column.numeric ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b, "en", { numeric: true }));
    const absent = rows.filter((row) => key(row) === undefined);
    const there = rows.filter((row) => key(row) !== undefined);
    return [...there.sort((a, b) => direction * compare(key(a), key(b))), ...absent];
  }

  fill() {
    const rows = this.visible();
    const cells = (row) => this.shown.map(({ index, numeric, words }) =>
      numeric
        ? element("td", { className: "number", title: row[index] }, shortNumber(row[index]))
        : element("td", { className: words ? "words" : "" }, row[index]));
    this.body.replaceChildren(...rows.slice(0, this.limit).map((row) => element("tr", {}, ...cells(row))));
    this.more.hidden = rows.length <= this.limit;
    this.count.textContent = `${Math.min(rows.length, this.limit)} of ${this.rows.length} rows`;
    this.heads.forEach((head, i) => {
      if (this.shown[i] !== this.sorted.column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", this.sorted.direction === 1 ? "ascending" : "descending");
    });
  }
}
