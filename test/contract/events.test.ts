/** The declared event types are those of the contract, with its keys and its availability. */
import { expect, test } from 'vitest'
import { eventRule, eventTypes, isEventType, payloadKeys } from '../../src/contract/events.ts'
import { contractEvents } from './contract-events.ts'

test('are the 42 of the contract', () => {
  expect(contractEvents).toHaveLength(42)
  expect([...eventTypes].sort()).toEqual(contractEvents.map(({ type }) => type).sort())
  expect(isEventType('timesheet_approved')).toBe(true)
  expect(isEventType('toString')).toBe(false)
})

test('say where the id stands, who may subscribe, and what is gone afterwards', () => {
  const byType = new Map(contractEvents.map(event => [event.type, event]))
  for (const type of eventTypes) {
    const { entity, company, agency, deletes } = eventRule(type)
    const kinds = [company && 'company', agency && 'agency'].filter(Boolean)
    expect({ type, key: payloadKeys[entity], kinds }).toEqual(byType.get(type))
    expect({ type, deletes: deletes === true }).toEqual({ type, deletes: type.endsWith('_deleted') })
  }
})
