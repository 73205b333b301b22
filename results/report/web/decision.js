// Which way to take, over size and delay: a table a task. Everything was decided by the store's statistics; here it is drawn.

const AS_GOOD = 'as good: the interval of the ratio contains 1';
const decisionsOf = workload => data.decisions.filter(one => one.workload === workload);

// Rows in the order of the places given, columns by delay.
function decisionTable(all, rowOf) {
  const delays = unique(all.map(one => one.delay)).sort((a, b) => a - b), rows = unique(all.map(rowOf));
  const square = one => {
    if (!one) return '<td class="quiet">–</td>';
    const good = one.choices.filter(choice => choice.as_good), first = good[0];
    const rest = good.slice(1).map(choice => choice.name);
    const title = one.choices.map(choice => `${choice.name}: ${time(choice.value, 4)}${choice.as_good ? '' : ' (slower)'}`).join('\n');
    return `<td title="${escaped(title)}"><b>${escaped(first.name)}</b> ${time(first.value, 3)}${rest.length ? `<br><span class="quiet small">as good: ${escaped(rest.join('; '))}</span>` : ''}</td>`;
  };
  return `<table><thead><tr><th>size ↓ delay →</th>${delays.map(delay => `<th>${roundTime(delay)}</th>`).join('')}</tr></thead><tbody>${
    rows.map(row => `<tr><th>${escaped(row)}</th>${delays.map(delay => square(all.find(one => rowOf(one) === row && one.delay === delay))).join('')}</tr>`).join('')}</tbody></table>`;
}

// RPC: a table for each call and provider, which stand side by side in the order of the calls.
const taskText = one => Object.entries(one.task).filter(([name]) => name !== 'procedure').map(([name, word]) => `${name} ${word}`).join(', ');
const callText = one => `${one.task.procedure.toUpperCase()}, ${taskText(one)}, ${one.provider}`;

function renderCalls() {
  const all = decisionsOf('rpc').sort((a, b) => callText(a).localeCompare(callText(b), undefined, {numeric: true}) || a.size - b.size);
  html('call-decision', unique(all.map(callText)).map(text => `<h3>${escaped(text)}</h3><div class="scroll">${decisionTable(all.filter(one => callText(one) === text), one => bytes(one.size))}</div>`).join(''));
}

section({
  id: 'call-section', title: `Which design to take: the least time of a call<span class="quiet">; ${AS_GOOD}</span>`,
  when: () => decisionsOf('rpc').length > 0, html: '<div id="call-decision"></div>', render: renderCalls,
});
