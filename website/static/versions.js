// The version switch: shown once the folder above the site has a versions.json that names more than one,
// as [{"name": "0.2.0", "path": "0.2.0/"}, ...]. Without the file, or from disk, nothing is shown.
const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
const select = document.getElementById("versions");
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
