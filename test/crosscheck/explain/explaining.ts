/** A search for records with nothing stored and a service that has nothing; a test adds what it is about. */
import type { ExplanationContext, StoredRecords } from '../../../src/crosscheck/explain/stored-records.ts'
import { definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'
import { type Service, type ServiceParts, serviceOf } from '../in-memory.ts'

const nothing = { requisitions: [], timesheets: [] }

export const names: ExplanationContext['names'] = {
  company: new Map([['c1', 'One']]),
  project: new Map([
    ['p1', 'Bridge'],
    ['p2', 'Tunnel'],
  ]),
  agency: new Map([['a1', 'Hands']]),
}

export function explaining(
  stored: Partial<StoredRecords> = {},
  { asker = serviceOf(nothing), ...parts }: Partial<ExplanationContext> = {},
): ExplanationContext {
  return {
    stored: {
      measure: async (_, definitions) => definitions.map(() => []),
      requisitions: async () => new Map(),
      lostRequisitions: async () => [],
      namedRequisitions: async () => [],
      countSheets: async () => 0,
      sheetsIn: async () => new Map(),
      sheetsById: async () => new Map(),
      quarantinedSheets: async () => new Set(),
      ...stored,
    },
    ...{ asker, names, definition: definitionDefaults, watermark: undefined, range: {} },
    ...parts,
  }
}

export const service = (parts: ServiceParts): Service => serviceOf(nothing, parts)
