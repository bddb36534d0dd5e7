/** Sentences of a page, and the rows of docs/claims.md that name a test for each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export interface Claim {
  readonly claim: string
  readonly file: string
  readonly name: string
}

/** The rows of one section of the page. */
export function claimsOf(section: string): Claim[] {
  const text = read('docs/claims.md')
    .split(/^## /m)
    .find(part => part.startsWith(`${section}\n`))
  const rows = (text ?? '').matchAll(/^\| (.+?) +\| `(test\/.+?)` +\| (.+?) +\|$/gm)
  return [...rows].map(([, claim = '', file = '', name = '']) => ({ claim, file, name }))
}

/** Those whose file has no test of their name. */
export const withoutTest = (claims: readonly Claim[]): Claim[] =>
  claims.filter(({ file, name }) => !read(file).includes(name))

/** Each on one line, without code and tables, and with the texts of links in their places. */
export const paragraphsOf = (text: string): string[] =>
  text
    .replace(/```[\s\S]*?```/g, '')
    .replace(/^[#|].*$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n|\n(?=- )/)
    .map(one => one.replace(/\s+/g, ' ').trim())
