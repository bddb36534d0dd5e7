/** Folders of the bundles for BI tools: made with those above them, never over what somebody else wrote. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { expect, test } from 'vitest'
import { muster, temporaryFolder } from '../support/captured-world.ts'

test('a folder is made with those above it, and written again', async () => {
  const cwd = temporaryFolder()
  for (const _ of [1, 2])
    expect(await muster('docs --odcs new/bi/contract', { cwd })).toMatchObject({
      code: 0,
      out: expect.stringContaining(`odcs: 1 file in ${join(cwd, 'new/bi/contract')}`),
    })
  expect(readFileSync(join(cwd, 'new/bi/contract/muster.odcs.yaml'), 'utf8')).toMatch(/^# written by muster/)
})

test('refuses foreign files, and a file in the place of a parent folder, in one line', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'notes'), 'mine')
  mkdirSync(join(cwd, 'own'))
  writeFileSync(join(cwd, 'own/muster.odcs.yaml'), 'mine')
  expect(await muster('docs --odcs notes/a/b', { cwd })).toMatchObject({
    code: 2,
    err: `muster: this is not a folder (${join(cwd, 'notes')}): name another folder; nothing was changed\n`,
  })
  expect(await muster('docs --odcs own', { cwd })).toMatchObject({ code: 2 })
  expect(await muster('docs --odcs first --cube own', { cwd })).toMatchObject({ code: 2 })
  expect(existsSync(join(cwd, 'first'))).toBe(false)
  expect(readFileSync(join(cwd, 'own/muster.odcs.yaml'), 'utf8')).toBe('mine')
})

test.each([
  ['docs --cube', 'model/cubes/former.yml'],
  ['marts --sql spark --out', 'sql/former.sql'],
])('%s removes what an earlier release wrote and this one does not', async (command, former) => {
  const cwd = temporaryFolder()
  const write = () => muster(`${command} out`, { cwd, env: { MUSTER_WAREHOUSE: 'duckdb:w.duckdb' } })
  expect(await write()).toMatchObject({ code: 0 })
  const names = () => readdirSync(join(cwd, 'out'), { recursive: true, encoding: 'utf8' }).sort()
  const before = names()
  const [first = ''] = before.filter(name => name.startsWith(dirname(former) + sep))
  copyFileSync(join(cwd, 'out', first), join(cwd, 'out', former))
  writeFileSync(join(cwd, 'out', dirname(former), 'own.txt'), 'mine')
  expect(await write()).toMatchObject({ code: 0 })
  expect(names()).toEqual([...before, join(dirname(former), 'own.txt')].sort())
})
