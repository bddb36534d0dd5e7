/** What is known of mutants is still about the source as it stands. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderOf } from './folders.ts'
import { everySlip, everyStory, knownOf } from './known/index.ts'
import { alterationsAlike, equivalentsOf } from './known/sql.ts'

const occurrences = (file: string, text: string): number => readFileSync(file, 'utf8').split(text).length - 1

test('every slip can be planted in one place, and its test exists', () => {
  for (const { file, before, test: story } of everySlip)
    expect([file, before, occurrences(file, before), existsSync(story)]).toEqual([file, before, 1, true])
})

test('every file that only a story runs is in a mutated folder, and its story exists', () => {
  for (const { file, test: story } of everyStory)
    expect([file, folderOf(file) !== undefined, existsSync(file), existsSync(story)]).toEqual([
      file,
      true,
      true,
      true,
    ])
})

test('every line with a mutant that changes nothing still stands in its file', () => {
  const missing = Object.values(knownOf)
    .flatMap(({ equivalents = [] }) => equivalents)
    .filter(({ file, line }) => !existsSync(file) || occurrences(file, line) === 0)
  expect(missing).toEqual([])
})

test('every kind of alteration of SQL that changes nothing is still made', () => {
  expect(alterationsAlike.filter(one => equivalentsOf(one).length === 0)).toEqual([])
})
