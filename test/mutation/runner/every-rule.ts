/** All rules tests as one file, each under its path, so that a thread imports them once. */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, describe } from 'vitest'
import { endTest } from '../../support/ends.ts'
import { rulesFolder } from '../folders.ts'

const files = readdirSync(rulesFolder, { recursive: true, encoding: 'utf8' }).filter(name =>
  name.endsWith('.rules.test.ts'),
)
for (const file of files.sort())
  describe(file, async () => {
    afterEach(endTest)
    await import(resolve(rulesFolder, file))
  })
