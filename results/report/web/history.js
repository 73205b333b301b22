// The page of `longhaul history --out`: a workload's figures from campaign to campaign.

// By time: two campaigns of one name are two.
const campaigns = [...new Map(data.cells.flatMap(cell => cell.points).map(point => [`${point.started} ${point.campaign}`, point])).entries()]
  .sort((a, b) => a[1].started - b[1].started).map(([key, point]) => ({key, point}));
const placeOf = point => campaigns.findIndex(one => one.key === `${point.started} ${point.campaign}`);
const verdict = point => point.agrees === null ? '' : point.agrees ? 'agrees' : 'DIFFERS';
const named = cell => cell.text || data.workload;

function drawMoves() {
  const series = data.cells.flatMap((cell, at) => {
    const colour = colours[at % colours.length], base = cell.points[0].median;
    if (!(base > 0)) return [];
    const share = value => value / base - 1;
    return [
      intervals(colour, cell.points.filter(point => point.ci_low !== null).map(point => [placeOf(point), share(point.ci_low), share(point.ci_high)])),
      {name: named(cell), type: 'line', z: 2, symbol: 'circle', symbolSize: 8, lineStyle: {color: colour, width: 2}, itemStyle: {color: colour},
        data: cell.points.map(point => ({value: [placeOf(point), share(point.median)], cell, point,
          itemStyle: point.agrees === false ? {color: css('--page'), borderColor: colour, borderWidth: 2} : {color: colour}}))}];
  });
  draw('moves', {series,
    tooltip: {trigger: 'item', formatter: one => tipTable(named(one.data.cell), [[one.color, one.data.point.campaign, inUnit(one.data.point.median, one.data.cell.unit)],
      ['', 'against its first', signed(one.data.value[1])], ['', 'against the one before', one.data.point.ratio === null ? BLANK : `${one.data.point.ratio.toFixed(3)} ${verdict(one.data.point)}`]])},
    xAxis: axis({type: 'category', data: campaigns.map(one => one.point.campaign), name: 'campaign, in the order of time', nameGap: 28}),
    yAxis: axis({type: 'value', name: 'against its first', nameGap: 46, axisLabel: labels(value => signed(value))})});
}

function changedTable() {
  const lines = campaigns.map(({key, point}) => {
    const what = new Set(data.cells.flatMap(cell => cell.points).filter(one => `${one.started} ${one.campaign}` === key).flatMap(one => one.changed));
    return `<tr><td>${escaped(point.campaign)}</td><td>${escaped(shortDate(point.started / 1e6))}</td><td>${escaped(point.version)}</td><td>${[...what].map(escaped).join('<br>') || '<span class="quiet">nothing that is known</span>'}</td></tr>`;
  });
  return `<table><thead><tr><th>campaign</th><th>begun</th><th>longhaul</th><th>not as in the campaign before that has the cell</th></tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

function figuresTable() {
  return `<table><thead><tr><th>cell</th><th>campaign</th><th class="number">median</th><th class="number">runs</th><th class="number">ratio to the one before</th><th class="number">95 % interval</th><th></th></tr></thead><tbody>${
    data.cells.flatMap(cell => cell.points.map((point, i) => `<tr><td>${i === 0 ? escaped(named(cell)) : ''}</td><td>${escaped(point.campaign)}</td><td class="number">${escaped(inUnit(point.median, cell.unit))}</td><td class="number">${escaped(point.runs)}</td><td class="number">${
      point.ratio === null ? BLANK : point.ratio.toFixed(3)}</td><td class="number">${point.ratio_low === null ? '' : `[${point.ratio_low.toFixed(3)}, ${point.ratio_high.toFixed(3)}]`}</td><td>${verdict(point)}</td></tr>`)).join('')}</tbody></table>`;
}

begin(() => {}, () => {
  element('changed').innerHTML = changedTable();
  element('figures').innerHTML = figuresTable();
  drawMoves();
});
