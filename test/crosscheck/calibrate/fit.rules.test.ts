/** The interpretations of a rule that answers leave possible. */
import { describe, expect, test } from 'vitest'
import type { AnswerSet, Aspect, Score } from '../../../src/crosscheck/calibrate/answer-set.ts'
import { Fit } from '../../../src/crosscheck/calibrate/fit.ts'
import {
  candidates,
  definitionDefaults,
  type MetricDefinition,
} from '../../../src/crosscheck/metrics/definition.ts'

const aspect: Aspect = { figures: ['rawCount'] }

/** Scores by what a definition says. */
function fitting(scoreOf: (definition: MetricDefinition) => Partial<Score>) {
  const tried: MetricDefinition[] = []
  const answers = {
    scores: async (definitions: readonly MetricDefinition[]) => {
      tried.push(...definitions)
      return definitions.map(definition => ({ agree: 0, of: 10, excess: 0, ...scoreOf(definition) }))
    },
  } as unknown as AnswerSet
  return { fit: new Fit(answers), tried }
}

describe('trying a rule', () => {
  test('keeps the best interpretation, with the scores of all', async () => {
    const { fit } = fitting(({ acceptance }) => ({ agree: acceptance === 'latest' ? 9 : 4 }))
    await fit.try(['acceptance'], aspect)
    expect(fit.rules.get('acceptance')).toEqual({
      ...{ alive: ['latest'], state: 'found' },
      scores: {
        '"perAgency"': { agree: 4, of: 10, excess: 0 },
        '"earliest"': { agree: 4, of: 10, excess: 0 },
        '"latest"': { agree: 9, of: 10, excess: 0 },
      },
    })
    expect(fit.definition).toEqual({ ...definitionDefaults, acceptance: 'latest' })
    expect(fit.isOpen('acceptance')).toBe(false)
  })

  test('leaves several that are as good, and chooses the first', async () => {
    const { fit } = fitting(({ acceptance }) => ({ agree: acceptance === 'perAgency' ? 4 : 9 }))
    await fit.try(['acceptance'], aspect)
    expect(fit.rules.get('acceptance')).toMatchObject({
      alive: ['earliest', 'latest'],
      state: 'indistinguishable',
    })
    expect(fit.definition.acceptance).toBe('earliest')
    expect(fit.isOpen('acceptance')).toBe(true)
  })

  test('changes nothing where no interpretation is left', async () => {
    const { fit } = fitting(() => ({}))
    fit.put('bounds', { alive: [], state: 'untested', scores: {} })
    await fit.try(['bounds'], aspect)
    expect(fit.rules.get('bounds')?.state).toBe('untested')
  })

  test('changes nothing where nothing was compared', async () => {
    const { fit } = fitting(() => ({ of: 0 }))
    await fit.try(['acceptance'], aspect)
    expect(fit.rules.size).toBe(0)
  })

  // Half of ten figures, and records that we have and the service does not.
  test.each([
    [5, 1, true],
    [4, 1, false],
    [4, 0, true],
    [0, 0, true],
  ])('%i of 10 that agree, with %i groups of more records here: believed: %s', async (agree, excess, is) => {
    const { fit } = fitting(({ bounds }) => ({ agree: bounds === 'exclusive' ? agree : agree - 1, excess }))
    await fit.try(['bounds'], aspect)
    expect(fit.rules.get('bounds')).toMatchObject(
      is
        ? { alive: ['exclusive'], state: 'found' }
        : { alive: ['inclusive', 'exclusive'], state: 'none fits' },
    )
    expect(fit.definition.bounds).toBe(is ? 'exclusive' : 'inclusive')
  })

  test('tries every combination of rules, and keeps the best score of each interpretation', async () => {
    const { fit, tried } = fitting(({ bounds, from }) => ({
      agree: bounds === 'exclusive' && from === 'exclusive' ? 9 : bounds === 'exclusive' ? 6 : 5,
    }))
    await fit.try(['bounds', 'from'], aspect)
    expect(tried.map(({ bounds, from }) => `${bounds} ${from}`)).toEqual([
      ...['inclusive inclusive', 'inclusive exclusive', 'exclusive inclusive', 'exclusive exclusive'],
    ])
    expect(fit.definition).toMatchObject({ bounds: 'exclusive', from: 'exclusive' })
    expect(fit.rules.get('from')?.scores).toMatchObject({
      '"inclusive"': { agree: 6 },
      '"exclusive"': { agree: 9 },
    })
    expect(fit.rules.get('bounds')?.scores).toMatchObject({
      '"inclusive"': { agree: 5 },
      '"exclusive"': { agree: 9 },
    })
  })

  test('keeps the scores of interpretations that were excluded before', async () => {
    const { fit } = fitting(({ acceptance }) => ({ agree: acceptance === 'perAgency' ? 4 : 9 }))
    await fit.try(['acceptance'], aspect)
    await fit.try(['acceptance'], aspect)
    expect(Object.keys(fit.rules.get('acceptance')?.scores ?? {})).toHaveLength(3)
    expect(fit.rules.get('acceptance')?.alive).toEqual(['earliest', 'latest'])
  })

  test('leaves each interpretation once', async () => {
    const { fit } = fitting(() => ({ agree: 9 }))
    await fit.try(['bounds', 'from'], aspect)
    expect(fit.rules.get('bounds')?.alive).toEqual(['inclusive', 'exclusive'])
  })
})

test('every interpretation of a rule is possible before it is looked into; companies are all', () => {
  const { fit } = fitting(() => ({}))
  expect(fit.alive('days')).toBe(candidates.days)
  expect(fit.alive('companies')).toEqual([null])
})

test('reports what the service states itself', () => {
  const { fit } = fitting(() => ({}))
  fit.acceptStated('weekKey', 'firstDay')
  expect(fit.rules.get('weekKey')).toEqual({ alive: ['firstDay'], state: 'stated', scores: {} })
  expect(fit.definition.weekKey).toBe('firstDay')
})

test('a rule is restricted to some interpretations, of which the first is taken', () => {
  const { fit } = fitting(() => ({}))
  fit.restrict('minForRule', [3, 4])
  expect(fit.rules.get('minForRule')).toEqual({ alive: [3, 4], state: 'untested', scores: {} })
  expect(fit.definition.minForRule).toBe(3)
})

test('a rule is reopened only if answers had decided it', () => {
  const { fit } = fitting(() => ({}))
  fit.reopen('days')
  expect(fit.rules.size).toBe(0)
  fit.restrict('minForRule', [3, 4])
  fit.reopen('minForRule')
  expect(fit.alive('minForRule')).toEqual([3, 4])
  const scores = { '"at"': { agree: 1, of: 2, excess: 0 } }
  fit.put('threshold', { alive: ['at'], state: 'found', scores })
  fit.reopen('threshold')
  expect(fit.rules.get('threshold')).toEqual({ alive: ['over', 'at'], state: 'found', scores })
  expect(fit.definition.threshold).toBe('at')
})

test('what another fit found of a rule is taken over', () => {
  const { fit } = fitting(() => ({}))
  const state = { alive: ['ceil', 'round'], state: 'indistinguishable', scores: {} } as const
  fit.put('days', state)
  expect([fit.rules.get('days'), fit.definition.days]).toEqual([state, 'ceil'])
})

test('a copy has the same state, and finds its own', async () => {
  const { fit } = fitting(({ bounds }) => ({ agree: bounds === 'exclusive' ? 9 : 5 }))
  fit.acceptStated('weekKey', 'firstDay')
  const copy = fit.copy()
  expect([copy.definition.weekKey, copy.rules.get('weekKey')?.state]).toEqual(['firstDay', 'stated'])
  await copy.try(['bounds'], aspect)
  expect(copy.definition.bounds).toBe('exclusive')
  expect([fit.definition.bounds, fit.rules.has('bounds')]).toEqual(['inclusive', false])
})
