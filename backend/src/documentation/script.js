// Applies the theme that the reader chose on the pages of the app, and searches the documentation.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem('axioscope-theme');
  } catch {
    // This browser stores nothing.
  }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();

addEventListener('DOMContentLoaded', async () => {
  const field = document.querySelector('[role=search] input');
  addEventListener('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest('input, textarea, select')) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  const list = document.querySelector('#search-results');
  if (!list) return;
  const status = document.querySelector('#search-status');
  const links = () => [...list.querySelectorAll('a')];
  const move = event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = links().indexOf(document.activeElement);
    if (!step || (from < 0 && (step < 0 || event.target !== field))) return;
    event.preventDefault();
    (links()[from + step] ?? (step < 0 ? field : links()[from]))?.focus();
  };
  addEventListener('keydown', move);
  field.form.addEventListener('submit', event => {
    event.preventDefault();
    links()[0]?.focus();
  });
  field.value = new URLSearchParams(location.search).get('q')?.slice(0, field.maxLength) ?? '';
  field.focus();

  const MOST = 50;
  const sections = await fetch(list.dataset.index).then(it => it.json()).catch(() => null);
  const show = () => {
    const query = field.value.trim();
    history.replaceState(null, '', query ? `?${new URLSearchParams({ q: query })}` : location.pathname);
    const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    // A word matches the beginning of words.
    const patterns = words.map(it => new RegExp(`(?<![\\p{L}\\p{N}])${it}`, 'giu'));
    const count = (text, pattern) => text.match(pattern)?.length ?? 0;
    const score = it => patterns.reduce((sum, pattern) => {
      const found = 10 * Math.min(count(it.heading, pattern), 1)
        + 3 * Math.min(count(it.page, pattern), 1) + Math.min(count(it.text, pattern), 5);
      return sum && found ? sum + found : 0;
    }, words.length ? 1 : 0);
    const found = (sections ?? []).map(it => [score(it), it]).filter(it => it[0] > 0);
    found.sort((a, b) => b[0] - a[0]);
    const any = new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')}))`, 'giu');
    const marked = text => text.split(any).map((part, at) => {
      const node = document.createElement(at % 2 ? 'mark' : 'span');
      node.textContent = part;
      return node;
    });
    list.replaceChildren(...found.slice(0, MOST).map(([, it]) => {
      const [item, link, text] = ['li', 'a', 'p'].map(name => document.createElement(name));
      link.href = it.href;
      link.append(...marked(it.heading === it.page ? it.page : `${it.page}: ${it.heading}`));
      const from = it.text.lastIndexOf(' ', Math.max(it.text.search(any) - 80, 0)) + 1;
      const part = it.text.slice(from, from + 240);
      text.append(from ? '… ' : '', ...marked(part), part.length === 240 ? ' …' : '');
      item.append(link, text);
      return item;
    }));
    const counted = found.length === 1 ? '1 section' : `${found.length} sections`;
    status.textContent = !sections ? 'The documentation could not be loaded. Reload the page.'
      : !words.length ? 'Type words to search for. Arrow keys move through the results.'
      : !found.length ? `Nothing found for “${query}”. Try fewer or shorter words.`
      : found.length > MOST ? `${counted}; the first ${MOST} are shown` : counted;
  };
  field.addEventListener('input', show);
  show();
});
