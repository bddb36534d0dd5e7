/** The journeys of docs/architecture.md: steps, files that they share, and journeys that they go on with. */
import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')

export interface Step {
  readonly depth: number
  readonly file: string
}

export interface Journey {
  readonly title: string
  readonly steps: readonly Step[]
  /** Titles of the journeys whose files it passes as well. */
  readonly continuesAs: readonly string[]
}

const section = /## Five journeys\n([\s\S]*?)\n## /.exec(`${page}\n## `)?.[1] ?? ''
const [introduction = '', ...texts] = section.split(/^### /m)

/** Files, and folders with a slash at their end, that every journey passes. */
export const passedByAll: readonly string[] = [...introduction.matchAll(/^- `(src\/[\w./-]+)`/gm)].map(
  ([, path = '']) => path,
)

export const journeys: readonly Journey[] = texts.map(text => ({
  title: text.split('\n')[0] ?? '',
  steps: [...text.matchAll(/^( *)- `(src\/[\w./-]+)`/gm)].map(([, indent = '', file = '']) => ({
    depth: indent.length / 2,
    file,
  })),
  continuesAs: [...text.matchAll(/\[([^\]]+)\]\(#/g)].map(([, title = '']) => title),
}))
