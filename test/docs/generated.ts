/** The tables of README and docs that follow from the code: what stands between the markers of each page. */
import { commandSet } from '../../src/cli/commands.ts'
import { groupBy } from '../../src/lib/group-by.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { violationKinds } from '../../src/sandbox/refusals.ts'
import { failureLines } from '../../src/warehouse/postgres/failure.ts'
import { markdownTable } from './table.ts'

const code = (name: string): string => `\`${name}\``

/** By what they are for, as in `muster --help`. */
function commandTable(): string {
  const groups = groupBy(Object.entries(commandSet.commands), ([, { purpose }]) => purpose)
  return markdownTable(
    ['purpose', 'commands'],
    [...groups].map(([purpose, some]) => [purpose, some.map(([name]) => code(name)).join(' ')]),
  )
}

/** A copy of a dimension of star says no more than its name. */
const isNoDimension = ({ name }: { readonly name: string }): boolean =>
  !name.startsWith('dim_') || name === 'dim_date'

const martTable = (): string =>
  markdownTable(
    ['mart', 'question'],
    readMarts()
      .filter(isNoDimension)
      .map(({ name, question }) => [code(name), question]),
  )

const violationTable = (): string =>
  markdownTable(
    ['violation', 'what was sent'],
    Object.entries(violationKinds).map(([name, meaning]) => [code(name), meaning]),
  )

const failureTable = (): string =>
  markdownTable(
    ['it says', 'what to do'],
    failureLines.map(({ what, next }) => [what, next.replace('; what was committed is kept', '')]),
  )

/** Page -> name of the marker -> what stands there. */
export const generated: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'README.md': { commands: commandTable },
  'docs/data.md': { marts: martTable },
  'docs/postgres.md': { failures: failureTable },
  'docs/sandbox.md': {
    violations: violationTable,
  },
}

/** The page with each marked part made anew. Throws an Error that names a marker that is not there exactly once. */
export async function regenerate(page: string, text: string): Promise<string> {
  let fresh = text
  for (const [name, make] of Object.entries(generated[page] ?? {})) {
    const parts = fresh.split(new RegExp(`(<!-- generated: ${name} -->)\\n[\\s\\S]*?(<!-- end: ${name} -->)`))
    if (parts.length !== 4) throw new Error(`${page} needs one part between the markers of "${name}"`)
    const [before, open, close, after] = parts
    fresh = `${before}${open}\n\n${await make()}\n\n${close}${after}`
  }
  return fresh
}
