// The surface: the selected metric over the one-way delay and a second axis, one panel a series. Shades run over the
// logarithm of all panels' medians, so that panels compare.

const surfaceAxis = () => data.workloads.find(one => one.name === state.metric?.split('/')[0])?.surface ?? null;
const without = (conditions, name) => conditionKey(Object.fromEntries(Object.entries(conditions).filter(([key]) => key !== name)));

// The cells that share every condition but the axis; null where there is no grid to show.
function surfaceCells() {
  const axis = surfaceAxis();
  if (!axis || state.conditions === null) return null;
  const fixed = without(Object.fromEntries(JSON.parse(state.conditions)), axis.name);
  const cells = ofMetric().filter(cell => cell.along !== null && without(cell.conditions, axis.name) === fixed && (axis.name === 'size' || cell.size === state.size));
  const grid = shown(seriesOf(cells)).filter(one => unique(one.cells.map(cell => cell.delay)).length > 1 && unique(one.cells.map(cell => cell.along)).length > 1);
  return grid.length ? {axis, grid} : null;
}

function renderSurface() {
  const {axis, grid} = surfaceCells(), spec = specOf(state.metric);
  const all = grid.flatMap(one => one.cells), values = all.map(cell => selected(cell).median).filter(value => value > 0).map(Math.log);
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  const ascending = key => unique(all.map(key)).sort((a, b) => a - b);
  const columns = ascending(cell => cell.delay), rows = ascending(cell => cell.along);
  const square = cell => {
    if (!cell) return '<td class="cell quiet">–</td>';
    const metric = selected(cell), shade = metric.median > 0 ? 0.05 + 0.6 * (Math.log(metric.median) - low) / span : 0;
    return `<td class="cell" data-fill="rgba(${css('--rdma')}, ${shade.toFixed(2)})" title="${escaped(bounds(metric, spec.unit))}, ${counted(metric.runs, 'run')}">${escaped(inUnit(metric.median, spec.unit, 3))}</td>`;
  };
  html('surface', grid.map(one => `<table><caption>${swatch(one.style)} ${escaped(one.label)}</caption><thead><tr><th>${escaped(axis.name)} ↓ delay →</th>${
    columns.map(delay => `<th class="delay">${roundTime(delay)}</th>`).join('')}</tr></thead><tbody>${
    rows.map(row => `<tr><th>${escaped(axisText(axis, row))}</th>${columns.map(delay => square(one.cells.find(cell => cell.delay === delay && cell.along === row))).join('')}</tr>`).join('')}</tbody></table>`).join(''));
}

function surfaceTitle() {
  const {axis} = surfaceCells(), spec = specOf(state.metric);
  return `${escaped(spec.name[0].toUpperCase() + spec.name.slice(1))} over delay and ${escaped(axis.name)}<span class="quiet">${axis.name === 'size' || state.size === null ? '' : `, ${bytes(state.size)}`}; median over runs, darker: more</span>`;
}

section({id: 'surface-section', title: surfaceTitle, when: () => surfaceCells() !== null, html: '<div id="surface"></div>', render: renderSurface});
