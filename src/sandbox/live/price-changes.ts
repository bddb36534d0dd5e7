/** Changes of trades, rates and purchase orders: added, amended, disabled, expired, deleted. */
import { startOfUtcDay, weekMs } from '../../lib/dates.ts'
import { iso, type Ref, reference, refOf } from '../data/identity.ts'
import { add } from '../data/work/pay.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'
import { create, remove, update, where } from './transition.ts'

const orderWeeks = 26
const orderStep = 500

function fresh({ draw, nowMs, now }: ChangeContext, model: StoredRecord): StoredRecord {
  return { ...model, id: draw.id(nowMs), createdAt: now, updatedAt: now }
}

const namedTrade = where('trades', 'named', ({ name }) => typeof name === 'string')

export const addTrade = create('trades', {
  from: namedTrade,
  make: (model, context) => {
    const name = `${model.name}, grade ${context.draw.between(2, 9)}`
    const description = `${name}, agreed for one project`
    return { ...fresh(context, model), name, description, active: true }
  },
  sends: 'trade_created',
})

/** Also enables a disabled trade: the service calls that an amendment. */
export const amendTrade = update('trades', {
  from: namedTrade,
  make: (trade, { now }) => {
    const description = `${trade.name}, as agreed on ${now.slice(0, 10)}`
    return { ...trade, active: true, description }
  },
  sends: 'trade_amended',
})

export const disableTrade = update('trades', {
  from: where('trades', 'active', ({ active }) => active === true),
  make: trade => ({ ...trade, active: false }),
  sends: 'trade_disabled',
})

type Figures = { readonly margin: number; readonly charge: number } | null

/** More margin in every hourly and daily rate. Charge stays the sum of pay, employer costs and margin. */
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

export const amendRate = update('rates', {
  from: where('rates', 'whole', row => 'rates' in row && 'dayRates' in row),
  make: (rate, { draw }) => ({ ...rate, ...dearer(rate, draw.between(1, 9) * 0.1) }),
  sends: 'rate_amended',
})

const genericRate = where(
  'rates',
  'generic',
  row => row.project === null && row.agency === null && 'rates' in row,
)

function ownProject(context: ChangeContext, rate: StoredRecord): StoredRecord | undefined {
  const idOf = ({ company }: StoredRecord) => (company as Ref | undefined)?.id
  const companyId = idOf(rate)
  return where('projects', `of ${companyId}`, project => idOf(project) === companyId)(context)
}

/** A rate for one project, from the generic rate of a trade. */
export const addRate = create('rates', {
  from: genericRate,
  make: (model, context) => {
    const project = ownProject(context, model)
    if (!project) return undefined
    const { region, sector } = project
    return {
      ...fresh(context, model),
      ...{ region, sector, project: refOf(project as unknown as Ref), pieceRates: [] },
      ...dearer(model, 0.5),
    }
  },
  sends: 'rate_created',
})

const isOrder = (record: StoredRecord) => 'reference' in record && 'value' in record
const activeOrder = where('purchaseOrders', 'active', row => isOrder(row) && row.status === 'active')

export const raiseOrder = create('purchaseOrders', {
  from: where('purchaseOrders', 'whole', isOrder),
  make: (model, context) => {
    const { revoked, reinstated, ...terms } = model
    const startMs = startOfUtcDay(context.nowMs)
    return {
      ...fresh(context, terms),
      reference: reference('PO', context.world.nextNumber('purchaseOrders')),
      ...{ status: 'active', startDate: iso(startMs), endDate: iso(startMs + orderWeeks * weekMs) },
    }
  },
  sends: 'purchase_order_created',
})

export const amendOrder = update('purchaseOrders', {
  from: activeOrder,
  make: (order, { draw }) => ({ ...order, value: Number(order.value) + draw.between(1, 20) * orderStep }),
  sends: 'purchase_order_amended',
})

export const expireOrder = update('purchaseOrders', {
  from: activeOrder,
  to: 'inactive',
  make: (order, { now }) => ({ ...order, endDate: now }),
  sends: 'purchase_order_expired',
})

/** Only if no assignment is charged to it. */
export const deleteOrder = remove('purchaseOrders', {
  from: context => {
    const used = new Set(context.world.all('assignments').map(row => row.purchaseOrder))
    return where('purchaseOrders', 'unused', row => isOrder(row) && !used.has(row.reference))(context)
  },
  sends: 'purchase_order_deleted',
})
