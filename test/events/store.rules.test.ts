/** What is pending in the log beside a DuckDB file, and what its load brings into the inbox. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { waitingFiles } from '../../src/events/event-log.ts'
import { type InboxStore, logStore, tableStore } from '../../src/events/store.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { hour, ledgerBench } from '../support/ledger-bench.ts'

const bench = ledgerBench({ keepsRows: true })

const event = (id: string, at = 3): InboxEvent => ({
  ...{ id, type: 'trade_amended', entity: 'trade', recordId: 't', createdAt: null, state: 'new' },
  ...{ receivedAt: hour(at), payload: null },
})

describe('the log of a DuckDB file', () => {
  let folder: string
  let inbox: InboxStore
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'muster-store-'))
    inbox = logStore(folder)
    await bench.engine.run('delete from ops.inbox')
  })
  afterEach(async () => {
    await inbox.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('has what was stored pending, since the arrival of the oldest', async () => {
    expect(inbox.pending()).toEqual({ events: 0, oldest: null })
    expect(await inbox.store([])).toEqual([])
    expect(inbox.pending()).toEqual({ events: 0, oldest: null })
    expect(await inbox.store([event('a', 3), event('b', 2)])).toEqual([])
    await inbox.store([event('c', 1)])
    expect(inbox.pending()).toEqual({ events: 3, oldest: hour(3) })
  })

  test('is loaded into the inbox, and its files are gone', async () => {
    expect(await inbox.load(bench.engine)).toBe(0)
    await inbox.store([event('a'), event('b')])
    await inbox.store([event('a')])
    expect(await inbox.load(bench.engine)).toBe(3)
    expect(await bench.rows('select event_id as id, deliveries as n from ops.inbox order by 1')).toEqual([
      { id: 'a', n: 2 },
      { id: 'b', n: 1 },
    ])
    expect(waitingFiles(folder)).toEqual([])
    expect(inbox.pending()).toEqual({ events: 0, oldest: null })
    expect(await inbox.load(bench.engine)).toBe(0)
  })

  test.each<[string, readonly InboxEvent[], number, string]>([
    ['what was pending before', [], 2, hour(3)],
    ['what came meanwhile as well', [event('c', 5)], 3, hour(3)],
  ])('that cannot be loaded keeps its files and has pending %s', async (...[, meanwhile, events, oldest]) => {
    await inbox.store([event('a', 3), event('b', 4)])
    const engine = {
      transaction: async () => {
        if (meanwhile.length > 0) await inbox.store(meanwhile)
        throw new Error('locked')
      },
    } as unknown as Engine
    await expect(inbox.load(engine)).rejects.toThrow('locked')
    expect(inbox.pending()).toEqual({ events, oldest })
    expect(waitingFiles(folder).length).toBeGreaterThan(0)
    expect(await inbox.load(bench.engine)).toBe(events)
  })

  test('that cannot be loaded is pending since what came meanwhile, where nothing was before', async () => {
    await inbox.store([event('a')])
    await inbox.close()
    inbox = logStore(folder)
    const engine = {
      transaction: async () => {
        await inbox.store([event('b', 6)])
        throw new Error('locked')
      },
    } as unknown as Engine
    await expect(inbox.load(engine)).rejects.toThrow('locked')
    expect(inbox.pending()).toEqual({ events: 1, oldest: hour(6) })
  })

  test('that is closed stores into another file', async () => {
    await inbox.store([event('a')])
    await inbox.close()
    await inbox.store([event('b')])
    expect(waitingFiles(folder)).toHaveLength(2)
  })
})

test('the table of a server stores events at once, so that nothing is pending', async () => {
  const asked: unknown[] = []
  const engine = {
    rows: async (_: string, values: readonly unknown[]) => {
      asked.push(values)
      return []
    },
    close: async () => void asked.push('closed'),
  } as unknown as Engine
  const inbox = tableStore(engine)
  expect(await inbox.store([event('a')])).toEqual(['a trade_amended t'])
  expect(asked[0]).toEqual([JSON.stringify([event('a')])])
  expect([await inbox.load(engine), inbox.pending()]).toEqual([0, { events: 0, oldest: null }])
  await inbox.close()
  expect(asked.at(-1)).toBe('closed')
})
