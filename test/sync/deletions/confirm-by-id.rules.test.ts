/** Which answers by id are evidence of a deletion: those of a service that still answers, to a key that sees the same. */
import { describe, expect, test } from 'vitest'
import { AccessDenied, AnswerTooLarge, OtherRecord, RetriableError } from '../../../src/api/client/errors.ts'
import { confirmById } from '../../../src/sync/deletions/confirm-by-id.ts'
import type { DeletionCandidate, DeletionEvidence } from '../../../src/sync/deletions/decision.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import {
  hour,
  me,
  notFound,
  type Request,
  rulesTasks,
  runOfScope,
  type Service,
  starRows,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'fact_expense', 'dim_trade', 'fact_timesheet')
const expenses = resourceOf('expenses')
const facts = { request: 'GET' }

const swept: DeletionEvidence = { kind: 'sweep', source: 'sweep run', seenAt: hour(-1), scopeId: 'now' }
const candidate = (id: string, ...evidence: readonly DeletionEvidence[]): DeletionCandidate => ({
  ...{ id, isFetchedWithScope: true },
  evidence: evidence.length > 0 ? evidence : [swept],
})

/** Ids that the service knows, by the path; the list counts so many records. */
const service =
  (known: readonly string[], total = 100): Service =>
  ({ path, page }: Request) => {
    if (page !== undefined) return { total, records: [{ id: 'x' }] }
    const id = path.split('/').at(-1) ?? ''
    return path === '/me' ? me : known.includes(id) ? { id } : notFound
  }

const setUp = async (of: Service, parts = {}, resource = expenses) => {
  const task = await newTask(resource, of, parts)
  await runOfScope(warehouse, 'before', task)
  await starRows(warehouse, { resource, ids: ['gone', 'control'] })
  const confirm = (candidates: readonly DeletionCandidate[], maxDeletions?: number, live = 100) =>
    confirmById(task, candidates, {
      scopeId: task.scopeId,
      live,
      ...(maxDeletions !== undefined && { maxDeletions }),
    })
  return { task, confirm }
}
const evidence = () =>
  warehouse.rows(
    'select record_id, kind, source, void_at is not null as void from ops.evidence order by 1, 3',
  )
const gone = [{ record_id: 'gone', kind: 'by-id 404', source: 'this', void: false }]

/** A sweep of this scope that saw so many records. */
const sweptBefore = (scopeId: string, seen: number, at = hour(-1)) =>
  warehouse.engine.run(
    `insert into ops.sweep (sweep_id, resource, scope_id, state, started_at, run_id, total, seen, judged, missing)
     values ('s${at}', 'expenses', '${scopeId}', 'accepted', timestamptz '${at}', 'before', 0, ${seen}, 0, 0)`,
  )

describe('a candidate', () => {
  test('that is not found becomes evidence, once the key and the list are found as they were', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await confirm([candidate('gone')])
    expect(await evidence()).toEqual(gone)
    expect(task.asked()).toEqual([
      ...['/expenses/control', '/expenses/gone', '/me', '/expenses/control', '/expenses 1'],
    ])
    expect(task.counters).toMatchObject({ requests: 5, note: null })
    expect(task.requests.map(({ purpose }) => purpose)).toEqual(Array(5).fill('reconcile'))
  })

  test('that answers makes earlier evidence void, and needs no second control', async () => {
    const { task, confirm } = await setUp(service(['control', 'gone']))
    await warehouse.engine.run(
      `insert into ops.evidence (resource, record_id, kind, source, seen_at)
       values ('expenses', 'gone', 'sweep', 'older', timestamptz '${hour(-2)}')`,
    )
    await confirm([candidate('gone')])
    expect(await evidence()).toEqual([{ record_id: 'gone', kind: 'sweep', source: 'older', void: true }])
    expect(task.asked()).toEqual(['/expenses/control', '/expenses/gone', '/me', '/expenses 1'])
  })

  test('that this run has asked for already is not asked for again', async () => {
    const { task, confirm } = await setUp(service(['control']))
    const asked = { ...swept, kind: 'by-id 404', source: 'this' } as const
    await confirm([candidate('gone', swept, asked)])
    expect(task.asked()).toEqual([])
    const others = [
      { ...asked, source: 'another run' },
      { ...swept, source: 'this' },
    ]
    await confirm([candidate('gone', ...others)])
    expect(task.asked()).toContain('/expenses/gone')
  })

  test('with an odd id is asked for by its escaped path', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await confirm([candidate('a/b$&')])
    expect(task.asked()).toContain('/expenses/a%2Fb%24%26')
  })

  test('of a resource without single records is not asked for', async () => {
    const { task, confirm } = await setUp(service([]), {}, resourceOf('timesheets'))
    await confirm([candidate('gone')])
    expect(task.asked()).toEqual([])
  })

  test('is not needed: without candidates nothing is asked', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await confirm([])
    expect(task.asked()).toEqual([])
  })
})

describe('a refusal', () => {
  test.each([
    ['the key may not read it', new AccessDenied(facts)],
    ['another record came', new OtherRecord(facts)],
    ['it is too large', new AnswerTooLarge(facts, 9)],
  ])('tells nothing of deletions and ends the asking: %s', async (...[, error]) => {
    const known = service(['control'])
    const { task, confirm } = await setUp(request => (request.path.endsWith('/no') ? error : known(request)))
    await confirm(['gone', 'no', 'later'].map(id => candidate(id)))
    expect(await evidence()).toEqual(gone)
    expect(task.asked()).not.toContain('/expenses/later')
  })

  test('of another kind ends the run', async () => {
    const failure = new RetriableError(facts, { what: 'the service failed', next: '' })
    const known = service(['control'])
    const { confirm } = await setUp(request => (request.path.endsWith('/gone') ? failure : known(request)))
    await expect(confirm([candidate('gone')])).rejects.toBe(failure)
    expect(await evidence()).toEqual([])
  })
})

describe('a service that answers no record by id', () => {
  test('is no evidence: nothing is asked after the controls', async () => {
    const { task, confirm } = await setUp(service([]))
    await confirm([candidate('gone')])
    expect(await evidence()).toEqual([])
    expect(task.asked()).toEqual(['/expenses/control', '/expenses/gone'])
    expect(task.counters.note).toMatch(/the service returns no record by id/)
  })

  test('is asked for every control until one answers', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await starRows(warehouse, { resource: expenses, ids: ['a1', 'a2'] })
    await confirm([candidate('gone')])
    expect(task.asked().slice(0, 4)).toEqual(['a1', 'a2', 'control', 'gone'].map(id => `/expenses/${id}`))
    expect(await evidence()).toEqual(gone)
  })

  test('may have stopped to answer while candidates were asked for: their 404 does not count', async () => {
    let requests = 0
    const { task, confirm } = await setUp(request => {
      requests += 1
      return request.path === '/me' || requests === 1 ? service(['control'])(request) : notFound
    })
    await confirm([candidate('gone')])
    expect(await evidence()).toEqual([])
    expect(task.counters.note).toMatch(/the service returns no record by id/)
  })
})

test('a key that sees other companies after the asking gives no evidence, and holds everything back', async () => {
  const known = service(['control'])
  const { confirm } = await setUp(request =>
    request.path === '/me' ? { ...me, companies: [{ id: 'c1' }] } : known(request),
  )
  await expect(confirm([candidate('gone')])).rejects.toMatchObject({ exitCode: 3 })
  expect(await evidence()).toEqual([])
})

describe('a list that lost many rows during the asking', () => {
  test.each([
    ['as many as may be missing at once', 80, 100, undefined, true],
    ['one more', 79, 100, undefined, false],
    ['as many as --max-deletions allows', 95, 100, 5, true],
    ['one more than --max-deletions allows', 94, 100, 5, false],
    ['none, as it grew', 101, 100, undefined, true],
  ] as const)('%s: %i of %i counts %s', async (...[, total, seen, maxDeletions, isEvidence]) => {
    const { task, confirm } = await setUp(service(['control'], total))
    await sweptBefore(task.scopeId, 500, hour(-2))
    await sweptBefore(task.scopeId, seen)
    await sweptBefore('another scope', 900, hour(-0.5))
    await confirm([candidate('gone')], maxDeletions)
    expect(await evidence()).toEqual(isEvidence ? gone : [])
    expect(task.counters.note ?? '').toMatch(isEvidence ? /^$/ : /lost many rows/)
  })

  test('is asked for one id, to be counted', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await confirm([candidate('gone')])
    expect(task.requests.at(-1)).toMatchObject({ query: { fields: 'id', page: 1, limit: 1 } })
  })

  test('is not counted where a resource has no list', async () => {
    const { task, confirm } = await setUp(service(['control']), {}, resourceOf('trades'))
    await confirm([candidate('gone')])
    expect(task.asked().at(-1)).toBe('/trades/control')
    expect(await evidence()).toHaveLength(1)
  })
})

describe('a candidate of an event', () => {
  const event: DeletionEvidence = { kind: 'event', source: 'e', seenAt: hour(-1), scopeId: null }

  test('is paid for by the share of events', async () => {
    const { task, confirm } = await setUp(service(['control']))
    await confirm([candidate('gone', swept, event), candidate('other')])
    const purposes = new Map(task.requests.map(({ path, purpose }) => [path, purpose]))
    expect(purposes.get('/expenses/gone')).toBe('webhook')
    expect(purposes.get('/expenses/other')).toBe('reconcile')
  })

  test.each([
    [1, true],
    [0, false],
  ])('is asked for while the share has a request left: %i, %s', async (leftForEvents, isAsked) => {
    const { task, confirm } = await setUp(service(['control']), { usage: { leftForEvents } })
    await confirm([candidate('gone', event), candidate('other')])
    expect(task.asked().includes('/expenses/gone')).toBe(isAsked)
    expect(task.asked()).toContain('/expenses/other')
  })
})
