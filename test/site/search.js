// The search finds pages that have all words. Pages with them in the title or in the file's name come
// first, decision records last.
const up = document.body.dataset.up;
const field = document.getElementById('search');
const found = document.getElementById('found');

field.addEventListener('input', show);
show(); // of what was typed before this script was here

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren(...(words.length ? search(words) : []));
}

function search(words) {
  const hits = [];
  for (const page of pages) {
    const title = page.Title.toLowerCase();
    const text = page.Words.toLowerCase();
    if (!words.every((word) => title.includes(word) || text.includes(word))) continue;
    const named = (word) => (title.includes(word) ? 100 : 0) + (page.URL.includes(word) ? 100 : 0);
    const record = page.URL.includes('/adr/') ? -1000 : 0;
    const weight = words.reduce((sum, word) => sum + named(word) + Math.min(text.split(word).length, 50), record);
    hits.push([weight, page, text.indexOf(words[0])]);
  }
  return hits.sort((a, b) => b[0] - a[0]).slice(0, 12).map(([, page, at]) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = up + page.URL;
    link.textContent = page.Title;
    link.title = page.Words.slice(Math.max(0, at - 60), at + 120);
    item.append(link);
    return item;
  });
}
