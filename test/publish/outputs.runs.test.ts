/** The list of what was written from a warehouse: only what is still such a file or folder counts, and nothing in it blocks. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outputsOf, recordOutput } from '../../src/publish/outputs.ts'
import { temporaryFolder } from '../support/captured-world.ts'

test('what has become something else, or is gone, is left out', () => {
  const folder = temporaryFolder()
  const stem = join(folder, 'not/yet/w.duckdb')
  const place = (name: string): string => join(folder, name)
  for (const name of ['copy', 'gone', 'pipe', 'folder'])
    recordOutput(stem, { place: place(name), made: 'copy', includesPii: true })
  for (const name of ['export', 'file'])
    recordOutput(stem, { place: place(name), made: 'export', includesPii: false })
  for (const name of ['copy', 'file']) writeFileSync(place(name), '')
  for (const name of ['folder', 'export']) mkdirSync(place(name))
  spawnSync('mkfifo', [place('pipe')])
  expect(outputsOf(stem).map(output => output.place)).toEqual([place('copy'), place('export')])
})
