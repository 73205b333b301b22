// Processor time of both ends: of the selected cells, along the delay, the size or the workload's own axis.

const CPU_ENDS = ['client', 'server', 'local'];
const cpuEnd = name => CPU_ENDS.find(end => name.startsWith(`${end}_`));
const cpuMeasure = name => name.slice(cpuEnd(name).length + 1);
const cpuOf = (cell, end, measure) => cell.cpu.find(metric => metric.name === `${end}_${measure}`) ?? null;
const cpuSpec = (end, measure) => data.cpu_metrics.find(metric => metric.name === `${end}_${measure}`);
const CPU_NAMES = {cpu: 'all', cpu_user: 'user', cpu_system: 'system', cpu_irq: 'interrupts', cpu_softirq: 'soft interrupts', process_cpu: 'the process', process_polling: 'of it polling', cpu_per_op: 'per operation', cpu_per_byte: 'per byte'};

// Where only the size is swept, that is the axis.
const cpuAlongSize = () => ownAxis() === null && delays().length < 2 && sizes().length > 1;
const cpuCells = () => ofConditions().filter(cell => cell.cpu.length && placeOf(cell) !== null && (ownAxis() || cpuAlongSize() || cell.size === state.size));
const cpuMeasures = () => {
  const there = unique(cpuCells().flatMap(cell => cell.cpu.map(metric => cpuMeasure(metric.name))));
  return Object.keys(CPU_NAMES).filter(measure => there.includes(measure));
};

function cpuAxis() {
  if (ownAxis()) return {of: cell => cell.along, name: ownAxis().name.replace(/_/g, ' '), tick: value => axisText(ownAxis(), value), head: cell => `${ownAxis().name} ${axisText(ownAxis(), cell.along)}`};
  if (cpuAlongSize()) return {of: cell => cell.size, name: 'message size', tick: bytes, head: cell => bytes(cell.size)};
  return {of: cell => cell.delay, name: 'one-way delay asked [ms]', tick: milliseconds, head: cell => `${roundTime(cell.delay)} one-way`};
}

// Both ends share their axis of values, so that they compare at a look.
function cpuOption(end, ends) {
  const all = cpuCells(), cells = all.filter(cell => cpuOf(cell, end, state.cpu)), spec = cpuSpec(end, state.cpu), axis = cpuAxis();
  if (!cells.length) return null;
  const values = all.flatMap(cell => ends.map(one => cpuOf(cell, one, state.cpu)).filter(Boolean).flatMap(metric => [metric.median, metric.high ?? metric.median]));
  const x = delayAxis(cells.map(axis.of), state.x === 'log'), y = valueAxis(values, false);
  const series = shown(seriesOf(cells)).flatMap(one => lineAlong(one, x, y, {place: axis.of, metric: cell => cpuOf(cell, end, state.cpu), theory: () => null}));
  return {...frame(x, y, {
    xName: axis.name, yName: spec.unit === '%' ? 'busy [% of one processor]' : `processor time ${CPU_NAMES[state.cpu]}`, xFormat: axis.tick, yFormat: value => inUnit(value, spec.unit, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: params => {
      const found = points(params);
      if (!found.length) return '';
      const parts = ['cpu_user', 'cpu_system', 'cpu_irq', 'cpu_softirq', 'process_cpu', 'process_polling'];
      return tipTable(`${end}, ${axis.head(found[0].cell)}`, ['median', '95 % interval', ...parts.map(part => CPU_NAMES[part])], found.map(({cell, metric, style, label}) => [style, label, [
        inUnit(metric.median, spec.unit, 3), bounds(metric, spec.unit), ...parts.map(part => inUnit(cpuOf(cell, end, part)?.median, '%', 3))]]));
    },
  }), series};
}

const cpuEnds = () => CPU_ENDS.filter(end => cpuCells().some(cell => cpuOf(cell, end, state.cpu)));
const cpuFigure = (id, at) => ({
  id, when: () => cpuEnds()[at] !== undefined, why: 'No record tells.', options: () => cpuOption(cpuEnds()[at], cpuEnds()),
  title: () => { const end = cpuEnds()[at]; return `${end === 'local' ? 'The node' : `The ${end}`}<span class="quiet">: ${escaped(cpuSpec(end, state.cpu).help)}</span>`; },
});

section({
  id: 'cpu-section', title: 'Processor time of both ends', when: () => cpuMeasures().length > 0,
  before: '<div class="controls" id="cpu-controls"></div>', html: '<p class="quiet small" id="cpu-note"></p>',
  figures: [cpuFigure('cpu-near', 0), cpuFigure('cpu-far', 1)],
  render() {
    const measures = cpuMeasures();
    if (!measures.includes(state.cpu)) state.cpu = measures[0];
    html('cpu-controls', segment('Processors', 'cpu', measures, state.cpu, measure => CPU_NAMES[measure]));
    const polling = unique(shown(seriesOf(cpuCells().filter(cell => cell.polls))).map(one => one.label));
    html('cpu-note', [polling.length ? `Ends that poll are busy all the time, whatever there is to do: ${escaped(polling.join('; '))}; "of it polling" is the share that found nothing. What the kernel does beside them is work (system, interrupts).` : '',
      'Where nodes share a machine, each counts the processors that are its own.'].filter(Boolean).join(' '));
  },
});
