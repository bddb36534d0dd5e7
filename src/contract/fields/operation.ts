/** What a read of the service takes and answers with: the vocabulary that `operations.ts` is written in. */

/**
 * What a parameter takes. `day` is YYYY-MM-DD; `ids` and `names` are one or several, as is `{ some }`; a list is the
 * values that the contract names.
 */
export type Kind =
  | 'text'
  | 'id'
  | 'ids'
  | 'names'
  | 'day'
  | 'count'
  | 'number'
  | 'flag'
  | readonly string[]
  | { readonly some: readonly string[] }

export type Kinds = Readonly<Record<string, Kind>>

/** Something whose records are known to the compiler: a resource, or nothing but a type. */
export interface Holding<Row> {
  readonly table?: { readonly row?: Row }
}

export interface Operation<Path extends string = string, Takes extends Kinds = Kinds, Row = unknown> {
  /** Below the base URL; {id} is filled with an id, or a short id where the contract says so. */
  readonly path: Path
  readonly answers: 'page' | 'record'
  readonly parameters: Takes
  /** Of what the record is, or each row of the page. */
  readonly of: Holding<Row>
  /** Parameters that make it this operation and no other on its path. */
  readonly fixed?: Readonly<Record<string, string>>
}

export function page<const Path extends string, Row, const Takes extends Kinds>(
  path: Path,
  of: Holding<Row>,
  parameters: Takes,
) {
  return { path, of, parameters, answers: 'page' } as const
}

export function record<const Path extends string, Row, const Takes extends Kinds>(
  path: Path,
  of: Holding<Row>,
  parameters: Takes,
) {
  return { path, of, parameters, answers: 'record' } as const
}

type Value<K extends Kind> = K extends 'count' | 'number'
  ? number
  : K extends 'flag'
    ? boolean
    : K extends 'ids' | 'names'
      ? string | readonly string[]
      : K extends { readonly some: readonly (infer One)[] }
        ? One | readonly One[]
        : K extends readonly (infer One)[]
          ? One
          : string

/** Parameters as a caller gives them; one that is left out, or undefined, is not sent. */
export type Given<Takes extends Kinds> = { readonly [Name in keyof Takes]?: Value<Takes[Name]> | undefined }
