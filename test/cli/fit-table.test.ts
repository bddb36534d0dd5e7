/** Tables on a terminal: as wide as it is and no wider, in its colours. */
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { printTable, type ShownCell, type ShownColumn } from '../../src/cli/terminal/output.ts'
import { captured, muster, programOf } from '../support/captured-world.ts'

const printing = (columns: readonly ShownColumn[], rows: readonly (readonly ShownCell[])[]) =>
  programOf({
    try: {
      examples: [],
      run: async context => {
        printTable(context, columns, rows)
        return 0
      },
    },
  })

async function shownAt(
  columns: number,
  commands: ReturnType<typeof printing>,
  [line, env]: [string, Record<string, string>] = ['try', {}],
) {
  const { world, out } = captured({ env })
  const write = world.stdout.write
  await muster(line, { ...world, stdout: { write, columns, isTTY: true } }, commands)
  return out().trimEnd().split('\n')
}

const statusLike: readonly ShownColumn[] = [
  'resource',
  'state',
  'rows',
  { title: 'watermark', drop: 2 },
  { title: 'windows', drop: 1 },
  'note',
]
const rows: readonly ShownCell[][] = [
  [
    'timesheets',
    'done',
    1_234_567,
    '2026-01-02T03:04:05Z',
    '12 accepted',
    'read in parts, since one page was larger than the cap',
  ],
  ['sites', 'failed', 42, '2026-01-02T03:04:05Z', '1 refused', null],
]

test.each([
  [
    60,
    [
      'resource    state        rows  note',
      '----------  ------  ---------  -----------------------------',
      'timesheets  done    1,234,567  read in parts, since one pag…',
      'sites       failed         42',
      '… not at this width: watermark, windows',
    ],
  ],
  [
    100,
    [
      'resource    state        rows  watermark             windows      note',
      '----------  ------  ---------  --------------------  -----------  ----------------------------------',
      'timesheets  done    1,234,567  2026-01-02T03:04:05Z  12 accepted  read in parts, since one page was…',
      'sites       failed         42  2026-01-02T03:04:05Z  1 refused',
    ],
  ],
  [
    160,
    [
      'resource    state        rows  watermark             windows      note',
      '----------  ------  ---------  --------------------  -----------  -----------------------------------------------------',
      'timesheets  done    1,234,567  2026-01-02T03:04:05Z  12 accepted  read in parts, since one page was larger than the cap',
      'sites       failed         42  2026-01-02T03:04:05Z  1 refused',
    ],
  ],
])('at %i columns', async (width, expected) => {
  expect(await shownAt(width, printing(statusLike, rows), ['try --color never', {}])).toEqual(expected)
})

const cell = fc.oneof(fc.string({ maxLength: 90, unit: 'grapheme' }), fc.integer(), fc.constant(null))

test('no line is wider than the terminal, and no number is shortened', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 9, maxLength: 9 }), { maxLength: 4 }),
      fc.integer({ min: 60, max: 200 }),
      async (table, width) => {
        const titles = ['name', ...'bcdefgh'.split('').map(letter => letter.repeat(9)), 'figure']
        const numbered = table.map((row, index) => ['x', ...row.slice(1, 8), 10 ** index])
        const lines = await shownAt(width, printing(titles, numbered), ['try --color never', {}])
        const own = lines.filter(line => !line.startsWith('… not'))
        for (const line of own) expect(stringWidth(line)).toBeLessThanOrEqual(width)
        expect(own[0]).toMatch(/^name\b/)
      },
    ),
    { numRuns: 60 },
  ))

describe('colours', () => {
  const commands = printing(
    ['what', 'state'],
    [
      ['a', 'done'],
      ['\u001b[2Jb', 'failed'],
    ],
  )
  const start = '\u001b'

  test('are shown on a terminal, and those of foreign text never', async () => {
    const text = (await shownAt(80, commands)).join('\n')
    expect(text).toContain(`${start}[32mdone`)
    expect(text).toContain(`${start}[31mfailed`)
    expect(text).toContain('\\u001b[2Jb')
    expect(text).not.toContain(`${start}[2J`)
  })

  test.each([
    ['try', { NO_COLOR: '1' }],
    ['try', { TERM: 'dumb' }],
    ['try --color never', {}],
  ])('%s with %j has none', async (line, env) => {
    expect((await shownAt(80, commands, [line, env])).join('\n')).not.toContain(start)
  })

  test('go into a file only if asked for, which has every column at any width', async () => {
    expect((await muster('try', {}, commands)).out).not.toContain(start)
    expect((await muster('try --color always', { env: { NO_COLOR: '1' } }, commands)).out).toContain(
      `${start}[32m`,
    )
    const { out } = await muster('try', {}, printing(statusLike, rows))
    expect(out).toContain('larger than the cap')
  })
})

test('texts of any length are shown in no time, on a terminal and in a pipe', async () => {
  const long = ['x', 'é', '漢'].map(letter => letter.repeat(150_000))
  const commands = printing(
    ['a', 'b'],
    long.map(text => [text, 'end']),
  )
  const before = process.cpuUsage()
  const shown = await shownAt(80, commands)
  expect(Math.max(...shown.map(line => stringWidth(line)))).toBeLessThanOrEqual(80)
  const { code, out } = await muster('try', {}, commands)
  expect([code, out.length]).toEqual([0, expect.any(Number)])
  // More than a minute when the whole of each is measured at once.
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(20)
})
