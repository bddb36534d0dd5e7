/**
 * Derives the type of the JSON that a declaration reads, from the paths of columns and lists, so that no field is written
 * twice.
 */
import type { FieldLeaf } from './column.ts'

/** An element of the list at `a`, or at `a[].b`. */
export type ListLeaf<At extends string, Row> = At extends `${infer Outer}[].${infer Inner}`
  ? FieldLeaf<Outer, readonly RecordShape<FieldLeaf<Inner, readonly Row[]>>[]>
  : FieldLeaf<At, readonly Row[]>

/** Columns and lists by name. */
type DeclaredColumns = Readonly<Record<string, { readonly reads?: FieldLeaf }>>

/** Any field may be absent or null; fields that are not declared have the type unknown. */
export type RecordOf<D extends DeclaredColumns> = RecordShape<KnownLeaf<LeavesOf<D>>>

/** Drops groups of columns whose names are known only at run time. */
type NamedLeaf<D extends DeclaredColumns> = {
  [Name in keyof D as string extends Name ? never : Name]: NonNullable<D[Name]['reads']>
}

type LeavesOf<D extends DeclaredColumns> = NamedLeaf<D>[keyof NamedLeaf<D>]

/** Drops paths that are known only at run time. */
type KnownLeaf<L extends FieldLeaf> = L extends FieldLeaf
  ? L[0] extends ''
    ? never
    : Record<never, 1> extends Record<L[0], 1>
      ? never
      : L
  : never

type RecordShape<L extends FieldLeaf> = { readonly [field: string]: unknown } & {
  readonly [Head in HeadOf<L[0]>]?: ValueAt<L, Head> | null
}

type HeadOf<At extends string> = At extends `${infer Head}.${string}` ? Head : At

type ValueAt<L extends FieldLeaf, Head extends string> = [InnerLeaf<L, Head>] extends [never]
  ? OwnValue<L, Head>
  : [OwnValue<L, Head>] extends [never]
    ? RecordShape<InnerLeaf<L, Head>>
    : OwnValue<L, Head> & RecordShape<InnerLeaf<L, Head>>

type InnerLeaf<L extends FieldLeaf, Head extends string> = L extends readonly [
  `${Head}.${infer Rest}`,
  infer Value,
]
  ? FieldLeaf<Rest, Value>
  : never

type OwnValue<L extends FieldLeaf, Head extends string> = L extends readonly [Head, infer Value]
  ? Value
  : never
