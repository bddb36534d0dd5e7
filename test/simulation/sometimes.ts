/** What must happen at least once in every thousand seeds, or the simulation has stopped looking at it. */
import { faultTable } from '../../src/sandbox/faults/faults.ts'
import { changeKinds } from './changes.ts'
import { addedLies, byIdCollections, lies } from './climate.ts'
import type { Counts } from './counts.ts'
import { askedLaws } from './laws.ts'
import { killsDrawn } from './machine.ts'

const expected: readonly string[] = [
  ...changeKinds.map(kind => `change ${kind}`),
  ...Object.keys(faultTable).map(fault => `fault ${fault}`),
  ...[...lies, ...addedLies].flatMap(lie =>
    Object.entries(lie).map(([name, value]) => `lie ${name}=${value}`),
  ),
  ...killsDrawn,
  ...Object.keys(byIdCollections).map(name => `resource ${name}`),
  ...Object.values(askedLaws),
  ...['events stored', 'events drained', 'events sent again'],
  ...['build', 'check', 'crosscheck', 'publish'].map(name => `command ${name}`),
  ...['exit 0 of sync', 'exit 1 of sync', 'exit 75 of sync', 'exit 0 of sweep', 'exit 1 of sweep'],
]

export const neverHappened = (counts: Counts): string[] => expected.filter(what => counts.of(what) === 0)
