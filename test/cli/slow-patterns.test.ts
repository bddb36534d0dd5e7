/**
 * V8 stops optimising patterns in a process that has compiled 1 MB of them, as a receiver has after some days: one that loops over
 * 16 million characters is then too deep for it.
 */
import { execFile } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDataUrl } from '../../src/lib/file-kind.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { document, PDF, person } from '../sandbox/writes/worker-inputs.ts'
import { writingWorld } from './written-files.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

test('recognises base64 as a pattern would', () => {
  const letters = fc.constantFrom(...'AZaz09+/=-_ \n~é')
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 12 }), chosen => {
      const text = chosen.join('')
      const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
      const found = readDataUrl(`data:application/pdf;base64,${text}`)
      expect(found !== 'is not base64 after its comma').toBe(isBase64)
    }),
    { numRuns: 2_000 },
  )
})

test('files of 50 MB in one request are refused by a process whose patterns are slow, too', async () => {
  const sandbox = await openSandbox({ scale: 0.01 })
  const { file, cwd } = writingWorld(sandbox.url)
  writeFileSync(join(cwd, 'large.pdf'), PDF)
  truncateSync(join(cwd, 'large.pdf'), 13_200_000)
  const files = Array.from({ length: 3 }, () => ({ path: 'large.pdf' }))
  file('w.json', [person({ attachments: [document('Site first aid', { files })] })])
  const env = { ...process.env, MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'sandbox-agency-key' }
  const args = ['--no-regexp-optimization', program, 'workers', 'create', 'w.json']
  const ended = await new Promise(resolve => {
    execFile(process.execPath, args, { cwd, env }, (error, _out, err) => resolve([error?.code ?? 0, err]))
  })
  expect(ended).toEqual([2, expect.stringContaining('attachments makes the request larger than 50 MB')])
})
