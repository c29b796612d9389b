const articles = [...document.querySelectorAll("article")];
const contents = document.querySelector("#contents");
const menu = document.querySelector("#menu");
const theme = document.querySelector("#theme");

function openMenu(open) {
  contents.classList.toggle("open", open);
  menu.setAttribute("aria-expanded", String(open));
}

/** Unpack the pictures, tables and the plot of a study, once; the promise of it is kept. */
function build(article) {
  article.built ??= (async () => {
    for (const image of article.querySelectorAll("figure img")) await buildFigure(image);
    const tables = [];
    for (const section of article.querySelectorAll(".table")) {
      tables.push(new SortedTable(section, await unpacked(section.querySelector("script"))));
    }
    const section = article.querySelector(".plot");
    if (section) {
      const { plot, behind } = JSON.parse(await unpacked(section.querySelector("script")));
      article.plotted = new Plot(section, tables[0], plot, behind);
    }
  })();
  return article.built;
}

async function buildFigure(image) {
  const svg = await unpacked(image.closest("figure").querySelector("script"));
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const larger = element("button", { type: "button", ariaPressed: "false" }, "Larger");
  const enlarge = () => larger.setAttribute("aria-pressed", String(image.classList.toggle("whole")));
  larger.addEventListener("click", enlarge);
  image.addEventListener("click", enlarge);
  const saved = element("button", { type: "button", onclick: () => save(image.dataset.file, svg, "image/svg+xml") }, "Save figure");
  image.closest("figure").append(element("div", { className: "tools" }, larger, saved));
}

/** Show the article that the address names, or has a part of, alone. */
async function show() {
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const chosen = wanted?.closest("article") ?? articles[0];
  for (const article of articles) article.hidden = article !== chosen;
  for (const link of document.querySelectorAll("nav a, header a")) {
    if (link.hash === `#${chosen.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  openMenu(false);
  await build(chosen);
  if (wanted && wanted !== chosen) wanted.scrollIntoView({ block: "center" });
  else scrollTo(0, 0);
}

/** Light or dark as the system has it, until the reader chooses. */
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.textContent = dark ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Switch to the ${dark ? "light" : "dark"} colours`);
}

function filterClaims() {
  const sought = document.querySelector("#find-claim").value.toLowerCase();
  const verdict = document.querySelector("#verdict").value;
  let count = 0;
  for (const row of document.querySelectorAll("#claims tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(sought) || (verdict !== "" && row.dataset.verdict !== verdict);
    count += !row.hidden;
  }
  document.querySelector("#claims output").textContent = `${count} claims`;
}

document.querySelector("#find").addEventListener("input", (event) => {
  const sought = event.target.value.toLowerCase();
  for (const item of contents.querySelectorAll("li")) {
    item.hidden = !(item.textContent + item.firstChild.hash).toLowerCase().includes(sought);
  }
  for (const paper of contents.querySelectorAll("section")) paper.hidden = !paper.querySelector("li:not([hidden])");
});
for (const id of ["#find-claim", "#verdict"]) document.querySelector(id)?.addEventListener("input", filterClaims);
menu.addEventListener("click", () => openMenu(!contents.classList.contains("open")));
theme.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
addEventListener("hashchange", show);
show();
