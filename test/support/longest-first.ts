/** The order of the test files: what takes longest begins first, so that both workers end at the same time. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Short to read and 15 s to run. Of a fresh clone Vitest knows sizes only, and would leave one worker with them at the end. */
const long = [
  'warehouse/parity.runs',
  'simulation/simulation.runs',
  'cli/demo.runs',
  'crosscheck/crosscheck.runs',
  'contract/contract.runs',
  'sync/kill.runs',
  'marts/all-marts.runs',
  'load/field-coverage.runs',
  'sync/faults.runs',
  'sync/requests.runs',
  'cli/main',
  'cli/build.runs',
  'cli/dag-ledger.runs',
  'app/replay.runs',
  'load/by-id-fields.runs',
].map(name => `/test/${name}.test.ts`)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => long.some(name => moduleId.endsWith(name))
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}
