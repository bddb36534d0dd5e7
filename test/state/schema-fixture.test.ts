/** Tables and columns do not change without a number and a fixture from which the upgrade is tested. */
import { expect, test } from 'vitest'
import { schemaVersion } from '../../src/state/upgrades.ts'
import { temporaryFolder } from '../cli/captured-world.ts'
import { earlierWarehouse, engines, on, schemaVersions, structure } from '../fixtures/earlier-warehouse.ts'
import { inQuick } from '../thorough.ts'
import { useEngines } from '../warehouse/fixture.ts'

const made = useEngines()

test.each(inQuick(engines, 0))(
  'the newest fixture has the tables that the program makes (%s)',
  async kind => {
    const newest = await on(await earlierWarehouse(schemaVersion, kind, temporaryFolder()), structure)
    const fresh = await structure((await made[kind]()).engine)
    expect(
      newest,
      'Tables or columns changed: raise schemaVersion in src/state/upgrades.ts if it was released, and run npm run fixture:warehouse',
    ).toEqual(fresh)
    expect(schemaVersions).toEqual(Array.from({ length: schemaVersion }, (_, index) => index + 1))
  },
)
