/** What a change signal says about its record: declared at first, learnt from fetches later. */
import { describe, expect, test } from 'vitest'
import type { SignalKind } from '../../../src/state/by-id/signal-counts.ts'
import { SignalWorth } from '../../../src/sync/by-id/signal-worth.ts'

const declared = [
  { name: 'strong', share: 0.5 },
  { name: 'weak', share: 0.1 },
]
const counts = { signalled: 0, unchanged: 0, unchangedExpected: 0, quietChanges: 0, quietExpected: 0 }
const learnt = (signal: string, kind: string, parts: Partial<SignalKind>): SignalKind => ({
  ...{ ...counts, signal, kind },
  ...parts,
})
const factor = (known: readonly SignalKind[], signals: readonly string[], kind = 'live'): number =>
  new SignalWorth(declared, known).freshFactor({ kind, signals })
const silence = (known: readonly SignalKind[], signals: readonly string[] = []): number =>
  new SignalWorth(declared, known).quietShare({ signals })

describe('the factor of a signal', () => {
  test.each([
    ['is 1 without a signal', [], 1],
    ['is what the declaration says at first', ['weak'], 0.9],
    ['is that of the strongest of several', ['weak', 'strong'], 0.5],
    ['is 1 for a signal that nobody declared', ['other'], 1],
  ])('%s', (...[, signals, expected]) => expect(factor([], signals)).toBeCloseTo(expected, 12))

  test('weighs the fetches of all kinds like 20 of the declaration, and those of its kind like 20 of all', () => {
    const known = [learnt('strong', 'live', { unchanged: 10, unchangedExpected: 40 })]
    const ofAll = (10 + 20 * 0.5) / 60
    expect(factor(known, ['strong'], 'ended')).toBeCloseTo((0 + 20 * ofAll) / 20, 12)
    expect(factor(known, ['strong'])).toBeCloseTo((10 + 20 * ofAll) / 60, 12)
  })

  test('adds up all kinds, and none of other signals', () => {
    const known = [
      learnt('strong', 'live', { unchanged: 10, unchangedExpected: 40 }),
      learnt('strong', 'ended', { unchanged: 5, unchangedExpected: 20 }),
      learnt('weak', 'new', { unchanged: 900, unchangedExpected: 900 }),
    ]
    expect(factor(known, ['strong'], 'new')).toBeCloseTo((15 + 20 * 0.5) / 80, 12)
  })

  test('never proves a change: it is at least 2%', () => {
    expect(factor([learnt('strong', 'live', { unchangedExpected: 1e6 })], ['strong'])).toBe(0.02)
  })

  test('never proves that nothing changed: it is at most 1', () => {
    expect(factor([learnt('strong', 'live', { unchanged: 1e6, unchangedExpected: 10 })], ['strong'])).toBe(1)
  })

  test('of one kind stays that of the kind when another kind was asked for before', () => {
    const worth = new SignalWorth(declared, [
      learnt('strong', 'live', { unchanged: 0, unchangedExpected: 1e6 }),
    ])
    const of = (kind: string, name = 'strong') => worth.freshFactor({ kind, signals: [name] })
    expect([of('live'), of('ended'), of('live'), of('live', 'weak')]).toEqual([0.02, 0.02, 0.02, 0.9])
  })
})

describe('the silence of a signal', () => {
  const quiet = (signal: string, quietChanges: number, quietExpected: number) =>
    learnt(signal, 'live', { quietChanges, quietExpected })

  test.each([
    ['lowers the rate to the share of changes that came without it', [quiet('strong', 30, 300)], 50 / 320],
    ['adds up all kinds', [quiet('strong', 30, 300), learnt('strong', 'b', { quietChanges: 10 })], 60 / 320],
    ['of the strongest counts', [quiet('strong', 30, 300), quiet('weak', 100, 100)], 50 / 320],
    ['says nothing where changes come without it', [quiet('weak', 330, 300)], 1],
    ['lowers a rate to a tenth at most', [quiet('strong', 0, 1e6)], 0.1],
    ['says nothing before anything is known', [], 1],
  ])('%s', (...[, known, expected]) => expect(silence(known)).toBeCloseTo(expected, 12))

  test('is zero where the signal was given', () => {
    const known = [quiet('strong', 30, 300), quiet('weak', 60, 180)]
    expect(silence(known, ['strong'])).toBeCloseTo(80 / 200, 12)
    expect(silence(known, ['strong', 'weak'])).toBe(1)
  })
})
