// The figures of the campaign, what is selected, and how a series looks.

const data = JSON.parse(document.getElementById('data').textContent);
const byId = new Map(data.cells.map(cell => [cell.id, cell]));
const conditionKey = conditions => JSON.stringify(Object.entries(conditions).sort());
const conditionText = conditions => Object.entries(conditions).map(([name, value]) => `${name} ${value}`).join(', ') || 'as by default';
const unique = list => [...new Set(list)];

// What runs by itself crosses no path: it is drawn along its own axis, a line for each combination of the axes that vary beside it.
const workloadOf = name => data.workloads.find(one => one.name === name);
const isAlone = cell => workloadOf(cell.workload)?.alone ?? false;
const crossing = data.cells.filter(cell => cell.transport && !isAlone(cell));
const axisText = (axis, value) => ({duration: roundTime, size: bytes, fraction: ppm => `${ppm / 1e4} %`})[axis.kind]?.(value) ?? String(value);
// What a table says of a cell beside its series.
const settingsOf = cell => isAlone(cell) && cell.along !== null
  ? {[workloadOf(cell.workload).surface.name]: axisText(workloadOf(cell.workload).surface, cell.along), ...cell.conditions} : cell.conditions;

const metricOf = (cell, name) => cell.metrics.find(metric => metric.name === name);

const measured = data.cells.filter(cell => cell.usable > 0 && cell.metrics.length > 0);
// Those that are but details of a figure of their own are not offered.
const isDetail = (workload, name) => workloadOf(workload)?.metrics.find(one => one.name === name)?.detail ?? false;
const metrics = unique(measured.flatMap(cell => cell.metrics.filter(metric => !isDetail(cell.workload, metric.name)).map(metric => `${cell.workload}/${metric.name}`)));
const specOf = key => {
  if (key === null) return {name: 'result', unit: '', better: 'neither', help: ''};
  const [workload, name] = key.split('/');
  const spec = data.workloads.find(one => one.name === workload)?.metrics.find(one => one.name === name);
  return spec ?? {name, unit: measured.flatMap(cell => cell.metrics).find(metric => metric.name === name)?.unit ?? '', better: 'neither', help: ''};
};

const headline = data.pairs.length ? `${data.pairs[0].workload}/${data.pairs[0].metric}`
  : data.workloads.flatMap(w => w.metrics.map(m => `${w.name}/${m.name}`)).find(key => metrics.includes(key)) ?? metrics[0] ?? null;
const state = {
  metric: headline, size: null, conditions: null, x: 'log', y: 'log', part: 'all', delay: null, view: 'percentiles', cpu: 'cpu', hidden: new Set(),
};

// Cells with a figure of the selected metric; the selections narrow each other in this order.
const ofMetric = () => measured.filter(cell => state.metric && cell.workload === state.metric.split('/')[0] && metricOf(cell, state.metric.split('/')[1]));
const ofConditions = () => ofMetric().filter(cell => conditionKey(cell.conditions) === state.conditions);
const sizes = () => unique(ofConditions().map(cell => cell.size)).sort((a, b) => a - b);
const placeOf = cell => isAlone(cell) ? cell.along : cell.delay;
const delays = () => unique(ofConditions().map(placeOf)).sort((a, b) => a - b);
// The axis of the selected metric's workload where that runs by itself; else null.
const ownAxis = () => { const one = workloadOf(state.metric?.split('/')[0]); return one?.alone ? one.surface ?? null : null; };
const selected = cell => metricOf(cell, state.metric.split('/')[1]);

// What a cell's headline should be by theory and by its twin without delay (for a throughput: what its windows let through).
const isHeadline = key => data.workloads.find(one => one.name === key.split('/')[0])?.metrics[0].name === key.split('/')[1];
const expectedOf = (cell, key) => isHeadline(key) ? cell.expected ?? null : null;

// What the transport adds: the latency less the path's achieved delay (half of both directions, as the latency is half of a
// round trip; all of it for a read, which is a whole one). The intervals stay those of the latency.
const pathOf = cell => cell.forward.achieved === null || cell.back.achieved === null ? null
  : (cell.forward.achieved + cell.back.achieved) / (cell.op === 'read' ? 1 : 2);
const partable = () => state.metric === 'latency/latency' && ofConditions().every(cell => pathOf(cell) !== null) && delays().length > 1;
function drawn(cell) {
  const metric = selected(cell);
  if (state.part === 'all' || !partable()) return metric;
  const path = pathOf(cell);
  return {...metric, median: metric.median - path, ...(metric.low === undefined ? {} : {low: metric.low - path, high: metric.high - path})};
}

// Where there is most to compare.
function richest(keys) {
  const count = (items, key) => items.filter(item => conditionKey(item.conditions) === key).length;
  const pairs = pairsOf(state.metric), cells = ofMetric();
  const weights = new Map(keys.map(key => [key, 1000 * count(pairs, key) + count(cells, key)]));
  return keys.sort((a, b) => weights.get(b) - weights.get(a))[0] ?? null;
}

function settle() {
  const keys = unique(ofMetric().map(cell => conditionKey(cell.conditions)));
  if (!keys.includes(state.conditions)) state.conditions = richest(keys);
  if (!sizes().includes(state.size)) state.size = sizes()[0] ?? null;
  if (!delays().includes(state.delay)) state.delay = delays()[0] ?? null;
}

// Series: one transport on one provider's network interface with one operation.
const seriesKey = cell => [cell.transport, cell.provider, cell.rival, cell.op, cell.variant].join('|');
const transportOf = cell => data.transports[cell.transport] ?? {};
const ownerOf = cell => transportOf(cell).any_link ? (cell.rival || cell.provider) : cell.provider;
const owners = unique(data.cells.map(ownerOf).filter(Boolean));
const lonely = unique(data.cells.filter(isAlone).map(seriesKey));
const challengers = unique(data.cells.map(cell => cell.transport).filter(name => name && !data.transports[name]?.baseline));
const ops = unique(data.cells.filter(cell => cell.op).map(cell => cell.op));

// The ways in which a workload was run over one link: by operation, and by what only such a transport has (design, strategy).
const wayOf = cell => `${cell.op || ''}|${cell.variant || ''}`;
const ways = {};
for (const cell of data.cells.filter(cell => cell.transport && !data.transports[cell.transport]?.baseline))
  ways[cell.workload] = unique([...(ways[cell.workload] || []), wayOf(cell)]);

// Okabe and Ito's palette, which readers with any kind of colour vision tell apart; a pair shares its hue, line style and
// marker tell RDMA from sockets without any colour.
const HUES = {
  light: [['#0072b2', '#4a9fd0'], ['#c84e00', '#dc8d00'], ['#00875f', '#4db592'], ['#a8508a', '#cc8fb8'], ['#5b4fa2', '#9089c8'], ['#444444', '#888888']],
  dark: [['#4fa8e8', '#8ccaf2'], ['#ff8a3c', '#f5bb4a'], ['#3ecf9e', '#8fe0c4'], ['#e291c4', '#efbedc'], ['#a99cf0', '#cdc5f8'], ['#dddddd', '#aaaaaa']],
};
const MARKERS = ['circle', 'triangle', 'rect', 'diamond', 'pin', 'arrow'];
const theme = () => document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Lines of what runs by itself differ in nothing but their axes: each gets a colour, then a dash, of its own.
function styleAlone(cell) {
  const at = lonely.indexOf(seriesKey(cell)), hues = [0, 1].flatMap(shade => HUES[theme()].map(hue => hue[shade]));
  return {colour: hues[at % hues.length], dash: at < hues.length ? 'solid' : [6, 4], hollow: false, marker: MARKERS[at % MARKERS.length], size: 7};
}

function styleOf(cell) {
  if (isAlone(cell)) return styleAlone(cell);
  const hue = HUES[theme()][Math.max(0, owners.indexOf(ownerOf(cell))) % HUES.light.length];
  const sockets = transportOf(cell).baseline === true;
  // A third transport on the same link has its marker and dash behind those of the others.
  const own = ways[cell.workload] || [];
  const way = Math.max(0, own.indexOf(wayOf(cell))) + (sockets ? 0 : challengers.indexOf(cell.transport) * Math.max(1, own.length));
  return {
    colour: hue[sockets ? 1 : 0],
    dash: sockets ? [6, 4] : way === 0 ? 'solid' : [14, 3 + way],
    hollow: sockets,
    marker: sockets ? 'diamond' : MARKERS[way % MARKERS.length],
    size: sockets ? 9 : 7,
  };
}

function labelOf(cell) {
  if (transportOf(cell).baseline) return transportOf(cell).title + (cell.rival ? ` on ${cell.rival}’s netdev` : '') + (cell.variant ? `, ${cell.variant}` : '');
  if (cell.transport) return transportOf(cell).title + (transportOf(cell).any_link ? (cell.rival ? ` on ${cell.rival}’s netdev` : '') : ` ${cell.provider}`) + (cell.op && ops.length > 1 ? ` ${cell.op}` : '') + (cell.variant ? `, ${cell.variant}` : '') + (cell.soft ? ' (software)' : '');
  return cell.variant || cell.workload;
}

// [{key, label, style, cells}] of the given cells, RDMA and its sockets side by side.
function seriesOf(cells) {
  const found = new Map();
  for (const cell of cells) {
    const key = seriesKey(cell);
    if (!found.has(key)) found.set(key, {key, label: labelOf(cell), style: styleOf(cell), owner: owners.indexOf(ownerOf(cell)), first: cell, cells: []});
    found.get(key).cells.push(cell);
  }
  return [...found.values()].sort((a, b) => a.owner - b.owner || a.first.transport.localeCompare(b.first.transport) || a.label.localeCompare(b.label));
}
const shown = series => series.filter(one => !state.hidden.has(one.key));

const pairsOf = metric => data.pairs.filter(pair => `${pair.workload}/${pair.metric}` === metric);
// A pair's conditions hold all axes but the size; so do a cell's.
const selectedPairs = () => pairsOf(state.metric).filter(pair => pair.size === state.size && conditionKey(pair.conditions) === state.conditions);
