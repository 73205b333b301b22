// What pages that draw one document share: simulate.html, compare.html, history.html.

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const data = JSON.parse(document.getElementById('data').textContent);
const colours = ['#0072b2', '#c85a00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#7a4fbf', '#a8201a', '#5f7a1f', '#8c6d5a'];
const percent = (value, decimals = 1) => value === undefined ? BLANK : `${(100 * value).toFixed(decimals)} %`;
const element = id => document.getElementById(id);

// ECharts' own tooltips would colour by style attributes, which the page's policy does not admit.
const swatch = colour => `<svg class="swatch" width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="${escaped(colour)}"/></svg>`;
const tipTable = (head, rows) => `<div class="tip"><div class="head">${escaped(head)}</div><table>${rows.map(([colour, name, value]) =>
  `<tr><td>${colour ? swatch(colour) + ' ' : ''}${escaped(name)}</td><td class="number">${escaped(value)}</td></tr>`).join('')}</table></div>`;

const charts = {};
const axis = more => ({axisLine: {show: true, lineStyle: {color: css('--line')}}, axisTick: {show: false}, axisLabel: {color: css('--soft-ink'), fontSize: 12},
  splitLine: {lineStyle: {color: css('--grid')}}, nameTextStyle: {color: css('--soft-ink'), fontSize: 12.5}, nameLocation: 'middle', ...more});
const labels = format => ({color: css('--soft-ink'), fontSize: 12, formatter: format});

// `option`: of ECharts, its axes made by axis(); its tooltip's trigger and formatter.
function draw(id, option) {
  charts[id] ??= echarts.init(element(id), null, {renderer: 'svg'});
  charts[id].setOption({animation: false, backgroundColor: 'transparent', aria: {enabled: true}, textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
    grid: {left: 62, right: 16, top: 14, bottom: 46}, ...option,
    tooltip: {confine: true, backgroundColor: css('--page'), borderColor: css('--line'), textStyle: {color: css('--ink'), fontSize: 13}, ...option.tooltip}}, true);
}

const signed = (value, decimals = 1) => `${value > 0 ? '+' : ''}${(100 * value).toFixed(decimals)} %`;

// Vertical bars behind points: each of `bars` is [x, low, high].
const intervals = (colour, bars) => ({type: 'custom', silent: true, z: 1, data: bars, renderItem: (params, api) => {
  const [x, low] = api.coord([api.value(0), api.value(1)]), [, high] = api.coord([api.value(0), api.value(2)]);
  return {type: 'line', shape: {x1: x, y1: low, x2: x, y2: high}, style: {stroke: colour, lineWidth: 1.6, opacity: 0.65}};
}});

const buttons = (name, label, choices, chosen) => `<span class="segment">${label}<span class="buttons">${choices.map(([value, text]) =>
  `<button type="button" data-name="${name}" data-value="${escaped(value)}" aria-pressed="${String(value) === String(chosen)}">${escaped(text)}</button>`).join('')}</span></span>`;

// `page.html#trace=1&dark` opens like that.
const asked = new Map(decodeURIComponent(location.hash.slice(1)).split('&').map(text => text.split('=')));

// Draws the page, and again after each press of a button: `pressed` has the button.
function begin(pressed, render) {
  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.id === 'theme') document.documentElement.dataset.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    else pressed(button);
    render();
  });
  window.addEventListener('resize', () => Object.values(charts).forEach(chart => chart.resize()));
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = asked.has('dark') || (dark && !asked.has('light')) ? 'dark' : 'light';
  render();
}
