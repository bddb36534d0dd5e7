/** What must happen at least once in every thousand seeds, or the simulation has stopped looking at it. */
import { faultNames } from '../fault-layer/faults.ts'
import { changeKinds } from './changes.ts'
import { addedQuirks, byIdCollections, drawnQuirks } from './climate.ts'
import type { Counts } from './counts.ts'
import { askedLaws } from './laws.ts'
import { killsDrawn } from './machine.ts'

const expected: readonly string[] = [
  ...changeKinds.map(kind => `change ${kind}`),
  ...faultNames.map(fault => `fault ${fault}`),
  ...[...drawnQuirks, ...addedQuirks].flatMap(quirks =>
    Object.entries(quirks).map(([name, value]) => `quirk ${name}=${value}`),
  ),
  ...killsDrawn,
  ...Object.keys(byIdCollections).map(name => `resource ${name}`),
  ...Object.values(askedLaws),
  ...['events stored', 'events drained', 'events sent again'],
  ...['build', 'check', 'crosscheck', 'publish'].map(name => `command ${name}`),
  ...['exit 0 of sync', 'exit 1 of sync', 'exit 75 of sync', 'exit 0 of sweep', 'exit 1 of sweep'],
]

export const neverHappened = (counts: Counts): string[] => expected.filter(what => counts.of(what) === 0)
