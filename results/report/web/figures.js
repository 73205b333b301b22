// A paper's figures, drawn anew: a chart for each delay. Which cells stand for which figure was decided by the store's
// statistics; each chart looks as those of the claims do.

const paperFigures = () => data.figures?.drawn ?? [];
const panelId = (figure, panel) => `paper-figure-${figure}-${panel}`;

// Providers differ in colour, ways in marker and dash; with one provider ways have a colour of their own, too.
function panelLines(figure, panel) {
  const all = figure.panels.flatMap(one => one.lines);
  const links = unique(all.map(line => line.link)), ways = unique(all.filter(line => !line.sockets).map(line => line.way));
  const dashes = ['solid', [10, 4], [3, 3], [10, 3, 2, 3]];
  return panel.lines.map(line => {
    const cells = line.cells.map(point => byId.get(point.id)), way = Math.max(0, ways.indexOf(line.way));
    const colour = links.length > 1 ? owners.indexOf(line.link) : way;
    const hue = HUES[theme()][Math.max(0, colour) % HUES.light.length];
    return {
      cells, label: line.sockets ? labelOf(cells[0]) : `${line.link}${cells[0].soft ? ' (software)' : ''}${line.way && ` ${line.way}`}`,
      style: line.sockets ? {colour: hue[1], dash: [6, 4], hollow: true, marker: 'diamond', size: 9}
        : {colour: hue[0], dash: dashes[way % dashes.length], hollow: false, marker: MARKERS[way % MARKERS.length], size: 7},
    };
  });
}

function panelOption(figure, panel) {
  const places = new Map(panel.lines.flatMap(line => line.cells.map(cell => [cell.id, cell.x])));
  return courseOption(figure.workload, figure.metric, {name: figure.x, kind: figure.kind}, places, panelLines(figure, panel));
}

function renderFigures() {
  if (!document.getElementById(panelId(0, 0)))
    html('paper-figures', paperFigures().map((figure, i) => `<h3>${escaped(figure.name)}: ${escaped(figure.caption)}<span class="quiet">; here: ${escaped(figure.shows)}</span></h3>
      <div class="two">${figure.panels.map((panel, j) => `<figure><figcaption>${escaped(panel.name)}</figcaption><div id="${panelId(i, j)}" class="chart"></div></figure>`).join('')}</div>`).join('') +
      (data.figures.left_out.length ? `<p class="quiet small">Left out:</p><ul class="quiet small">${data.figures.left_out.map(text => `<li>${escaped(text)}</li>`).join('')}</ul>` : ''));
  paperFigures().forEach((figure, i) => figure.panels.forEach((panel, j) => drawCourse(panelId(i, j), panelOption(figure, panel), 320)));
}

section({
  id: 'figures-section', title: () => `The figures of “${escaped(data.figures.paper)}”, drawn anew<span class="quiet">; bands: 95 % over runs, dotted: expected</span>`,
  when: () => paperFigures().length > 0, html: '<div id="paper-figures"></div>', render: renderFigures,
});
