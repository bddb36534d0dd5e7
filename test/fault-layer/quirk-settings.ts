/** The quirks: lasting ways in which a service deviates from its contract, each for one resource or for all. */
import { catalogue, findResource } from '../../src/contract/catalogue.ts'

/** Those about the pages of a list. Counts are of rows; a quirk that is undefined does nothing. */
interface PageQuirks {
  /** Pages have at most this many rows, and `meta.limit` says what was asked for. */
  readonly 'page-cap'?: number
  /** Pages have at most this many rows, and `meta.limit` says so. */
  readonly 'limit-cap'?: number
  /** Only this many rows of each page are sent: the others are on no page. */
  readonly 'cut-pages'?: number
  /** Page 2 always lacks this many of its last rows. */
  readonly 'short-page'?: number
  /** Every page has the rows of page 1. */
  readonly 'same-page'?: 'yes'
  /** The page with this number once has the rows of the previous page. */
  readonly 'repeat-page'?: number
  /** This many records are left out of the pages after paging; `meta.total` counts them. */
  readonly hidden?: number
  readonly empty?: 'yes' | 'no'
  /** `meta.total` is never above this. */
  readonly 'total-cap'?: number
  /** `meta.total` counts this many records more than the list has, where it has any. */
  readonly 'total-over'?: number
  /** `meta.total` is null, left out, sent as text, or one less at each answer. */
  readonly total?: 'null' | 'missing' | 'text' | 'shrinking'
  /** `from` and `to` always apply to the default of `dateField`. */
  readonly 'date-field'?: 'ignored'
  /** A page after the last one by `meta.total` is refused with this status, has null for its rows, or is the last one again. */
  readonly 'past-end'?: 'empty' | '404' | '400' | 'null' | 'last'
  /** `success` in answers with status 200. */
  readonly success?: 'false'
  /** 403 once this many requests were answered. */
  readonly 'forbidden-after'?: number
}

interface RecordQuirks {
  /** This many records hold a text where the contract has another type, under the same updatedAt. */
  readonly broken?: number
  /** Undeclared keys: "", one with a double quote, `__proto__`, 10,000 of them, one with 1,000 levels below. */
  readonly 'odd-keys'?: readonly ('empty' | 'quote' | 'proto' | 'many' | 'deep')[]
  /** One record in this many has the odd keys; 10 unless given. */
  readonly 'odd-every'?: number
}

/** Changes to the list before each of its answers: they need the world of the sandbox. */
export interface ChangeQuirks {
  /** This many records are deleted and as many inserted. */
  readonly churn?: number
  readonly updates?: number
  /** This many records are updated with an updatedAt `lateness` seconds ago. */
  readonly late?: number
  /** This many records are inserted that say they are `lateness` seconds old. */
  readonly backdated?: number
  /** Seconds between the updatedAt of a late change and its appearance; 600 unless given. */
  readonly lateness?: number
  /** Before the next answer, and only then, this many records get one updatedAt. */
  readonly 'bulk-update'?: number
}

export interface Quirks extends PageQuirks, RecordQuirks, ChangeQuirks {}

/** By the name of the resource, or `all`. */
export type QuirkSettings = Readonly<Record<string, Quirks>>

export function checkResources(settings: QuirkSettings): void {
  for (const name of Object.keys(settings)) {
    if (name === 'all' || findResource(name)) continue
    throw new Error(`there is no resource ${name}: ${catalogue.map(one => one.name).join(', ')}`)
  }
}
