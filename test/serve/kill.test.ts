/** A process that dies has lost nothing that it acknowledged. */
import { test } from 'vitest'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { losesNothing } from './kills.ts'

describeOnEngines('a receiver that is killed', bench => {
  test.runIf(thorough)('twice, has every event that it answered 202', () => losesNothing(bench, 2))
})
