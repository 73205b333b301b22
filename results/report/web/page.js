// Puts the page together: controls, theme, drawing.

const charts = new Map();

function draw(id, option, why) {
  const element = document.getElementById(id);
  if (!option) {
    charts.get(id)?.dispose();
    charts.delete(id);
    element.innerHTML = `<p class="quiet">${escaped(why)}</p>`;
    return;
  }
  if (!charts.has(id)) {
    element.innerHTML = '';
    charts.set(id, echarts.init(element, null, {renderer: 'svg'}));
  }
  charts.get(id).setOption(option, {notMerge: true});
  scalable(element);
}

// Without a view box the drawing could not be scaled to paper.
function scalable(element) {
  const svg = element.querySelector('svg');
  svg?.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
}

// One labelled row of buttons, or a list where there are many.
function segment(label, name, options, value, text) {
  if (options.length < 2) return '';
  const body = options.length <= 6
    ? `<span class="buttons" role="group" aria-label="${escaped(label)}">${options.map((option, i) => `<button type="button" data-name="${name}" data-index="${i}" aria-pressed="${option === value}">${escaped(text(option))}</button>`).join('')}</span>`
    : `<select data-name="${name}">${options.map((option, i) => `<option value="${i}" ${option === value ? 'selected' : ''}>${escaped(text(option))}</option>`).join('')}</select>`;
  return `<span class="segment">${escaped(label)} ${body}</span>`;
}

const word = text => text;
const choices = {
  metric: () => metrics,
  conditions: () => unique(ofMetric().map(cell => conditionKey(cell.conditions))),
  size: sizes,
  delay: delays,
  x: () => ['log', 'linear'],
  y: () => ['log', 'linear'],
  part: () => partable() ? ['all', 'less the delay'] : ['all'],
  view: () => ['percentiles', 'cumulative'],
  cpu: cpuMeasures,
};

function renderControls() {
  const spelt = key => conditionText(Object.fromEntries(JSON.parse(key)));
  const named = key => metrics.filter(other => specOf(other).name === specOf(key).name).length > 1 ? key.replace('/', ' ') : specOf(key).name;
  html('controls', segment('Metric', 'metric', metrics, state.metric, named) +
    segment('Message size', 'size', sizes(), state.size, bytes) +
    segment('Conditions', 'conditions', choices.conditions(), state.conditions, spelt) +
    segment('Latency', 'part', choices.part(), state.part, word) +
    segment(`${ownAxis()?.name ?? 'Delay'} axis`, 'x', choices.x(), state.x, word) + segment('Value axis', 'y', choices.y(), state.y, word));
  const delay = segment(ownAxis()?.name ?? 'One-way delay', 'delay', delays(), state.delay, value => ownAxis() ? axisText(ownAxis(), value) : roundTime(value));
  html('size-controls', delay);
  html('distribution-controls', delay + segment('View', 'view', choices.view(), state.view, word));
}

function render() {
  settle();
  renderControls();
  renderMatrix();
  renderLegend();
  const spec = specOf(state.metric);
  const size = state.size === null ? '' : `, ${bytes(state.size)}`;
  const own = ownAxis();
  html('latency-title', `${escaped(spec.name[0].toUpperCase() + spec.name.slice(1).replace(/_/g, ' '))} against ${escaped(own?.name ?? 'delay')}<span class="quiet">${escaped(size)}; bands: 95 % over runs${ofConditions().some(cell => cell.size === state.size && expectedOf(cell, state.metric) !== null) ? '; dotted: expected' : ''}</span>`);
  const found = selectedPairs().flatMap(pair => pair.crossovers).length;
  html('ratio-title', `Sockets against RDMA<span class="quiet">${escaped(size)}; ${!selectedPairs().length ? 'nothing to compare' : found ? 'dotted: where the verdict changes' : 'crossover: none found'}</span>`);
  // Nothing to be compared with: the plot has the room for itself.
  const ratio = document.getElementById('ratio').closest('figure');
  ratio.hidden = own !== null;
  ratio.parentElement.classList.toggle('two', own === null);
  charts.get('latency')?.resize();
  draw('latency', ofConditions().length ? latencyOption() : null, 'No cell has been measured yet.');
  draw('ratio', ratioOption(), 'No pair of RDMA and sockets to compare.');
  document.getElementById('more').hidden = !ofConditions().length;
  const several = sizes().length > 1;
  document.getElementById('size-figure').hidden = !several;
  if (several) draw('size', sizeOption());
  // What is computed has none.
  document.getElementById('distribution-figure').hidden = own !== null && !ofConditions().some(cell => selected(cell).quantiles);
  draw('distribution', distributionOption(), 'No distribution was kept for this selection.');
  renderSections();
  document.body.dataset.rendered = [...charts.keys()].join(' ');
}

function renderAll() {
  renderMarks();
  drawClaims();
  render();
  renderProblems();
  renderCells();
  renderTopology();
  renderProvenance();
  renderNotes();
}

// Of a row of buttons or a list (segment), by its place there.
function choose(name, index) {
  if (name.startsWith('transfer-')) return chooseTransfer(name.slice(9), index);
  state[name] = choices[name]()[index];
  render();
}

document.addEventListener('click', event => {
  const button = event.target.closest('button');
  if (!button) return;
  if (button.dataset.name) {
    choose(button.dataset.name, +button.dataset.index);
  } else if (button.dataset.key) {
    if (!state.hidden.delete(button.dataset.key)) state.hidden.add(button.dataset.key);
    render();
  } else if (button.dataset.column) {
    const column = +button.dataset.column;
    sorting.direction = sorting.column === column ? -sorting.direction : 1;
    sorting.column = column;
    renderCells();
  }
});
document.addEventListener('change', event => {
  const list = event.target.closest('select');
  if (!list) return;
  choose(list.dataset.name, +list.value);
});

const dark = window.matchMedia('(prefers-color-scheme: dark)');
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  renderAll();
}
document.getElementById('theme').addEventListener('click', () => setTheme(theme() === 'dark' ? 'light' : 'dark'));
dark.addEventListener('change', () => setTheme(dark.matches ? 'dark' : 'light'));
window.addEventListener('resize', () => {
  if (window.matchMedia('print').matches) return;
  charts.forEach(chart => {
    chart.resize();
    scalable(chart.getDom());
  });
});
// Paper is white.
let before = null;
window.addEventListener('beforeprint', () => { before = theme(); setTheme('light'); });
window.addEventListener('afterprint', () => setTheme(before ?? 'light'));
// `report.html#dark&size=16384&x=linear` opens like that, whatever the system prefers.
const asked = decodeURIComponent(location.hash.slice(1)).split('&');
for (const [name, value] of asked.map(text => text.split('='))) {
  if (!Object.hasOwn(choices, name)) continue;
  settle();
  const found = choices[name]().find(option => String(option) === value);
  if (found !== undefined) state[name] = found;
}
// `report.html#claim=W3` opens that claim; `#claim=all` every one.
const opened = asked.find(text => text.startsWith('claim='))?.slice(6);
// `report.html#only=figures-section` shows that part of the page alone, for a picture.
const only = asked.find(text => text.startsWith('only='))?.slice(5);
renderClaims();
for (const element of document.querySelectorAll('details.claim'))
  element.open = opened === 'all' || opened === element.dataset.claim;
setTheme(asked.includes('dark') || (dark.matches && !asked.includes('light')) ? 'dark' : 'light');
if (sections.some(one => one.id === only)) {
  document.body.classList.add('only');
  document.getElementById(only).classList.add('chosen');
}
