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

// "5 minutes ago" grows older while the page is open.

const UNITS = [["day", 172_800, 86_400], ["hour", 7_200, 3_600], ["minute", 120, 60], ["second", 0, 1]];
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });

function age() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const seconds = Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000);
    const [unit, , size] = UNITS.find(([, from]) => seconds >= from);
    const words = relative.format(-Math.floor(seconds / size), unit);
    if (time.textContent !== words) time.textContent = words;
  }
}

setInterval(age, 15_000);
