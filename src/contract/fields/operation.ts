/** Defines a read of the service, with its parameters and its answer: the vocabulary of `operations.ts`. */

/**
 * The kind of a parameter. `day` is YYYY-MM-DD; `ids`, `names` and `{ some }` take one or several values; a list has the
 * values that the contract documents.
 */
export type ParameterKind =
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

export type Kinds = Readonly<Record<string, ParameterKind>>

/** Carries the type of records: a resource, or a type alone. */
export interface RecordHolder<Row> {
  readonly table?: { readonly row?: Row }
}

export interface Operation<Path extends string = string, Takes extends Kinds = Kinds, Row = unknown> {
  /** Below the base URL; {id} is filled with an id, or a short id where the contract says so. */
  readonly path: Path
  readonly answers: 'page' | 'record'
  readonly parameters: Takes
  /** The type of the record, or of each row of the page. */
  readonly of: RecordHolder<Row>
  /** Parameters that distinguish it from other operations on the same path. */
  readonly fixed?: Readonly<Record<string, string>>
}

export function page<const Path extends string, Row, const Takes extends Kinds>(
  path: Path,
  of: RecordHolder<Row>,
  parameters: Takes,
) {
  return { path, of, parameters, answers: 'page' } as const
}

export function record<const Path extends string, Row, const Takes extends Kinds>(
  path: Path,
  of: RecordHolder<Row>,
  parameters: Takes,
) {
  return { path, of, parameters, answers: 'record' } as const
}

type ParameterValue<K extends ParameterKind> = K extends 'count' | 'number'
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
export type GivenParameters<Takes extends Kinds> = {
  readonly [Name in keyof Takes]?: ParameterValue<Takes[Name]> | undefined
}
