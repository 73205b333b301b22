// The papers' claims: verdicts, what they rest on, and each plot in the shape of the paper's figure.

const VERDICT_CLASS = {'holds': 'holds', 'does not hold': 'fails', 'not decidable here': 'open'};
const heard = () => data.claims.filter(claim => claim.findings.length);

function renderClaims() {
  const section = document.getElementById('claims-section');
  section.hidden = !heard().length;
  if (section.hidden) return;
  const silent = data.claims.filter(claim => !claim.findings.length).map(claim => claim.id);
  const verdict = finding => `<span class="verdict ${VERDICT_CLASS[finding.verdict]}">${escaped(finding.group)}: ${escaped(finding.verdict)}</span>`;
  html('claims', heard().map(claim => `<details class="claim" id="claim-${claim.id}" data-claim="${claim.id}">
    <summary><b>${escaped(claim.id)}</b> <span class="verdicts">${claim.findings.map(verdict).join(' ')}</span> ${escaped(claim.statement)}</summary>
    <div class="two"><div>
      ${claim.findings.map(finding => `<p>${verdict(finding)} ${escaped(finding.reason)}.${processorsText(finding)}</p>`).join('')}
      <div class="scroll"><table><thead><tr><th></th><th>at</th><th>ratio</th><th>is</th><th>95 % interval</th></tr></thead><tbody>${claim.findings.flatMap(finding => finding.evidence.map(one =>
    `<tr><td>${escaped(finding.group)}</td><td>${escaped(one.at)}</td><td>${escaped(one.what)}</td><td class="number">${ratioText(one.ratio)}</td><td class="number">${one.low === undefined ? 'too few runs' : `${ratioText(one.low)} – ${ratioText(one.high)}`}</td></tr>`)).join('')}</tbody></table></div>
      <p class="quiet small">Holds when ${escaped(claim.criterion)}. ${escaped(claim.source)}.</p>
    </div><figure><figcaption>${escaped(figureName(claim))}</figcaption><div id="figure-${claim.id}" class="chart"></div></figure></div></details>`).join('') +
    `<p class="quiet small">${escaped(data.verdict_error)}</p>` + (silent.length ? `<p class="quiet small">This campaign has no cells that speak of ${silent.join(', ')}.</p>` : ''));
}

// What it cost: from the least to the most of the cells' medians.
const sharesText = use => {
  const [low, high] = [use.low, use.high].map(share => share.toFixed(0));
  return `${low === high ? low : `${low} – ${high}`} %`;
};
const processorsText = finding => !finding.processors.length ? '' : ` <span class="quiet small">Processors busy: ${finding.processors.map(one =>
  `${escaped(one.who)} ${sharesText(one)}${one.polling ? ` (polling ${sharesText(one.polling)})` : ''}`).join(', ')}.</span>`;

const figureName = claim => `${specOf(`${claim.workload}/${claim.metric}`).name.replace(/_/g, ' ')} against ${claim.x === 'delay' ? 'one-way delay' : claim.x}` +
  (claim.findings.some(finding => finding.cells.some(cell => expectedOf(byId.get(cell.id), `${claim.workload}/${claim.metric}`) !== null)) ? '; dotted: expected' : '');

// A series that differs in conditions, too (a protocol, a delay beside the axis), is a line each.
function claimLines(claim, cells) {
  const conditionsOf = cell => ({...cell.conditions, ...(claim.x === 'delay' ? {} : {delay: roundTime(cell.delay)})});
  const names = unique(cells.flatMap(cell => Object.keys(conditionsOf(cell)))).filter(name => name !== claim.x && unique(cells.map(cell => conditionsOf(cell)[name])).length > 1);
  const spelt = (name, value) => ['protocol', 'engine'].includes(name) ? value ?? {protocol: 'eager', engine: 'netem'}[name] : value === undefined ? null : `${name} ${value}`;
  const wordOf = cell => names.map(name => spelt(name, conditionsOf(cell)[name])).filter(Boolean).join(', ');
  const words = unique(cells.map(wordOf)).sort();
  const series = seriesOf(cells);
  const dashes = [[1, 0], [10, 4], [3, 3], [10, 3, 2, 3]];
  // One series under several conditions: the conditions are what the reader tells apart, by colour, and its own name says nothing.
  const styled = (one, at) => words.length < 2 ? one.style
    : series.length > 1 ? {...one.style, dash: dashes[at % dashes.length]}
    : {...one.style, colour: HUES[theme()][at % HUES.light.length][0], hollow: at >= HUES.light.length, dash: dashes[0]};
  return series.flatMap(one => words.filter(word => one.cells.some(cell => wordOf(cell) === word)).map(word => ({
    ...one, label: series.length === 1 && word ? word : one.label + (word ? `, ${word}` : ''), cells: one.cells.filter(cell => wordOf(cell) === word),
    style: styled(one, words.indexOf(word)),
  })));
}

// How many rows the legend takes; the chart grows with what is beyond two.
function legendRows(lines) {
  const room = 480;
  let rows = 1, used = 0;
  for (const one of lines) {
    const width = 50 + 7 * one.label.length;
    if (used > 0 && used + width > room) { rows += 1; used = 0; }
    used += width;
  }
  return rows;
}
const LEGEND_ROWS = 2;

const AXIS_NAMES = {size: 'message size', delay: 'one-way delay asked'};

// Lines along an axis {name, kind}; `places` says where each cell stands on it.
function courseOption(workload, metric, axis, places, lines) {
  const key = `${workload}/${metric}`, spec = specOf(key);
  const cells = lines.flatMap(one => one.cells);
  const values = cells.flatMap(cell => { const m = metricOf(cell, metric); return [m.median, m.low ?? m.median, m.high ?? m.median, expectedOf(cell, key) ?? m.median]; });
  const y = valueAxis(values, spec.unit === 'ns' && values.every(v => v > 0));
  const ticks = unique(cells.map(cell => places.get(cell.id))).sort((a, b) => a - b);
  const x = axis.kind === 'size' ? {...valueAxis(ticks, true, {pad: 0.15}), ticks} : delayAxis(ticks, true);
  const series = lines.flatMap(one => lineAlong(one, x, y, {
    place: cell => places.get(cell.id), metric: cell => metricOf(cell, metric), theory: cell => expectedOf(cell, key)}));
  const name = AXIS_NAMES[axis.name] ?? axis.name.replace(/_/g, ' ');
  return {...frame(x, y, {
    xName: axis.kind === 'duration' ? `${name} [ms]` : name, yName: spec.name.replace(/_/g, ' ') + (spec.unit === 'ns' || spec.unit === '1' ? '' : ` [${spec.unit}]`),
    xFormat: axis.kind === 'duration' ? milliseconds : value => axisText(axis, value), yFormat: value => inUnit(value, spec.unit, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: seriesTip(spec, key, cell => `${axis.name} ${axisText(axis, places.get(cell.id))}`),
  }), series, legend: {show: true, bottom: 0, textStyle: {color: css('--ink')}, data: lines.map(one => one.label)}, grid: {left: 72, right: 18, top: 14, bottom: 60 + 18 * legendRows(lines)}};
}

function claimOption(claim) {
  const places = new Map(claim.findings.flatMap(finding => finding.cells.map(cell => [cell.id, cell.x])));
  const cells = [...places.keys()].map(id => byId.get(id)).filter(cell => cell && metricOf(cell, claim.metric));
  return courseOption(claim.workload, claim.metric, {name: claim.x, kind: claim.kind}, places, claimLines(claim, cells));
}

// A chart with its legend below: the more rows that has, the higher the element.
function drawCourse(id, option, height) {
  document.getElementById(id).style.height = `${height + Math.max(0, option.grid.bottom - 60 - 18 * LEGEND_ROWS)}px`;
  draw(id, option);
}

// Drawn when opened: a hidden element has no size.
function drawClaims() {
  for (const element of document.querySelectorAll('details.claim[open]')) {
    const claim = data.claims.find(one => one.id === element.dataset.claim);
    drawCourse(`figure-${claim.id}`, claimOption(claim), 360);
  }
}
document.addEventListener('toggle', event => {
  if (event.target.classList?.contains('claim')) drawClaims();
}, true);
