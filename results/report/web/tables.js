// Everything of the page that is not a plot.

// The page's policy admits no style attributes: what has a colour of its own says so in data-fill.
function html(id, text) {
  const element = document.getElementById(id);
  element.innerHTML = text;
  for (const one of element.querySelectorAll('[data-fill]')) one.style.background = one.dataset.fill;
}
const counted = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

function renderMarks() {
  const chips = [];
  const soft = unique(data.cells.filter(cell => cell.transport && !transportOf(cell).any_link && cell.soft).map(cell => cell.provider));
  if (soft.length) chips.push(['software RDMA: ' + soft.join(', '), 'The kernel plays the adapter: these figures say nothing about a network card.']);
  const started = data.virtual_clock, byVirtual = data.clock !== 'host';
  if (byVirtual) chips.push([data.clock_limits, started ? `An instruction takes ${2 ** started.shift} ns; processors are at most ${started.quantum} instructions apart; ${started.qemu}, image ${started.image}.${started.check ? ` ${started.check.equal} of ${started.check.runs} runs that were made twice gave the same bits.` : ''}` : 'Every instruction takes the same time.']);
  if (data.emulated && data.clock !== 'virtual') chips.push(['emulated processors: absolute times describe the lab, not a network', 'At least one node ran under QEMU’s TCG.']);
  html('marks', chips.map(([text, title]) => `<span class="chip" title="${escaped(title)}">${escaped(text)}</span>`).join(''));
  const parts = [data.campaign.name, data.campaign.description, shortDate(data.campaign.started)].filter(text => text && text !== BLANK);
  html('campaign', `<b>${escaped(parts[0] ?? '')}</b> ${escaped(parts.slice(1).join(' · '))}`);
}

// One row a pair, one column a delay: the whole answer at a look.
function renderMatrix() {
  const pairs = pairsOf(state.metric);
  if (!pairs.length) return html('matrix', '');
  const columns = unique(pairs.flatMap(pair => pair.points.map(point => point.delay))).sort((a, b) => a - b);
  const strength = ratio => Math.min(0.62, 0.1 + 0.42 * Math.abs(Math.log10(ratio)));
  const cell = point => {
    if (!point) return '<td class="cell quiet">–</td>';
    const tint = {rdma: '--rdma', sockets: '--sockets'}[point.advantage];
    const fill = tint ? `rgba(${css(tint)}, ${strength(point.ratio).toFixed(2)})` : `rgba(${css('--none')}, .12)`;
    const range = point.low === undefined ? 'too few runs' : `${ratioText(point.low)} – ${ratioText(point.high)}`;
    const sign = {rdma: '', sockets: '', none: '≈ ', unknown: '? '}[point.advantage];
    return `<td class="cell" data-fill="${fill}" title="${VERDICT[point.advantage]}"><b>${sign}${ratioText(point.ratio)}×</b><span>${range}</span></td>`;
  };
  const limit = 8;
  const rows = pairs.map(pair => {
    const active = pair.size === state.size && conditionKey(pair.conditions) === state.conditions;
    return `<tr class="${active ? 'selected' : ''}"><td class="pair">${swatch(pairStyle(pair))} ${pair.transport === 'rdma' ? 'RDMA ' : ''}${escaped(pair.name)}</td>${
      columns.map(delay => cell(pair.points.find(point => point.delay === delay))).join('')}<td class="course">${escaped(courseText(pair))}</td></tr>`;
  });
  const spec = specOf(state.metric);
  const what = spec.unit === 'ns' ? 'Times faster at' : `${spec.name}: times better at`;
  const head = `<tr><th>${escaped(what)}</th>${columns.map(delay => `<th class="delay">${roundTime(delay)}</th>`).join('')}<th>verdict along the one-way delay</th></tr>`;
  const table = body => `<div class="scroll"><table><thead>${head}</thead><tbody>${body.join('')}</tbody></table></div>`;
  const rest = rows.slice(limit);
  html('matrix', table(rows.slice(0, limit)) + (rest.length ? `<details><summary>${counted(rest.length, 'more pair')}</summary>${table(rest)}</details>` : ''));
}

const courseText = pair => pair.course.replace(/ us\b/g, ' µs');

function renderLegend() {
  const entries = seriesOf(ofConditions());
  html('legend', entries.map(one => `<button type="button" data-key="${escaped(one.key)}" aria-pressed="${!state.hidden.has(one.key)}">${swatch(one.style)} ${escaped(one.label)}</button>`).join(''));
}

const statusOf = cell => `<span class="status ${cell.status}">${cell.status}</span>`;
// Timers of an emulated processor are late by the host's clock, not by its own.
const noisyTimes = () => data.emulated && data.clock !== 'virtual';
const offAsked = direction => direction.achieved !== null && Math.abs(direction.achieved - direction.asked) > Math.max(direction.asked * (noisyTimes() ? 0.05 : 0.01), noisyTimes() ? 2e5 : 5e4);
const achievedCell = direction => `<span class="${offAsked(direction) ? 'off' : ''}">${microseconds(direction.achieved)}</span>`;

const sorting = {column: null, direction: 1};
function renderCells() {
  const rows = data.cells.flatMap(cell => (cell.metrics.length ? cell.metrics : [null]).map(metric => ({cell, metric})));
  const columns = [
    ['series', ({cell}) => labelOf(cell), ({cell}) => `<span class="series">${swatch(styleOf(cell))} ${escaped(labelOf(cell))}</span>`],
    ['device', ({cell}) => cell.device, ({cell}) => escaped(cell.device || BLANK)],
    ['size', ({cell}) => cell.size ?? -1, ({cell}) => bytes(cell.size), true],
    ['delay [ms]', ({cell}) => cell.delay, ({cell}) => isAlone(cell) ? BLANK : cell.back.asked === cell.forward.asked ? milliseconds(cell.delay) : `${milliseconds(cell.forward.asked)} / ${milliseconds(cell.back.asked)}`, true],
    ['achieved → / ← [µs]', ({cell}) => cell.forward.achieved ?? -1, ({cell}) => isAlone(cell) ? BLANK : `${achievedCell(cell.forward)} / ${achievedCell(cell.back)}`, true],
    ['conditions', ({cell}) => conditionKey(settingsOf(cell)), ({cell}) => Object.keys(settingsOf(cell)).length ? escaped(conditionText(settingsOf(cell))) : BLANK],
    ['metric', ({metric}) => metric?.name ?? '', ({metric}) => escaped(metric?.name ?? BLANK)],
    ['median', ({metric}) => metric?.median ?? -1, ({metric}) => metric ? escaped(inUnit(metric.median, metric.unit)) : BLANK, true],
    ['95 % interval', ({metric}) => metric?.low ?? -1, ({metric}) => metric ? escaped(bounds(metric, metric.unit)) : BLANK, true],
    ['p99', ({metric}) => metric?.p99 ?? -1, ({metric}) => metric && metric.p99 !== null ? escaped(inUnit(metric.p99, metric.unit)) : BLANK, true],
    ['runs', ({cell}) => cell.usable, ({cell}) => cell.usable, true],
    ['samples', ({metric}) => metric?.samples ?? 0, ({metric}) => metric ? grouped(String(metric.samples)) : BLANK, true],
    ['status', ({cell}) => cell.status, ({cell}) => statusOf(cell)],
  ].filter(([name]) => (name !== 'conditions' || data.cells.some(cell => Object.keys(settingsOf(cell)).length)) &&
                       (name !== 'metric' || unique(rows.map(row => row.metric?.name).filter(Boolean)).length > 1));
  if (sorting.column !== null) {
    const key = columns[sorting.column][1];
    rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * sorting.direction);
  }
  html('cells', `<div><table><thead><tr>${columns.map(([name, , , number], i) =>
    `<th class="${number ? 'number' : ''}"><button type="button" data-column="${i}" ${sorting.column === i ? `data-sort="${sorting.direction}"` : ''}>${name}</button></th>`).join('')}</tr></thead><tbody>${
    rows.map(row => `<tr>${columns.map(([, , show, number]) => `<td class="${number ? 'number' : ''}">${show(row)}</td>`).join('')}</tr>`).join('')}</tbody></table></div>`);
}

function renderProblems() {
  const cells = data.cells.filter(cell => cell.status !== 'ok');
  const again = data.cells.filter(cell => cell.status === 'ok' && Object.keys(cell.runs).some(status => status !== 'ok'));
  document.getElementById('problems-section').hidden = !cells.length && !again.length;
  const place = cell => isAlone(cell) ? conditionText(settingsOf(cell)) : `${bytes(cell.size)}, ${roundTime(cell.delay)}`;
  const name = cell => `${swatch(styleOf(cell))} ${escaped(labelOf(cell))}, ${escaped(place(cell))}`;
  const runs = cell => Object.entries(cell.runs).map(([status, count]) => `${count} ${status}`).join(', ') || 'none';
  html('problems', `<table><thead><tr><th>cell</th><th>status</th><th>runs</th><th>why</th></tr></thead><tbody>${
    [...cells, ...again].map(cell => `<tr><td>${name(cell)}</td><td>${statusOf(cell)}</td><td>${escaped(runs(cell))}</td><td>${
      escaped([cell.message, ...cell.limits].filter((text, i, all) => text && all.indexOf(text) === i).join('; ') || (cell.status === 'ok' ? 'runs that did not count were repeated' : BLANK))}</td></tr>`).join('')}</tbody></table>`);
}

// Testbeds that share the campaign's repetitions; the picture is of the first.
function sharedTestbeds() {
  if (!data.testbed_shares.length) return '';
  return `<p>${data.testbed_shares.length} testbeds shared the repetitions; the picture shows the first. A cell and its rivals are measured on one testbed in each repetition. The last column is a testbed's headline metrics against those of the others, median over cells.</p>
<table><thead><tr><th>nodes</th><th class="number">runs that count</th><th class="number">against the others</th></tr></thead><tbody>${data.testbed_shares.map(share =>
    `<tr><td>${escaped(share.nodes.join(', '))}</td><td class="number">${share.runs}</td><td class="number">${share.ratio === undefined ? BLANK : share.ratio.toFixed(3)}</td></tr>`).join('')}</tbody></table>`;
}

// Client, router, server as the inventory lists them; a line is a path through one pair of the router's interfaces.
function renderTopology() {
  const nodes = data.testbed.nodes ?? [];
  const of = role => nodes.filter(node => node.role === role);
  const clients = of('client'), servers = of('server'), router = of('router')[0];
  if (!clients.length || !servers.length) return html('topology', `<p class="quiet">${nodes.length ? escaped(nodes.map(node => `${node.name} (${node.role})`).join(', ')) : 'This campaign needed no testbed.'}</p>`);
  const lines = Math.max(...[...clients, ...servers].map(node => (node.attachments ?? []).length), 1);
  const rowHeight = 62, boxHeight = 34 + lines * rowHeight, gap = 22;
  const tall = Math.max(clients.length, servers.length) * (boxHeight + gap) - gap;
  const text = (x, y, content, extra = '', colour = 'var(--ink)', size = 13) => `<text x="${x}" y="${y}" fill="${colour}" font-size="${size}" ${extra}>${escaped(content)}</text>`;
  const quiet = 'var(--soft-ink)';
  const box = (x, y, width, height, title) => `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="9" fill="var(--zebra)" stroke="var(--line)"/>${text(x + width / 2, y + 22, title, 'font-weight="600" text-anchor="middle"')}`;
  const top = 40;
  let out = '';
  const side = (list, x, outward) => list.forEach((node, i) => {
    const y = top + i * (boxHeight + gap) + (tall - (list.length * (boxHeight + gap) - gap)) / 2;
    out += box(x, y, 190, boxHeight, node.name);
    (node.attachments ?? []).forEach((attachment, k) => {
      const at = y + 34 + k * rowHeight + rowHeight / 2;
      const links = router?.links ?? [];
      const link = links[Math.min(k, links.length - 1)];
      const routerAt = top + tall / 2 - boxHeight / 2 + 34 + k * rowHeight + rowHeight / 2;
      const from = outward > 0 ? x + 190 : x, to = outward > 0 ? 415 : 565;
      out += `<line x1="${from}" y1="${at}" x2="${to}" y2="${routerAt}" stroke="${HUES[theme()][Math.max(0, owners.indexOf(attachment.provider)) % HUES.light.length][0]}" stroke-width="2"/>`;
      out += `<circle cx="${from}" cy="${at}" r="4" fill="var(--soft-ink)"/><circle cx="${to}" cy="${routerAt}" r="4" fill="var(--soft-ink)"/>`;
      out += text(x + 95, at - 4, attachment.netdev + (attachment.device ? ` · ${attachment.device}` : ''), 'text-anchor="middle"');
      out += text(x + 95, at + 13, attachment.address, 'text-anchor="middle"', quiet, 11.5);
      if (link && i === 0) out += text(outward > 0 ? 425 : 555, routerAt - 6, outward > 0 ? link.client_side : link.server_side, `text-anchor="${outward > 0 ? 'start' : 'end'}"`, 'var(--ink)', 12);
    });
  });
  if (router) {
    out += box(415, top + tall / 2 - boxHeight / 2, 150, boxHeight, router.name);
    out += text(490, top + tall / 2 + boxHeight / 2 - 10, 'degen: the WAN', 'text-anchor="middle"', quiet, 12);
  }
  side(clients, 30, 1);
  side(servers, 760, -1);
  const boots = unique(data.nodes.map(node => node.facts?.boot_id).filter(Boolean));
  const together = nodes.length > 1 && boots.length === 1;
  if (together) out += `<rect x="8" y="10" width="964" height="${tall + 58}" rx="14" fill="none" stroke="var(--faint)" stroke-dasharray="7 5"/>${text(22, 29, 'one machine: the nodes share clock and processors', '', quiet, 12)}`;
  html('topology', `<svg viewBox="0 0 980 ${tall + 78}" role="img" aria-label="client, router and server">${out}</svg><p class="quiet small">Topology: ${escaped(data.testbed.topology || 'unknown')}. Delay is added by the router, one-way, in each direction on its own, and measured there on both of its interfaces.</p>${sharedTestbeds()}`);
}

function renderProvenance() {
  const campaign = data.campaign;
  const share = campaign.wall > 0 ? `${time(campaign.wall, 3)}, ${Math.round(100 * campaign.measuring / campaign.wall)} % of it measuring` : BLANK;
  const engines = unique(crossing.map(cell => cell.conditions.engine || 'netem'));
  const entries = [
    ['campaign file', campaign.file || BLANK], ['seed', campaign.seed], ['runs a cell', campaign.repetitions_min === campaign.repetitions_max ? campaign.repetitions_min : `${campaign.repetitions_min} to ${campaign.repetitions_max}`],
    ['began', shortDate(campaign.started)], ['ended', campaign.finished > 0 ? shortDate(campaign.finished) : 'not finished'], ['took', share],
    ['WAN emulated by', engines.length ? `degen, ${engines.join(', ')}` : 'nothing: no cell crosses one'], ['longhaul', campaign.version + (/dirty/.test(campaign.version) ? ' – the tree differed from that commit' : '')],
  ];
  const yes = offloads => Object.entries(offloads ?? {}).map(([name, on]) => `${name} ${on ? 'on' : 'off'}`).join(', ') || BLANK;
  const node = ({node, facts, runs}) => facts ? `<tr><td><b>${escaped(node)}</b><br><span class="quiet">${escaped(facts.hostname)}, ${counted(runs, 'run')}</span></td><td>${escaped(facts.kernel)}<br><span class="quiet">${facts.machine ? escaped(facts.machine) + ', ' : ''}${escaped(facts.cpu_model)}, ${counted(facts.cpus, 'processor')}${facts.emulated ? ', <span class="warn">emulated</span>' : ''}, clock ${escaped(facts.clock_source)}, ${bytes(Math.round(facts.memory_bytes / 2 ** 20) * 2 ** 20)}</span></td><td>${
    (facts.nics ?? []).map(nic => `${escaped(nic.name)} (${escaped(nic.driver)}, MTU ${nic.mtu})<br><span class="quiet small">${escaped(yes(nic.offloads))}</span>`).join('<br>')}</td><td>${
    (facts.rdma ?? []).map(device => `${escaped(device.name)} (${escaped(device.provider)}, ${escaped(device.transport)}, MTU ${device.active_mtu})`).join('<br>') || BLANK}</td></tr>` : `<tr><td>${escaped(node)}</td><td colspan="3" class="quiet">not described</td></tr>`;
  const sysctls = data.nodes.filter(one => one.facts).map(one => `<h3>${escaped(one.node)}</h3><pre>${escaped(Object.entries(one.facts.sysctls ?? {}).map(([name, value]) => `${name} = ${value}`).join('\n'))}</pre>`).join('');
  html('provenance', `<dl>${entries.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('')}<dt>run it again</dt><dd><code>${escaped(campaign.command || BLANK)}</code></dd></dl>
    <h3>Nodes</h3><div class="scroll"><table><thead><tr><th>node</th><th>kernel and processor</th><th>network interfaces</th><th>RDMA devices</th></tr></thead><tbody>${data.nodes.map(node).join('')}</tbody></table></div>
    <details><summary>kernel settings (sysctl) of each node</summary>${sysctls || BLANK}</details>
    <details open><summary>campaign text</summary><pre>${escaped(campaign.text)}</pre></details>`);
}

function renderNotes() {
  const notes = [
    ...(crossing.length ? ['Delay is one-way, per direction. “Asked” is the campaign’s figure; “achieved” is the median residence time at the router, timed on both of its interfaces while the cell ran, less its residence without any delay.'] : []),
    'Every figure is a median over runs of the runs’ medians; bands and whiskers are 95 % confidence intervals over runs (exact order statistics, no distribution assumed; 6 runs at least). Repeats inside a run do not narrow them.',
    ...(crossing.length ? ['A ratio is the Hodges-Lehmann estimate over all pairs of runs, its interval inverts the exact Mann-Whitney test. “RDMA better” means that the whole interval lies on RDMA’s side of 1; “no difference shown” means that it contains 1, not that there is none.',
    'A crossover lies between the last delay with one verdict and the first with another; its place is interpolated, and no better known than that.',
    'Sockets are measured on the network interface of the RDMA device that they are compared with, so that both use the same link.'] : []),
    ...(data.cells.some(cell => cell.op === 'read') ? ['An RDMA read is timed whole, which is one round trip; it is plotted but not compared with sockets, whose figure is half of one.'] : []),
    ...(data.cells.some(cell => cell.soft) ? ['rxe and siw are software: the kernel does what a network card would do. Comparisons with them are of two protocol stacks in one kernel; they decide nothing about CPU use or speed of a card, and are never pooled with cards.'] : []),
    ...(data.clock !== 'host' ? [`${data.clock === 'both' ? 'Some cells were' : 'All of it was'} ${data.clock_limits}. The same order gives the same figures to the last bit; repetitions differ in what may not matter (start phase, order, layout), and where a figure does not, its interval has no width.${data.virtual_clock?.check ? ` ${data.virtual_clock.check.equal} of ${data.virtual_clock.check.runs} runs that were made twice gave the same bits.` : ''}`] : []),
    ...(noisyTimes() ? ['Processors were emulated (QEMU’s TCG): absolute times describe the lab, not a network. Timers are late there, so the tail of every distribution is the emulator’s.'] : []),
    'Logarithmic axes give 0 a place of its own at the left; the distance from there to the next value has no scale.',
  ];
  html('notes', notes.map(note => `<li>${escaped(note)}</li>`).join(''));
}
