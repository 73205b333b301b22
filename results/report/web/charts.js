// The plots. Each function makes an ECharts option from the model; nothing is computed here that the store's statistics
// have not decided.

function frame(x, y, options) {
  const ink = css('--soft-ink'), line = css('--line'), grid = css('--grid');
  const axis = (scale, name, format, more) => ({
    type: 'value', min: scale.min, max: scale.max, name, nameLocation: 'middle', nameTextStyle: {color: ink, fontSize: 12.5},
    axisLine: {show: true, lineStyle: {color: line}, onZero: false}, axisTick: {show: true, customValues: scale.ticks.map(scale.at), lineStyle: {color: line}},
    axisLabel: {color: ink, fontSize: 12, customValues: scale.ticks.map(scale.at), hideOverlap: true,
      formatter: position => format(nearestTick(scale, position))},
    splitLine: {show: true, customValues: scale.ticks.map(scale.at), lineStyle: {color: grid}}, ...more,
  });
  return {
    animation: false, textStyle: {fontFamily: getComputedStyle(document.body).fontFamily}, backgroundColor: 'transparent',
    aria: {enabled: true}, grid: {left: 72, right: 18, top: 14, bottom: 50, ...options.grid},
    xAxis: axis(x, options.xName, options.xFormat, {nameGap: 30, ...options.xMore}),
    yAxis: axis(y, options.yName, options.yFormat, {nameGap: 58, ...options.yMore}),
    tooltip: {trigger: 'axis', confine: true, backgroundColor: css('--page'), borderColor: line, textStyle: {color: css('--ink'), fontSize: 13},
      axisPointer: {type: 'line', lineStyle: {color: css('--faint'), type: 'dashed'}}, formatter: options.tip},
  };
}

const nearestTick = (scale, position) => scale.ticks.reduce((best, tick) => Math.abs(scale.at(tick) - position) < Math.abs(scale.at(best) - position) ? tick : best, scale.ticks[0]);

// A line with markers, a band and whiskers over [{x, y, low, high, ...}] in positions of the axes.
function lineWithBand(name, style, points) {
  const bounded = points.filter(point => point.low !== undefined);
  const marker = style.hollow ? {color: css('--page'), borderColor: style.colour, borderWidth: 1.8} : {color: style.colour};
  const series = [{
    name, type: 'line', data: points.map(point => ({value: [point.x, point.y], point})), symbol: style.marker, symbolSize: style.size, itemStyle: marker,
    lineStyle: {color: style.colour, width: 2.2, type: style.dash}, emphasis: {disabled: true}, z: 5,
  }];
  if (bounded.length) {
    series.push({
      name, type: 'custom', silent: true, tooltip: {show: false}, data: bounded.map(point => [point.x, point.low, point.high]), z: 2,
      encode: {x: 0, y: [1, 2]}, clip: true,
      renderItem: (params, api) => {
        const at = (x, y) => api.coord([x, y]);
        const own = bounded[params.dataIndex];
        const top = at(own.x, own.high), bottom = at(own.x, own.low);
        const children = [
          {type: 'line', shape: {x1: top[0], y1: top[1], x2: bottom[0], y2: bottom[1]}, style: {stroke: style.colour, lineWidth: 1.4}},
          ...[top, bottom].map(end => ({type: 'line', shape: {x1: end[0] - 4, y1: end[1], x2: end[0] + 4, y2: end[1]}, style: {stroke: style.colour, lineWidth: 1.4}})),
        ];
        // One item draws the band of all: a polygon has no place in a single point.
        if (params.dataIndex === 0 && bounded.length > 1) {
          const outline = [...bounded.map(p => at(p.x, p.high)), ...bounded.slice().reverse().map(p => at(p.x, p.low))];
          children.unshift({type: 'polygon', shape: {points: outline}, style: {fill: style.colour, opacity: 0.16}});
        }
        return {type: 'group', children};
      },
    });
  }
  return series;
}

// Theory, thin and dotted beside the measured line: no markers, nothing to hover.
function expectedLine(style, points) {
  return points.length < 2 ? [] : [{type: 'line', silent: true, symbol: 'none', data: points.map(point => [point.x, point.y]), tooltip: {show: false},
    lineStyle: {color: style.colour, width: 1.3, type: [1.5, 3.5], opacity: 0.9}, emphasis: {disabled: true}, z: 3}];
}

// A series along an axis, and what was expected of it. `metric` and `theory` give a cell's figures, `place` where it stands on x.
function lineAlong(one, x, y, {place, metric, theory}) {
  const along = one.cells.slice().sort((a, b) => place(a) - place(b));
  const at = (cell, value) => ({x: x.at(place(cell)), y: y.at(value)});
  const measured = along.map(cell => {
    const m = metric(cell);
    const bounded = m.low === undefined ? {} : {low: y.at(m.low), high: y.at(m.high)};
    return {...at(cell, m.median), ...bounded, cell, metric: m, style: one.style, label: one.label};
  });
  return [...lineWithBand(one.label, one.style, measured),
    ...expectedLine(one.style, along.filter(cell => theory(cell) !== null).map(cell => at(cell, theory(cell))))];
}

// Everything is plain text; a row is [style, label, cells].
const tipTable = (head, columns, rows) => `<div class="tip"><div class="head">${escaped(head)}</div><table><tr><th></th>${columns.map(c => `<th>${escaped(c)}</th>`).join('')}</tr>${
  rows.map(([style, label, cells]) => `<tr><td>${swatch(style)} ${escaped(label)}</td>${cells.map(cell => `<td class="number">${escaped(cell)}</td>`).join('')}</tr>`).join('')}</table></div>`;
const swatch = style => `<svg class="swatch" width="30" height="12" aria-hidden="true"><line x1="1" y1="6" x2="29" y2="6" stroke="${style.colour}" stroke-width="2.4" ${
  Array.isArray(style.dash) ? `stroke-dasharray="${style.dash.map(length => length * 0.4).join(' ')}"` : ''}/>${
  style.hollow ? `<path d="M15 1.5 19.5 6 15 10.5 10.5 6z" fill="${css('--page')}" stroke="${style.colour}" stroke-width="1.7"/>`
    : `<circle cx="15" cy="6" r="3.6" fill="${style.colour}"/>`}</svg>`;
const bounds = (metric, unit) => metric.low === undefined ? 'too few runs' : `${inUnit(metric.low, unit)} – ${inUnit(metric.high, unit)}`;
const points = params => params.filter(one => one.seriesType === 'line' && one.data?.point).map(one => one.data.point);

function seriesTip(spec, key, head) {
  return params => {
    const found = points(params);
    if (!found.length) return '';
    const theory = found.some(({cell}) => expectedOf(cell, key) !== null);
    const alone = isAlone(found[0].cell);
    const columns = ['median', '95 % interval', ...(theory ? ['expected'] : []), 'p99', 'runs', ...(alone ? [] : ['achieved delay'])];
    return tipTable(head(found[0].cell), columns, found.map(({cell, metric, style, label}) => [style, label, [
      inUnit(metric.median, spec.unit), bounds(metric, spec.unit),
      ...(theory ? [expectedOf(cell, key) === null ? BLANK : inUnit(cell.expected, spec.unit)] : []),
      metric.p99 === null ? BLANK : inUnit(metric.p99, spec.unit, 3), metric.runs, ...(alone ? [] : [achievedText(cell)])]]));
  };
}

function achievedText(cell) {
  if (cell.forward.achieved === null) return BLANK;
  const there = time(cell.forward.achieved, 4);
  return cell.back.achieved === null || Math.abs(cell.back.achieved - cell.forward.achieved) < 1000 ? there : `${there} / ${time(cell.back.achieved, 4)}`;
}

function against(cells, xOf, log, axisOf) {
  const spec = specOf(state.metric);
  const theory = cell => state.part === 'all' || !partable() ? expectedOf(cell, state.metric) : null;
  const values = cells.flatMap(cell => { const m = drawn(cell); return [m.median, m.low ?? m.median, m.high ?? m.median, theory(cell) ?? m.median]; });
  const y = valueAxis(values, log && values.every(v => v > 0));
  const x = axisOf(cells.map(xOf));
  const series = shown(seriesOf(cells)).flatMap(one => lineAlong(one, x, y, {place: xOf, metric: drawn, theory}));
  return {spec, x, y, series};
}

const metricName = spec => (state.part === 'all' || !partable() ? `${spec.name}, median over runs` : `${spec.name} less the achieved delay`) + (spec.unit && spec.unit !== 'ns' && spec.unit !== '1' ? ` [${spec.unit}]` : '');

function aloneOption(axis) {
  const cells = ofConditions().filter(cell => cell.along !== null);
  if (!cells.length) return null;
  const {spec, x, y, series} = against(cells, cell => cell.along, state.y === 'log', values => delayAxis(values, state.x === 'log'));
  return {...frame(x, y, {
    xName: axis.name.replace(/_/g, ' '), yName: metricName(spec), xFormat: value => axisText(axis, value), yFormat: value => inUnit(value, spec.unit, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: seriesTip(spec, state.metric, cell => `${axis.name} ${axisText(axis, cell.along)}`),
  }), series};
}

function latencyOption() {
  if (ownAxis()) return aloneOption(ownAxis());
  const cells = ofConditions().filter(cell => cell.size === state.size);
  const {spec, x, y, series} = against(cells, cell => cell.delay, state.y === 'log', values => delayAxis(values, state.x === 'log'));
  return {...frame(x, y, {
    xName: 'one-way delay asked [ms]', yName: metricName(spec), xFormat: milliseconds, yFormat: value => inUnit(value, spec.unit, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: seriesTip(spec, state.metric, cell => `${roundTime(cell.delay)} one-way, ${bytes(cell.size)}`),
  }), series};
}

function sizeOption() {
  const cells = ofConditions().filter(cell => cell.delay === state.delay);
  const sizeAxis = values => {
    const ticks = unique(values).sort((a, b) => a - b);
    const axis = valueAxis(ticks, true, {pad: 0.15});
    return {...axis, ticks};
  };
  const {spec, x, y, series} = against(cells, cell => cell.size, state.y === 'log', sizeAxis);
  return {...frame(x, y, {
    xName: 'message size', yName: metricName(spec), xFormat: bytes, yFormat: value => inUnit(value, spec.unit, 3).replace(/\.0+(?=\D|$)/, ''),
    tip: seriesTip(spec, state.metric, cell => `${bytes(cell.size)}, ${roundTime(cell.delay)} one-way`),
  }), series};
}

function pairStyle(pair) {
  const cell = byId.get(pair.points[0].rdma);
  return {...styleOf(cell), key: seriesKey(cell)};
}

function ratioOption() {
  const pairs = selectedPairs().filter(pair => !state.hidden.has(pairStyle(pair).key));
  if (!pairs.length) return null;
  const spec = specOf(state.metric);
  const x = delayAxis(ofConditions().filter(cell => cell.size === state.size).map(cell => cell.delay), state.x === 'log');
  const values = pairs.flatMap(pair => pair.points.flatMap(p => [p.ratio, p.low ?? p.ratio, p.high ?? p.ratio]));
  const y = valueAxis(values, state.y === 'log', {include: 1, free: true, pad: 0.03});
  const series = pairs.flatMap(pair => {
    const style = pairStyle(pair);
    return lineWithBand(`${data.transports[pair.transport].title} ${pair.provider}`, style, pair.points.map(point => ({
      x: x.at(point.delay), y: y.at(point.ratio), ...(point.low === undefined ? {} : {low: y.at(point.low), high: y.at(point.high)}), point, pair, style})));
  });
  const one = y.at(1), ink = css('--ink'), faint = css('--soft-ink');
  const halves = [{from: one, to: y.max, colour: css('--rdma'), text: 'RDMA better ↑', position: 'insideTop'},
    {from: y.min, to: one, colour: css('--sockets'), text: 'sockets better ↓', position: 'insideBottomLeft'}];
  series.push({
    type: 'line', data: [], silent: true,
    markArea: {silent: true, data: halves.map(half => [
      {yAxis: half.from, itemStyle: {color: `rgba(${half.colour}, .045)`}, label: {show: true, formatter: half.text, position: half.position, color: faint, fontSize: 12}},
      {yAxis: half.to}])},
    markLine: {silent: true, symbol: 'none', data: [{yAxis: one, lineStyle: {color: ink, width: 1.3, type: 'solid'}, label: {show: false}}]},
  });
  // Marks that fall close to each other take turns in height, so that their texts do not meet.
  const marks = pairs.flatMap(pair => pair.crossovers.map(crossover => ({pair, crossover, at: x.at(crossover.at)}))).sort((a, b) => a.at - b.at);
  series.push({type: 'line', data: [], silent: true, markLine: {silent: true, symbol: ['none', 'none'], data: marks.map((mark, i) => [
    {coord: [mark.at, y.min], lineStyle: {color: pairStyle(mark.pair).colour, type: 'dotted', width: 1.8},
      label: {show: true, position: 'end', distance: -36 - 17 * (i % 4), formatter: `${challengers.length > 1 ? data.transports[mark.pair.transport].title + ' ' : ''}${mark.pair.provider}: ${crossoverWord(mark.crossover)} ≈ ${time(mark.crossover.at, 2)}`,
        color: ink, fontSize: 12, backgroundColor: css('--page'), padding: [1, 4], align: mark.at > (x.min + x.max) / 2 ? 'right' : 'left'}},
    {coord: [mark.at, y.max]}])}});
  const better = spec.better === 'lower' ? 'sockets / RDMA' : 'RDMA / sockets';
  return {...frame(x, y, {
    xName: 'one-way delay asked [ms]', yName: `${spec.name}: ${better}`, xFormat: milliseconds, yFormat: value => `${+value.toPrecision(4)}×`,
    tip: params => {
      const found = points(params);
      if (!found.length) return '';
      return tipTable(`${roundTime(found[0].point.delay)} one-way: ${better}`, ['ratio', '95 % interval', 'verdict', 'RDMA', 'sockets'], found.map(({point, pair, style}) => [style, pair.name, [
        ratioText(point.ratio), point.low === undefined ? 'too few runs' : `${ratioText(point.low)} – ${ratioText(point.high)}`,
        VERDICT[point.advantage], inUnit(selected(byId.get(point.rdma)).median, spec.unit), inUnit(selected(byId.get(point.sockets)).median, spec.unit)]]));
    },
  }), series};
}

const VERDICT = {rdma: 'RDMA better', sockets: 'sockets better', none: 'no difference shown', unknown: 'too few runs'};
const crossoverWord = crossover => crossover.after === 'none' ? 'lead ends' : crossover.before === 'none' ? 'lead begins' : 'crossover';

// Percentiles: latency against 1/(1-p) on a logarithmic axis, so that the tail has room; cumulative: the usual curve.
function distributionOption() {
  const spec = specOf(state.metric);
  const cells = ofConditions().filter(cell => cell.size === state.size && placeOf(cell) === state.delay && selected(cell).quantiles);
  const series = shown(seriesOf(cells));
  if (!series.length) return null;
  const tail = state.view === 'percentiles';
  const usable = cell => selected(cell).quantiles.filter(([p]) => p > 0 && p < 1);
  const values = series.flatMap(one => one.cells.flatMap(cell => usable(cell).map(q => q[1])));
  if (!values.length) return null;
  const value = valueAxis(values, state.y === 'log' && values.every(v => v > 0), {free: true});
  const furthest = Math.max(...series.flatMap(one => one.cells.flatMap(cell => usable(cell).map(q => q[0]))));
  const nines = p => -Math.log10(1 - p);
  const fraction = tail
    ? {at: nines, min: 0, max: nines(furthest) + 0.1, ticks: [0, 0.5, 0.9, 0.99, 0.999, 0.9999].filter(p => p <= furthest)}
    : {at: p => p, min: 0, max: 1, ticks: [0, 0.25, 0.5, 0.75, 1]};
  const percent = p => `${+(100 * p).toPrecision(6)} %`;
  const [x, y] = tail ? [fraction, value] : [value, fraction];
  const valueName = spec.name + (spec.unit === 'ns' ? '' : ` [${spec.unit}]`), valueFormat = v => inUnit(v, spec.unit, 3).replace(/\.0+(?=\D|$)/, '');
  return {...frame(x, y, {
    xName: tail ? 'percentile of the operations' : valueName, yName: tail ? valueName : 'operations at most as long',
    xFormat: tail ? percent : valueFormat, yFormat: tail ? valueFormat : percent,
    tip: params => {
      const found = points(params);
      if (!found.length) return '';
      const own = ownAxis();
      return tipTable(own ? `${own.name} ${axisText(own, state.delay)}` : `${roundTime(state.delay)} one-way, ${bytes(state.size)}`, ['percentile', spec.name, 'samples'], found.map(point =>
        [point.style, point.label, [percent(point.p), inUnit(point.value, spec.unit), grouped(String(point.samples))]]));
    },
  }), series: series.flatMap(one => one.cells.slice(0, 1).map(cell => ({
    name: one.label, type: 'line', showSymbol: false, symbol: 'circle', z: 5, emphasis: {disabled: true},
    lineStyle: {color: one.style.colour, width: 2, type: one.style.dash}, itemStyle: {color: one.style.colour},
    data: usable(cell).map(([p, v]) => ({value: tail ? [fraction.at(p), value.at(v)] : [value.at(v), p],
      point: {p, value: v, samples: selected(cell).samples, style: one.style, label: one.label}})),
  })))};
}
