/**
 * The type of the JSON that a declaration reads: the compiler derives it from the paths of columns and lists, so that no
 * field is written twice.
 */
import type { Leaf } from './column.ts'

/** An element of the list at `a`, or at `a[].b`. */
export type ListLeaf<At extends string, Row> = At extends `${infer Outer}[].${infer Inner}`
  ? Leaf<Outer, readonly Shape<Leaf<Inner, readonly Row[]>>[]>
  : Leaf<At, readonly Row[]>

/** Columns and lists by name. */
type Declared = Readonly<Record<string, { readonly reads?: Leaf }>>

/** Any field may be absent or null; fields that are not declared have the type unknown. */
export type RecordOf<D extends Declared> = Shape<Known<LeavesOf<D>>>

/** Without groups of columns whose names are known at run time only. */
type Named<D extends Declared> = {
  [Name in keyof D as string extends Name ? never : Name]: NonNullable<D[Name]['reads']>
}

type LeavesOf<D extends Declared> = Named<D>[keyof Named<D>]

/** Without paths that are known at run time only. */
type Known<L extends Leaf> = L extends Leaf
  ? L[0] extends ''
    ? never
    : Record<never, 1> extends Record<L[0], 1>
      ? never
      : L
  : never

type Shape<L extends Leaf> = { readonly [field: string]: unknown } & {
  readonly [Head in HeadOf<L[0]>]?: ValueAt<L, Head> | null
}

type HeadOf<At extends string> = At extends `${infer Head}.${string}` ? Head : At

type ValueAt<L extends Leaf, Head extends string> = [Inside<L, Head>] extends [never]
  ? Own<L, Head>
  : [Own<L, Head>] extends [never]
    ? Shape<Inside<L, Head>>
    : Own<L, Head> & Shape<Inside<L, Head>>

type Inside<L extends Leaf, Head extends string> = L extends readonly [`${Head}.${infer Rest}`, infer Value]
  ? Leaf<Rest, Value>
  : never

type Own<L extends Leaf, Head extends string> = L extends readonly [Head, infer Value] ? Value : never
