// Transfers: when each phase was at either end, what a process saves of the critical path, which one to take. Everything
// was decided by the store's statistics; here it is drawn.

const transferCells = (data.transfers?.cells ?? []).map(one => ({...one, cell: byId.get(one.id)}));
const PROTOCOLS = ['typical', 'frrwp', 'frrwp+crw', 'advertised'];
const transferChoice = {};
const TRANSFER_AXES = [
  ['provider', 'Provider', one => one.cell.provider, word => word],
  ['direction', 'Direction', one => one.direction, word => word],
  ['buffers', 'Buffers', one => one.buffers, word => word === 'same' ? 'one' : word],
  ['size', 'Size', one => one.buffers === 'same' ? one.size : null, size => size === null ? 'as they come' : bytes(size)],
  ['strategy', 'Strategy', one => one.strategy, word => word],
  ['delay', 'One-way delay', one => one.cell.delay, roundTime],
  ['application', 'Application', one => one.compute ? `computes ${roundTime(one.compute)}` : one.sleeping ? 'sleeps' : 'polls', word => word],
];

// The axes narrow each other in this order.
function transferOptions(name) {
  let cells = transferCells;
  for (const [axis, , of] of TRANSFER_AXES) {
    const values = unique(cells.map(of)).sort((a, b) => typeof a === 'number' ? a - b : String(a).localeCompare(String(b)));
    if (axis === name) return values;
    cells = cells.filter(one => of(one) === transferChoice[axis]);
  }
  return cells;
}

function settleTransfers() {
  for (const [axis, , of] of TRANSFER_AXES) {
    const values = transferOptions(axis);
    if (values.includes(transferChoice[axis])) continue;
    // Where there is most to compare.
    const weight = value => transferCells.filter(one => of(one) === value).length;
    transferChoice[axis] = axis === 'delay' ? values.find(delay => delay > 0) ?? values[0] : values.slice().sort((a, b) => weight(b) - weight(a))[0];
  }
}

function chooseTransfer(axis, index) {
  transferChoice[axis] = transferOptions(axis)[index];
  renderSections();
}

const moment = (cell, name) => metricOf(cell, name)?.median ?? null;
const protocolHue = protocol => HUES[theme()][Math.max(0, PROTOCOLS.indexOf(protocol)) % HUES.light.length][0];

// Two lanes a process: registrations are bars, messages arrows, the end of the critical path a mark.
function timelineSvg(cells) {
  const left = 92, right = 16, lane = 17, gap = 34, width = 600, top = 8;
  const moments = ({cell}) => ['critical_path', 'at_key_came', 'at_server_registered', 'at_client_registered'].map(name => moment(cell, name) ?? 0);
  const longest = Math.max(...cells.flatMap(moments)) * 1.13 || 1;
  const x = ns => left + (width - left - right) * Math.min(1, Math.max(0, ns / longest));
  const height = top + cells.length * (2 * lane + gap) + 26;
  const ink = css('--ink'), soft = css('--soft-ink'), line = css('--line');
  const text = (at, y, words, more = '', colour = soft) => `<text x="${at}" y="${y}" font-size="11.5" fill="${colour}" ${more}>${escaped(words)}</text>`;
  const rows = cells.map((one, row) => {
    const {cell} = one, hue = protocolHue(one.protocol), write = one.direction === 'write';
    const base = top + row * (2 * lane + gap) + 15, clientY = base + lane / 2, serverY = base + lane * 1.5 + 8;
    const [sourceY, sinkY] = write ? [clientY, serverY] : [serverY, clientY];
    const bar = (from, to, y, who) => from === null || to === null ? ''
      : `<rect x="${x(from)}" y="${y - 6}" width="${Math.max(2, x(to) - x(from))}" height="12" rx="2" fill="${hue}" fill-opacity=".75"><title>${who} registers: ${time(from, 3)} – ${time(to, 3)}</title></rect>`;
    const head = (x1, y1, x2, y2) => {
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
      return `<path d="M${x2} ${y2} L${x2 - 7 * dx + 3 * dy} ${y2 - 7 * dy - 3 * dx} L${x2 - 7 * dx - 3 * dy} ${y2 - 7 * dy + 3 * dx}z" fill="${soft}"/>`;
    };
    const arrow = (from, fromY, to, toY, words, dash = '') => from === null || to === null ? ''
      : `<g><title>${words}: ${time(from, 3)} – ${time(to, 3)}</title><line x1="${x(from)}" y1="${fromY}" x2="${x(to)}" y2="${toY}" stroke="${soft}" stroke-width="1.2" ${dash && `stroke-dasharray="${dash}"`}/>${head(x(from), fromY, x(to), toY)}</g>`;
    const started = moment(cell, 'at_started'), trip = moment(cell, 'start_trip');
    const posted = moment(cell, 'critical_path'), arrived = moment(cell, 'transfer');
    const keyAhead = one.protocol === 'advertised', inStart = one.protocol === 'typical' && !write;
    const mark = posted === null ? '' : `<path d="M${x(posted)} ${sourceY - 7} l6 7 -6 7 -6 -7z" fill="${ink}"><title>the write is posted: ${time(posted, 4)}</title></path>`;
    return text(0, base - 4, one.protocol, 'font-weight="600"', ink) + text(left - 6, clientY + 4, 'client', 'text-anchor="end"') + text(left - 6, serverY + 4, 'server', 'text-anchor="end"') +
      [clientY, serverY].map(y => `<line x1="${left}" y1="${y}" x2="${width - right}" y2="${y}" stroke="${line}"/>`).join('') +
      bar(moment(cell, 'at_client_registering'), moment(cell, 'at_client_registered'), clientY, 'the client') +
      bar(moment(cell, 'at_server_registering'), moment(cell, 'at_server_registered'), serverY, 'the server') +
      arrow(started === null || trip === null ? null : started - trip, clientY, started, serverY, inStart ? 'START with the key' : 'START') +
      (keyAhead || inStart ? '' : arrow(moment(cell, 'at_key_sent'), sinkY, moment(cell, 'at_key_came'), sourceY, 'the key')) +
      arrow(posted, sourceY, arrived, sinkY, 'the data', '3 3') + mark +
      (posted === null ? '' : text(Math.min(x(posted) + 10, width - right - 46), sourceY - 7, time(posted, 3)));
  });
  const ticks = linearTicks(0, longest, 6).filter(tick => tick <= longest);
  const bottom = height - 24;
  return `<svg viewBox="0 0 ${width} ${height}" width="100%" role="img" aria-label="time line of a transfer's phases">
    ${ticks.map(tick => `<line x1="${x(tick)}" y1="${top}" x2="${x(tick)}" y2="${bottom}" stroke="${css('--grid')}"/>` + text(x(tick), bottom + 15, tick === 0 ? '0' : time(tick, 2), 'text-anchor="middle"')).join('')}${rows.join('')}</svg>`;
}

// A key sent ahead of need saves trips: beside that, what a registration saves could not be seen.
function savingOption() {
  const chosen = one => TRANSFER_AXES.every(([axis, , of]) => axis === 'delay' || of(one) === transferChoice[axis]);
  const savings = data.transfers.savings.map(saving => ({...saving, of: transferCells.find(one => one.id === saving.id)})).filter(saving => saving.of && saving.of.protocol !== 'advertised' && chosen(saving.of));
  if (!savings.length) return null;
  const values = savings.flatMap(one => [one.saved, one.low ?? one.saved, one.high ?? one.saved, one.predicted ?? one.saved]);
  const y = valueAxis(values, false, {include: 0, free: true}), x = delayAxis(savings.map(one => one.of.cell.delay), true);
  const series = PROTOCOLS.flatMap((protocol, at) => {
    const along = savings.filter(one => one.of.protocol === protocol).sort((a, b) => a.of.cell.delay - b.of.cell.delay);
    if (!along.length) return [];
    const style = {colour: protocolHue(protocol), dash: 'solid', hollow: false, marker: MARKERS[at % MARKERS.length], size: 7};
    return [...lineWithBand(protocol, style, along.map(one => ({x: x.at(one.of.cell.delay), y: y.at(one.saved), ...(one.low === undefined ? {} : {low: y.at(one.low), high: y.at(one.high)}), saving: one, style, label: protocol}))),
      ...expectedLine(style, along.filter(one => one.predicted !== null).map(one => ({x: x.at(one.of.cell.delay), y: y.at(one.predicted)})))];
  });
  return {...frame(x, y, {
    xName: 'one-way delay asked [ms]', yName: 'critical path saved', xFormat: milliseconds, yFormat: value => time(value, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: params => {
      const found = points(params);
      if (!found.length) return '';
      return tipTable(`${roundTime(found[0].saving.of.cell.delay)} one-way, against typical`, ['saved', '95 % interval', 'predicted', 'of the path'], found.map(({saving, style, label}) => [style, label, [
        time(saving.saved, 3), saving.low === undefined ? 'too few runs' : `${time(saving.low, 3)} – ${time(saving.high, 3)}`,
        saving.predicted === null ? BLANK : time(saving.predicted, 3), `${(100 * (1 - saving.ratio)).toFixed(1)} %`]]));
    },
  }), series, legend: {show: true, bottom: 0, textStyle: {color: css('--ink')}, data: unique(savings.map(one => one.of.protocol))}, grid: {left: 76, right: 18, top: 14, bottom: 76}};
}

function renderDecision() {
  const all = decisionsOf('transfer').filter(one => one.provider === transferChoice.provider && one.task.direction === transferChoice.direction);
  const sized = one => one.task.reuse === 'same';
  const rowOf = one => sized(one) ? bytes(one.size) : one.task.reuse;
  all.sort((a, b) => sized(b) - sized(a) || a.task.reuse.localeCompare(b.task.reuse) || a.size - b.size);
  html('decision-title', `Which to take: the least time until the data is there<span class="quiet">, ${escaped(transferChoice.provider)}, ${escaped(transferChoice.direction)}; ${AS_GOOD}</span>`);
  html('decision', decisionTable(all, rowOf));
}

function renderPredictions() {
  const known = transferCells.filter(one => one.by_phases !== null || one.by_profile !== null);
  const off = (one, key) => one[key] === null ? null : one.measured / one[key] - 1;
  const percent = value => value === null ? BLANK : `${value >= 0 ? '+' : '−'}${Math.abs(100 * value).toFixed(0)} %`;
  const within = key => { const told = known.filter(one => one[key] !== null); return told.length ? `${told.filter(one => Math.abs(off(one, key)) <= 0.1).length} of ${told.length}` : null; };
  const said = [['by_phases', 'by each cell’s own registrations and messages'], ['by_profile', 'by the registration workload’s line, the achieved delay and the latency of a send']]
    .filter(([key]) => within(key)).map(([key, what]) => `${within(key)} cells are within 10 % of what is predicted ${what}`).join('; ');
  html('predictions', `<p>${escaped(said)}.</p><details><summary>Every cell</summary><div class="scroll"><table><thead><tr><th>cell</th><th>measured</th><th>by its phases</th><th>off by</th><th>by the profile</th><th>off by</th></tr></thead><tbody>${
    known.map(one => `<tr><td>${escaped([one.cell.provider, one.direction, one.protocol, one.strategy, one.buffers === 'same' ? bytes(one.size) : one.buffers, roundTime(one.cell.delay), one.compute ? `computes ${roundTime(one.compute)}` : '', one.sleeping ? 'sleeps' : ''].filter(Boolean).join(', '))}</td><td class="number">${time(one.measured)}</td>${
      ['by_phases', 'by_profile'].map(key => `<td class="number">${time(one[key])}</td><td class="number">${percent(off(one, key))}</td>`).join('')}</tr>`).join('')}</tbody></table></div></details>`);
}

section({
  id: 'transfers-section', title: 'Getting both ends ready', when: () => transferCells.length > 0,
  before: '<div class="controls" id="transfer-controls"></div><figure><figcaption id="timeline-title"></figcaption><div id="timeline"></div></figure>',
  html: '<h3 id="decision-title"></h3><div class="scroll" id="decision"></div><h3>The critical path, predicted and measured</h3><div id="predictions"></div>',
  figures: [{
    id: 'saving', options: savingOption, why: 'Nothing is beside the typical process here.',
    title: 'What overlapping saves against the typical process<span class="quiet">; bands: 95 % over runs; dotted: what its registrations and messages say</span>',
  }],
  render() {
    settleTransfers();
    html('transfer-controls', TRANSFER_AXES.map(([axis, label, , text]) => segment(label, `transfer-${axis}`, transferOptions(axis), transferChoice[axis], text)).join(''));
    const chosen = transferOptions(null).sort((a, b) => PROTOCOLS.indexOf(a.protocol) - PROTOCOLS.indexOf(b.protocol));
    html('timeline-title', 'When each phase is<span class="quiet">; bars: registering, arrows: messages, ◆: the write is posted, dotted: the data</span>');
    html('timeline', timelineSvg(chosen));
    renderDecision();
    renderPredictions();
  },
});
