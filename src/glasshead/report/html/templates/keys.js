// Arrow keys move between the tokens of a text; Escape leaves. Without it, hover and touch still work.
document.addEventListener("keydown", function (event) {
  var token = event.target;
  if (!token.matches || !token.matches("mark[data-tip]")) return;
  if (event.key === "Escape") return token.blur();
  var step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  var all = Array.prototype.slice.call(token.parentNode.querySelectorAll("mark[data-tip]"));
  var next = all[all.indexOf(token) + step];
  event.preventDefault();
  if (!next) return;
  token.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
