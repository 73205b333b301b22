// The page of `longhaul simulate`: policies against capacity, over one trace at one cost profile.

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

function drawOver(id, option) {
  draw(id, {series: option.series,
    tooltip: {trigger: 'axis', formatter: params => tipTable(params[0].name, params.map(one => [one.color, one.seriesName, one.value === undefined ? BLANK : option.format(one.value)]))},
    xAxis: axis({type: 'category', data: option.places, name: option.x, nameGap: 28}),
    yAxis: axis({type: 'value', name: option.y, nameGap: 46, max: option.max, axisLabel: labels(option.format)})});
}

function lines(id, value, more) {
  const along = capacities();
  drawOver(id, {places: along.map(bytes), x: 'capacity', format: v => percent(v, 0), ...more,
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
  drawOver('sizes', {places: sizes.map((_, i) => String(2 ** i)), x: 'pages of 4 KiB, rounded down to a power of two', y: 'share of requests', max: 1, format: v => percent(v, 0), series: [
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
  const error = value => value === undefined ? '' : ` <span class="quiet">±${(100 * value).toFixed(1)}</span>`;
  const cell = one => `<td class="number">${percent(one?.hit_ratio)}${error(one?.hit_ratio_error)}</td><td class="number"><b>${percent(one?.cost_saved)}</b>${error(one?.cost_saved_error)}</td>`;
  return `<table><thead><tr><th></th>${along.map(capacity => `<th class="number" colspan="2">${escaped(bytes(capacity))}</th>`).join('')}<th></th></tr>
    <tr><th>policy</th>${along.map(() => '<th class="number">hits</th><th class="number">saved</th>').join('')}<th>what it does</th></tr></thead><tbody>${
    ranked().map(one => `<tr><td>${escaped(one.name)}${one.bound ? ' <span class="quiet">(bound)</span>' : ''}</td>${along.map(capacity => cell(row(one.name, capacity))).join('')}<td class="quiet">${
      escaped(help.get(one.name) ?? (one.name === 'pfoo-l' ? 'no policy does better, batches aside' : 'knows the future, sizes too'))}</td></tr>`).join('')}</tbody></table>`;
}

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
    trace().sample > 0 ? `Not all of the trace was simulated: each of ${Math.min(8, Math.floor(1 / trace().sample + 1e-9))} samples has ${percent(trace().sample, 2)} of the memory and a cache that is as much smaller; ± is half of a 95 % interval, from how far the samples are apart.` : '',
    trace().skipped > 0 ? `${trace().skipped} bad lines or records of the trace were skipped.` : '',
  ].filter(Boolean).map(text => `<li>${escaped(text)}</li>`).join('');
  drawAll();
}

function pressed(button) {
  if (button.dataset.policy) {
    if (!state.shown.delete(button.dataset.policy)) state.shown.add(button.dataset.policy);
  } else if (button.dataset.name === 'trace') {
    state.trace = +button.dataset.value;
    settle();
  } else if (button.dataset.name === 'profile') {
    state.profile = button.dataset.value;
  }
}

if (asked.has('trace') && data.traces[+asked.get('trace')]) state.trace = +asked.get('trace');
if (data.profiles.some(one => one.name === asked.get('costs'))) state.profile = asked.get('costs');
settle();
begin(pressed, render);
