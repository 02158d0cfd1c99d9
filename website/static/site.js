// What Furo leaves open for keyboards and screen readers: what scrolls takes the focus, captions have a level.
function reachable(box) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
}
const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => reachable(target)));
for (const box of document.querySelectorAll("pre, .table-wrapper")) {
  reachable(box);
  sizes.observe(box);
}
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");

// The version switch: shown once versions.json of the site names more than one, as
// [{"name": "0.2.0", "path": "0.2.0/"}, ...], each path below the folder that the sites stand in. Not from disk.
const select = document.getElementById("versions");
const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
if (select && location.protocol.startsWith("http")) {
  fetch(new URL("versions.json", root))
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((versions) => {
      if (versions.length < 2) return;
      const page = location.href.slice(root.href.length);
      for (const { name, path } of versions) {
        const to = new URL(path, new URL("..", root));
        select.add(new Option(name, new URL(page, to).href, false, to.href === root.href));
      }
      select.hidden = false;
      select.addEventListener("change", () => location.assign(select.value));
    })
    .catch(() => {});
}
