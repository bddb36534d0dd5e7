/** All rules tests as one file, each under its path, so that a thread imports them once; and those that MUSTER_MORE_TESTS names. */
import { readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { afterEach, describe } from 'vitest'
import { endTest } from '../../support/ends.ts'
import '../../support/thrown.ts'
import { rulesFolder } from '../folders.ts'

const rules = readdirSync(rulesFolder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.rules.test.ts'))
  .map(name => join(rulesFolder, name))
const more: readonly string[] = JSON.parse(process.env.MUSTER_MORE_TESTS ?? '[]')
for (const file of [...rules.sort(), ...more])
  describe(relative(rulesFolder, file), async () => {
    afterEach(endTest)
    await import(resolve(file))
  })
