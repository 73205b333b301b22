// Numbers as people read them, and axes: a value axis of ECharts carries transformed positions, so that a logarithmic axis
// can have a place for 0 and ticks at 1, 2, 5.

const BLANK = '–';

function digits(value, significant) {
  if (value === 0) return '0';
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(value)) + 1e-12));
  return value.toFixed(Math.min(decimals, 12));
}

const grouped = text => text.replace(/^(-?\d+)/, whole => whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009'));

// Nanoseconds with the unit that suits them.
function time(ns, significant = 4) {
  if (ns === null || ns === undefined) return BLANK;
  const size = Math.abs(ns);
  if (size === 0) return '0';
  if (size >= 1e9) return digits(ns / 1e9, significant) + ' s';
  if (size >= 1e6) return digits(ns / 1e6, significant) + ' ms';
  if (size >= 1e3) return digits(ns / 1e3, significant) + ' µs';
  return digits(ns, Math.min(significant, 3)) + ' ns';
}

const trim = text => text.includes('.') ? text.replace(/\.?0+(?=$|\s)/, '') : text;
// A round number of nanoseconds, as asked for: 5 ms.
const roundTime = ns => ns === 0 ? '0' : time(ns, 6).replace(/(\.\d*?)0+ /, '$1 ').replace(/\. /, ' ');
const milliseconds = ns => String(+(ns / 1e6).toPrecision(6));
const microseconds = ns => ns === null || ns === undefined ? BLANK : grouped((ns / 1e3).toFixed(1).replace(/^-0\.0$/, '0.0'));

function bytes(count) {
  if (count === null || count === undefined) return '';
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
    if (count >= size && count % (size / 64) === 0) return +(count / size).toFixed(3) + ' ' + unit;
  }
  return count + ' B';
}

function ratioText(ratio) {
  const off = Math.abs(ratio - 1);
  if (ratio > 0 && ratio < 0.0995) return ratio.toPrecision(2);
  if (ratio >= 9.95) return ratio.toFixed(0);
  if (off >= 0.195 && ratio > 1) return ratio.toFixed(1);
  if (off >= 0.0195) return ratio.toFixed(2);
  return ratio.toFixed(3);
}

// A value in its metric's unit.
function inUnit(value, unit, significant = 4) {
  if (value === null || value === undefined) return BLANK;
  if (unit === 'bit/s') {
    const [name, size] = [['Gbit/s', 1e9], ['Mbit/s', 1e6], ['kbit/s', 1e3]].find(([, least]) => Math.abs(value) >= least) ?? ['bit/s', 1];
    return `${digits(value / size, significant)} ${name}`;
  }
  if (unit === 'B') {
    const [name, size] = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 1024]].find(([, least]) => Math.abs(value) >= least) ?? ['B', 1];
    return `${digits(value / size, significant)} ${name}`;
  }
  return unit === 'ns' ? time(value, significant) : `${digits(value, significant)} ${unit === '1' ? '' : unit}`.trim();
}

const shortDate = ms => ms > 0 ? new Date(ms).toISOString().replace('T', ' ').slice(0, 16) + ' UTC' : BLANK;
const escaped = text => String(text).replace(/[&<>"']/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'}[c]));

// An axis: position of a value, its range, and the values that get a label.
function niceStep(span, count) {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= rough * 0.999);
}

function linearTicks(low, high, count = 6) {
  if (!(high > low)) return [low];
  const step = niceStep(high - low, count);
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) ticks.push(+tick.toPrecision(12));
  return ticks;
}

function logTicks(low, high) {
  const choose = steps => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
      for (const step of steps) {
        const tick = step * 10 ** power;
        if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(+tick.toPrecision(12));
      }
    return ticks;
  };
  if (high / low > 3e3) return choose([1]);
  if (high / low > 6) return choose([1, 2, 5]);
  return linearTicks(low, high, 6).filter(tick => tick > 0);
}

// Of values that are all positive when `log`.
function valueAxis(values, log, options = {}) {
  let low = Math.min(...values), high = Math.max(...values);
  if (options.include !== undefined) { low = Math.min(low, options.include); high = Math.max(high, options.include); }
  if (log) {
    const pad = Math.max(0.04 * Math.log10(high / low), options.pad ?? 0.02);
    const from = Math.log10(low) - pad, to = Math.log10(high) + pad;
    return {at: v => Math.log10(v), min: from, max: to, ticks: logTicks(10 ** from, 10 ** to), back: p => 10 ** p};
  }
  if (!options.free) low = Math.min(low, 0);
  const pad = 0.05 * (high - low || Math.abs(high) || 1);
  const from = low === 0 ? 0 : low - pad, to = high + pad;
  return {at: v => v, min: from, max: to, ticks: linearTicks(from, to), back: p => p};
}

// Of the delays asked for: each is a tick. Logarithmic: 0 gets a place of its own left of the smallest other.
function delayAxis(delays, log) {
  const sorted = [...new Set(delays)].sort((a, b) => a - b);
  const last = sorted[sorted.length - 1];
  const positive = sorted.filter(d => d > 0);
  if (log && positive.length > 1) {
    const first = Math.log10(positive[0]);
    const zero = first - Math.max(0.35, (Math.log10(last) - first) / positive.length);
    const at = d => d >= positive[0] ? Math.log10(d) : zero + (first - zero) * (d / positive[0]);
    const from = sorted[0] === 0 ? zero : first, to = Math.log10(last), pad = 0.06 * (to - from);
    return {at, min: from - pad, max: to + pad, ticks: sorted};
  }
  const pad = 0.05 * (last - sorted[0] || last || 1);
  return {at: d => d, min: sorted[0] - pad, max: last + pad, ticks: sorted};
}
