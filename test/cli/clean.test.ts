/** What `muster clean --fields` says where there is nothing to clean by. */
import { expect, test } from 'vitest'
import { commandsOn } from '../support/command-lines.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const made = useEngines()

test('without a field policy, cleaning says so in one line and names no places that it did not reach', async () => {
  const { command } = await commandsOn(await made.duckdb(), { url: 'http://127.0.0.1:1' })
  const { code, out, err } = await command('clean --fields --dry-run')
  expect({ code, out, err }).toEqual({
    code: 0,
    out: 'would be cleaned: 0 changes in tables, 0 landed pages\nthe settings have no field policy: every field is stored\n',
    err: '',
  })
})
