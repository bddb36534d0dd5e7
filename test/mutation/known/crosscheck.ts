import type { Known } from '../known.ts'

const sameShift =
  'Only saves time: a span without a clock change computes its shift once, otherwise each time does.'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    {
      file: 'src/crosscheck/calibrate/zones.ts',
      line: 'if (!ofSpan.has(span)) {',
      reason: sameShift,
    },
    {
      file: 'src/crosscheck/calibrate/zones.ts',
      line: 'const [from, to] = [shift(span * steadyMs), shift((span + 1) * steadyMs)]',
      replacement: '[]',
      reason: sameShift,
    },
    {
      file: 'src/crosscheck/calibrate/zones.ts',
      line: 'ofSpan.set(span, from === to ? from : undefined)',
      replacement: 'false',
      reason: sameShift,
    },
    {
      file: 'src/crosscheck/compare.ts',
      line: 'const isClose = difference !== null && Math.abs(difference) <= tolerance(figure) + 1e-9',
      replacement: 'Math.abs(difference) < tolerance(figure) + 1e-9',
      reason: 'The 1e-9 covers the rounding of a sum; no two figures differ by exactly as much.',
    },
    {
      file: 'src/crosscheck/explain/fill-search.ts',
      line: 'return (at >= from && at < to) || (isClamped && value <= 0 && at >= from)',
      replacement: 'at > from',
      reason: 'The slack is no whole number of milliseconds, so no time lies on a limit.',
    },
    {
      file: 'src/crosscheck/explain/fill-search.ts',
      line: 'return (at >= from && at < to) || (isClamped && value <= 0 && at >= from)',
      replacement: 'at <= to',
      reason: 'The slack is no whole number of milliseconds, so no time lies on a limit.',
    },
  ],
}
