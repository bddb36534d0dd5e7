/** What a part of `sql/part` selects from rows written by hand, in memory. */
import { defaultDays } from '../../../src/lib/day-rule.ts'
import { fillTokens } from '../../../src/marts/inputs.ts'
import { withPart } from '../../../src/warehouse/sql-files.ts'

/** The day on which the tests play. */
export const today = '2026-06-30'

/** After these parts, in the order in which they read each other; as if the service was read on this day. */
export const selecting = (parts: readonly string[], select: string, day = today): string =>
  fillTokens(`${withPart(...parts)} ${select}`, { ...defaultDays, asOf: `${day}T12:00:00.000Z`, today: day })
