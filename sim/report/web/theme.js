// Light or dark: as the system has it, until somebody presses the button. Nothing is stored.
import {html} from "./elements.js";

export function offerTheme() {
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
  (document.querySelector("body > header") ?? document.querySelector("main") ?? document.body)
    .prepend(button);
}
