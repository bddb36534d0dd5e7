/** Every reference leads to a record with the same name, by id, over HTTP where there is an endpoint. */
import { expect, it } from 'vitest'
import { shortId } from '../../../src/sandbox/record.ts'
import type { CollectionName } from '../../../src/sandbox/world.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ scale: 0.3 })

const readable: Partial<Record<CollectionName, string>> = {
  companies: '/companies',
  projects: '/projects',
  sites: '/sites',
  trades: '/trades',
  rates: '/rates',
  requisitions: '/requisitions',
  assignments: '/assignments',
  expenses: '/expenses',
  creditNotes: '/credit-notes',
  purchaseOrders: '/purchase-orders',
}

/** Field -> the collection it refers to. Fields without records in the API are left out. */
const leadsTo: Readonly<Record<string, CollectionName>> = {
  company: 'companies',
  project: 'projects',
  projects: 'projects',
  site: 'sites',
  trade: 'trades',
  trades: 'trades',
  requisition: 'requisitions',
  assignment: 'assignments',
  replacedBy: 'assignments',
  replacementFor: 'assignments',
  original: 'assignments',
  timesheet: 'timesheets',
  timesheets: 'timesheets',
  invoice: 'invoices',
  agency: 'agencies',
  agencies: 'agencies',
  approvedBy: 'users',
  assignedBy: 'users',
  uploadedBy: 'users',
  confirmedBy: 'users',
  timesheetApprovers: 'users',
}

interface Found {
  readonly collection: CollectionName
  readonly ref: Body
  readonly at: string
}

function referencesIn(value: Body, at: string): Found[] {
  if (Array.isArray(value)) return value.flatMap(item => referencesIn(item, at))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value as Body).flatMap(([name, inner]: [string, Body]) => {
    const path = `${at}.${name}`
    const collection = leadsTo[name]
    const refs = [inner].flat().filter(item => typeof item === 'object' && item?.id !== undefined)
    const found = collection ? refs.map(ref => ({ collection, ref, at: path })) : []
    return [...found, ...referencesIn(inner, path)]
  })
}

const names: readonly CollectionName[] = [
  'projects',
  'sites',
  'trades',
  'rates',
  'requisitions',
  'assignments',
  'timesheets',
  'expenses',
  'invoices',
  'creditNotes',
  'purchaseOrders',
]

it('leads from every reference to a record with the same name', () => {
  const broken: string[] = []
  const seen = new Set<string>()
  for (const name of names) {
    for (const record of sandbox.world.all(name) as Body[]) {
      for (const { collection, ref, at } of referencesIn(record, name)) {
        seen.add(`${name} -> ${collection}`)
        const target = sandbox.world.get(collection, ref.id) as Body
        const same = target && (ref.name ?? target.name) === target.name
        if (!same || (ref.reference && target.reference && ref.reference !== target.reference)) {
          broken.push(`${at} ${JSON.stringify(ref)}`)
        }
      }
    }
  }
  expect(broken).toEqual([])
  for (const way of [
    'timesheets -> assignments',
    'assignments -> requisitions',
    'assignments -> assignments',
    'creditNotes -> invoices',
    'creditNotes -> timesheets',
    'rates -> agencies',
    'purchaseOrders -> trades',
  ]) {
    expect(seen).toContain(way)
  }
})

it('reads every record by id, and the same by its short id', async () => {
  for (const [name, path] of Object.entries(readable)) {
    const records = sandbox.world.all(name as CollectionName)
    expect(records.length, name).toBeGreaterThan(0)
    for (const { id } of records.slice(0, 120)) {
      const { status, body } = await sandbox.get(`${path}/${id}`)
      expect([status, body.data.id], `${path}/${id}`).toEqual([200, id])
    }
    const first = records.at(-1)?.id as string
    const byShort = await sandbox.get(`${path}/${shortId(first)}`)
    expect(byShort.body).toEqual((await sandbox.get(`${path}/${first}`)).body)
  }
})

it('gives the short id of its requisition with each assignment', async () => {
  const assignment = (sandbox.world.all('assignments') as Body[]).find(row => row.requisition)
  const { id, reference, nanoid } = assignment.requisition
  const { body } = await sandbox.get(`/requisitions/${nanoid}`)
  expect(body.data).toMatchObject({ id, reference })
})

it('names only purchase orders, users, workers and piece rates that exist', () => {
  const all = (name: CollectionName) => sandbox.world.all(name) as Body[]
  const orders = new Map(all('purchaseOrders').map(order => [order.reference, order]))
  const ordered = all('assignments').filter(row => row.purchaseOrder)
  expect(ordered.length).toBeGreaterThan(0)
  for (const row of ordered) {
    const order = orders.get(row.purchaseOrder)
    expect([order?.agency.id, order?.projects[0].id]).toEqual([row.agency.id, row.project.id])
    const covered = order?.allTrades || order?.trades.some((trade: Body) => trade.id === row.trade.id)
    expect(covered, row.reference).toBe(true)
  }
  const users = new Set(all('users').map(user => user.id))
  const emails = new Set(all('users').map(user => user.email))
  for (const row of all('requisitions')) {
    expect(emails.has(row.requestor.email)).toBe(true)
    const workers = row.agencies.flatMap((agency: Body) =>
      agency.submissions.map((one: Body) => one.worker.id),
    )
    for (const { worker, history } of row.stageTracking ?? []) {
      expect(workers).toContain(worker.id)
      for (const { byUserId } of history) expect(byUserId === null || users.has(byUserId)).toBe(true)
    }
    for (const answer of row.submissionAnswers)
      expect(workers).toEqual(expect.arrayContaining(answer.workerIds))
  }
  const pieceRates = new Set(all('rates').flatMap(rate => rate.pieceRates.map((piece: Body) => piece.id)))
  const entries = all('timesheets').flatMap(row => row.pieceRateEntries)
  expect(entries.length).toBeGreaterThan(0)
  for (const entry of entries) expect(pieceRates.has(entry.pieceRateId), entry.name).toBe(true)
})
