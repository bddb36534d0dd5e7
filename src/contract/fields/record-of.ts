/**
 * The type of the JSON that a declaration reads: made by the compiler from the paths of its columns and lists, so that
 * no field is listed twice.
 */
import type { Leaf } from './column.ts'

/** An element of the list at `a`, or at `a[].b`. */
export type ListLeaf<At extends string, Row> = At extends `${infer Outer}[].${infer Inner}`
  ? Leaf<Outer, readonly Shape<Leaf<Inner, readonly Row[]>>[]>
  : Leaf<At, readonly Row[]>

/** Columns and lists by name. */
type Declared = Readonly<Record<string, { readonly reads?: Leaf }>>

/** Any field may be absent or null, and the service may send others: those are unknown. */
export type RecordOf<D extends Declared> = Shape<Known<LeavesOf<D>>>

/** Groups of columns whose names only run time knows are left out. */
type Named<D extends Declared> = {
  [Name in keyof D as string extends Name ? never : Name]: NonNullable<D[Name]['reads']>
}

type LeavesOf<D extends Declared> = Named<D>[keyof Named<D>]

/** A path made of texts that only run time knows says nothing. */
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
