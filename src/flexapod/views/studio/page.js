// What viser's page lacks: keys of a focused slider stay with it, boxes wide enough for their digits, and a strip of numbers below
// the view that never goes away. The strip copies what the server writes into #strip-source and counts the age of each number.
(() => {
  if (window.flexapodStudio) return;
  window.flexapodStudio = true;
  const style = document.createElement("style");
  style.textContent = `
    .mantine-Slider-root + .mantine-NumberInput-root { width: 4.9rem !important; }
    .mantine-NumberInput-input, .mantine-Select-input, .mantine-Text-root { letter-spacing: normal !important; }
    #root { height: calc(100vh - 62px) !important; overflow: hidden; position: relative; }
    #root > * { height: 100% !important; }
    #fp-strip { position: fixed; left: 0; right: 0; bottom: 0; height: 62px; background: #fbfcfd; border-top: 1px solid #cbd2d9;
      z-index: 90; display: flex; align-items: center; gap: 18px; padding: 0 14px; overflow-x: auto; overflow-y: hidden;
      font: 12.5px/1.3 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; color: #1f2933; font-variant-numeric: tabular-nums; }
    #fp-strip .lost { color: #8f1414; }
    body.fp-dark #fp-strip { background: #1b2026; color: #e8edf2; border-color: #3a434d; }
  `;
  document.head.append(style);
  const root = document.getElementById("root");
  const own = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"]);
  for (const kind of ["keydown", "keyup"])
    root.addEventListener(kind, (event) => {
      if (own.has(event.key) && event.target.closest && event.target.closest("[role=slider]")) event.stopPropagation();
    });
  const strip = document.createElement("div");
  strip.id = "fp-strip";
  document.body.append(strip);
  let waiting = false;
  const ages = () => {
    for (const node of strip.querySelectorAll("[data-made]")) {
      const seconds = Math.max(0, Date.now() / 1000 - Number(node.dataset.made));
      node.textContent = seconds < 2 ? "now" : seconds < 90 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`;
    }
  };
  const copy = () => {
    waiting = false;
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
