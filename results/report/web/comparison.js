// The page of `longhaul compare --out`: the second campaign's figures as multiples of the first's.

const workloads = [...new Set(data.changes.map(one => one.workload))];
const sides = [...new Set(data.figures.map(one => one.side))];
const state = {workload: workloads.includes(asked.get('workload')) ? asked.get('workload') : workloads[0], metric: ''};
const metrics = () => [...new Set(data.figures.filter(one => one.workload === state.workload && one.ratio !== null).map(one => one.metric))];
const headline = () => data.changes.find(one => one.workload === state.workload)?.metric;
const metric = () => metrics().includes(state.metric) ? state.metric : headline();
const shown = () => data.figures.filter(one => one.workload === state.workload && one.metric === metric() && one.ratio !== null);
const colourOf = side => colours[sides.indexOf(side) % colours.length];

const ratio3 = value => value === null || value === undefined ? BLANK : value.toFixed(value >= 10 ? 1 : 3);
const interval = one => one.ci_low === null ? 'too few runs' : `[${ratio3(one.ci_low)}, ${ratio3(one.ci_high)}]`;
const verdict = one => one.agrees === null ? 'undecided' : one.agrees ? 'agrees' : one.ratio > 1 ? 'more' : 'less';

// Cells of one delay and side stand side by side, in the order of the table.
function drawRatios() {
  const cells = shown();
  const delays = [...new Set(cells.map(one => one.delay))].sort((a, b) => a - b);
  const here = [...new Set(cells.map(one => one.side))];
  const places = new Map();
  for (const one of cells) {
    const key = `${one.delay} ${one.side}`;
    places.set(key, [...(places.get(key) ?? []), one]);
  }
  const x = one => {
    const mates = places.get(`${one.delay} ${one.side}`);
    const slot = 0.8 / here.length;
    return delays.indexOf(one.delay) - 0.4 + slot * (here.indexOf(one.side) + (mates.indexOf(one) + 0.5) / mates.length);
  };
  const bounds = cells.flatMap(one => [one.ci_low ?? one.ratio, one.ci_high ?? one.ratio]).map(value => value - 1);
  const span = valueAxis(bounds, false, {include: 0, free: true});
  const step = niceStep(span.max - span.min, 6);
  const decimals = Math.max(0, Math.ceil(-Math.log10(100 * step)));
  const bars = side => intervals(colourOf(side), cells.filter(one => one.side === side && one.ci_low !== null).map(one => [x(one), one.ci_low - 1, one.ci_high - 1]));
  draw('ratios', {
    tooltip: {trigger: 'item', formatter: one => tipTable(one.data.figure.text || state.workload, [
      [one.color, one.data.figure.side, ''], ['', 'first', inUnit(one.data.figure.first, one.data.figure.unit)], ['', 'second', inUnit(one.data.figure.second, one.data.figure.unit)],
      ['', 'second / first', `${ratio3(one.data.figure.ratio)} ${interval(one.data.figure)}`]])},
    xAxis: axis({type: 'value', min: -0.5, max: delays.length - 0.5, interval: 0.5, name: 'delay each way', nameGap: 28, splitLine: {show: false}, axisLine: {show: false},
      axisLabel: labels(value => Number.isInteger(value) && delays[value] !== undefined ? roundTime(delays[value]) : '')}),
    yAxis: axis({type: 'value', min: step * Math.floor(span.min / step), max: step * Math.ceil(span.max / step), interval: step, name: 'second against first', nameGap: 46, axisLine: {show: false}, axisLabel: labels(value => signed(value, decimals))}),
    series: here.flatMap(side => [bars(side), {name: side, type: 'scatter', symbolSize: 8, z: 2, itemStyle: {color: colourOf(side)},
      data: cells.filter(one => one.side === side).map(one => ({value: [x(one), one.ratio - 1], figure: one})),
      markLine: side === here[0] ? {silent: true, symbol: 'none', label: {show: false}, lineStyle: {color: css('--soft-ink'), type: 'solid', width: 1}, data: [{yAxis: 0}]} : undefined}])});
  element('legend').innerHTML = here.map(side => `<span>${swatch(colourOf(side))} ${escaped(side)}</span>`).join('');
  element('caption').textContent = `${state.workload === metric() ? metric() : `${state.workload}: ${metric()}`}, each point a cell, with its 95 % interval`;
}

function changesTable() {
  return `<table><thead><tr><th>workload</th><th>over</th><th>metric</th><th class="number">cells</th><th class="number">second / first, median</th><th class="number">least</th><th class="number">largest</th><th class="number">more</th><th class="number">less</th><th class="number">agree</th><th class="number">undecided</th></tr></thead><tbody>${
    data.changes.map(one => `<tr><td>${escaped(one.workload)}</td><td>${escaped(one.side)}</td><td>${escaped(one.metric)}</td><td class="number">${one.cells}</td><td class="number"><b>${ratio3(one.median)}</b></td><td class="number">${
      ratio3(one.low)}</td><td class="number">${ratio3(one.high)}</td><td class="number">${one.more}</td><td class="number">${one.less}</td><td class="number">${one.cells - one.more - one.less - one.undecided}</td><td class="number">${one.undecided}</td></tr>`).join('')}</tbody></table>`;
}

function figuresTable() {
  return `<table><thead><tr><th>cell</th><th>over</th><th class="number">first</th><th class="number">second</th><th class="number">ratio</th><th class="number">95 % interval</th><th></th></tr></thead><tbody>${
    shown().map(one => `<tr><td>${escaped(one.text)}</td><td>${escaped(one.side)}</td><td class="number">${escaped(inUnit(one.first, one.unit))}</td><td class="number">${escaped(inUnit(one.second, one.unit))}</td><td class="number"><b>${
      ratio3(one.ratio)}</b></td><td class="number">${interval(one)}</td><td>${verdict(one)}${one.paired ? ' <span class="quiet">(pairs)</span>' : ''}</td></tr>`).join('')}</tbody></table>`;
}

function render() {
  element('warnings').innerHTML = data.warnings.map(text => `<li>${escaped(text)}</li>`).join('');
  if (data.changes.length === 0) {
    element('changes').innerHTML = '<p>No cell of both campaigns has a figure to compare.</p>';
    return;
  }
  element('changes').innerHTML = changesTable();
  element('controls').innerHTML = buttons('workload', 'workload', workloads.map(name => [name, name]), state.workload) +
    `<label class="segment">metric <select data-name="metric">${metrics().map(name => `<option${name === metric() ? ' selected' : ''}>${escaped(name)}</option>`).join('')}</select></label>`;
  element('figures').innerHTML = figuresTable();
  element('notes').innerHTML = [
    'Ratios are second / first: above 1 the second campaign’s figure is larger. For a time that is slower, for a throughput faster.',
    'An interval that does not contain 1 is a difference. Intervals of a cell’s figures are taken so wide that all of them hold at once in 95 %; the ones shown are of 95 % each.',
    data.paired > 0 ? `${data.paired} figures were compared in pairs: by a virtual clock a repetition has the same seed in both campaigns, so each is compared with its own other.` : '',
    data.only_first.length + data.only_second.length > 0 ? `${data.only_first.length} cells are in the first campaign only, ${data.only_second.length} in the second only.` : '',
  ].filter(Boolean).map(text => `<li>${escaped(text)}</li>`).join('');
  drawRatios();
}

document.addEventListener('change', event => {
  if (event.target.dataset.name !== 'metric') return;
  state.metric = event.target.value;
  render();
});
begin(button => {
  if (button.dataset.name === 'workload') state.workload = button.dataset.value;
}, render);
