// What viser's page lacks: keys of a focused slider stay with it, boxes wide enough for their digits, a rail of icons that opens one
// drawer, a timeline along the bottom, and a strip of numbers below it that never goes away. The strip copies what the server writes
// into #strip-source and counts the age of each number; colours of displacement come from #legend-source.
// Elements of viser's page are found by what they hold and marked `data-fp`.
(() => {
  if (window.flexapodStudio) return;
  window.flexapodStudio = true;
  // viser's page prepares a photographed environment before the server can say that there is none: that photograph never comes.
  const fetched = window.fetch;
  window.fetch = (what, ...rest) =>
    String((what && what.url) || what).startsWith("data:image/jpeg") ? new Promise(() => {}) : fetched(what, ...rest);
  const style = document.createElement("style");
  style.textContent = `
    body.fp-starting div[style*="inset"]:has(canvas) { transform: translateX(-300vw); }
    :root { --fp-strip: 62px; --fp-rail: 58px; --fp-timeline: 0px; --fp-paper: #fbfcfd; --fp-ink: #1f2933; --fp-line: #cbd2d9; }
    body.fp-projector { --fp-paper: #ffffff; --fp-ink: #000000; --fp-line: #6b7785; --fp-strip: 84px; --fp-rail: 74px; }
    .mantine-Slider-root + .mantine-NumberInput-root { width: 4.9rem !important; }
    .mantine-NumberInput-input, .mantine-Select-input, .mantine-Text-root { letter-spacing: normal !important; }
    #root { height: calc(100vh - var(--fp-strip) - var(--fp-timeline)) !important; margin-left: var(--fp-rail);
      width: calc(100vw - var(--fp-rail)) !important; overflow: clip; position: relative; }
    #root > * { height: 100% !important; }
    #root > div > div > div[style*="overflow: hidden"] { overflow: clip !important; }
    #fp-rail-back { position: fixed; left: 0; top: 0; bottom: var(--fp-strip); width: var(--fp-rail); background: var(--fp-paper);
      border-right: 1px solid var(--fp-line); z-index: 0; pointer-events: none; box-sizing: border-box; }
    [data-fp=rail] { position: fixed !important; left: 0; top: 6px; width: var(--fp-rail) !important; z-index: 85; display: flex !important;
      flex-direction: column !important; flex-wrap: nowrap !important; background: none !important; visibility: visible; }
    [data-fp=rail] [role=tab] { flex-direction: column; justify-content: center; width: 100%; height: 52px !important; padding: 0 !important;
      font-size: 11px; font-weight: 500 !important; margin: 0 !important; color: var(--fp-ink); border-left: 3px solid transparent !important; }
    [data-fp=rail] [role=tab] svg { width: 20px; height: 20px; }
    [data-fp=rail] [role=tab] > div { margin: 0 0 3px !important; }
    body:not(.fp-folded) [data-fp=rail] [role=tab][aria-selected=true] { border-left-color: #0072B2 !important; background: #0072B21a; }
    body.fp-folded [data-fp=drawer] { visibility: hidden; }
    body.fp-folded [data-fp=view] { inset: 0 !important; }
    body.fp-folded #status { visibility: visible; position: fixed; left: calc(var(--fp-rail) + 12px); top: 10px; max-width: 420px; z-index: 70; }
    body.fp-folded div:has(+ [data-fp=drawer]) { display: none !important; }
    [data-fp=drawer] > div:has(> div .tabler-icon-chevrons-left) { display: none !important; }
    @media (max-width: 820px) {
      [data-fp=view] { inset: 0 !important; }
      .mantine-Notifications-root { left: auto !important; right: 1em; }
      [data-fp=drawer] { z-index: 60 !important; max-width: calc(100vw - var(--fp-rail)); }
    }
    [data-fp=timeline] { position: fixed !important; left: var(--fp-rail) !important; top: auto !important; bottom: var(--fp-strip) !important;
      width: calc(100vw - var(--fp-rail)) !important; height: var(--fp-timeline) !important; border-top: 1px solid var(--fp-line);
      border-radius: 0 !important; box-shadow: none !important; box-sizing: border-box; }
    [data-fp=timeline] [role=tablist], [data-fp=timeline] div:has(> .tabler-icon-minus), [data-fp=timeline] > div[style*="cursor"] {
      display: none !important; }
    [data-fp=timeline] div:has(+ [role=tablist]) { display: none !important; }
    [data-fp=timeline-body] { display: flex; flex-wrap: wrap; align-items: center; padding-top: 4px !important; column-gap: 4px; }
    [data-fp=timeline-body] > * { flex: 1 1 100%; min-width: 0; padding-bottom: 3px !important; }
    [data-fp=timeline-body] > [data-fp=short] { flex: 1 1 0; }
    [data-fp=timeline-body] > [data-fp=short]:has(button) { flex: 0 0 auto; }
    [data-fp=timeline-body] .uplot { display: flex; flex-wrap: wrap; align-items: center; }
    [data-fp=timeline-body] .u-title { font-size: 12px !important; line-height: 16px; padding: 0 0 0 10px; order: 0; }
    [data-fp=timeline-body] .u-legend { font-size: 11px; line-height: 14px; margin: 0 0 0 auto; order: 1; }
    [data-fp=timeline-body] .u-wrap { order: 2; }
    [data-fp=timeline-body] .mantine-Paper-root { margin: 0 8px 2px !important; }
    #fp-strip { position: fixed; left: 0; right: 0; bottom: 0; height: var(--fp-strip); background: var(--fp-paper);
      border-top: 1px solid var(--fp-line); z-index: 90; display: flex; align-items: center; gap: 18px; padding: 0 14px; overflow-x: auto;
      overflow-y: hidden; box-sizing: border-box; color: var(--fp-ink); font-variant-numeric: tabular-nums;
      font: 12.5px/1.3 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
    body.fp-projector #fp-strip { font-size: 18px; font-weight: 500; }
    body.fp-projector .fp, body.fp-projector .fp .muted { color: #000; font-size: 17px !important; }
    body.fp-projector [data-fp=rail] [role=tab] { font-size: 15px; height: 64px !important; }
    body.fp-projector .mantine-Text-root, body.fp-projector .mantine-Input-input { font-size: 15px !important; color: #000 !important; }
    #fp-hover { position: fixed; display: none; pointer-events: none; z-index: 95; white-space: pre; background: var(--fp-paper);
      color: var(--fp-ink); border: 1px solid var(--fp-line); border-radius: 4px; padding: 4px 8px; box-shadow: 0 2px 8px #0003;
      font: 12.5px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
    body.fp-projector #fp-hover { font-size: 18px; }
    #fp-legend { position: fixed; right: 14px; top: 12px; width: 200px; pointer-events: none; z-index: 40; color: var(--fp-ink);
      background: color-mix(in srgb, var(--fp-paper) 85%, transparent); border-radius: 4px; padding: 5px 9px;
      font: 12.5px/1.4 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; font-variant-numeric: tabular-nums; }
    body.fp-projector #fp-legend { font-size: 18px; width: 280px; }
    #fp-legend:empty { display: none; }
    #fp-sheet { position: fixed; inset: 0; background: #0008; z-index: 300; display: none; align-items: center; justify-content: center; }
    #fp-sheet.shown { display: flex; }
    #fp-sheet > div { background: var(--fp-paper); color: var(--fp-ink); border-radius: 8px; padding: 18px 26px; min-width: 340px;
      font: 14px/1.7 system-ui, sans-serif; box-shadow: 0 8px 40px #0006; }
    #fp-sheet kbd { display: inline-block; min-width: 2.2em; text-align: center; border: 1px solid var(--fp-line); border-radius: 4px;
      padding: 0 .35em; margin-right: .8em; font: 13px/1.5 ui-monospace, monospace; }
  `;
  document.head.append(style);
  const root = document.getElementById("root");
  const made = (id, parent) => {
    const node = document.createElement("div");
    node.id = id;
    parent.append(node);
    return node;
  };
  document.body.classList.add("fp-starting");  // the view is out of sight, and nothing is drawn, until the robot is there
  made("fp-rail-back", document.body);
  if (matchMedia("(max-width: 820px)").matches) document.body.classList.add("fp-folded");  // an open drawer lies over the view there
  const legend = made("fp-legend", document.body), strip = made("fp-strip", document.body), sheet = made("fp-sheet", document.body);
  sheet.append(document.createElement("div"));
  const own = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"]);
  for (const kind of ["keydown", "keyup"])
    root.addEventListener(kind, (event) => {
      if (own.has(event.key) && event.target.closest && event.target.closest("[role=slider]")) event.stopPropagation();
    });
  window.addEventListener("keydown", (event) => {
    if (event.target.closest && event.target.closest("input, textarea")) return;
    if (event.key === "?") sheet.classList.toggle("shown");
    if (event.key === "Escape") sheet.classList.remove("shown");
  });
  sheet.addEventListener("click", () => sheet.classList.remove("shown"));
  // The icon of the open drawer folds it; any icon opens one.
  document.addEventListener("click", (event) => {
    const tab = event.target.closest && event.target.closest("[data-fp=rail] [role=tab]");
    if (!tab) return;
    const open = !document.body.classList.contains("fp-folded") && tab.dataset.fpOpen === "yes";
    document.body.classList.toggle("fp-folded", open);
    for (const other of document.querySelectorAll("[data-fp=rail] [role=tab]")) other.dataset.fpOpen = other === tab ? "yes" : "no";
  }, true);
  const mark = () => {
    const canvas = root.querySelector("canvas"), status = document.getElementById("status");
    const view = canvas && canvas.closest("div[style*='inset']");
    if (view) view.dataset.fp = "view";
    const rail = [...root.querySelectorAll("[role=tablist]")].find((list) => [...list.querySelectorAll("[role=tab]")].some((tab) => tab.textContent.trim() === "Pose"));
    if (rail && rail.dataset.fp !== "rail") {
      rail.dataset.fp = "rail";
      for (const tab of rail.querySelectorAll("[role=tab]")) tab.dataset.fpOpen = tab.getAttribute("aria-selected") === "true" ? "yes" : "no";
    }
    if (rail && view) {
      let column = rail;
      while (column.parentElement && column.parentElement !== view.parentElement) column = column.parentElement;
      column.dataset.fp = "drawer";
    }
    const bar = document.getElementById("timeline"), shown = !!bar && bar.offsetParent !== null;
    if (!shown) document.documentElement.style.removeProperty("--fp-timeline");
    if (shown) {
      const paper = bar.closest(".mantine-Paper-root"), wrapper = bar.closest(".mantine-ScrollArea-content > div > div > div > div");
      if (paper) paper.dataset.fp = "timeline";
      if (wrapper && wrapper.parentElement) {
        wrapper.parentElement.dataset.fp = "timeline-body";
        for (const child of wrapper.parentElement.children)
          if (child.querySelector("button, input") && !child.querySelector(".uplot") && !child.textContent.startsWith("Time"))
            child.dataset.fp = "short";
        const last = wrapper.parentElement.lastElementChild.getBoundingClientRect();
        const tall = last.bottom - wrapper.parentElement.getBoundingClientRect().top + 8;
        document.documentElement.style.setProperty("--fp-timeline", `${Math.round(Math.min(tall, 0.46 * window.innerHeight))}px`);
      }
    }
    const keys = document.getElementById("keys-source");
    if (keys && sheet.firstChild.dataset.text !== keys.innerHTML) sheet.firstChild.innerHTML = sheet.firstChild.dataset.text = keys.innerHTML;
    if (status) {
      document.body.classList.toggle("fp-projector", status.dataset.theme === "projector");
      if (document.body.classList.contains("fp-starting")) document.head.append(style);  // behind viser's own, which came later
      document.body.classList.remove("fp-starting");
    }
  };
  // Values under the mouse: the line of #hover-source nearest to it, as the page's own camera sees it.
  const viewer = (canvas) => {
    let fiber = canvas[Object.keys(canvas).find((key) => key.startsWith("__reactFiber"))];
    for (; fiber; fiber = fiber.return) {
      const value = fiber.memoizedProps && fiber.memoizedProps.value;
      if (value && value.mutable && value.mutable.current && value.mutable.current.nodeRefFromName) return value.mutable.current;
    }
  };
  const times = (e, [x, y, z, w]) => [0, 1, 2, 3].map((i) => e[i] * x + e[4 + i] * y + e[8 + i] * z + e[12 + i] * w);
  const seen = (page, place, box) => {
    const world = page.nodeRefFromName[""], camera = page.camera;
    let p = [...place, 1];
    for (const matrix of [world && world.matrixWorld, camera.matrixWorldInverse, camera.projectionMatrix]) if (matrix) p = times(matrix.elements, p);
    return p[3] > 0 ? [box.left + (0.5 + (0.5 * p[0]) / p[3]) * box.width, box.top + (0.5 - (0.5 * p[1]) / p[3]) * box.height] : null;
  };
  const away = ([x, y], [a, b], [c, d]) => {
    const u = c - a, v = d - b, part = Math.min(1, Math.max(0, ((x - a) * u + (y - b) * v) / (u * u + v * v || 1)));
    return Math.hypot(x - a - part * u, y - b - part * v);
  };
  const hovered = made("fp-hover", document.body);
  let items = [], from = null;
  const hide = () => { hovered.style.display = "none"; };
  const hover = (event) => {
    const canvas = event.target, source = document.getElementById("hover-source");
    if (!source || event.buttons || canvas.tagName !== "CANVAS") return hide();
    const text = source.dataset.items || "[]", page = viewer(canvas);
    if (!page || !page.camera) return hide();
    if (text !== from) { items = JSON.parse(text); from = text; }
    const box = canvas.getBoundingClientRect(), mouse = [event.clientX, event.clientY];
    let best = 9, words = "";
    for (const item of items)
      for (const [start, end] of item.lines) {
        const a = seen(page, start, box), b = seen(page, end, box), near = a && b ? away(mouse, a, b) : Infinity;
        if (near < best) { best = near; words = item.text; }
      }
    if (!words) return hide();
    hovered.textContent = words;
    hovered.style.display = "block";
    hovered.style.left = `${Math.min(mouse[0] + 14, innerWidth - hovered.offsetWidth - 8)}px`;
    hovered.style.top = `${Math.max(mouse[1] - hovered.offsetHeight - 10, 8)}px`;
  };
  root.addEventListener("pointermove", hover);
  root.addEventListener("pointerdown", hide);
  root.addEventListener("pointerleave", hide);
  // What the view shows, as a video that the browser writes itself.
  window.flexapodRecord = (seconds, name) => {
    const canvas = root.querySelector("[data-fp=view] canvas:not([style*='pointer-events: none'])");
    const kind = ["video/mp4", "video/webm;codecs=vp9", "video/webm"].find((k) => MediaRecorder.isTypeSupported(k));
    if (!canvas || !kind) return;
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: kind, videoBitsPerSecond: 8e6 }), parts = [];
    recorder.ondataavailable = (event) => event.data.size && parts.push(event.data);
    recorder.onstop = () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(parts, { type: kind }));
      link.download = `${name}.${kind.includes("mp4") ? "mp4" : "webm"}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    recorder.start(250);
    setTimeout(() => recorder.stop(), 1000 * seconds);
  };
  if (location.search.includes("state=")) history.replaceState(null, "", location.pathname);
  let waiting = false;
  const ages = () => {
    for (const node of strip.querySelectorAll("[data-made]")) {
      const seconds = Math.max(0, Date.now() / 1000 - Number(node.dataset.made));
      node.textContent = seconds < 2 ? "now" : seconds < 90 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`;
    }
  };
  const copy = () => {
    waiting = false;
    mark();
    const colours = document.getElementById("legend-source"), shades = colours ? colours.innerHTML : "";
    if (shades !== (legend.dataset.text || "")) legend.innerHTML = legend.dataset.text = shades;
    const source = document.getElementById("strip-source");
    const text = source ? source.innerHTML : strip.dataset.text || "";
    if (text === strip.dataset.text) return;
    strip.dataset.text = text;
    strip.innerHTML = text;
    ages();
  };
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(copy);
  }).observe(root, { subtree: true, childList: true, characterData: true });
  setInterval(ages, 1000);
  copy();
})();
