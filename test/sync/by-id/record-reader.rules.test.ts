/** How records read by id are loaded and recorded, also where a page cannot be read. */
import { describe, expect, test } from 'vitest'
import { AccessDenied, RetriableError } from '../../../src/api/client/errors.ts'
import type { LandedPage } from '../../../src/landing/landing.ts'
import { BudgetSpent } from '../../../src/lib/errors.ts'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import type { PageFile } from '../../../src/load/read/pages.ts'
import type { DueId } from '../../../src/state/by-id/due.ts'
import { RecordReader } from '../../../src/sync/by-id/record-reader.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import {
  hour,
  knownIds,
  notFound,
  type RulesTask,
  rulesTasks,
  runOfScope,
  type Service,
  starRows,
  type TaskParts,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_trade', 'bridge_trade_rate', 'fact_assignment')
const trades = resourceOf('trades')
const failed = new RetriableError({ request: 'GET' }, { what: 'the service failed', next: '' })

/** What a load throws that cannot read the first of these pages. */
const unreadable = ([page]: readonly object[]): PageUnreadable =>
  new PageUnreadable([page as PageFile], new Error('not JSON'))

const due = (...ids: readonly string[]): DueId[] =>
  ids.map(id => ({ record_id: id, state: 'never fetched', failures: 0 }))
const idOf = (path: string): string => path.split('/').at(-1) ?? ''
const answering =
  (answers: Readonly<Record<string, object>> = {}): Service =>
  ({ path }) =>
    answers[idOf(path)] ?? { id: idOf(path) }

async function readerOf(service: Service = answering(), parts: TaskParts = {}) {
  const task = await newTask(trades, service, parts)
  await runOfScope(warehouse, 'before', task)
  return { task, reader: new RecordReader(task, 'sync') }
}
const stored = async (...ids: readonly string[]) => {
  await starRows(warehouse, { resource: trades, ids })
  await knownIds(warehouse, { resource: 'trades', ids }, { state: 'stored', fetchedAt: hour(-5), fetches: 1 })
}
const scans = async () =>
  (
    await warehouse.rows(
      'select scan_id, state, loaded_sequence, pages, accepted_at, next_page from ops.scan',
    )
  ).map(row => ({
    ...row,
    ...{
      loaded_sequence: Number(row.loaded_sequence),
      pages: Number(row.pages),
      next_page: Number(row.next_page),
    },
  }))
const states = async () =>
  new Map(
    (
      await warehouse.rows(
        'select record_id, state, state_since, retry_after, fetches, last_fetched_at, key_scope from ops.discovered',
      )
    ).map(row => [row.record_id, row]),
  )

describe('a read', () => {
  test('loads all records together, and writes down what became of each', async () => {
    await stored('a', 'b', 'gone')
    const { task, reader } = await readerOf(answering({ gone: notFound }))
    await reader.read(due('a', 'b', 'gone'))
    expect(task.loads).toHaveLength(1)
    expect(task.loads[0]).toMatchObject({
      rows: 'data as one record',
      pages: [{ sequence: 1 }, { sequence: 2 }],
    })
    expect(await scans()).toEqual([
      {
        scan_id: 'this-trades',
        state: 'scanning',
        loaded_sequence: 2,
        pages: 2,
        accepted_at: null,
        next_page: 1,
      },
    ])
    const found = await states()
    expect(found.get('a')).toMatchObject({ state: 'stored', last_fetched_at: hour(0) })
    expect(Number(found.get('a')?.fetches)).toBe(2)
    expect(found.get('a')?.state_since).toBe(hour(-9))
    expect(found.get('gone')).toMatchObject({ state: 'missing', key_scope: task.scopeId })
    await reader.close()
    expect(await scans()).toMatchObject([{ state: 'accepted', accepted_at: hour(0), next_page: 0 }])
  })

  test('opens its scan once, and goes on in its order', async () => {
    await stored('a', 'b')
    const { task, reader } = await readerOf()
    await reader.read(due('a'))
    await reader.read(due('b'))
    expect(task.loads.map(({ pages }) => pages[0]?.sequence)).toEqual([1, 2])
    expect(task.landings).toEqual(['begin this-trades {"resource":"trades","scope":{},"isById":true}'])
    expect(await scans()).toHaveLength(1)
  })

  test('without a record writes down the failures', async () => {
    await stored('gone')
    const { task, reader } = await readerOf(answering({ gone: notFound }))
    await reader.read(due('gone'))
    expect(task.loads).toEqual([])
    expect((await states()).get('gone')?.state).toBe('missing')
  })

  test('throws what ended it early when everything read until then is loaded', async () => {
    await stored('a', 'b')
    const spent = new BudgetSpent({ what: 'the day is over' })
    const { task, reader } = await readerOf(answering({ b: spent }))
    await expect(reader.read(due('a', 'b'))).rejects.toBe(spent)
    expect(task.loads).toHaveLength(1)
  })

  test('that never began has nothing to close, even where another process has taken over', async () => {
    const { reader } = await readerOf()
    await warehouse.engine.run('delete from ops.lease')
    await reader.close()
    expect(await scans()).toEqual([])
  })

  test('of which three records in a row are refused and none is returned ends', async () => {
    const denied = new AccessDenied({ request: 'GET' })
    const { reader } = await readerOf(() => denied)
    await expect(reader.read(due('a', 'b', 'c'))).rejects.toBe(denied)
  })
})

describe('a record that is not there', () => {
  test('is evidence of a deletion when it is stored', async () => {
    await stored('gone')
    await knownIds(warehouse, { resource: 'trades', ids: ['never'] })
    const { reader } = await readerOf(answering({ gone: notFound, never: notFound }))
    await reader.read(due('gone', 'never'))
    expect(await warehouse.rows('select record_id, kind, source, seen_at from ops.evidence')).toEqual([
      { record_id: 'gone', kind: 'by-id 404', source: 'this', seen_at: hour(0) },
    ])
  })

  test('is no evidence when it is refused', async () => {
    await stored('no')
    const { reader } = await readerOf(answering({ no: new AccessDenied({ request: 'GET' }) }))
    await reader.read(due('no'))
    expect(await warehouse.rows('select * from ops.evidence')).toEqual([])
    expect((await states()).get('no')?.state).toBe('refused')
  })

  test('leaves quarantine, if this scope had shown it', async () => {
    await stored('gone')
    const { task, reader } = await readerOf(answering({ gone: notFound }))
    for (const [id, run] of [
      ['own', 'before'],
      ['others', 'another key'],
    ])
      await warehouse.engine.run(
        `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
         values ('${id}', 'trades', 'gone', '', '', '', '', '${run}', timestamptz '${hour(-3)}')`,
      )
    await reader.read(due('gone'))
    expect(
      await warehouse.rows(
        'select quarantine_id, resolved_at from ops.quarantine where resolved_at is not null',
      ),
    ).toEqual([{ quarantine_id: 'own', resolved_at: hour(0) }])
    expect(task.loads).toEqual([])
  })
})

test('a record for which the service failed is read again in an hour', async () => {
  await knownIds(warehouse, { resource: 'trades', ids: ['a'] })
  const { reader } = await readerOf(answering({ a: failed }))
  await reader.read(due('a'))
  expect((await states()).get('a')).toMatchObject({ state: 'never fetched', retry_after: hour(1) })
})

test('a record that has another id is known by both, and counts once', async () => {
  await stored('long-id')
  await knownIds(warehouse, { resource: 'trades', ids: ['short'] })
  const { reader } = await readerOf(answering({ short: { id: 'long-id' } }))
  await reader.read(due('long-id', 'short'))
  const found = await states()
  expect(found.get('short')?.state).toBe('refused')
  expect(found.get('long-id')?.state).toBe('stored')
  expect(Number(found.get('long-id')?.fetches)).toBe(2)
})

test('ids that the loaded records name are noted, those of other pages and resources are not', async () => {
  await stored('a')
  const rate = (trade: string, run: string, at: string) =>
    warehouse.engine.run(
      `insert into star.bridge_trade_rate (trade_id, rate_id, loaded_at, run_id, is_deleted)
       values ('${trade}', 'rate-of-${trade}', timestamptz '${at}', '${run}', false)`,
    )
  await rate('a', 'this', hour(0))
  await rate('other', 'earlier', hour(0))
  await warehouse.engine.run(
    `insert into star.fact_assignment (assignment_id, trade_id, loaded_at, is_deleted, run_id, row_hash)
     values ('beside', 'trade-of-beside', timestamptz '${hour(0)}', false, 'this', '')`,
  )
  const { reader } = await readerOf()
  await reader.read(due('a'))
  expect(
    await warehouse.rows(
      `select record_id, source, first_seen_at from ops.discovered where record_id <> 'a'`,
    ),
  ).toEqual([{ record_id: 'rate-of-a', source: 'star.bridge_trade_rate.rate_id', first_seen_at: hour(0) }])
})

describe('a page that cannot be loaded', () => {
  const failing = (times: number, error?: Error) => {
    let loads = 0
    return ({ pages }: { readonly pages: readonly { readonly file: string }[] }) => {
      loads += 1
      if (loads <= times) throw error ?? unreadable(pages)
    }
  }

  test('is forgotten and asked for once more, with the others as they are', async () => {
    await stored('a', 'b', 'gone')
    let isAsked = false
    const service: Service = ({ path }) => {
      const isAgain = isAsked && idOf(path) === 'a'
      isAsked ||= idOf(path) === 'a'
      if (idOf(path) === 'gone') return notFound
      return isAgain ? { id: 'a', isAgain } : { id: idOf(path) }
    }
    const { task, reader } = await readerOf(service, { load: failing(1) })
    await reader.read(due('a', 'b', 'gone'))
    expect(task.asked().filter(path => path === '/trades/a')).toHaveLength(2)
    expect(task.landings).toContain('forget page 1')
    expect(task.loads[1]?.pages.map(({ sequence }) => sequence)).toEqual([2, 3])
    const found = await states()
    expect([found.get('a')?.state, found.get('gone')?.state]).toEqual(['stored', 'missing'])
  })

  test('is asked for once more beside others that cannot be loaded either', async () => {
    await stored('a', 'b', 'c')
    let loads = 0
    const load = ({ pages }: { readonly pages: readonly LandedPage[] }) => {
      loads += 1
      if (loads === 1)
        throw new PageUnreadable(pages.slice(0, 2) as object[] as [PageFile, PageFile], new Error('not JSON'))
    }
    const { task, reader } = await readerOf(answering(), { load })
    await reader.read(due('a', 'b', 'c'))
    expect(task.asked()).toEqual(['a', 'b', 'c', 'a', 'b'].map(id => `/trades/${id}`))
    expect(task.loads[1]?.pages.map(({ sequence }) => sequence)).toEqual([3, 4, 5])
  })

  test('and whose record is gone when it is asked for again is missing', async () => {
    await stored('a', 'b')
    let isAsked = false
    const service: Service = ({ path }) => {
      const isGone = isAsked && idOf(path) === 'a'
      isAsked ||= idOf(path) === 'a'
      return isGone ? notFound : { id: idOf(path) }
    }
    const { reader } = await readerOf(service, { load: failing(1) })
    await reader.read(due('a', 'b'))
    expect((await states()).get('a')?.state).toBe('missing')
  })

  test('and for which the service fails when it is asked again is left for later, beside those before', async () => {
    await knownIds(warehouse, { resource: 'trades', ids: ['a', 'b', 'down'] })
    let isAsked = false
    const service: Service = ({ path }) => {
      const isDown = idOf(path) === 'down' || (isAsked && idOf(path) === 'a')
      isAsked ||= idOf(path) === 'a'
      return isDown ? failed : { id: idOf(path) }
    }
    const { reader } = await readerOf(service, { load: failing(1) })
    await reader.read(due('a', 'b', 'down'))
    const found = await states()
    expect([found.get('a')?.retry_after, found.get('down')?.retry_after]).toEqual([hour(1), hour(1)])
  })

  test('and whose second answer is kept back by a spent budget ends the reading, with the others loaded', async () => {
    await knownIds(warehouse, { resource: 'trades', ids: ['a', 'b'] })
    const spent = new BudgetSpent({ what: 'the day is spent' })
    let isAsked = false
    const service: Service = ({ path }) => {
      const isAgain = isAsked && idOf(path) === 'a'
      isAsked ||= idOf(path) === 'a'
      return isAgain ? spent : { id: idOf(path) }
    }
    const { task, reader } = await readerOf(service, { load: failing(1) })
    await expect(reader.read(due('a', 'b'))).rejects.toBe(spent)
    expect(task.loads[1]?.pages.map(({ sequence }) => sequence)).toEqual([2])
  })

  test('alone, and gone when it is asked for again, needs no load', async () => {
    await stored('a')
    let isAsked = false
    const { task, reader } = await readerOf(
      () => {
        const answer = isAsked ? notFound : { id: 'a' }
        isAsked = true
        return answer
      },
      { load: failing(1) },
    )
    await reader.read(due('a'))
    expect(task.loads).toHaveLength(1)
    expect((await states()).get('a')?.state).toBe('missing')
  })

  test('when it is asked for again ends the reading', async () => {
    const { task, reader } = await readerOf(answering(), { load: failing(9) })
    await expect(reader.read(due('a'))).rejects.toBeInstanceOf(PageUnreadable)
    expect(task.asked()).toEqual(['/trades/a', '/trades/a'])
  })

  test('and was asked for again before ends the reading', async () => {
    const made: { task?: RulesTask } = {}
    const load = ({ pages }: { readonly pages: readonly LandedPage[] }) => {
      made.task?.pipeline.readAgain.add(pages)
      throw unreadable(pages)
    }
    const { task, reader } = await readerOf(answering(), { load })
    made.task = task
    await expect(reader.read(due('a'))).rejects.toBeInstanceOf(PageUnreadable)
    expect(task.asked()).toEqual(['/trades/a'])
  })

  test('for another reason ends the reading', async () => {
    const bug = new Error('a bug')
    const { reader } = await readerOf(answering(), { load: failing(1, bug) })
    await expect(reader.read(due('a'))).rejects.toBe(bug)
  })
})
