/** The questions of the catalogue for the dictionary, with the example rows that come with the program. */
import { readFileSync } from 'node:fs'
import type { Example, Question } from '../../dictionary/html/questions.ts'
import { packageFile } from '../../lib/package.ts'
import type { Mart } from '../../marts/mart.ts'
import { semanticCatalogue } from '../../semantic/catalogue.ts'

const examples = (): Readonly<Record<string, Example>> =>
  JSON.parse(readFileSync(packageFile('assets/dictionary/examples.json'), 'utf8'))

/** A view answers what its mart answers. */
export function questionsOf(marts: readonly Mart[]): Question[] {
  const rows = examples()
  return semanticCatalogue(marts)
    .filter(({ kind }) => kind === 'fact')
    .map(({ name, question, questionSql }) => {
      const example = rows[name]
      return { mart: name, question, sql: questionSql, ...(example && { example }) }
    })
}
