/** What spending, invoices, papers and access amount to, on records few enough to work it out by hand. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { everyCheck, martGate } from '../../src/marts/checks/gate.ts'
import { readMarts } from '../../src/marts/mart.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import type { Answer, Cell } from './answers.ts'
import { billing } from './billing-story.ts'
import { health } from './health-story.ts'
import { ledgerAnswers } from './ledger-answers.ts'
import { papers } from './papers-story.ts'
import { spendAnswers } from './spend-answers.ts'
import { spending } from './spend-story.ts'
import { now, tellStory } from './story.ts'

/** By mart; rows are sorted by their first two columns. */
const answers: Readonly<Record<string, Answer>> = { ...spendAnswers, ...ledgerAnswers }

/** Decimals and counts come as text. */
function cellOf(value: unknown): Cell {
  if (typeof value === 'string' && /^-?\d+\.\d+$/.test(value)) return Number(value)
  return typeof value === 'bigint' ? Number(value) : (value as Cell)
}

async function rowsOf(engine: Engine, name: string, { columns, where = 'true' }: Answer): Promise<Cell[][]> {
  const rows = await engine.rows(`select ${columns} from mart.${name} where ${where} order by 1, 2`)
  return rows.map(row => Object.values(row).map(cellOf))
}

const asNumbers = ({ rows }: Answer) =>
  rows.map(row => row.map(cell => (typeof cell === 'number' ? expect.toSatisfy(isNear(cell)) : cell)))

const isNear = (wanted: number) => (got: unknown) => Math.abs(Number(got) - wanted) < 1e-9 && got !== null

describeOnEngines('marts of spending, papers and access', bench => {
  test('are what one works out by hand', async () => {
    const { engine } = await bench.warehouse()
    for (const story of [spending, billing, papers, health]) await tellStory(engine, story)
    const marts = readMarts()
    const clock = { now: () => Date.parse(now), sleep: async () => undefined }
    const { marts: built } = await buildMarts(
      {
        engine,
        clock,
        rng: seededRng(1),
        signal: new AbortController().signal,
        version: 'test',
        gate: martGate(everyCheck(marts)),
        onMart: () => undefined,
      },
      { marts, names: Object.keys(answers), all: false },
    )
    expect(
      built.filter(({ state }) => state !== 'built').map(({ name, message }) => [name, message]),
    ).toEqual([])
    const got: Record<string, unknown> = {}
    const wanted: Record<string, unknown> = {}
    for (const [name, answer] of Object.entries(answers)) {
      got[name] = await rowsOf(engine, name, answer)
      wanted[name] = asNumbers(answer)
    }
    expect(got).toEqual(wanted)
  })
})
