/** The policy of declared tables, and the words of their columns, as tests compare them. */
import type { LedgerTable } from '../../src/state/declaration.ts'

type Tables = Readonly<Record<string, LedgerTable>>

/** Without what a table has none of. */
export const policyOf = (tables: Tables): unknown =>
  Object.fromEntries(
    Object.entries(tables).map(([name, { key, indexes, isPublished, lifetime, shared }]) => [
      name,
      {
        ...{ key, isPublished, lifetime },
        ...(indexes.length > 0 && { indexes }),
        ...(shared && { shared: shared.columns }),
      },
    ]),
  )

const meanings = /^[a-z0-9 -]+: .*\.$|^[a-z, ]+ or [a-z]+\.$/

/** Of columns that are described by a list of words, with their meanings or without: the words. */
export const wordsOf = (tables: Tables): unknown =>
  Object.fromEntries(
    Object.entries(tables).flatMap(([table, { columns }]) =>
      Object.entries(columns)
        .filter(([, { description }]) => meanings.test(description) || description === '.')
        .map(([name, { description }]) => [
          `${table}.${name}`,
          description
            .slice(0, -1)
            .split('; ')
            .filter((part, _, all) => all.length === 1 || part.includes(': '))
            .map(part => part.replace(/: .*/, () => '')),
        ]),
    ),
  )
