/** The docs are up to date: `npm run docs:generate` writes what this compares. */
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
    const part = '<!-- generated: methods -->\n<!-- end: methods -->\n'
    await expect(regenerate('docs/client.md', part)).resolves.toContain('\n| `listCompanies` ')
    await expect(regenerate('docs/client.md', '')).rejects.toThrow('methods')
    await expect(regenerate('docs/client.md', part + part)).rejects.toThrow('methods')
  })
})
