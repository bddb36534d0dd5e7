/** The docs are up to date: `npm run accept -- docs` writes what this compares. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { generated, regenerate } from './generated.ts'

describe('generated parts of', () => {
  test.each(Object.keys(generated))('%s', async page => {
    const file = fileURLToPath(new URL(`../../${page}`, import.meta.url))
    await expect(await regenerate(page, readFileSync(file, 'utf8'))).toMatchFileSnapshot(file)
  })

  test('a page must have each marker once', async () => {
    const part = '<!-- generated: failures -->\n<!-- end: failures -->\n'
    await expect(regenerate('docs/postgres.md', part)).resolves.toContain('\n| it says ')
    await expect(regenerate('docs/postgres.md', '')).rejects.toThrow('failures')
    await expect(regenerate('docs/postgres.md', part + part)).rejects.toThrow('failures')
  })
})
