/** What happens to trades, rates and purchase orders: added, amended, disabled, used up. */
import { DAY_MS, WEEK_MS } from '../data/calendar.ts'
import { between } from '../data/draw.ts'
import { iso, objectId, type Ref, reference, refOf } from '../data/identity.ts'
import { add } from '../data/work/pay.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'

const ORDER_WEEKS = 26
const ORDER_STEP = 500

export function addTrade(context: ChangeContext): boolean {
  const model = context.find('trades', 'named', ({ name }) => typeof name === 'string')
  if (!model) return false
  const name = `${model.name}, grade ${between(context.rng, 2, 9)}`
  const trade = {
    ...fresh(context, model),
    name,
    description: `${name}, agreed for one project`,
    active: true,
  }
  context.create('trades', trade)
  context.tell('trade_created', trade)
  return true
}

/** One that was disabled is enabled again: for the service that is an amendment. */
export function amendTrade(context: ChangeContext): boolean {
  const trade = context.find('trades', 'named', ({ name }) => typeof name === 'string')
  if (!trade) return false
  context.update('trades', {
    ...trade,
    active: true,
    description: `${trade.name}, as agreed on ${context.now.slice(0, 10)}`,
  })
  context.tell('trade_amended', trade)
  return true
}

export function disableTrade(context: ChangeContext): boolean {
  const trade = context.find('trades', 'active', ({ active }) => active === true)
  if (!trade) return false
  context.update('trades', { ...trade, active: false })
  context.tell('trade_disabled', trade)
  return true
}

type Figures = { readonly margin: number; readonly charge: number } | null

/** More margin for every engagement, hourly and daily: charge stays pay, employer costs and margin. */
export function amendRate(context: ChangeContext): boolean {
  const rate = context.find('rates', 'whole', row => 'rates' in row && 'dayRates' in row)
  if (!rate) return false
  const { rates, dayRates } = dearer(rate, between(context.rng, 1, 9) * 0.1)
  context.update('rates', { ...rate, rates, dayRates })
  context.tell('rate_amended', rate)
  return true
}

function dearer({ rates, dayRates }: StoredRecord, more: number) {
  const raised = (sets: unknown) =>
    Object.fromEntries(
      Object.entries(sets as Record<string, Figures>).map(([kind, set]) => [
        kind,
        set && { ...set, margin: add(set.margin, more), charge: add(set.charge, more) },
      ]),
    )
  return { rates: raised(rates), dayRates: raised(dayRates) }
}

/** The generic one of a trade, for one project. */
export function addRate(context: ChangeContext): boolean {
  const isGeneric = (row: StoredRecord) => row.project === null && row.agency === null && 'rates' in row
  const model = context.find('rates', 'generic', isGeneric)
  const companyId = (model?.company as Ref | undefined)?.id
  const isOwn = ({ company }: StoredRecord) => (company as Ref | undefined)?.id === companyId
  const project = model && context.find('projects', `of ${companyId}`, isOwn)
  if (!project) return false
  const { region, sector } = project
  const rate = {
    ...fresh(context, model),
    ...{ region, sector, project: refOf(project as unknown as Ref), pieceRates: [] },
    ...dearer(model, 0.5),
  }
  context.create('rates', rate)
  context.tell('rate_created', rate)
  return true
}

const isOrder = (record: StoredRecord) => 'reference' in record && 'value' in record

export function raiseOrder(context: ChangeContext): boolean {
  const model = context.find('purchaseOrders', 'whole', isOrder)
  if (!model) return false
  const { revoked: _, reinstated: __, ...terms } = model
  const startMs = Math.floor(context.nowMs / DAY_MS) * DAY_MS
  const order = {
    ...fresh(context, terms),
    reference: reference('PO', context.world.nextNumber('purchaseOrders')),
    ...{ status: 'active', startDate: iso(startMs), endDate: iso(startMs + ORDER_WEEKS * WEEK_MS) },
  }
  context.create('purchaseOrders', order)
  context.tell('purchase_order_created', order)
  return true
}

export function amendOrder(context: ChangeContext): boolean {
  const order = findActive(context)
  if (!order) return false
  const value = Number(order.value) + between(context.rng, 1, 20) * ORDER_STEP
  context.update('purchaseOrders', { ...order, value })
  context.tell('purchase_order_amended', order)
  return true
}

export function expireOrder(context: ChangeContext): boolean {
  const order = findActive(context)
  if (!order) return false
  context.update('purchaseOrders', { ...order, status: 'inactive', endDate: context.now })
  context.tell('purchase_order_expired', order)
  return true
}

/** Only one that no assignment is charged to. */
export function deleteOrder(context: ChangeContext): boolean {
  const used = new Set(context.world.all('assignments').map(row => row.purchaseOrder))
  const order = context.find('purchaseOrders', 'unused', row => isOrder(row) && !used.has(row.reference))
  if (!order) return false
  context.remove('purchaseOrders', order)
  context.tell('purchase_order_deleted', order)
  return true
}

function findActive(context: ChangeContext): StoredRecord | undefined {
  return context.find('purchaseOrders', 'active', row => isOrder(row) && row.status === 'active')
}

function fresh({ rng, nowMs, now }: ChangeContext, model: StoredRecord): StoredRecord {
  return { ...model, id: objectId(rng, nowMs), createdAt: now, updatedAt: now }
}
