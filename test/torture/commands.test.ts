/** Torture runs every command beside every other, or says why not: a new command cannot be left out. */
import { expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { alone, paired } from './commands.ts'

test('every declared command is paired, or has a reason to be alone', () => {
  const named = [...Object.keys(paired), ...Object.keys(alone)]
  expect(named.sort()).toEqual(Object.keys(commandSet.commands).sort())
})
