// A study's tables, each sorted by each of its columns, up and down: how many there were, and what was out of order.
const wrong = [], counts = { tables: 0, columns: 0, rows: 0 };
const number = (text) => (text.trim() === "" ? NaN : Number(text.replace(/^(-?)inf$/, "$1Infinity")));
await open(arguments[0]);
for (const section of document.getElementById(arguments[0]).querySelectorAll(".table")) {
  counts.tables += 1;
  const table = section.querySelector("table");
  section.querySelectorAll(".tools button").forEach((b) => b.textContent === "Show all rows" && !b.hidden && b.click());
  const original = table.tBodies[0].textContent;
  counts.rows += table.rows.length - 1;
  if (table.rows.length < 2) wrong.push([section.dataset.file, "no rows"]);
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    counts.columns += 1;
    for (const [direction, sign] of [["ascending", 1], ["descending", -1]]) {
      head.firstChild.click();
      const name = [section.dataset.file, head.textContent, direction];
      if (head.getAttribute("aria-sort") !== direction) wrong.push([...name, "mark"]);
      const values = [...table.tBodies[0].rows].map((row) => row.cells[i].title || row.cells[i].textContent);
      const numeric = head.className === "number";
      const keys = numeric ? values.map(number) : values;
      const absent = numeric ? Number.isNaN : (key) => key === "";
      const compare = (a, b) => numeric ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b, "en", { numeric: true });
      for (let k = 1; k < keys.length; k++) {
        if (absent(keys[k])) continue;
        if (absent(keys[k - 1]) || sign * compare(keys[k - 1], keys[k]) > 0) {
          wrong.push([...name, values[k - 1], values[k]]);
          break;
        }
      }
      if (numeric && sign > 0 && getComputedStyle(table.tBodies[0].rows[0].cells[i]).textAlign !== "right") wrong.push([...name, "left"]);
    }
    head.firstChild.click();
    if (table.tBodies[0].textContent !== original) wrong.push([section.dataset.file, head.textContent, "order of the file lost"]);
  });
}
return [counts, wrong];
