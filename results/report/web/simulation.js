// The page of `longhaul simulate`: policies against capacity, over one trace at one cost profile.

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const data = JSON.parse(document.getElementById('data').textContent);
const colours = ['#0072b2', '#c85a00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#7a4fbf', '#a8201a', '#5f7a1f', '#8c6d5a'];
const percent = (value, decimals = 1) => value === undefined ? BLANK : `${(100 * value).toFixed(decimals)} %`;

const element = id => document.getElementById(id);
const state = {trace: 0, profile: data.profiles[0].name, shown: new Set()};
const trace = () => data.traces[state.trace];
const rows = () => trace().rows.filter(row => row.cost_profile === state.profile);
const capacities = () => [...new Set(rows().map(row => row.capacity_bytes).filter(bytes => bytes > 0))].sort((a, b) => a - b);
const policies = () => [...new Set(rows().map(row => row.policy))].map(name => ({name, bound: rows().some(row => row.policy === name && row.bound)}));
const row = (policy, capacity) => rows().find(one => one.policy === policy && (one.capacity_bytes === capacity || one.capacity_bytes === 0));
const last = () => capacities()[capacities().length - 1];
// Over all capacities: where everything fits in, all policies are alike.
const saves = policy => capacities().reduce((sum, capacity) => sum + (row(policy, capacity)?.cost_saved ?? 0), 0);
const ranked = () => policies().sort((a, b) => saves(b.name) - saves(a.name));
const best = () => ranked().find(one => !one.bound).name;

// A policy keeps its colour whatever else is shown.
const everyPolicy = [...new Set(data.traces.flatMap(one => one.rows.map(r => r.policy)))];
function style(policy) {
  const place = everyPolicy.indexOf(policy.name);
  return policy.bound ? {colour: css('--faint'), type: policy.name === 'pfoo-l' ? 'dashed' : 'dotted'}
    : {colour: colours[place % colours.length], type: place < colours.length ? 'solid' : [7, 3]};
}

// At first: what the paper compares, the best, and the limits.
function settle() {
  const names = policies().map(one => one.name);
  const wanted = ['pin-down', 'lru', 'lru-batch', 'mrrc', 'pfoo-l', 'belady-size', best()];
  state.shown = new Set(names.length <= 8 ? names : names.filter(name => wanted.includes(name)));
}

// ECharts' own would colour by style attributes, which the page's policy does not admit.
const tip = format => params => `<div class="tip"><div class="head">${escaped(params[0].name)}</div><table>${params.map(one =>
  `<tr><td><svg class="swatch" width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="${escaped(one.color)}"/></svg> ${escaped(one.seriesName)}</td><td class="number">${
    escaped(one.value === undefined ? BLANK : format(one.value))}</td></tr>`).join('')}</table></div>`;

const charts = {};
function draw(id, option) {
  charts[id] ??= echarts.init(element(id), null, {renderer: 'svg'});
  const ink = css('--soft-ink'), line = css('--line');
  const axis = more => ({axisLine: {show: true, lineStyle: {color: line}}, axisTick: {show: false}, axisLabel: {color: ink, fontSize: 12},
    splitLine: {lineStyle: {color: css('--grid')}}, nameTextStyle: {color: ink, fontSize: 12.5}, nameLocation: 'middle', ...more});
  charts[id].setOption({animation: false, backgroundColor: 'transparent', aria: {enabled: true}, textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
    grid: {left: 62, right: 16, top: 14, bottom: 46},
    tooltip: {trigger: 'axis', confine: true, backgroundColor: css('--page'), borderColor: line, textStyle: {color: css('--ink'), fontSize: 13}, formatter: tip(option.format)},
    xAxis: axis({type: 'category', data: option.places, name: option.x, nameGap: 28}),
    yAxis: axis({type: 'value', name: option.y, nameGap: 46, max: option.max, axisLabel: {color: ink, fontSize: 12, formatter: option.format}}),
    series: option.series}, true);
}

function lines(id, value, more) {
  const along = capacities();
  draw(id, {places: along.map(bytes), x: 'capacity', format: v => percent(v, 0), ...more,
    series: policies().filter(one => state.shown.has(one.name)).map(one => {
      const {colour, type} = style(one);
      return {name: one.name, type: 'line', data: along.map(capacity => value(row(one.name, capacity))), symbol: one.bound ? 'none' : 'circle', symbolSize: 6,
        itemStyle: {color: colour}, lineStyle: {color: colour, type, width: one.bound ? 1.6 : 2.2}, emphasis: {disabled: true}};
    })});
}

function drawSizes() {
  const {sizes, requests} = trace();
  let sum = 0;
  const cumulative = sizes.map(count => (sum += count) / requests);
  draw('sizes', {places: sizes.map((_, i) => String(2 ** i)), x: 'pages of 4 KiB, rounded down to a power of two', y: 'share of requests', max: 1, format: v => percent(v, 0), series: [
    {name: 'of this size', type: 'bar', data: sizes.map(count => count / requests), itemStyle: {color: css('--accent')}, barMaxWidth: 36},
    {name: 'up to it', type: 'line', data: cumulative, symbolSize: 6, itemStyle: {color: css('--soft-ink')}, lineStyle: {color: css('--soft-ink'), width: 2}}]});
}

function drawAll() {
  const reference = row('mrrc', last()) ?? row(best(), last());
  element('cost-title').innerHTML = `Cost, as a multiple of ${escaped(reference.policy)} at ${escaped(bytes(last()))} <span class="quiet">(figure 11)</span>`;
  drawSizes();
  lines('hits', one => one?.hit_ratio, {y: 'hits'});
  lines('cost', one => one && one.cost_us / reference.cost_us, {y: 'cost', format: v => ratioText(v)});
  lines('saved', one => one?.cost_saved, {y: 'saved'});
}

function table() {
  const along = capacities();
  const help = new Map(data.policies.map(one => [one.name, one.help]));
  const cell = one => `<td class="number">${percent(one?.hit_ratio)}</td><td class="number"><b>${percent(one?.cost_saved)}</b></td>`;
  return `<table><thead><tr><th></th>${along.map(capacity => `<th class="number" colspan="2">${escaped(bytes(capacity))}</th>`).join('')}<th></th></tr>
    <tr><th>policy</th>${along.map(() => '<th class="number">hits</th><th class="number">saved</th>').join('')}<th>what it does</th></tr></thead><tbody>${
    ranked().map(one => `<tr><td>${escaped(one.name)}${one.bound ? ' <span class="quiet">(bound)</span>' : ''}</td>${along.map(capacity => cell(row(one.name, capacity))).join('')}<td class="quiet">${
      escaped(help.get(one.name) ?? (one.name === 'pfoo-l' ? 'no policy does better, batches aside' : 'knows the future, sizes too'))}</td></tr>`).join('')}</tbody></table>`;
}

const buttons = (name, label, choices, chosen) => `<span class="segment">${label}<span class="buttons">${choices.map(([value, text]) =>
  `<button type="button" data-name="${name}" data-value="${escaped(value)}" aria-pressed="${String(value) === String(chosen)}">${escaped(text)}</button>`).join('')}</span></span>`;

function render() {
  const along = capacities(), middle = along[Math.floor((along.length - 1) / 2)];
  const lru = best() !== 'lru' && row('lru', middle);
  element('answer').textContent = `On ${trace().name} (${grouped(String(trace().requests))} requests), at the costs of ${state.profile}: ${best()} saves most over all capacities, ${
    percent(row(best(), middle).cost_saved)} of the cost at ${bytes(middle)}${lru ? ` where plain LRU saves ${percent(lru.cost_saved)}` : ''}.`;
  element('controls').innerHTML = buttons('trace', 'trace', data.traces.map((one, i) => [i, one.name]), state.trace) +
    buttons('profile', 'costs', data.profiles.map(one => [one.name, one.name]), state.profile);
  element('legend').innerHTML = policies().map(one => {
    const {colour, type} = style(one);
    return `<button type="button" data-policy="${escaped(one.name)}" aria-pressed="${state.shown.has(one.name)}"><svg class="swatch" width="24" height="10" aria-hidden="true"><line x1="1" y1="5" x2="23" y2="5" stroke="${
      colour}" stroke-width="2.4" ${type === 'solid' ? '' : `stroke-dasharray="${Array.isArray(type) ? type.join(' ') : type === 'dashed' ? '5 4' : '1.5 3'}"`}/></svg>${escaped(one.name)}</button>`;
  }).join('');
  element('rows').innerHTML = table();
  const cost = data.profiles.find(one => one.name === state.profile);
  element('notes').innerHTML = [
    `A request that is registered already, by one region or by several, is a hit. Where it is in part, only the gaps are registered.`,
    `Registering p pages costs ${cost.registering.per_page} p + ${cost.registering.per_call} µs, deregistering ${cost.deregistering.per_page} p + ${cost.deregistering.per_call} µs (${cost.name}). Policies that evict in batches deregister a batch in one call; the others pay for each region.`,
    `Cost saved: share of what it costs to register and deregister for each request.`,
    trace().bounded ? `belady-size knows the future and is good, not optimal; no policy does better than pfoo-l (PFOO-L, Berger and others 2018), but that batches save calls that it counts.`
      : `Requests of this trace overlap one another: the bounds of caches of whole objects do not hold for it and are left out.`,
    trace().skipped > 0 ? `${trace().skipped} bad lines or records of the trace were skipped.` : '',
  ].filter(Boolean).map(text => `<li>${escaped(text)}</li>`).join('');
  drawAll();
}

document.addEventListener('click', event => {
  const button = event.target.closest('button');
  if (!button) return;
  if (button.dataset.policy) {
    if (!state.shown.delete(button.dataset.policy)) state.shown.add(button.dataset.policy);
  } else if (button.dataset.name === 'trace') {
    state.trace = +button.dataset.value;
    settle();
  } else if (button.dataset.name === 'profile') {
    state.profile = button.dataset.value;
  } else if (button.id === 'theme') {
    document.documentElement.dataset.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  }
  render();
});
window.addEventListener('resize', () => Object.values(charts).forEach(chart => chart.resize()));
// `simulate.html#trace=1&costs=mietke` opens like that.
const asked = new Map(decodeURIComponent(location.hash.slice(1)).split('&').map(text => text.split('=')));
if (asked.has('trace') && data.traces[+asked.get('trace')]) state.trace = +asked.get('trace');
if (data.profiles.some(one => one.name === asked.get('costs'))) state.profile = asked.get('costs');
const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.dataset.theme = asked.has('dark') || (dark && !asked.has('light')) ? 'dark' : 'light';
settle();
render();
