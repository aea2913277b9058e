// Runs in a page that `gradcast report` wrote. The page is whole without it: this makes the pictures
// answer a pointer and a keyboard, the tables sort and filter, and the colours switch.
import {html} from "./elements.js";
import {showFigures} from "./figures.js";
import {addPatterns} from "./marks.js";
import {makeTablesSortable} from "./tables.js";

// Light or dark: as the system has it, until somebody presses the button. Nothing is stored.
function offerTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const button = html("button", {type: "button", class: "theme"});
  const name = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
  (document.querySelector("body > footer") ?? document.querySelector("main") ?? document.body)
    .prepend(button);
}

offerTheme();
makeTablesSortable();
addPatterns();
showFigures();
