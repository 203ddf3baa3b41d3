// What every page does: menus that close, a theme that changes without a reload.

const A_YEAR = 31_536_000;

document.documentElement.classList.add("scripted");

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

document.getElementById("theme")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const theme = event.submitter.value;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `stet_theme=${theme}; Path=/; Max-Age=${A_YEAR}; SameSite=Lax${secure}`;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  closeMenus();
  document.querySelector("#theme-menu summary").focus();
});
