// The parts of the page behind its first screen. Each is registered by a file of its own, and stands in the order of these:
//   id       of its element
//   title    as HTML; a function is asked at each drawing
//   when     whether the campaign, and what is selected, has something for it
//   figures  charts side by side, each {id, when, title, options, why}: `options` are ECharts', null where there is
//            nothing to draw and `why` says so; `when` may be left out
//   html     what else it holds, below its figures (before: above them, as controls are); `render` fills that

const sections = [];
const section = one => sections.push(one);
const evaluated = value => typeof value === 'function' ? value() : value;

function placeSection(one) {
  const figures = (one.figures ?? []).map(figure => `<figure><figcaption id="${figure.id}-title"></figcaption><div id="${figure.id}" class="chart"></div></figure>`).join('');
  document.getElementById('sections').insertAdjacentHTML('beforeend',
    `<section id="${one.id}" hidden><h2 id="${one.id}-title"></h2>${one.before ?? ''}${figures && `<div class="two">${figures}</div>`}${one.html ?? ''}</section>`);
  return document.getElementById(one.id);
}

function renderSection(one) {
  const element = document.getElementById(one.id) ?? placeSection(one);
  element.hidden = !one.when();
  if (element.hidden) return;
  one.render?.();
  html(`${one.id}-title`, evaluated(one.title));
  for (const figure of one.figures ?? []) {
    const there = !figure.when || figure.when();
    document.getElementById(figure.id).closest('figure').hidden = !there;
    if (!there) continue;
    html(`${figure.id}-title`, evaluated(figure.title));
    draw(figure.id, figure.options(), figure.why);
  }
}

const renderSections = () => sections.forEach(renderSection);
