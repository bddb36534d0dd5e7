/** A key of one company sees nothing of another one in any list. */
import { expect, test } from 'vitest'
import { endpoints } from '../../../src/sandbox/endpoints/endpoints.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const oneCompanyKey = 'sandbox-one-company-key'
const sandbox = await openSandbox()
const [own, ...others] = sandbox.world.all('companies').map(({ id }) => String(id))
const lists = endpoints.filter(({ isList }) => isList)

async function everyRow(path: string, key: string): Promise<Body[]> {
  const rows: Body[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await sandbox.get(`${path.replace(':id', own ?? '')}?limit=200&page=${page}`, key)
    rows.push(...body.data)
    if (body.data.length < 200) return rows
  }
}

const isOfEveryone = ({ within }: (typeof lists)[number]) => within === 'everyone'

test('only the access rules are the same for everyone', () => {
  expect(lists.filter(isOfEveryone).map(({ path }) => path)).toEqual(['/access-rule-mappings'])
})

test.each(lists.filter(list => !isOfEveryone(list)).map(({ path }) => path))('GET %s', async path => {
  const seen = await everyRow(path, oneCompanyKey)
  const all = await everyRow(path, sandboxKeys.company)
  expect(seen.length).toBeGreaterThan(0)
  if (path.includes(':id')) {
    const { status } = await sandbox.get(path.replace(':id', others[0] ?? ''), oneCompanyKey)
    expect(status).toBe(404)
  } else expect(seen.length).toBeLessThan(all.length)
  const foreign = seen.filter(row => others.some(id => JSON.stringify(row).includes(`"${id}"`)))
  expect(foreign).toEqual([])
})
