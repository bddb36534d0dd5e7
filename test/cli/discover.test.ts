/** Ids from a file: noted, read by the next sync, and counted in the coverage that status prints. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { thorough } from '../support/long-suite.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

let place: Place

const write = (name: string, lines: readonly string[]): void =>
  writeFileSync(join(place.cwd, name), `${lines.join('\n')}\n`)

const idsOf = (collection: 'creditNotes' | 'requisitions'): string[] =>
  place.sandbox.world.all(collection).map(({ id }) => String(id))

const status = async () => JSON.parse((await place.command('status --json')).out)

beforeAll(async () => {
  place = await openPlace({ scale: 0.05 })
})

test.runIf(thorough)(
  'shows which ids no record names, and stores the records once their ids are given',
  async () => {
    expect(
      (
        await place.command(
          'sync --quiet timesheets invoices metric-rows assignments requisitions credit-notes',
        )
      ).code,
    ).toBe(0)
    const before = (await status()).coverage
    expect(before.requisitions.known).toBeGreaterThan(before.requisitions.stored)
    expect(before.requisitions.withoutId).toBe(before.requisitions.known - before.requisitions.stored)
    expect(Number(before.creditNotes.onInvoices)).toBeGreaterThan(Number(before.creditNotes.stored))
    const { out } = await place.command('status')
    const { stored, known, withoutId } = before.requisitions
    expect(out).toContain(
      `requisitions stored ${stored} of ${known} known references; ${withoutId} are only in metric rows`,
    )
    expect(out).toMatch(/^credit notes stored 0\.00 of [\d.]+ on invoices; no record names their ids/m)
    expect(out).toMatch(/^assignments stored (\d+) of \1 known ids$/m)

    write('notes.txt', [...idsOf('creditNotes'), '../me', 'gone'])
    expect(await place.command('discover credit-notes notes.txt')).toMatchObject({
      code: 0,
      out: `${idsOf('creditNotes').length + 1} ids read, ${idsOf('creditNotes').length + 1} of them new; 1 line without a valid id, the first is line ${idsOf('creditNotes').length + 1}, which is not an id; muster sync reads them\n`,
    })
    write('ids.csv', ['resource,id', ...idsOf('requisitions').map(id => `requisitions,${id}`)])
    expect(JSON.parse((await place.command('discover ids.csv --json')).out)).toEqual({
      ids: idsOf('requisitions').length,
      new: idsOf('requisitions').length - stored,
      refused: 0,
      refusedLines: [],
    })
    expect((await place.command('sync credit-notes requisitions')).code).toBe(0)
    const after = (await status()).coverage
    // Requisitions without a submission are in no metric row.
    const all = idsOf('requisitions').length
    expect(after.requisitions).toEqual({ known: all, stored: all, withoutId: 0 })
    expect(after.creditNotes.stored).toBe(after.creditNotes.onInvoices)
    expect((await place.command('status')).out).toMatch(
      /^credit-notes stored (\d+) of \d+ known ids; 1: not found \(404\)$/m,
    )
  },
)

test.each([
  ['discover timesheets notes.txt', 'no resource timesheets is read by id: name one of sites, trades, '],
  ['discover nowhere.txt', 'nowhere.txt is not there'],
  ['discover notes.txt', 'no resource [\\da-f]+ is read by id \\(notes.txt at line 1\\)'],
  ['discover trades empty.txt', 'empty.txt has no ids in it'],
])('%s', async (line, words) => {
  write('empty.txt', [''])
  write('notes.txt', ['0123456789abcdef01234567'])
  const { code, err } = await place.command(line)
  expect([code, err]).toEqual([2, expect.stringMatching(new RegExp(`^muster: ${words}`))])
})
