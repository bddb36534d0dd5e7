/** Torture runs every command beside every other, or says why not: a new command cannot be left out. */
import { expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import type { Place } from './arena.ts'
import { alone, commandsOf, given } from './commands.ts'

const declared = Object.keys(commandSet.commands)
const place = { address: 'duckdb:w', folder: 'f', person: 'p' } as unknown as Place

test('words are given, and reasons to be alone, only for commands that there are', () => {
  const named = [...Object.keys(given), ...Object.keys(alone)]
  expect(named.filter(name => !declared.includes(name))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})

test.each(declared.filter(name => !(name in alone)))('%s is run beside the others', name => {
  const run = [...commandsOf('duckdb', place), ...commandsOf('postgres', place)]
  expect(run.filter(words => words === name || words.startsWith(`${name} `))).not.toEqual([])
})
