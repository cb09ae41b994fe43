// A link into a folded part opens it; paper has every part open. Without script parts open by hand.
function reveal() {
  var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (var at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
document.addEventListener("click", function (event) {
  var link = event.target.closest && event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal();
});
reveal();
var folded = [];
addEventListener("beforeprint", function () {
  folded = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
  folded.forEach(function (part) { part.open = true; });
});
addEventListener("afterprint", function () { folded.forEach(function (part) { part.open = false; }); });

// The headings of a table become buttons that sort its rows, within each group of rows.
function columnOf(cell) {
  var column = 0;
  for (var at = cell.previousElementSibling; at; at = at.previousElementSibling) column += at.colSpan;
  return column;
}
function valueOf(row, column) {
  for (var i = 0; i < row.cells.length && column > 0; i++) column -= row.cells[i].colSpan;
  var text = column === 0 && row.cells[i] ? row.cells[i].textContent.trim() : "";
  var power = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  var number = parseFloat(text.replace(/^\[/, "").replace(/−/g, "-").replace(/,(?=\d{3})/g, "")
    .replace(/·10(⁻?)([⁰¹²³⁴-⁹]+)/, function (_, minus, digits) {
      return "e" + (minus && "-") + Array.from(digits, function (d) { return power.indexOf(d); }).join("");
    }));
  return isNaN(number) ? (/^[–-]?$/.test(text) ? null : text.toLowerCase()) : number;
}
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
function sortBy(heading) {
  var table = heading.closest("table"), column = columnOf(heading);
  var down = heading.getAttribute("aria-sort") === "descending";
  table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
  heading.setAttribute("aria-sort", down ? "ascending" : "descending");
  var way = down ? 1 : -1;
  Array.prototype.forEach.call(table.tBodies, function (body) {
    var rows = Array.prototype.filter.call(body.rows, function (row) { return row.className !== "heading"; });
    rows.map(function (row) { return [valueOf(row, column), row]; })
      .sort(function (a, b) {
        return a[0] === null || b[0] === null ? compare(a[0], b[0]) : way * compare(a[0], b[0]);
      })
      .forEach(function (pair) { body.appendChild(pair[1]); });
  });
}
document.querySelectorAll("table.sortable thead th[scope=col]").forEach(function (heading) {
  var button = document.createElement("button");
  button.type = "button";
  while (heading.firstChild) button.appendChild(heading.firstChild);
  if (!button.textContent.trim()) return void heading.append.apply(heading, button.childNodes);
  heading.appendChild(button);
  button.addEventListener("click", function () { sortBy(heading); });
});

// Texts by class, prediction and agreement with erasure.
document.querySelectorAll(".filters").forEach(function (filters) {
  var texts = filters.parentElement.querySelectorAll(".texts > li"), choices = filters.querySelectorAll("select");
  filters.hidden = false;
  filters.addEventListener("change", function () {
    var shown = 0;
    texts.forEach(function (text) {
      text.hidden = !Array.prototype.every.call(choices, function (choice) {
        var own = text.dataset[choice.dataset.filter];
        return !choice.value || own === choice.value
          || choice.dataset.filter === "side" && own.split(" ").indexOf(choice.value) >= 0;
      });
      shown += !text.hidden;
    });
    filters.querySelector("output").textContent = shown + " of " + texts.length + " " + filters.dataset.inputs;
  });
});
