/** Generated records are consistent: statuses fit the events, times are in order, amounts add up across records. */
import { describe, expect, it } from 'vitest'
import { generateRecords } from '../../../src/sandbox/data/generate.ts'
import type { Body } from '../open-sandbox.ts'

const today = '2026-11-02'
const records = generateRecords({ seed: 1, scale: 1, today }) as Record<string, object> as Record<
  string,
  Body[]
>
const { requisitions = [], assignments = [], timesheets = [], invoices = [], creditNotes = [] } = records
const { rates = [], purchaseOrders = [], trades = [], companies = [] } = records
const cents = (amount: number) => Math.round(amount * 100)
const ascending = (times: readonly (string | null | undefined)[]) => {
  const known = times.filter(time => typeof time === 'string')
  return known.every((time, index) => index === 0 || (known[index - 1] as string) <= time)
}
const groupBy = (rows: readonly Body[], keyOf: (row: Body) => string | undefined) => {
  const groups = new Map<string, Body[]>()
  for (const row of rows) {
    const key = keyOf(row)
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}

describe('requisitions', () => {
  const byRequisition = groupBy(assignments, row => row.requisition?.id)

  it('are filled exactly when all wanted workers are assigned', () => {
    const statuses = new Set(requisitions.map(row => row.status))
    expect([...statuses].sort()).toEqual(['approved', 'cancelled', 'filled', 'raised', 'rejected'])
    for (const row of requisitions) {
      const assigned = row.agencies.reduce((sum: number, agency: Body) => sum + agency.assigned, 0)
      expect(assigned === row.quantity, `${row.reference} ${row.status}`).toBe(row.status === 'filled')
      expect(assigned).toBeLessThanOrEqual(row.quantity)
      for (const agency of row.agencies) expect(agency.offered).toBeGreaterThanOrEqual(agency.assigned)
    }
  })

  it('count their assignments, without cancelled ones', () => {
    for (const row of requisitions) {
      for (const agency of row.agencies) {
        const own = (byRequisition.get(row.id) ?? []).filter(
          assignment => assignment.agency.id === agency.id && assignment.status !== 'cancelled',
        )
        expect(own.length, `${row.reference} ${agency.name}`).toBe(agency.assigned)
      }
    }
  })

  it('have approval, cancellation and agencies that fit their status', () => {
    for (const row of requisitions) {
      const [first, final] = row.approvalStages
      expect(final.approved).toBe(row.approvedDate !== undefined)
      if (final.approved) expect([first.approved, final.approvedAt]).toEqual([true, row.approvedDate])
      expect(row.approver === undefined).toBe(row.approvedDate === undefined)
      expect(row.cancellation !== undefined).toBe(row.status === 'cancelled')
      if (['raised', 'rejected'].includes(row.status)) expect(row.approvedDate).toBeUndefined()
      if (['filled', 'approved'].includes(row.status)) expect(row.approvedDate).toBeDefined()
      if (row.approvedDate === undefined) expect(row.agencies).toEqual([])
    }
  })

  it('have their times in order of cause and effect', () => {
    for (const row of requisitions) {
      expect(ascending([row.createdAt, row.approvalStages[0].approvedAt, row.approvedDate])).toBe(true)
      expect(row.updatedAt < today).toBe(true)
      for (const agency of row.agencies) {
        expect(ascending([row.approvedDate, agency.dateReceived, agency.dateAccepted]), row.reference).toBe(
          true,
        )
        if (agency.dateAccepted === null) expect(agency.submissions).toEqual([])
        for (const one of agency.submissions) {
          expect(ascending([agency.dateAccepted, one.submittedAt, row.updatedAt]), row.reference).toBe(true)
          expect(one.rejectionReason !== null).toBe(one.isRejected)
        }
      }
      for (const { history, stage, submittedAt } of row.stageTracking ?? []) {
        expect(ascending([submittedAt, ...history.map((entry: Body) => entry.at), row.updatedAt])).toBe(true)
        expect(history.at(-1).stage).toBe(stage)
        expect(history[0].stage).toBe('submitted')
      }
    }
  })

  it('track exactly the workers with an assignment as assigned', () => {
    for (const row of requisitions) {
      if (!row.stageTracking) continue
      const assigned = row.stageTracking.filter((one: Body) => one.stage === 'assigned')
      const workers = (byRequisition.get(row.id) ?? []).map(assignment => assignment.worker.id)
      expect(assigned.map((one: Body) => one.worker.id).sort()).toEqual(workers.sort())
    }
  })

  it('track stages for some companies only', () => {
    const tracking = companies.filter(company => company.stageTracking).map(company => company.id)
    expect(tracking).toHaveLength(2)
    for (const row of requisitions)
      expect(row.stageTracking !== undefined).toBe(tracking.includes(row.company.id))
    const stages = requisitions.flatMap(row => row.stageTracking ?? []).map(one => one.stage)
    expect(new Set(stages).size).toBe(9)
  })
})

describe('assignments', () => {
  it('have fields that fit their status', () => {
    const seen = new Set(assignments.map(row => row.status))
    expect([...seen].sort()).toEqual(['cancelled', 'completed', 'confirmed', 'ended', 'pending'])
    for (const row of assignments) {
      expect(row.ended !== undefined, row.reference).toBe(row.status === 'ended')
      expect(row.cancellation !== undefined).toBe(row.status === 'cancelled')
      expect(row.completedDate !== undefined).toBe(row.status === 'completed')
      if (row.status === 'pending') expect(row.startDate >= today).toBe(true)
      if (row.status === 'confirmed') expect(row.endDate >= today).toBe(true)
      if (['completed', 'ended'].includes(row.status)) expect(row.endDate < today).toBe(true)
      if (row.status !== 'pending' && row.status !== 'cancelled') expect(row.confirmationDate).toBeDefined()
      expect(ascending([row.createdAt, row.confirmationDate, row.updatedAt]), row.reference).toBe(true)
      expect(row.updatedAt < today).toBe(true)
    }
  })

  it('cover their timesheets, and only running or finished ones have any', () => {
    const byId = new Map(assignments.map(row => [row.id, row]))
    for (const sheet of timesheets) {
      const row = byId.get(sheet.assignment.id)
      expect(['confirmed', 'completed', 'ended']).toContain(row.status)
      expect(row.startDate <= sheet.start && sheet.weekEnding <= row.endDate, sheet.reference).toBe(true)
      const same = ['company', 'project', 'site', 'agency', 'worker']
      expect(same.map(name => row[name].id)).toEqual(same.map(name => sheet[name].id))
      expect([row.payType, row.rateType, row.rates.pay]).toEqual([
        sheet.payType,
        sheet.rateType,
        sheet.rates.wd.pay,
      ])
    }
  })

  it('link replacements in both directions, and include clones', () => {
    const byId = new Map(assignments.map(row => [row.id, row]))
    const replacing = assignments.filter(row => row.replacement?.replacementFor)
    expect(replacing.length).toBeGreaterThan(0)
    for (const row of replacing) {
      const before = byId.get(row.replacement.replacementFor.id)
      expect([before.status, before.replacement.replacedBy.id]).toEqual(['ended', row.id])
    }
    expect(assignments.some(row => row.clone)).toBe(true)
  })

  it('have the planned value of the hours in their shifts', () => {
    for (const { reference, rates: rate, shiftPattern, startDate, endDate, values } of assignments) {
      const shifts = Object.values(shiftPattern as Record<string, Body>).filter(shift => shift.active)
      const hours = shifts.reduce(
        (sum, shift) => sum + ((shift.end - shift.start + 24) % 24) - shift.break / 60,
        0,
      )
      const weeks = Math.ceil((Date.parse(endDate) - Date.parse(startDate)) / 604_800_000)
      expect(cents(values.pay), reference).toBe(Math.round(hours * weeks * cents(rate.pay)))
      expect(cents(values.charge), reference).toBe(Math.round(hours * weeks * cents(rate.charge)))
    }
  })
})

describe('money', () => {
  it('credits each cancelled timesheet once, or once per side of a managed service', () => {
    const byTimesheet = groupBy(creditNotes, row => row.timesheet?.id)
    for (const sheet of timesheets) {
      const notes = byTimesheet.get(sheet.id) ?? []
      const kinds = notes.map(note => note.creditNoteType).sort()
      if (sheet.status !== 'cancelled') expect(kinds).toEqual([])
      else expect([['supplierToClient'], ['mspToClient', 'supplierToMsp']]).toContainEqual(kinds)
      for (const note of notes) {
        expect(note.createdAt).toBe(sheet.updatedAt)
        expect(cents(note.values.subtotal)).toBe(cents(sheet.values.charge.total))
      }
    }
  })

  it('puts the sum of the credit notes on each invoice', () => {
    const byInvoice = groupBy(creditNotes, row => row.invoice?.id)
    expect(byInvoice.size).toBeGreaterThan(0)
    for (const invoice of invoices) {
      const notes = byInvoice.get(invoice.id) ?? []
      const sum = notes.reduce((total, note) => total + cents(note.values.subtotal), 0)
      expect(cents(invoice.values.creditNotes), invoice.reference).toBe(sum)
      for (const note of notes) {
        expect(ascending([invoice.createdAt, note.createdAt, invoice.updatedAt])).toBe(true)
        expect([note.company.id, note.agency.id]).toEqual([invoice.company.id, invoice.agency.id])
      }
    }
  })

  it('computes the sums of credit notes like those of invoices', () => {
    for (const { values, status, confirmedDate } of creditNotes) {
      expect(cents(values.vat)).toBe(Math.round((cents(values.subtotal) * values.vatRate) / 100))
      expect(cents(values.total)).toBe(cents(values.subtotal) + cents(values.vat))
      expect(cents(values.finalTotal)).toBe(cents(values.total) - cents(values.cis))
      expect(confirmedDate !== null).toBe(status === 'processed')
    }
  })

  it('charges the sum of pay, employer costs and margin, with the adjustment of the agency', () => {
    const sets = rates.flatMap(rate => [
      ...Object.values(rate.rates),
      ...Object.values(rate.dayRates),
      ...rate.pieceRates.flatMap((piece: Body) => Object.values(piece.values)),
    ]) as Body[]
    for (const set of sets.filter(Boolean)) {
      expect(cents(set.charge)).toBe(cents(set.pay) + cents(set.emp) + cents(set.margin))
    }
    const generic = new Map(
      rates.filter(row => !row.agency && !row.project && !row.region).map(row => [row.trade.id, row]),
    )
    expect(generic.size).toBe(trades.length)
    const differing = rates.filter(
      row =>
        row.agency && !row.project && row.rates.cis.margin !== generic.get(row.trade.id).rates.cis.margin,
    )
    expect(differing.length).toBeGreaterThan(0)
  })

  it('has purchase orders that start before the work they pay for', () => {
    const byReference = new Map(purchaseOrders.map(row => [row.reference, row]))
    for (const row of assignments) {
      if (row.purchaseOrder === undefined) continue
      const order = byReference.get(row.purchaseOrder)
      expect(order.startDate <= row.startDate, row.reference).toBe(true)
    }
    for (const order of purchaseOrders) {
      expect(order.allTrades).toBe(order.tradeOption === 'all')
      if (order.revoked) expect(order.status).toBe('inactive')
      if (order.reinstated) expect(order.status).toBe('active')
    }
  })
})
