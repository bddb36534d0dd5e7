/** Lists what must happen at least once in a thousand seeds: what never happens is not tested. */
import { faultNames } from '../fault-layer/faults.ts'
import { changeKinds } from './changes.ts'
import type { Counts } from './counts.ts'
import { lawCounters } from './laws.ts'
import { killsDrawn } from './machine.ts'
import { addedQuirks, byIdCollections, drawnQuirks } from './scenario.ts'

const expected: readonly string[] = [
  ...changeKinds.map(kind => `change ${kind}`),
  ...faultNames.map(fault => `fault ${fault}`),
  ...[...drawnQuirks, ...addedQuirks].flatMap(quirks =>
    Object.entries(quirks).map(([name, value]) => `quirk ${name}=${value}`),
  ),
  ...killsDrawn,
  ...Object.keys(byIdCollections).map(name => `resource ${name}`),
  ...Object.values(lawCounters),
  ...['events stored', 'events drained', 'events sent again'],
  ...['build', 'check', 'crosscheck', 'publish'].map(name => `command ${name}`),
  ...['exit 0 of sync', 'exit 1 of sync', 'exit 75 of sync', 'exit 0 of sweep', 'exit 1 of sweep'],
]

export const neverHappened = (counts: Counts): string[] => expected.filter(what => counts.of(what) === 0)
