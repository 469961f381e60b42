// The colours of the map, read from the style sheet so that light and dark need no second list.
//
// The scale diverges from the mean: blue below, grey at the mean, orange above. Blue and orange stay apart for
// people who do not tell red from green; lightness differs too, and large cells show the level as height.

const STEPS = 64;

function parse(text) {
  const hex = text.trim().replace('#', '');
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

const mix = (from, to, share) => `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * share)).join(' ')})`;

export function readColors() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const [low, mid, high] = ['--heat-low', '--heat-mid', '--heat-high'].map((name) => parse(value(name)));
  const scale = [];
  for (let step = 0; step <= STEPS; ++step) {
    const at = step / STEPS * 2 - 1;
    scale.push(at < 0 ? mix(mid, low, -at) : mix(mid, high, at));
  }
  return {
    scale,
    ink: value('--ink'), muted: value('--muted'), surface: value('--surface'), cell: value('--cell'), hatch: value('--hatch'),
    inflow: value('--inflow'), accent: value('--accent'),
  };
}

// 0 … mean … 2 × mean and more, evenly: the place on the scale is the height of the level.
export function colorOf(colors, overMean) {
  return colors.scale[Math.round(Math.min(2, Math.max(0, overMean)) / 2 * STEPS)];
}

export function drawScale(canvas, colors) {
  const pen = canvas.getContext('2d');
  const step = canvas.width / colors.scale.length;
  colors.scale.forEach((color, i) => {
    pen.fillStyle = color;
    pen.fillRect(Math.floor(i * step), 0, Math.ceil(step) + 1, canvas.height);
  });
}
