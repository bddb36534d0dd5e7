/** docs/sandbox.md lists exactly the knobs, faults and breaches that are declared, in their own words. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { breachKinds } from '../../src/sandbox/breach-kinds.ts'
import { faultTable } from '../../src/sandbox/faults/faults.ts'
import { knobTable } from '../../src/sandbox/knobs.ts'

const text = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')

/** Rows of the table whose first column has this title. */
function rowsOf(title: string): string[][] {
  const lines = text.split('\n')
  const start = lines.findIndex(line => line.startsWith(`| ${title} `))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
}

it.each([
  [
    'knob',
    Object.entries(knobTable).map(([name, { values, fallback, meaning }]) => [
      `\`${name}\``,
      values,
      String(fallback),
      meaning,
    ]),
  ],
  ['fault', Object.entries(faultTable).map(([name, { meaning }]) => [`\`${name}\``, meaning])],
  ['breach', Object.entries(breachKinds).map(([name, meaning]) => [`\`${name}\``, meaning])],
])('every %s', (title, declared) => {
  expect(rowsOf(title)).toEqual(declared)
})
